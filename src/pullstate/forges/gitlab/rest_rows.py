"""Single merge requests by REST alone: a few requests each, where GraphQL does not answer."""

from __future__ import annotations

from pullstate.domain.pull_request import Check, PullRequest
from pullstate.forges.errors import Forbidden, NotVisible
from pullstate.forges.forge import Repository
from pullstate.forges.gitlab.api import Api, listed, read, read_all, route
from pullstate.forges.gitlab.checks import failed_jobs, rest_pipeline
from pullstate.forges.gitlab.payloads import (
    Approvals,
    AskedReviewer,
    Job,
    MergeRequest,
)
from pullstate.forges.gitlab.place import Place
from pullstate.forges.gitlab.projects import Projects
from pullstate.forges.gitlab.translate import Extra, Gaps, is_finished, username, whole

_WITH_JOBS = frozenset({"failed", "manual"})  # a manual one hides that a job failed


class RestRows:
    """Reads merge requests one by one."""

    def __init__(self, api: Api, projects: Projects) -> None:
        self._api, self._projects = api, projects

    async def one(self, repository: Repository, iid: int) -> MergeRequest:
        """The single merge request, as REST has it. Asking also makes GitLab check an unchecked
        one anew."""
        path = route(repository.forge_id, "merge_requests", iid)
        return read(MergeRequest, (await self._api.get(path)).json)

    async def row(self, repository: Repository, iid: int) -> tuple[PullRequest, Gaps]:
        """A merge request with what REST tells of it; of a finished one only its own record."""
        seen = await self.one(repository, iid)
        if seen.full_path:
            repository = Repository(repository.forge_id, seen.full_path)
        source = (await self._projects.sources([seen], repository)).get(
            seen.source_project_id or 0, ""
        )
        place = Place(self._api.site.url, repository.forge_id, repository.path)
        extra = await self._extra(repository, seen, place)
        return whole(seen, place, source, extra), _gaps(extra)

    async def _extra(self, repository: Repository, seen: MergeRequest, place: Place) -> Extra:
        if is_finished(seen):
            return Extra(pipeline=rest_pipeline(seen))
        required = await self._projects.pipeline_required(repository)
        pipeline = rest_pipeline(seen, await self._failed(seen, place, required))
        unreadable = None
        if pipeline is None:
            unreadable = await self._projects.pipelines_unreadable(repository)
        approvals, why = await self._approvals(repository, seen.iid)
        return Extra(
            pipeline=pipeline,
            checks_unreadable=unreadable,
            pipeline_required=required,
            approvals_left=approvals.approvals_left,
            approved_by=tuple(username(each.user) for each in approvals.approved_by),
            reviewers=await self._reviewers(repository, seen),
            review_unreadable=why,
        )

    async def _failed(self, seen: MergeRequest, place: Place, required: bool) -> tuple[Check, ...]:
        """The failed jobs of the head's pipeline; none where they are refused."""
        pipeline = rest_pipeline(seen)
        found = seen.head_pipeline or seen.pipeline
        if pipeline is None or found is None or pipeline.status.lower() not in _WITH_JOBS:
            return ()
        project = str(found.project_id or place.project_id)
        path = route(project, "pipelines", found.id or "", "jobs")
        try:
            rows, _ = await self._api.items(path, {"scope[]": "failed"}, pages=5)
        except (Forbidden, NotVisible):
            return ()
        return failed_jobs(read_all(Job, rows)[0], place, required=required)

    async def _approvals(self, repository: Repository, iid: int) -> tuple[Approvals, str | None]:
        try:
            path = route(repository.forge_id, "merge_requests", iid, "approvals")
            return read(Approvals, (await self._api.get(path)).json), None
        except (Forbidden, NotVisible) as error:
            return Approvals(), f"approvals: {error}"

    async def _reviewers(
        self, repository: Repository, seen: MergeRequest
    ) -> tuple[tuple[str, str], ...]:
        """Who is asked to look, with the state of each review where the version tells it."""
        if not seen.reviewers:
            return ()
        path = route(repository.forge_id, "merge_requests", seen.iid, "reviewers")
        try:
            rows = listed((await self._api.get(path)).json)
        except (Forbidden, NotVisible):
            return tuple((username(each), "UNREVIEWED") for each in seen.reviewers)
        found, _ = read_all(AskedReviewer, rows)
        return tuple((username(each.user), (each.state or "UNREVIEWED").upper()) for each in found)


def _gaps(extra: Extra) -> Gaps:
    found = (("checks", extra.checks_unreadable), ("review", extra.review_unreadable))
    return tuple((facet, why) for facet, why in found if why)
