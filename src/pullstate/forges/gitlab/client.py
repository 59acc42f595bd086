"""GitLab as the sync loop asks it: REST for lists and threads, GraphQL for the facts."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from pullstate.domain.merge_request import Facet, FacetBody
from pullstate.domain.pull_request import PullRequest
from pullstate.domain.site import Site
from pullstate.forges.errors import ForgeError, NotVisible, Unauthorized, Unexpected
from pullstate.forges.forge import (
    Delta,
    DeltaReading,
    Limits,
    Page,
    Probe,
    Quota,
    Reading,
    Repository,
    Target,
    ThreadsReading,
)
from pullstate.forges.gitlab.api import Api
from pullstate.forges.gitlab.documents import LOCKED_TOLD
from pullstate.forges.gitlab.facets import Facets
from pullstate.forges.gitlab.lean import Lean, gaps_of
from pullstate.forges.gitlab.lists import EVERYTHING, OPENED, Lists
from pullstate.forges.gitlab.payloads import MergeRequest
from pullstate.forges.gitlab.projects import Projects
from pullstate.forges.gitlab.rest_rows import RestRows
from pullstate.forges.gitlab.rows import BATCH, Found, Rows
from pullstate.forges.gitlab.threads import DiscussionsReader
from pullstate.forges.gitlab.translate import whole_second
from pullstate.forges.http import ForgeHttp

LIMITS = Limits(open_page=100, lean_page=100, read_batch=BATCH, delta_batch=1, threads_batch=5)
# By REST each one takes up to five requests.
REST_LIMITS = replace(LIMITS, open_page=10, read_batch=5, threads_batch=2)
MINUTE = timedelta(minutes=1)
CHECKS_A_MINUTE = 5  # single merge requests asked for only to have them checked


class GitLab:
    """One GitLab site with one credential."""

    def __init__(self, site: Site, http: ForgeHttp) -> None:
        """`http` is what `connected(site, …)` gives."""
        self.site = site
        self._http = http
        self._api = Api(site, http)
        self._projects = Projects(self._api)
        self._lists = Lists(self._api, self._projects)
        self._rest = RestRows(self._api, self._projects)
        self._rows = Rows(self._api, self._projects, self._rest)
        self._lean = Lean(self._api, self._projects, self._rows)
        self._discussions = DiscussionsReader(self._api, self._projects, self._rest)
        self._facets = Facets(self._api, self._projects, self._rest, self._discussions)
        self._checked: deque[datetime] = deque(maxlen=CHECKS_A_MINUTE)

    @property
    def limits(self) -> Limits:
        """Smaller where GraphQL does not answer."""
        return REST_LIMITS if self._api.schema.refused() else LIMITS

    async def find_repository(self, path: str) -> Repository:
        """The project at a path, or of a numeric id, followed through renames within the host.

        NotVisible where none is, PullRequestsDisabled where it has turned merge requests off.
        """
        return await self._projects.find(path)

    async def open_page(self, repository: Repository, cursor: str | None, size: int) -> Page:
        """Unfinished merge requests with all facts, oldest first; locked ones come last.

        One list request, which also has GitLab check those whose mergeability is unknown, and one
        to enrich each fifty.
        """
        if await self._rows.uses_rest(repository):
            size = min(size, REST_LIMITS.open_page)
        listed = await self._lists.by_creation(repository, cursor, size, OPENED)
        last = listed.next is None
        numbers = [row.iid for row in listed.rows]
        found = await self._rows.read(listed.repository, numbers, with_locked=last)
        if last:
            await self._add_locked(found)
        rows = sorted(found.rows.values(), key=lambda row: (row.opened_at, row.number))
        return Page(found.repository, tuple(rows), listed.next, gaps_of(listed, found))

    async def _add_locked(self, found: Found) -> None:
        numbers = found.locked
        told = not (self._api.schema.refused() or self._projects.hidden(found.repository))
        if not told or len(numbers) == LOCKED_TOLD:
            numbers = [row.iid for row in await self._lists.locked(found.repository)]
        more = [each for each in numbers if each not in found.rows]
        if more:
            locked = await self._rows.read(found.repository, more)
            found.rows |= locked.rows
            found.gaps |= locked.gaps
            found.faults |= locked.faults

    async def lean_page(
        self, repository: Repository, cursor: str | None, size: int, *, newest_first: bool = False
    ) -> Page:
        """Every merge request by creation; finished ones with what is kept of them.

        One list request, and one to enrich the finished ones.
        """
        listed = await self._lists.by_creation(
            repository, cursor, size, EVERYTHING, newest_first=newest_first
        )
        return await self._lean.page(listed)

    async def newest_change(self, repository: Repository) -> datetime | None:
        """When any merge request last changed. One list request."""
        at = await self._lists.newest_change(repository)
        return at and whole_second(at)

    async def changed(self, deltas: Sequence[Delta], size: int) -> list[DeltaReading]:
        """Lean rows that changed, oldest change first; one list request for each project."""
        found: list[DeltaReading] = []
        for delta in deltas:
            try:
                found.append(DeltaReading(delta, await self._delta(delta, size)))
            except Unauthorized:
                raise
            except ForgeError as fault:
                if len(deltas) == 1:
                    raise
                found.append(DeltaReading(delta, fault=fault))
        return found

    async def _delta(self, delta: Delta, size: int) -> Page:
        listed = await self._lists.by_change(delta.repository, delta.since, delta.cursor, size)
        return await self._lean.page_of_changes(listed)

    async def probe(self, repository: Repository, etag: str | None) -> Probe | None:
        """None: an ETag of GitLab's saves it no work, and us no request."""
        return None

    async def read(self, targets: Sequence[Target]) -> list[Reading]:
        """Targets with all facts: one request for up to fifty of a project."""
        found: dict[Target, Reading] = {}
        for repository in dict.fromkeys(each.repository for each in targets):
            of_it = [each for each in targets if each.repository == repository]
            try:
                answers = await self._read(repository, of_it)
            except Unauthorized:
                raise
            except ForgeError as fault:
                if not any(each.pull_request for each in found.values()):
                    raise
                answers = [Reading(each, fault=fault) for each in of_it]
            found |= {each.target: each for each in answers}
        return [found[each] for each in targets]

    async def _read(self, repository: Repository, targets: Sequence[Target]) -> list[Reading]:
        found = await self._rows.read(repository, [each.number for each in targets])
        await self._have_checked(found)
        return [_reading(each, found) for each in targets]

    async def _have_checked(self, found: Found) -> None:
        """GitLab checks an unchecked one when it is asked for by itself: a few a minute are."""
        now = self._http.now()
        for number in found.unchecked:
            full = len(self._checked) == CHECKS_A_MINUTE
            if full and now - self._checked[0] < MINUTE:
                return
            self._checked.append(now)
            try:
                await self._rest.one(found.repository, number)
            except Unauthorized:
                raise
            except ForgeError:
                return  # it is only a nudge

    async def find_number(self, repository: Repository, number: int) -> PullRequest:
        """One merge request with all facts. NotVisible where the number is none."""
        found = await self._rows.read(repository, [number])
        await self._have_checked(found)
        if number not in found.rows:
            raise found.faults.get(number) or NotVisible("no merge request has this number")
        return found.rows[number]

    async def find_branch(
        self, repository: Repository, branch: str, owner: str | None
    ) -> tuple[PullRequest, ...]:
        """Every merge request opened from a branch, newest first, with all facts. The owner is the
        namespace of the project that the branch lies in."""
        seen = await self._lists.from_branch(repository, branch)
        seen = [row for row in seen if row.source_branch == branch]
        found = await self._whole(repository, seen)
        return tuple(row for row in found if _is_of(row, owner))

    async def _whole(
        self, repository: Repository, seen: Sequence[MergeRequest]
    ) -> list[PullRequest]:
        numbers = [row.iid for row in seen]
        found = await self._rows.read(repository, numbers) if numbers else Found(repository)
        failed = next(iter(found.faults.values()), None)
        if failed and not isinstance(failed, NotVisible):
            raise failed
        return [found.rows[each] for each in numbers if each in found.rows]

    async def threads(self, targets: Sequence[Target]) -> list[ThreadsReading]:
        """All threads with all comments: a request for each, and one or two for their diffs."""
        return await self._discussions.threads(targets)

    async def facet(self, target: Target, facet: Facet) -> FacetBody:
        """One facet of a merge request, whole."""
        return await self._facets.read(target, facet)

    def quotas(self) -> tuple[Quota, ...]:
        """What the last answers said is left; GitLab has one limit for all."""
        return self._http.quotas()

    async def aclose(self) -> None:
        """Close connections."""
        await self._http.aclose()


def _reading(target: Target, found: Found) -> Reading:
    number = target.number
    if number in found.rows:
        return Reading(target, found.rows[number], gaps=found.gaps.get(number, ()))
    return Reading(target, fault=found.faults.get(number) or Unexpected("left out"))


def _is_of(row: PullRequest, owner: str | None) -> bool:
    return not owner or row.head.owner.casefold() == owner.casefold()
