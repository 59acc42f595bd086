"""What is shown of one merge request beyond its row: read when it is wished for, whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pullstate.domain.merge_request import (
    Commits,
    Conflicts,
    Diffs,
    Discussions,
    Facet,
    FacetBody,
    FailedJob,
    Notes,
    Overview,
    Pipelines,
)
from pullstate.forges.errors import Forbidden, ForgeError, NotVisible, Unauthorized, Unexpected
from pullstate.forges.forge import Target
from pullstate.forges.gitlab import documents
from pullstate.forges.gitlab import facet_translate as translate
from pullstate.forges.gitlab.api import Api, read, read_all, route
from pullstate.forges.gitlab.conversation import discussion, notes
from pullstate.forges.gitlab.diffs import Totals, diffs, needs_stats
from pullstate.forges.gitlab.facet_payloads import (
    Changes,
    Commit,
    ConflictingFiles,
    DiffStats,
    FileDiff,
    PipelineJobs,
)
from pullstate.forges.gitlab.payloads import Job, MergeRequest, Pipeline
from pullstate.forges.gitlab.place import Place
from pullstate.forges.gitlab.projects import Projects
from pullstate.forges.gitlab.rest_rows import RestRows
from pullstate.forges.gitlab.schema import NoGraphQL
from pullstate.forges.gitlab.threads import DiscussionsReader
from pullstate.forges.gitlab.values import nodes

MAX_PAGES = 50  # of 100 files, commits or jobs each
PIPELINES_SHOWN = 100
JOBS_BY_REST = 10  # newest pipelines whose failed jobs are asked for one by one
_WITHOUT_JOBS = frozenset({"created", "pending", "skipped", "preparing", "waiting_for_resource"})


class Facets:
    """Reads the facets of one site's merge requests."""

    def __init__(
        self, api: Api, projects: Projects, rest: RestRows, discussions: DiscussionsReader
    ) -> None:
        self._api, self._projects, self._rest = api, projects, rest
        self._discussions = discussions

    async def read(self, target: Target, facet: Facet) -> FacetBody:
        """One facet, whole. ForgeError where it cannot be read."""
        match facet:
            case Facet.OVERVIEW:
                return await self._overview(target)
            case Facet.DIFFS:
                return await self._diffs(target)
            case Facet.COMMITS:
                return await self._commits(target)
            case Facet.NOTES:
                return await self._notes(target)
            case Facet.PIPELINES:
                return await self._pipelines(target)
            case Facet.CONFLICTS:
                return await self._conflicts(target)
            case Facet.DISCUSSIONS:
                return await self._all_discussions(target)

    async def _overview(self, target: Target) -> Overview:
        return translate.overview(await self._one(target))

    async def _one(self, target: Target) -> MergeRequest:
        return await self._rest.one(target.repository, target.number)

    def _path(self, target: Target, *more: object) -> str:
        return route(target.repository.forge_id, "merge_requests", target.number, *more)

    def _place(self, target: Target) -> Place:
        repository = target.repository
        return Place(self._api.site.url, repository.forge_id, repository.path)

    async def _diffs(self, target: Target) -> Diffs:
        """Files by pages, which GitLab has since 15.7; before that in one answer."""
        try:
            rows, cut = await self._api.items(self._path(target, "diffs"), pages=MAX_PAGES)
        except NotVisible:
            return await self._changes(target)
        files, fault = read_all(FileDiff, rows)
        if fault:
            raise fault
        seen = await self._one(target)
        return diffs(files, await self._totals(target, files, seen.changes_count, cut=cut))

    async def _changes(self, target: Target) -> Diffs:
        """A collapsed file's text comes along when the raw diff is asked for."""
        raw = {"access_raw_diffs": "true"}
        answer = await self._api.get(self._path(target, "changes"), raw)
        seen = read(Changes, answer.json)
        totals = await self._totals(
            target, seen.changes, seen.changes_count, overflow=bool(seen.overflow)
        )
        return diffs(seen.changes, totals)

    async def _totals(
        self, target: Target, files: Sequence[FileDiff], count: str, **flaws: bool
    ) -> Totals:
        """GitLab counts lines that it does not show; it is asked where some are not shown."""
        more = count.isdecimal() and len(files) < int(count)
        if not (more or count.endswith("+") or needs_stats(files) or any(flaws.values())):
            return Totals(count, **flaws)
        try:
            node = await self._node(target, documents.DIFF_STATS)
        except (NoGraphQL, NotVisible):
            return Totals(count, **flaws)
        return translate.totals(read(DiffStats, node), count, **flaws)

    async def _node(self, target: Target, document: str) -> Mapping[str, Any]:
        """The merge request's node of a GraphQL answer."""
        result = await self._projects.ask(target.repository, document, [target.number])
        found = (result.data["project"].get("mergeRequests") or {}).get("nodes") or ()
        node = next((each for each in found if each), None)
        if node is None:
            raise NotVisible("not found, or not visible to the configured token")
        return node

    async def _commits(self, target: Target) -> Commits:
        """Newest first, as GitLab lists them."""
        rows, more = await self._api.items(self._path(target, "commits"), pages=MAX_PAGES)
        found, fault = read_all(Commit, rows)
        return translate.commits(found, self._place(target), truncated=more or fault is not None)

    async def _notes(self, target: Target) -> Notes:
        """Every note, oldest first, from the discussions: only there it says which it is of."""
        found, gap = await self._discussions.discussions(target)
        page = self._place(target).merge_request(target.number)
        return Notes(notes(found, page), truncated=gap is not None)

    async def _all_discussions(self, target: Target) -> Discussions:
        """Every discussion with all its notes, lone comments too."""
        found, gap = await self._discussions.discussions(target)
        page = self._place(target).merge_request(target.number)
        made = tuple(discussion(each, page) for each in found)
        return Discussions(made, truncated=gap is not None)

    async def _pipelines(self, target: Target) -> Pipelines:
        """Newest first, with the jobs that failed. Forbidden where the token may not see them."""
        path = self._path(target, "pipelines")
        rows, more = await self._api.items(path, pages=PIPELINES_SHOWN // 100)
        found, fault = read_all(Pipeline, rows)
        jobs = await self._failed_jobs(target, found)
        return translate.pipelines(found, jobs, truncated=more or fault is not None)

    async def _failed_jobs(
        self, target: Target, pipelines: Sequence[Pipeline]
    ) -> dict[int, tuple[FailedJob, ...]]:
        ran = [each for each in pipelines if (each.status or "").lower() not in _WITHOUT_JOBS]
        if not ran:
            return {}
        place = self._place(target)
        try:
            node = await self._node(target, documents.FAILED_JOBS)
        except (NoGraphQL, NotVisible):
            return await self._failed_jobs_by_rest(ran[:JOBS_BY_REST], place)
        seen = nodes(read(PipelineJobs, node).pipelines)
        return {each.number: translate.failed_jobs(nodes(each.jobs), place) for each in seen}

    async def _failed_jobs_by_rest(
        self, pipelines: Sequence[Pipeline], place: Place
    ) -> dict[int, tuple[FailedJob, ...]]:
        found: dict[int, tuple[FailedJob, ...]] = {}
        for each in pipelines:
            project_id = str(each.project_id or place.project_id)
            path = route(project_id, "pipelines", each.id or "", "jobs")
            try:
                rows, _ = await self._api.items(path, {"scope[]": "failed"}, pages=MAX_PAGES)
            except (Forbidden, NotVisible):
                continue  # a fork's pipeline, which only its own project shows
            found[each.id or 0] = translate.failed_jobs(read_all(Job, rows)[0], place)
        return found

    async def _conflicts(self, target: Target) -> Conflicts:
        """Whether there are any; in which files, where this version's API says it."""
        seen = await self._one(target)
        found = translate.conflicts(seen)
        return await self._with_files(target, found) if found.has_conflicts else found

    async def _with_files(self, target: Target, found: Conflicts) -> Conflicts:
        try:
            answer = await self._api.get(self._path(target, "conflicts"))
            return translate.with_files(found, read(ConflictingFiles, answer.json))
        except Unauthorized:
            raise
        except ForgeError as error:
            if isinstance(error, NotVisible | Forbidden | Unexpected):
                return found
            raise
