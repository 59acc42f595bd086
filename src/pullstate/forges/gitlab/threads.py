"""Review threads: REST's discussions, all pages, read together with the diff that they stand on.

GraphQL's positions have no ranges of lines; it gives the diff of several merge requests at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pullstate.domain.review import Threads
from pullstate.forges.errors import (
    Forbidden,
    ForgeError,
    NotVisible,
    RateLimited,
    Unauthorized,
    Unexpected,
    Unreachable,
)
from pullstate.forges.forge import Repository, Target, ThreadsReading
from pullstate.forges.gitlab import documents
from pullstate.forges.gitlab.api import Api, read, read_all, route
from pullstate.forges.gitlab.conversation import in_order, is_thread, same_diff, thread
from pullstate.forges.gitlab.facet_payloads import Discussion, OnDiff
from pullstate.forges.gitlab.payloads import DiffRefs
from pullstate.forges.gitlab.place import Place
from pullstate.forges.gitlab.projects import Projects
from pullstate.forges.gitlab.rest_rows import RestRows
from pullstate.forges.gitlab.schema import NoGraphQL

MAX_PAGES = 100  # of 100 discussions
Seen = tuple[list[Discussion], str | None]


class DiscussionsReader:
    """Reads the discussions of one site's merge requests."""

    def __init__(self, api: Api, projects: Projects, rest: RestRows) -> None:
        self._api, self._projects, self._rest = api, projects, rest

    async def threads(self, targets: Sequence[Target]) -> list[ThreadsReading]:
        """All threads with all comments. Raises where the first could not even be asked for."""
        found: dict[Target, ThreadsReading] = {}
        for repository in dict.fromkeys(each.repository for each in targets):
            of_it = [each for each in targets if each.repository == repository]
            try:
                found |= {each.target: each for each in await self._of(repository, of_it)}
            except (RateLimited, Unreachable) as fault:
                if not any(each.threads for each in found.values()):
                    raise
                found |= {each: ThreadsReading(each, fault=fault) for each in of_it}
        return [found[each] for each in targets]

    async def discussions(self, target: Target) -> Seen:
        """All discussions of a merge request as they are, and why some are missing."""
        path = route(target.repository.forge_id, "merge_requests", target.number, "discussions")
        rows, more = await self._api.items(path, pages=MAX_PAGES)
        found, fault = read_all(Discussion, rows)
        if more:
            fault = Unexpected(f"more than {MAX_PAGES * 100} discussions, of which the first are")
        return found, str(fault) if fault else None

    async def _of(self, repository: Repository, targets: Sequence[Target]) -> list[ThreadsReading]:
        """A push between two requests makes all look outdated: where any does, the diff is looked
        at once more, and what it changed under is read again."""
        seen = {each: await self._seen(each) for each in targets}
        refs = await self._refs(repository, _on_diff(seen))
        doubtful = [each for each in targets if _looks_outdated(seen[each], refs.get(each.number))]
        if doubtful:
            again = await self._refs(repository, doubtful)
            moved = [each for each in doubtful if again.get(each.number) != refs.get(each.number)]
            seen |= {each: await self._seen(each) for each in moved}
            refs |= again
        return [self._reading(each, seen[each], refs.get(each.number)) for each in targets]

    async def _seen(self, target: Target) -> Seen | ForgeError:
        try:
            return await self.discussions(target)
        except (Unauthorized, RateLimited, Unreachable):
            raise
        except ForgeError as fault:
            return fault

    def _reading(
        self, target: Target, seen: Seen | ForgeError, refs: DiffRefs | None
    ) -> ThreadsReading:
        if isinstance(seen, ForgeError):
            return ThreadsReading(target, fault=seen)
        discussions, gap = seen
        repository = target.repository
        place = Place(self._api.site.url, repository.forge_id, repository.path)
        page = place.merge_request(target.number)
        made = [thread(each, refs, page) for each in discussions if is_thread(each)]
        return ThreadsReading(target, Threads(in_order(made), gap))

    async def _refs(self, repository: Repository, targets: Sequence[Target]) -> dict[int, DiffRefs]:
        """The present diff of each merge request, as far as it can be read."""
        numbers = [each.number for each in targets]
        if not numbers:
            return {}
        try:
            result = await self._projects.ask(repository, documents.DIFF_REFS, numbers)
        except NoGraphQL:
            return await self._refs_by_rest(repository, numbers)
        nodes = (result.data["project"].get("mergeRequests") or {}).get("nodes") or ()
        return _refs_of(nodes)

    async def _refs_by_rest(
        self, repository: Repository, numbers: Sequence[int]
    ) -> dict[int, DiffRefs]:
        found: dict[int, DiffRefs] = {}
        for number in numbers:
            try:
                seen = await self._rest.one(repository, number)
            except (NotVisible, Forbidden, Unexpected):
                continue
            if seen.diff_refs:
                found[number] = seen.diff_refs
        return found


def _refs_of(nodes: Sequence[Mapping[str, object] | None]) -> dict[int, DiffRefs]:
    seen = [read(OnDiff, node) for node in nodes if node]
    return {each.iid: each.diff_refs for each in seen if each.diff_refs}


def _on_diff(seen: Mapping[Target, Seen | ForgeError]) -> list[Target]:
    """Those of which some note stands on the diff."""
    return [each for each, found in seen.items() if any(_positions(found))]


def _positions(seen: Seen | ForgeError) -> list[DiffRefs]:
    if isinstance(seen, ForgeError):
        return []
    notes = [note for each in seen[0] if is_thread(each) for note in each.notes]
    return [note.position for note in notes if note.position]


def _looks_outdated(seen: Seen | ForgeError, refs: DiffRefs | None) -> bool:
    return refs is not None and not all(same_diff(each, refs) for each in _positions(seen))
