"""Projects by REST: where one is now, what it allows, and the paths of those that forks are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pullstate.forges.errors import (
    Forbidden,
    ForgeError,
    NotVisible,
    Overloaded,
    PullRequestsDisabled,
    RateLimited,
    Unauthorized,
    Unexpected,
)
from pullstate.forges.forge import Repository
from pullstate.forges.gitlab import documents
from pullstate.forges.gitlab.api import Api, read, route
from pullstate.forges.gitlab.kept import Kept
from pullstate.forges.gitlab.payloads import MergeRequest, Project
from pullstate.forges.gitlab.schema import NoGraphQL
from pullstate.forges.graphql import Result

ASKED_SINGLY = 50  # paths of forks that one page may cost where GraphQL does not tell them
AT_ONCE = 100
DISABLED = "the project has merge requests turned off"


class Projects:
    """What is known of a site's projects beyond their merge requests."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._paths: Kept[int, str] = Kept(api.http.now)
        self._unreadable: Kept[str, str] = Kept(api.http.now)
        self._required: Kept[str, bool] = Kept(api.http.now)
        self._hidden: Kept[str, str] = Kept(api.http.now)

    async def find(self, path: str) -> Repository:
        """The project at a path or of a numeric id, followed through renames within the host."""
        project = await self._project(path)
        if not project.has_merge_requests:
            raise PullRequestsDisabled(DISABLED)
        return Repository(str(project.id), project.path_with_namespace)

    async def _project(self, reference: str) -> Project:
        return read(Project, (await self._api.get(route(reference))).json)

    async def ask(self, repository: Repository, document: str, numbers: Sequence[int]) -> Result:
        """The answer about merge requests of a project, by its path, which may have changed.

        NoGraphQL where GraphQL does not answer, or does not show a project that REST does.
        """
        if why := self.hidden(repository):
            raise NoGraphQL(why)
        iids = [str(each) for each in numbers]
        result = await self._api.ask(document, path=repository.path, iids=iids)
        if _is_of(result, repository):
            return result
        if refused := result.below():
            error = refused[0].error()
            if not isinstance(error, NotVisible):
                raise error
        moved = await self.moved(repository)
        if moved.path != repository.path:
            result = await self._api.ask(document, path=moved.path, iids=iids)
            if _is_of(result, repository):
                return result
        raise NoGraphQL(self.hide(repository))

    async def moved(self, repository: Repository) -> Repository:
        """The project as it is named now."""
        project = await self._project(repository.forge_id)
        return Repository(str(project.id), project.path_with_namespace)

    async def refusal(self, repository: Repository, error: ForgeError) -> ForgeError:
        """Why a project's merge requests are refused: it may have turned them off."""
        try:
            project = await self._project(repository.forge_id)
        except (Unauthorized, RateLimited):
            raise
        except ForgeError:
            return error
        return error if project.has_merge_requests else PullRequestsDisabled(DISABLED)

    async def pipelines_unreadable(self, repository: Repository) -> str | None:
        """Why the token may not see the project's pipelines; None where it may.

        Without that right a merge request looks as if it had none.
        """
        known = self._unreadable.get(repository.forge_id)
        if known is None:
            known = await self._why_unreadable(repository)
        return known or None

    async def _why_unreadable(self, repository: Repository) -> str:
        why = ""
        try:
            await self._api.get(route(repository.forge_id, "pipelines"), {"per_page": 1})
        except (Forbidden, NotVisible):
            project = await self._project(repository.forge_id)
            if project.builds_access_level != "disabled":
                why = "the token may not see pipelines"
        except (Overloaded, Unexpected):
            return ""  # says nothing of the token: ask again with the next reading
        return self._unreadable.put(repository.forge_id, why)

    async def pipeline_required(self, repository: Repository) -> bool:
        """Whether a pipeline must succeed before a merge."""
        known = self._required.get(repository.forge_id)
        if known is None:
            project = await self._project(repository.forge_id)
            known = bool(project.only_allow_merge_if_pipeline_succeeds)
            self._required.put(repository.forge_id, known)
        return known

    def hide(self, repository: Repository) -> str:
        """GraphQL does not show the project although REST does: so it is with a job's token."""
        return self._hidden.put(repository.forge_id, "GraphQL does not show this project")

    def hidden(self, repository: Repository) -> str | None:
        """Why GraphQL is not asked for this project."""
        return self._hidden.get(repository.forge_id)

    def note_path(self, project_id: int | None, path: str) -> None:
        """A fork's path, which an answer gave along with something else."""
        if project_id is not None and path:
            self._paths.put(project_id, path)

    async def sources(self, rows: Iterable[MergeRequest], own: Repository) -> dict[int, str]:
        """The paths of the projects that merge requests come from; "" where one is hidden."""
        self.note_path(int(own.forge_id), own.path)
        wanted = {row.source_project_id for row in rows} - {None}
        unknown = sorted(each for each in wanted if self._paths.get(each) is None)
        if unknown:
            await self._learn(unknown)
        return {each: self._paths.get(each) or "" for each in wanted}

    async def _learn(self, ids: list[int]) -> None:
        try:
            for start in range(0, len(ids), AT_ONCE):
                await self._ask(ids[start : start + AT_ONCE])
        except NoGraphQL:
            for each in ids[:ASKED_SINGLY]:
                await self._ask_singly(each)

    async def _ask(self, ids: list[int]) -> None:
        if await self._api.lacks("Query.projects"):
            raise NoGraphQL("this version lists no projects by their ids")
        asked = [f"gid://gitlab/Project/{each}" for each in ids]
        result = await self._api.ask(documents.SOURCES, ids=asked)
        listed = result.data.get("projects")
        if listed is None:
            raise NoGraphQL("GraphQL lists no projects by their ids")
        found = {each["id"]: each["fullPath"] for each in listed.get("nodes") or () if each}
        for project_id, asked_id in zip(ids, asked, strict=True):
            self._paths.put(project_id, found.get(asked_id) or "")

    async def _ask_singly(self, project_id: int) -> None:
        try:
            self._paths.put(project_id, (await self._project(str(project_id))).path_with_namespace)
        except (NotVisible, Forbidden):
            self._paths.put(project_id, "")


def _is_of(result: Result, repository: Repository) -> bool:
    """Whether the project that answers is the one that was meant: paths pass to others."""
    found = result.data.get("project")
    return bool(found) and found.get("id") == f"gid://gitlab/Project/{repository.forge_id}"
