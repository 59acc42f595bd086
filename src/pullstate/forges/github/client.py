"""GitHub as the sync loop asks it: GraphQL for the facts, REST for what is free there.

Without a token GraphQL is closed, and when its quota is used up REST still has its own: then the
delta and single readings go on over REST, and what it cannot say is left unseen, with the reason.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import TypeVar

from pullstate.domain.merge_request import Facet, FacetBody
from pullstate.domain.pull_request import PullRequest
from pullstate.domain.site import Site
from pullstate.forges.errors import NeedsToken, RateLimited, Unexpected
from pullstate.forges.forge import (
    EPOCH,
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
from pullstate.forges.github import rest, rest_facets
from pullstate.forges.github.api import Api
from pullstate.forges.github.conversation import discussions
from pullstate.forges.github.facets import READERS
from pullstate.forges.github.graphql import GraphQL
from pullstate.forges.github.rest import NEEDS_TOKEN, Rest
from pullstate.forges.github.threads import threads_of
from pullstate.forges.graphql import RESOURCE
from pullstate.forges.http import ForgeHttp

LIMITS = Limits(open_page=25, lean_page=100, read_batch=25, delta_batch=10, threads_batch=10)
Answered = TypeVar("Answered")


class GitHub:
    """One GitHub site with one credential."""

    limits = LIMITS

    def __init__(self, site: Site, http: ForgeHttp) -> None:
        """`http` is what `connected(site, …)` gives."""
        self.site = site
        self._http = http
        self._api = Api(site, http)
        self._graphql = GraphQL(self._api)
        self._graphql_back_at: datetime | None = None

    async def find_repository(self, path: str) -> Repository:
        """The repository at an address, followed through renames (301 within the host).

        NotVisible where none is, PullRequestsDisabled where it has none by its own choice.
        """
        return await rest.repository(self._api, path)

    async def open_page(self, repository: Repository, cursor: str | None, size: int) -> Page:
        """Unfinished pull requests with all facts, oldest first. 1 point, 1 more for names.

        Without a token the rows have no observations: reading each would take the hour's requests.
        """
        if await self._http.authorised():
            return await self._graphql.open_page(repository, cursor, size)
        return await self._listed(repository, cursor, size, state="open", direction="asc")

    async def lean_page(
        self, repository: Repository, cursor: str | None, size: int, *, newest_first: bool = False
    ) -> Page:
        """Every pull request by creation; unfinished ones without observations. 1 point."""
        if await self._http.authorised():
            return await self._graphql.lean_page(repository, cursor, size, newest_first)
        direction = "desc" if newest_first else "asc"
        return await self._listed(repository, cursor, size, state="all", direction=direction)

    async def _listed(
        self, repository: Repository, cursor: str | None, size: int, **order: str
    ) -> Page:
        by_rest = Rest(self._api, NEEDS_TOKEN)
        return await by_rest.page(repository, cursor, size, sort="created", **order)

    async def newest_change(self, repository: Repository) -> datetime | None:
        """When any pull request last changed. 1 point."""
        [reading] = await self.changed([Delta(repository, EPOCH)], 1)
        if reading.page is None:
            raise reading.fault or Unexpected("no page and no reason")
        return reading.page.rows[0].changed_at if reading.page.rows else None

    async def changed(self, deltas: Sequence[Delta], size: int) -> list[DeltaReading]:
        """Lean rows that changed, newest first; up to ten repositories for 1 point."""
        return await self._either(
            lambda: self._graphql.changed(deltas, size),
            lambda by_rest: by_rest.changed(deltas, size),
        )

    async def probe(self, repository: Repository, etag: str | None) -> Probe | None:
        """Whether the newest change is still the one that `etag` vouches for.

        A 304 is free of the primary limit for whoever is authorised; without a token it is not.
        """
        if not await self._http.authorised():
            return None
        return await rest.probe(self._api, repository, etag)

    async def read(self, targets: Sequence[Target]) -> list[Reading]:
        """Targets with all facts, up to 25 for 1 point, and 1 to name what failed on them."""
        return await self._either(
            lambda: self._graphql.read(targets), lambda by_rest: by_rest.read(targets)
        )

    async def find_number(self, repository: Repository, number: int) -> PullRequest:
        """One pull request with all facts. NotVisible where the number is none, or an issue's."""
        return await self._either(
            lambda: self._graphql.find_number(repository, number),
            lambda by_rest: by_rest.find_number(repository, number),
        )

    async def find_branch(
        self, repository: Repository, branch: str, owner: str | None
    ) -> tuple[PullRequest, ...]:
        """Every pull request opened from a branch, newest first, unfinished ones with all facts."""
        return await self._either(
            lambda: self._graphql.find_branch(repository, branch, owner, LIMITS),
            lambda by_rest: by_rest.find_branch(repository, branch, owner),
        )

    async def threads(self, targets: Sequence[Target]) -> list[ThreadsReading]:
        """All threads with all comments: 1 point for one pull request, 5 for ten.

        RateLimited while GraphQL's quota is used up; NeedsToken for each without a token.
        """
        if not await self._http.authorised():
            return [ThreadsReading(each, fault=NeedsToken(NEEDS_TOKEN)) for each in targets]
        if self._graphql_back_at and self._graphql_back_at > self._http.now():
            raise RateLimited(self._graphql_back_at, RESOURCE)
        return await threads_of(self._api, targets)

    async def facet(self, target: Target, facet: Facet) -> FacetBody:
        """One facet, whole. Discussions are the review threads."""
        if facet is Facet.DISCUSSIONS:
            [reading] = await self.threads([target])
            if reading.threads is None:
                raise reading.fault or Unexpected("an answer without threads")
            return discussions(reading.threads)
        return await self._either(
            lambda: READERS[facet](self._api, target),
            lambda _: rest_facets.READERS[facet](self._api, target),
        )

    def quotas(self) -> tuple[Quota, ...]:
        """What the last answers said is left of `core` and `graphql`."""
        return self._http.quotas()

    async def aclose(self) -> None:
        """Close connections."""
        await self._http.aclose()

    async def _either(
        self,
        by_graphql: Callable[[], Awaitable[Answered]],
        by_rest: Callable[[Rest], Awaitable[Answered]],
    ) -> Answered:
        """Ask GraphQL, or REST where GraphQL is closed or its own quota is used up."""
        if not await self._http.authorised():
            return await by_rest(Rest(self._api, NEEDS_TOKEN))
        if not self._graphql_back_at or self._graphql_back_at <= self._http.now():
            try:
                return await by_graphql()
            except RateLimited as limit:
                if limit.resource != RESOURCE:
                    raise
                self._graphql_back_at = limit.until
        return await by_rest(Rest(self._api, _used_up(self._graphql_back_at)))


def _used_up(until: datetime) -> str:
    return f"GitHub's GraphQL limit is used up until {until:%Y-%m-%dT%H:%M:%SZ}"
