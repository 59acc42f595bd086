"""What there is to do for whoever syncs: the repositories of a site, and what of them is due."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    and_,
    delete,
    exists,
    func,
    or_,
    select,
    update,
)

from pullstate.domain.merge_request import Facet
from pullstate.store import reading
from pullstate.store.errors import Untracked
from pullstate.store.records import Repository, StoredPullRequest, Sweep
from pullstate.store.rows import COLUMNS, stored_of
from pullstate.store.schema import (
    alias,
    facet,
    freshness,
    pull_request,
    refusal,
    repository,
    sweep,
    thread,
    thread_reading,
)


@dataclass(frozen=True, slots=True)
class Charge:
    """A repository to be read, and how far its reads have come."""

    repository: Repository
    sweep: Sweep


@dataclass(frozen=True, slots=True)
class Scope:
    """Which pull requests are kept up: all of some repositories, of others those asked about."""

    whole: tuple[int, ...]
    single: tuple[int, ...]
    asked_since: datetime

    def condition(self) -> ColumnElement[bool]:
        asked = freshness.c.asked_at >= self.asked_since
        return or_(
            freshness.c.repository_id.in_(self.whole),
            and_(freshness.c.repository_id.in_(self.single), asked),
        )


@dataclass(frozen=True, slots=True)
class FacetWanted:
    """A facet that was read once and is not of the present head or change any more."""

    pull_request: StoredPullRequest
    facet: Facet


_STORED = (
    select(*COLUMNS)
    .join(freshness, freshness.c.pull_request_id == pull_request.c.id)
    .where(pull_request.c.gone_at.is_(None))
)
_KEPT = select(*COLUMNS).join(freshness, freshness.c.pull_request_id == pull_request.c.id)


def charges(conn: Connection, site_url: str) -> list[Charge]:
    """Every repository of a site that somebody wants, in a fixed order."""
    wanted = [r for r in reading.repositories(conn, site_url) if r.depth is not None]
    return [Charge(each, reading.sweep(conn, each.id)) for each in wanted]


def sites_read_as(conn: Connection, anonymous: str) -> frozenset[str]:
    """The sites that a credential has read; `anonymous` is the name of a reader without one."""
    readers = conn.execute(select(sweep.c.reader).distinct().where(sweep.c.reader.is_not(None)))
    names = (reader.partition(" ") for reader in readers.scalars())
    return frozenset(site_url for site_url, _, who in names if who != anonymous)


def charge(conn: Connection, repository_id: int) -> Charge:
    """One repository. Untracked where nobody wants it, or another lives at its address."""
    known = reading.repository_by_id(conn, repository_id)
    if known is None or known.depth is None or not known.listed:
        raise Untracked("the repository is not tracked any more")
    return Charge(known, reading.sweep(conn, repository_id))


def refusals(conn: Connection, site_url: str) -> Mapping[int, frozenset[str]]:
    """Which readers were refused each repository of a site."""
    found: dict[int, set[str]] = defaultdict(set)
    query = (
        select(refusal.c.repository_id, refusal.c.reader)
        .join(repository, repository.c.id == refusal.c.repository_id)
        .where(repository.c.site_url == site_url)
    )
    for repository_id, reader in conn.execute(query):
        found[repository_id].add(reader)
    return {repository_id: frozenset(readers) for repository_id, readers in found.items()}


def aliases(conn: Connection, repository_id: int) -> list[str]:
    """The paths, case-folded, that a repository had before."""
    query = select(alias.c.path_key).where(alias.c.repository_id == repository_id)
    return list(conn.execute(query).scalars())


def drop_alias(conn: Connection, repository_id: int, path: str) -> None:
    """A path does not lead to a repository any more."""
    conn.execute(
        delete(alias).where(alias.c.repository_id == repository_id, alias.c.path_key == path)
    )


def by_ids(conn: Connection, ids: Collection[int]) -> list[StoredPullRequest]:
    """Pull requests by our ids, gone ones too."""
    return _stored(conn, _KEPT.where(pull_request.c.id.in_(ids))) if ids else []


def by_numbers(
    conn: Connection, repository_id: int, numbers: Collection[int]
) -> dict[int, StoredPullRequest]:
    """Those of a repository's pull requests that are stored, gone ones too."""
    if not numbers:
        return {}
    query = _KEPT.where(
        pull_request.c.repository_id == repository_id, pull_request.c.number.in_(numbers)
    )
    return {found.pull_request.number: found for found in _stored(conn, query)}


def due(conn: Connection, scope: Scope, now: datetime, limit: int) -> list[StoredPullRequest]:
    """What is to be read again by `now`, longest due first."""
    query = (
        _STORED.where(scope.condition(), freshness.c.due_at <= now)
        .order_by(freshness.c.due_at, pull_request.c.id)
        .limit(limit)
    )
    return _stored(conn, query)


def next_due(conn: Connection, scope: Scope) -> datetime | None:
    """When the next pull request is due."""
    return conn.execute(select(func.min(freshness.c.due_at)).where(scope.condition())).scalar()


def has_unfinished(conn: Connection, repository_id: int) -> bool:
    """Whether a repository has an open or draft pull request."""
    query = _unfinished(repository_id).limit(1)
    return conn.execute(query).first() is not None


