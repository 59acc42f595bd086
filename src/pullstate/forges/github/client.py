"""GitHub as the sync loop asks it: GraphQL for the facts, REST for what is free there."""

from __future__ import annotations

from collections.abc import Sequence

from pullstate.domain.merge_request import Facet, FacetBody
from pullstate.domain.pull_request import PullRequest
from pullstate.domain.site import Site
from pullstate.forges.errors import ForgeError, Unexpected
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
from pullstate.forges.github import documents, rest
from pullstate.forges.github.api import Api
from pullstate.forges.github.conversation import discussions
from pullstate.forges.github.facets import READERS
from pullstate.forges.github.rows import lean_rows, listed, merged, row, whole_rows
from pullstate.forges.github.threads import threads_of
from pullstate.forges.graphql import Result
from pullstate.forges.http import ForgeHttp

LIMITS = Limits(open_page=25, lean_page=100, read_batch=25, delta_batch=10, threads_batch=10)


class GitHub:
    """One GitHub site with one credential."""

    limits = LIMITS

    def __init__(self, site: Site, http: ForgeHttp) -> None:
        """`http` is what `connected(site, …)` gives."""
        self.site = site
        self._http = http
        self._api = Api(site, http)

    async def find_repository(self, path: str) -> Repository:
        """The repository at an address, followed through renames (301 within the host).

        NotVisible where none is, PullRequestsDisabled where it has none by its own choice.
        """
        return await rest.repository(self._api, path)

    async def open_page(self, repository: Repository, cursor: str | None, size: int) -> Page:
        """Unfinished pull requests with all facts, oldest first. 1 point, 1 more for names."""
        result = await self._api.ask(
            documents.OPEN_PAGE, repository=repository.forge_id, size=size, after=cursor
        )
        found = listed(result)
        rows = await whole_rows(self._api, found.rows)
        return found.page((seen for seen, _ in rows), merged(*(gaps for _, gaps in rows)))

    async def lean_page(
        self, repository: Repository, cursor: str | None, size: int, *, newest_first: bool = False
    ) -> Page:
        """Every pull request by creation; unfinished ones without observations. 1 point."""
        result = await self._api.ask(
            documents.LEAN_PAGE,
            repository=repository.forge_id,
            size=size,
            after=cursor,
            direction="DESC" if newest_first else "ASC",
        )
        found = listed(result)
        return found.page(lean_rows(found.rows))

    async def changed(self, deltas: Sequence[Delta], size: int) -> list[DeltaReading]:
        """Lean rows that changed, newest first; up to ten repositories for 1 point."""
        cursors = {f"c{n}": each.cursor for n, each in enumerate(deltas)}
        ids = {f"r{n}": each.repository.forge_id for n, each in enumerate(deltas)}
        result = await self._api.ask(documents.delta(len(deltas)), size=size, **ids, **cursors)
        return [_delta_reading(result, f"r{n}", each) for n, each in enumerate(deltas)]

    async def probe(self, repository: Repository, etag: str | None) -> Probe | None:
        """Whether the newest change is still the one that `etag` vouches for.

        A 304 is free of the primary limit for whoever is authorised; without a token it is not.
        """
        if not await self._http.authorised():
            return None
        return await rest.probe(self._api, repository, etag)

    async def read(self, targets: Sequence[Target]) -> list[Reading]:
        """Targets with all facts, up to 25 for 1 point, and 1 to name what failed on them."""
        result = await self._api.ask(documents.READ, ids=[each.provider_id for each in targets])
        return await self._readings(result, targets)

    async def _readings(self, result: Result, targets: Sequence[Target]) -> list[Reading]:
        rows, faults = [], {}
        nodes = result.data.get("nodes") or ()
        for number, target in enumerate(targets):
            try:
                node = nodes[number] if number < len(nodes) else None
                rows.append(row(result, node, "nodes", number))
            except ForgeError as fault:
                faults[number] = Reading(target, fault=fault)
        seen = iter(await whole_rows(self._api, rows))
        return [
            faults[number] if number in faults else Reading(target, *_parts(next(seen)))
            for number, target in enumerate(targets)
        ]

    async def find_number(self, repository: Repository, number: int) -> PullRequest:
        """One pull request with all facts. NotVisible where the number is none, or an issue's."""
        result = await self._api.ask(
            documents.NUMBERED, repository=repository.forge_id, number=number
        )
        node = result.data.get("node")
        if not node:
            raise result.missing("node")
        found = row(result, node.get("pullRequest"), "node", "pullRequest")
        [(seen, _)] = await whole_rows(self._api, [found])
        return seen

    async def find_branch(
        self, repository: Repository, branch: str, owner: str | None
    ) -> tuple[PullRequest, ...]:
        """Every pull request opened from a branch, newest first, unfinished ones with all facts."""
        rows = [
            each
            for each in await self._lean_from_branch(repository, branch)
            if each.head.branch == branch and _is_of(each, owner)
        ]
        unfinished = [Target(repository, e.number, e.provider_id) for e in rows if not e.finished]
        whole = await self._read_all(unfinished)
        return tuple(whole.get(each.number, each) for each in rows)

    async def _lean_from_branch(self, repository: Repository, branch: str) -> list[PullRequest]:
        rows: list[PullRequest] = []
        cursor: str | None = None
        while True:
            result = await self._api.ask(
                documents.FROM_BRANCH,
                repository=repository.forge_id,
                branch=branch,
                size=LIMITS.lean_page,
                after=cursor,
            )
            found = listed(result)
            rows += lean_rows(found.rows)
            if found.next is None:
                return rows
            cursor = found.next

    async def _read_all(self, targets: Sequence[Target]) -> dict[int, PullRequest]:
        found: dict[int, PullRequest] = {}
        for start in range(0, len(targets), LIMITS.read_batch):
            for reading in await self.read(targets[start : start + LIMITS.read_batch]):
                if reading.pull_request is not None:
                    found[reading.target.number] = reading.pull_request
        return found

    async def threads(self, targets: Sequence[Target]) -> list[ThreadsReading]:
        """All threads with all comments: 1 point for one pull request, 5 for ten."""
        return await threads_of(self._api, targets)

    async def facet(self, target: Target, facet: Facet) -> FacetBody:
        """One facet, whole. Discussions are the review threads."""
        if facet is Facet.DISCUSSIONS:
            [reading] = await self.threads([target])
            if reading.threads is None:
                raise reading.fault or Unexpected("an answer without threads")
            return discussions(reading.threads)
        return await READERS[facet](self._api, target)

    def quotas(self) -> tuple[Quota, ...]:
        """What the last answers said is left of `core` and `graphql`."""
        return self._http.quotas()

    async def aclose(self) -> None:
        """Close connections."""
        await self._http.aclose()


def _parts(seen: tuple[PullRequest, tuple[tuple[str, str], ...]]) -> tuple:
    pull_request, gaps = seen
    return pull_request, None, gaps


def _delta_reading(result: Result, alias: str, delta: Delta) -> DeltaReading:
    """One repository's page, down to `since`; what is missing says nothing of the repository."""
    try:
        found = listed(result, alias)
    except ForgeError as fault:
        return DeltaReading(delta, fault=fault)
    rows = lean_rows(found.rows)
    changed = [each for each in rows if each.changed_at >= delta.since]
    page = found.page(changed)
    reached = len(changed) < len(rows)
    return DeltaReading(
        delta, Page(page.repository, page.rows, None, page.gaps) if reached else page
    )


def _is_of(seen: PullRequest, owner: str | None) -> bool:
    return owner is None or seen.head.owner.casefold() == owner.casefold()
