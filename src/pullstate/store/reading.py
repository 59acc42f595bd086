"""The queries that tools need. Each takes a connection first and returns frozen objects.

Statements are built once. Nothing here needs a clock but `standing` and `freshness`, which are
told the time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, distinct, func, or_, select, tuple_

from pullstate.domain.changes import ChangeKind
from pullstate.domain.text import clean_line
from pullstate.store.believing import had_checks
from pullstate.store.facets import facet, note_page
from pullstate.store.feed import changes, newest_change, oldest_cursor
from pullstate.store.prepared import Prepared
from pullstate.store.quotas import etag, limits, refusals
from pullstate.store.records import (
    Depth,
    FacetTimes,
    Interest,
    ListedPullRequest,
    PageKey,
    Repository,
    RepositoryStatus,
    Standing,
    StoredFacet,
    StoredPullRequest,
    StoreStatus,
    Sweep,
    ThreadCounts,
    ThreadState,
    key_of,
)
from pullstate.store.repositories import (
    by_forge_id,
    find_repository,
    repositories,
    repository_by_id,
)
from pullstate.store.rows import COLUMNS, LISTED, TIMES, listed_of, stored_of
from pullstate.store.schema import change, thread, wish
from pullstate.store.schema import freshness as freshness_table
from pullstate.store.schema import pull_request as pull_request_table
from pullstate.store.standing import freshness, standing
from pullstate.store.sweeps import sweep
from pullstate.store.texts import storable_text
from pullstate.store.threads import thread_counts, thread_key, thread_page, thread_state

__all__ = [
    "Depth",
    "FacetTimes",
    "Interest",
    "ListedPullRequest",
    "PageKey",
    "Repository",
    "Standing",
    "StoreStatus",
    "StoredFacet",
    "StoredPullRequest",
    "Sweep",
    "ThreadCounts",
    "ThreadState",
    "by_forge_id",
    "changes",
    "etag",
    "facet",
    "find_repository",
    "freshness",
    "had_checks",
    "key_of",
    "limits",
    "moved_since",
    "newest_change",
    "note_page",
    "observed",
    "oldest_cursor",
    "page",
    "pull_request",
    "pull_request_by_id",
    "refusals",
    "repositories",
    "repository_by_id",
    "standing",
    "status",
    "sweep",
    "thread_counts",
    "thread_key",
    "thread_page",
    "thread_state",
    "unfinished",
]

_rows = pull_request_table.c
_STORED = select(*COLUMNS).outerjoin(freshness_table, freshness_table.c.pull_request_id == _rows.id)
_IN_LISTS = (_rows.gone_at.is_(None), _rows.repository_id == bindparam("repository_id"))
_ORDER = (_rows.unfinished.desc(), _rows.opened_at.desc(), _rows.number.desc())
_AFTER = tuple_(_rows.unfinished, _rows.opened_at, _rows.number) < tuple_(
    bindparam("unfinished", type_=_rows.unfinished.type),
    bindparam("opened_at", type_=_rows.opened_at.type),
    bindparam("number", type_=_rows.number.type),
)
# What a branch is shown as finds it by the index; what it is called tells it from others that are
# shown alike.
_OF_BRANCH = (_rows.shown_branch == bindparam("shown")) & or_(
    _rows.head_branch == bindparam("branch"), _rows.shown_branch == bindparam("branch")
)
_OF_OWNER = func.lower(_rows.head_owner) == bindparam("owner")


def _page(branch: bool, owner: bool, after: bool) -> Prepared:
    conditions = ((branch, _OF_BRANCH), (owner, _OF_OWNER), (after, _AFTER))
    wanted_ones = (condition for wanted, condition in conditions if wanted)
    query = select(*LISTED).where(*_IN_LISTS, *wanted_ones)
    return Prepared(query.order_by(*_ORDER).limit(bindparam("limit")))


PAGES: Mapping[tuple[bool, bool, bool], Prepared] = {
    (branch, owner, after): _page(branch, owner, after)
    for branch in (False, True)
    for owner in (False, True)
    for after in (False, True)
}


def page(
    connection: Connection,
    repository_id: int,
    *,
    branch: str | None = None,
    owner: str | None = None,
    after: PageKey | None = None,
    limit: int,
) -> list[ListedPullRequest]:
    """A page of the total order: unfinished first, newest opened first, highest number first.

    `branch` is exact and case-sensitive, as the forge has it or as it is shown with its hidden
    characters taken out; `owner` (of the head) is neither. Gone ones are left out.
    `after` is the key of the last row before the page, which need not be stored any more.
    """
    given: dict[str, Any] = {"repository_id": repository_id, "limit": limit}
    if branch is not None:
        given |= _named(branch)
    if owner is not None:
        given["owner"] = storable_text(owner).lower()
    if after is not None:
        unfinished, opened_at, number = after
        given |= {"unfinished": int(unfinished), "opened_at": opened_at, "number": number}
    query = PAGES[branch is not None, owner is not None, after is not None]
    return [listed_of(row) for row in query.all(connection, given)]


def _named(branch: str) -> dict[str, str]:
    name = storable_text(branch)
    return {"branch": name, "shown": clean_line(name).text}


_UNFINISHED = _STORED.where(*_IN_LISTS, _rows.unfinished == 1).order_by(*_ORDER)


def unfinished(connection: Connection, repository_id: int) -> list[StoredPullRequest]:
    """Every open or draft pull request of a repository, in the order of `page`."""
    rows = connection.execute(_UNFINISHED, {"repository_id": repository_id})
    return [stored_of(row) for row in rows.all()]


LARGEST_NUMBER = 2**31 - 1  # both forges' GraphQL schemas have 32-bit integers
_BY_NUMBER = Prepared(
    _STORED.where(
        _rows.repository_id == bindparam("repository_id"), _rows.number == bindparam("number")
    )
)
_BY_ID = Prepared(_STORED.where(_rows.id == bindparam("id")))


def pull_request(
    connection: Connection, repository_id: int, number: int
) -> StoredPullRequest | None:
    """One pull request by its number, gone ones too."""
    if not 0 < number <= LARGEST_NUMBER:
        return None
    given = {"repository_id": repository_id, "number": number}
    row = _BY_NUMBER.first(connection, given)
    return None if row is None else stored_of(row)


def pull_request_by_id(connection: Connection, id_: int) -> StoredPullRequest | None:
    """One pull request by our own id, gone ones too."""
    row = _BY_ID.first(connection, {"id": id_})
    return None if row is None else stored_of(row)


_OBSERVED = select(freshness_table.c.pull_request_id, *TIMES).where(
    freshness_table.c.pull_request_id.in_(bindparam("ids", expanding=True))
)
_NEVER = FacetTimes(*[None] * len(TIMES))


def observed(connection: Connection, ids: Sequence[int]) -> dict[int, FacetTimes]:
    """When the observations of pull requests were last read, by our ids."""
    rows = connection.execute(_OBSERVED, {"ids": list(ids)}).all()
    return dict.fromkeys(ids, _NEVER) | {id_: FacetTimes(*times) for id_, *times in rows}


_MOVES = [ChangeKind.CLOSED.value, ChangeKind.MERGED.value, ChangeKind.REOPENED.value]
_MOVED = (
    select(func.count(distinct(change.c.pull_request_id)))
    .join(pull_request_table, _rows.id == change.c.pull_request_id)
    .where(
        change.c.repository_id == bindparam("repository_id"),
        change.c.seq > bindparam("seq"),
        change.c.kind.in_(_MOVES),
    )
)


def moved_since(
    connection: Connection,
    repository_id: int,
    seq: int,
    branch: str | None = None,
    owner: str | None = None,
) -> int:
    """How many pull requests passed between unfinished and finished after a change's number."""
    query = _MOVED
    given: dict[str, Any] = {"repository_id": repository_id, "seq": seq}
    if branch is not None:
        query, given = query.where(_OF_BRANCH), given | _named(branch)
    if owner is not None:
        query, given = query.where(_OF_OWNER), given | {"owner": storable_text(owner).lower()}
    return connection.execute(query, given).scalar_one()


_COUNTS = (
    select(_rows.repository_id, func.count(), func.sum(_rows.unfinished))
    .where(_rows.gone_at.is_(None))
    .group_by(_rows.repository_id)
)
_THREADS = select(func.count()).select_from(thread)
_OPEN_WISHES = select(func.count()).select_from(wish).where(wish.c.outcome.is_(None))


def status(connection: Connection) -> StoreStatus:
    """Counts over everything stored, and how far each repository's reads have come."""
    counts = {id_: (total, int(left)) for id_, total, left in connection.execute(_COUNTS)}
    lines = tuple(
        RepositoryStatus(known, sweep(connection, known.id), *counts.get(known.id, (0, 0)))
        for known in repositories(connection)
    )
    return StoreStatus(
        repositories=lines,
        pull_requests=sum(line.pull_requests for line in lines),
        unfinished=sum(line.unfinished for line in lines),
        threads=connection.execute(_THREADS).scalar_one(),
        last_change=newest_change(connection),
        open_wishes=connection.execute(_OPEN_WISHES).scalar_one(),
    )