def count(conn: Connection, repository_id: int) -> int:
    """How many pull requests are stored of a repository, without the gone ones."""
    query = select(func.count()).where(
        pull_request.c.repository_id == repository_id, pull_request.c.gone_at.is_(None)
    )
    return conn.execute(query).scalar_one()


def opened_since(conn: Connection, repository_id: int, since: datetime) -> int:
    """How many stored pull requests were opened at `since` or later."""
    query = select(func.count()).where(
        pull_request.c.repository_id == repository_id, pull_request.c.opened_at >= since
    )
    return conn.execute(query).scalar_one()


def not_seen_since(conn: Connection, repository_id: int, since: datetime) -> list[int]:
    """Unfinished ones whose details no reading has confirmed since."""
    query = (
        _unfinished(repository_id)
        .join(freshness, freshness.c.pull_request_id == pull_request.c.id)
        .where(or_(freshness.c.details_at.is_(None), freshness.c.details_at < since))
    )
    return list(conn.execute(query).scalars())


def bring_forward(
    conn: Connection,
    repository_id: int,
    base: str,
    until: datetime,
    *,
    unless_at: str | None = None,
) -> None:
    """Unfinished ones on a base branch are due by `until`, but those that know of its tip."""
    ids = _unfinished(repository_id).where(pull_request.c.base_branch == base)
    if unless_at is not None:
        ids = ids.where(pull_request.c.base_sha != unless_at)
    later = or_(freshness.c.due_at.is_(None), freshness.c.due_at > until)
    conn.execute(
        update(freshness).where(freshness.c.pull_request_id.in_(ids), later).values(due_at=until)
    )


def threads_wanted(
    conn: Connection, scope: Scope, unresolved_before: datetime, limit: int
) -> list[StoredPullRequest]:
    """Open ones whose threads were never read (these come last), that changed since, or that have
    unresolved ones and were read before a time.
    """
    read = thread_reading.c.observed_at
    changed = thread_reading.c.changed_at_when_read < pull_request.c.changed_at
    unresolved = exists().where(
        thread.c.pull_request_id == pull_request.c.id, thread.c.is_resolved.is_(False)
    )
    open_still = or_(pull_request.c.unresolved_threads > 0, unresolved)
    again = and_(read < unresolved_before, open_still)
    query = (
        _STORED.outerjoin(thread_reading, thread_reading.c.pull_request_id == pull_request.c.id)
        .where(
            pull_request.c.repository_id.in_((*scope.whole, *scope.single)),
            pull_request.c.unfinished == 1,
            scope.condition(),
            or_(read.is_(None), changed, again),
        )
        .order_by(read.is_(None), pull_request.c.changed_at.desc())
        .limit(limit)
    )
    return _stored(conn, query)


def finished_threads_wanted(
    conn: Connection, repository_ids: Collection[int], limit: int
) -> list[StoredPullRequest]:
    """Finished ones whose threads somebody asked for once, and that changed since then."""
    query = (
        _STORED.join(thread_reading, thread_reading.c.pull_request_id == pull_request.c.id)
        .where(
            pull_request.c.repository_id.in_(repository_ids),
            pull_request.c.unfinished == 0,
            thread_reading.c.changed_at_when_read < pull_request.c.changed_at,
        )
        .limit(limit)
    )
    return _stored(conn, query)


# What moves without a new head and without an update: checks, mergeability, resolving.
_MOVING = [
    facet.value for facet in (Facet.OVERVIEW, Facet.PIPELINES, Facet.CONFLICTS, Facet.DISCUSSIONS)
]


def facets_wanted(
    conn: Connection, scope: Scope, moving_before: datetime, limit: int
) -> list[FacetWanted]:
    """Facets of open ones that were asked about lately, and that moved since they were read."""
    moved = or_(
        facet.c.head_sha != pull_request.c.head_sha,
        facet.c.changed_at_when_read < pull_request.c.changed_at,
        and_(
            facet.c.facet.in_(_MOVING),
            facet.c.observed_at < moving_before,
        ),
    )
    query = (
        _STORED.add_columns(facet.c.facet)
        .join(facet, facet.c.pull_request_id == pull_request.c.id)
        .where(
            freshness.c.repository_id.in_((*scope.whole, *scope.single)),
            pull_request.c.unfinished == 1,
            freshness.c.asked_at >= scope.asked_since,
            facet.c.observed_at.is_not(None),
            facet.c.facet.in_([each.value for each in Facet]),
            moved,
        )
        .order_by(facet.c.observed_at)
        .limit(limit)
    )
    return [FacetWanted(stored_of(row[:-1]), Facet(row[-1])) for row in conn.execute(query)]


def _unfinished(repository_id: int) -> Select[tuple[int]]:
    return select(pull_request.c.id).where(
        pull_request.c.repository_id == repository_id,
        pull_request.c.unfinished == 1,
        pull_request.c.gone_at.is_(None),
    )


def _stored(conn: Connection, query: Select[Any]) -> list[StoredPullRequest]:
    rows: Sequence[Row[Any]] = conn.execute(query).all()
    return [stored_of(row) for row in rows]
