"""Repositories as they are stored: found by address, alias or id, with the interest in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, bindparam, func, select

from pullstate.domain.address import RepositoryAddress
from pullstate.domain.site import ForgeKind
from pullstate.store.errors import Untracked
from pullstate.store.records import NAMED, Depth, Interest, Repository
from pullstate.store.schema import alias, interest, repository, sweep
from pullstate.store.texts import storable_text
from pullstate.store.upserts import insert_into

_DEEPER = {depth.value: rank for rank, depth in enumerate(Depth)}

SELECT = (
    select(
        repository.c.id,
        repository.c.site_url,
        repository.c.kind,
        repository.c.path,
        repository.c.forge_id,
        repository.c.path_key,
        func.coalesce(sweep.c.swept, False),
        interest.c.by,
        interest.c.depth,
        interest.c.asked_at,
    )
    .outerjoin(sweep, sweep.c.repository_id == repository.c.id)
    .outerjoin(interest, interest.c.repository_id == repository.c.id)
    .order_by(repository.c.id)
)
WIDTH = len(SELECT.selected_columns)
BY_ID = SELECT.where(repository.c.id == bindparam("id"))
BY_PATH = SELECT.where(
    repository.c.site_url == bindparam("site_url"), repository.c.path_key == bindparam("key")
)
BY_ALIAS = SELECT.join(alias, alias.c.repository_id == repository.c.id).where(
    alias.c.site_url == bindparam("site_url"), alias.c.path_key == bindparam("key")
)
_BY_FORGE_ID = SELECT.where(
    repository.c.site_url == bindparam("site_url"), repository.c.forge_id == bindparam("forge_id")
)
_OF_SITE = SELECT.where(repository.c.site_url == bindparam("site_url"))


def find_repository(connection: Connection, address: RepositoryAddress) -> Repository | None:
    """The repository at an address now, or that was there before it was renamed."""
    return _one(connection, BY_PATH, place_of(address)) or _one(
        connection, BY_ALIAS, place_of(address)
    )


def place_of(address: RepositoryAddress) -> dict[str, str]:
    """What BY_PATH and BY_ALIAS are given."""
    return {"site_url": address.site.url, "key": storable_text(address.key)}


def repository_by_id(connection: Connection, repository_id: int) -> Repository | None:
    """A repository by our own id, whether or not it is at any address."""
    return _one(connection, BY_ID, {"id": repository_id})


def repositories(connection: Connection, site_url: str | None = None) -> list[Repository]:
    """All repositories, or those of one site, in the order in which they were added."""
    if site_url is None:
        return _folded(connection.execute(SELECT).all())
    return _folded(connection.execute(_OF_SITE, {"site_url": site_url}).all())


def by_forge_id(connection: Connection, site_url: str, forge_id: str) -> Repository | None:
    """The repository that has a forge's id, under whatever address."""
    return _one(connection, _BY_FORGE_ID, {"site_url": site_url, "forge_id": forge_id})


def get(connection: Connection, repository_id: int) -> Repository:
    """A repository by our own id. Raises Untracked where it was purged meanwhile."""
    found = repository_by_id(connection, repository_id)
    if found is None:
        raise Untracked("The repository is no longer stored.")
    return found


def insert_repository(
    connection: Connection, site_url: str, kind: ForgeKind, path: str, at: datetime
) -> Repository:
    """A new row at an address, or the one that another process inserted at the same moment."""
    key = path.casefold()
    insert = insert_into(connection, repository).values(
        site_url=site_url, kind=kind.value, path=path, path_key=key, added_at=at
    )
    connection.execute(insert.on_conflict_do_nothing(index_elements=["site_url", "path_key"]))
    found = _one(connection, BY_PATH, {"site_url": site_url, "key": key})
    assert found is not None
    return found


def _one(connection: Connection, query: Any, given: dict[str, Any]) -> Repository | None:
    found = _folded(connection.execute(query, given).all())
    return found[0] if found else None


def _folded(rows: Iterable[Sequence[Any]]) -> list[Repository]:
    """A row for each interest → a repository with the sum of them."""
    return [repository_of(list(group)) for _, group in groupby(rows, key=itemgetter(0))]


def repository_of(rows: Sequence[Sequence[Any]]) -> Repository:
    """One repository from its rows of SELECT, whatever columns they have beside those."""
    id_, site_url, kind, path, forge_id, path_key, swept, *_ = rows[0]
    wants = [tuple(row[7:WIDTH]) for row in rows if row[7] is not None]
    depths = [depth for _, depth, _ in wants if depth in _DEEPER]
    asked = [asked_at for by, _, asked_at in wants if by == Interest.QUESTION]
    return Repository(
        id=id_,
        site_url=site_url,
        kind=ForgeKind(kind),
        path=path,
        forge_id=forge_id,
        depth=Depth(max(depths, key=_DEEPER.__getitem__)) if depths else None,
        tracked=any(by in NAMED for by, _, _ in wants),
        remote=any(by == Interest.REMOTE for by, _, _ in wants),
        asked_at=max(asked, default=None),
        swept=bool(swept),
        listed=path_key is not None,
    )
