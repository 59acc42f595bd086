"""A repository and how its sync stands, in one statement: with it every answer begins."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Select, select

from pullstate.domain.address import RepositoryAddress
from pullstate.domain.freshness import Freshness
from pullstate.store import repositories
from pullstate.store.lease import LISTED_READERS, LIVE, serves
from pullstate.store.prepared import Prepared
from pullstate.store.records import Standing, Sweep
from pullstate.store.schema import feed
from pullstate.store.schema import sweep as table
from pullstate.store.sweeps import fault_of, gaps_of

_SYNC = (
    table.c.swept,
    table.c.as_of,
    table.c.next_delta_at,
    table.c.interval_ms,
    table.c.gaps,
    table.c.fault_kind,
    table.c.fault_since,
    table.c.fault_retry_at,
    table.c.fault_detail,
)


def _with_sync(query: Select[Any]) -> Prepared:
    number = select(feed.c.last).scalar_subquery()
    return Prepared(query.add_columns(number, LISTED_READERS, *_SYNC))


_BY_PATH = _with_sync(repositories.BY_PATH)
_BY_ALIAS = _with_sync(repositories.BY_ALIAS)
_BY_ID = _with_sync(repositories.BY_ID)


def standing(connection: Connection, address: RepositoryAddress, now: datetime) -> Standing | None:
    """The repository at an address now, or that was there before it was renamed."""
    given = repositories.place_of(address) | {"alive_since": now - LIVE}
    rows = _BY_PATH.all(connection, given) or _BY_ALIAS.all(connection, given)
    return _standing(rows) if rows else None


def freshness(connection: Connection, repository_id: int, now: datetime) -> Freshness:
    """What is known of a repository's sync. `served`: some live process can read its site."""
    rows = _BY_ID.all(connection, {"id": repository_id, "alive_since": now - LIVE})
    return _standing(rows).freshness if rows else _never_read(served=False)


def _standing(rows: Sequence[Sequence[Any]]) -> Standing:
    known = repositories.repository_of(rows)
    last, readers, *sync = rows[0][repositories.WIDTH :]
    return Standing(known, _freshness(sync, serves(readers, known.site_url)), last)


def _freshness(sync: Sequence[Any], served: bool) -> Freshness:
    swept, as_of, next_at, interval_ms, gaps, *fault = sync
    if swept is None:
        return _never_read(served)
    return Freshness(
        swept=swept,
        as_of=as_of,
        fault=fault_of(*fault),
        next_at=next_at,
        interval=timedelta(milliseconds=interval_ms),
        gaps=gaps_of(gaps),
        served=served,
    )


def _never_read(served: bool) -> Freshness:
    return Freshness(False, None, None, None, Sweep().interval, served=served)
