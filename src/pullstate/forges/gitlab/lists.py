"""REST's lists of merge requests, a page at a time.

A cursor is our own: the parameters of the next page, as GitLab's next link has them, and how the
walk goes on where an offset grows too large. Totals are never looked at: they are absent above
10,000 rows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from pullstate.forges.errors import Forbidden, ForgeError, NotVisible, Unexpected
from pullstate.forges.forge import Repository
from pullstate.forges.gitlab.api import Api, Parameters, listed, next_query, read_all, route
from pullstate.forges.gitlab.payloads import MergeRequest
from pullstate.forges.gitlab.projects import Projects
from pullstate.forges.http import Answer

# GitLab refuses page * per_page beyond this (405, or 400 in older versions).
# https://docs.gitlab.com/administration/instance_limits/#max-offset-allowed-by-the-rest-api
MAX_OFFSET = 50_000
MILLISECOND = timedelta(milliseconds=1)  # REST cuts its times to it
EVERYTHING: Parameters = {"scope": "all", "state": "all"}
OPENED: Parameters = {"scope": "all", "state": "opened", "with_merge_status_recheck": "true"}
LOCKED: Parameters = {"scope": "all", "state": "locked"}

Query = dict[str, str | int]


@dataclass(frozen=True, slots=True)
class Listed:
    """One page: its rows, the project as the rows name it, and where to go on.

    `fault` says why a row of it could not be read, or why the walk cannot go on.
    """

    repository: Repository
    rows: list[MergeRequest]
    next: str | None
    fault: ForgeError | None = None


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a list goes on.

    `edge` is the creation that a walk has reached, or the change at which a delta's first page
    ended; `seen` are the numbers on that page, `moved` is true once one of them was met again,
    and `last` where nothing follows.
    """

    query: Query
    edge: datetime | None = None
    seen: tuple[int, ...] = ()
    moved: bool = False
    last: bool = False

    def __str__(self) -> str:
        edge = self.edge.isoformat() if self.edge else None
        parts = [self.query, edge, self.seen, self.moved, self.last]
        return json.dumps(parts, separators=(",", ":"))

    @classmethod
    def parse(cls, text: str) -> Cursor:
        """What `str` wrote; Unexpected where somebody else did."""
        try:
            query, edge, seen, moved, last = json.loads(text)
            at = datetime.fromisoformat(edge) if edge else None
            return cls(dict(query), at, tuple(seen), bool(moved), bool(last))
        except (TypeError, ValueError):
            raise Unexpected("a cursor that no walk here has left") from None

    def met(self, rows: Sequence[MergeRequest]) -> bool:
        """Whether a row of the first page was there again: it moved, and the others with it."""
        return self.moved or not set(self.seen).isdisjoint(row.iid for row in rows)


class Lists:
    """The lists of one site."""

    def __init__(self, api: Api, projects: Projects) -> None:
        self._api, self._projects = api, projects

    async def by_creation(
        self,
        repository: Repository,
        cursor: str | None,
        size: int,
        filters: Parameters,
        *,
        newest_first: bool = False,
    ) -> Listed:
        """A page of a walk by creation. Updates move no row of it, and new ones append to it, or
        come before its beginning."""
        sort = "desc" if newest_first else "asc"
        walk: Query = {**filters, "order_by": "created_at", "sort": sort}
        at = Cursor.parse(cursor) if cursor else Cursor({"page": 1, "per_page": size})
        query = {**walk, **_resized(at.query, size)}
        try:
            answer = await self._get(repository, query)
        except Unexpected:
            narrowed = _narrowed(walk, at, size) if at.edge else None
            if narrowed is None or narrowed == query:
                raise
            query, answer = narrowed, await self._get(repository, narrowed)
        rows, fault = read_all(MergeRequest, listed(answer.json))
        after, stuck = onward(walk, query, answer, rows)
        return Listed(_named(repository, rows), rows, after, fault or stuck)

    async def by_change(
        self, repository: Repository, since: datetime, cursor: str | None, size: int
    ) -> Listed:
        """A page of what changed, oldest change first.

        A row that changes while we page moves to the end, and those behind it move up by one,
        past the page's border. The second page follows GitLab's link, the others are asked for by
        time; where a row of the first was met again, so is what follows its border.
        """
        walk: Query = {**EVERYTHING, "order_by": "updated_at", "sort": "asc"}
        first = {"updated_after": stamp(since), "page": 1, "per_page": size}
        at = Cursor.parse(cursor) if cursor else Cursor({**walk, **first})
        query = {**walk, **at.query}
        answer = await self._get(repository, query)
        rows, fault = read_all(MergeRequest, listed(answer.json))
        after = _onward_by_change(at, query, answer, rows, size)
        return Listed(_named(repository, rows), rows, after, fault)

    async def newest_change(self, repository: Repository) -> datetime | None:
        """When the one that changed last did; None where there is none."""
        newest: Query = {"order_by": "updated_at", "sort": "desc", "page": 1, "per_page": 1}
        answer = await self._get(repository, {**EVERYTHING, **newest})
        rows, fault = read_all(MergeRequest, listed(answer.json))
        if fault:
            raise fault
        return rows[0].updated_at if rows else None

    async def from_branch(self, repository: Repository, branch: str) -> list[MergeRequest]:
        """Every one opened from a branch, newest first."""
        found: list[MergeRequest] = []
        query: Parameters | None = {
            **EVERYTHING,
            "order_by": "created_at",
            "sort": "desc",
            "source_branch": branch,
            "per_page": 100,
        }
        while query is not None:
            answer = await self._get(repository, query)
            rows, fault = read_all(MergeRequest, listed(answer.json))
            if fault:
                raise fault
            found += rows
            query = next_query(answer)
        return list({row.iid: row for row in found}.values())

    async def locked(self, repository: Repository) -> list[MergeRequest]:
        """Those whose merge is under way: seldom any, and none for long."""
        path = route(repository.forge_id, "merge_requests")
        rows, _ = await self._api.items(path, LOCKED, pages=10)
        return read_all(MergeRequest, rows)[0]

    async def _get(self, repository: Repository, query: Mapping[str, Any]) -> Answer:
        try:
            return await self._api.get(route(repository.forge_id, "merge_requests"), query)
        except (Forbidden, NotVisible) as error:
            raise await self._projects.refusal(repository, error) from None


def stamp(moment: datetime) -> str:
    """A time as a parameter, to the millisecond."""
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


def _named(repository: Repository, rows: Sequence[MergeRequest]) -> Repository:
    """The project as its rows name it now."""
    path = next((row.full_path for row in reversed(rows) if row.full_path), repository.path)
    return Repository(repository.forge_id, path)


def _resized(query: Query, size: int) -> Query:
    """The same place with pages of another size; earlier where it lies between two pages."""
    page, before = (_whole(query.get(name)) for name in ("page", "per_page"))
    if page is None or before is None or before == size:
        return query
    return {**query, "page": (page - 1) * before // size + 1, "per_page": size}


def _whole(value: Any) -> int | None:
    return int(value) if str(value).isdecimal() else None


def _narrowed(walk: Query, at: Cursor, size: int) -> Query:
    """The walk from its edge, at offset 0 again; the edge's own rows come once more."""
    window = "created_before" if walk["sort"] == "desc" else "created_after"
    return {**walk, window: stamp(at.edge), "page": 1, "per_page": size}


def onward(
    walk: Query, query: Query, answer: Answer, rows: Sequence[MergeRequest]
) -> tuple[str | None, ForgeError | None]:
    """Where a walk by creation goes on; a window that cannot be narrowed is a fault."""
    link = next_query(answer)
    if link is None:
        return None, None
    edge = _edge([row.created_at for row in rows if row.created_at], walk["sort"] == "desc")
    ahead = Cursor(_followed(query, link), edge)
    page, size = (_whole(link.get(name)) for name in ("page", "per_page"))
    if page is None or size is None or page * size <= MAX_OFFSET or edge is None:
        return str(ahead), None
    narrowed = _narrowed(walk, ahead, size)
    if all(query.get(name) == narrowed[name] for name in narrowed if name.startswith("created_")):
        return None, Unexpected(f"more than {MAX_OFFSET} merge requests were created at one moment")
    return str(Cursor(narrowed, edge)), None


def _edge(times: Sequence[datetime], newest_first: bool) -> datetime | None:
    if not times:
        return None
    return max(times) + MILLISECOND if newest_first else min(times)


def _followed(query: Query, link: Mapping[str, str]) -> Query:
    """The next page. A link repeats our own parameters less exactly: its times lose their
    fractions."""
    own = {name: value for name, value in query.items() if name not in ("page", "per_page")}
    return {**link, **own}


def _onward_by_change(
    at: Cursor, query: Query, answer: Answer, rows: Sequence[MergeRequest], size: int
) -> str | None:
    """Where a delta goes on. What slipped past the first page's border, if a row moved, stands
    right behind it: one more page from there on has it."""
    link, moved = next_query(answer), at.met(rows)
    if at.last or (link is None and not moved):
        return None
    if link is None:
        return str(replace(_from(at.edge, query, size), last=True))
    times = [row.updated_at for row in rows if row.updated_at]
    followed = _followed(query, link)
    if at.edge is None:
        numbers = tuple(row.iid for row in rows)
        return str(Cursor(followed, times[-1] if times else None, numbers))
    ahead = _from(times[-1], query, size).query if times else followed
    if str(ahead["updated_after"]) <= str(query["updated_after"]):
        ahead = followed
    return str(replace(at, query=ahead, moved=moved))


def _from(moment: datetime, query: Query, size: int) -> Cursor:
    """The list from a moment on, the moment included however the database keeps it."""
    begins = stamp(moment - MILLISECOND)
    return Cursor({**query, "updated_after": begins, "page": 1, "per_page": size}, moment)
