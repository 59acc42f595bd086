"""GitHub over GraphQL: pages, deltas, re-readings and look-ups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pullstate.domain.pull_request import PullRequest
from pullstate.forges.errors import ForgeError
from pullstate.forges.forge import Delta, DeltaReading, Limits, Page, Reading, Repository, Target
from pullstate.forges.github import documents
from pullstate.forges.github.api import Api, listing, mapping
from pullstate.forges.github.approvals import RunHeads
from pullstate.forges.github.rest import is_rest_cursor
from pullstate.forges.github.rows import Row, lean_rows, listed, merged, row, whole_rows
from pullstate.forges.github.rulesets import Rulesets
from pullstate.forges.github.translate import Gaps, is_finished
from pullstate.forges.graphql import Result


class GraphQL:
    """Readings over GraphQL. What it cannot tell of few pull requests is asked over REST, and kept:
    the rulesets of their bases, and whose run waits for an approval."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._rulesets, self._run_heads = Rulesets(api), RunHeads(api)

    async def open_page(self, repository: Repository, cursor: str | None, size: int) -> Page:
        """Unfinished ones with all facts, oldest first."""
        result = await self._api.ask(
            documents.OPEN_PAGE, repository=repository.forge_id, size=size, after=_own(cursor)
        )
        found = listed(result)
        rows = await self._whole(found.rows)
        return found.page((seen for seen, _ in rows), merged(*(gaps for _, gaps in rows)))

    async def lean_page(
        self, repository: Repository, cursor: str | None, size: int, newest_first: bool
    ) -> Page:
        """All by creation, lean."""
        result = await self._api.ask(
            documents.LEAN_PAGE,
            repository=repository.forge_id,
            size=size,
            after=_own(cursor),
            direction="DESC" if newest_first else "ASC",
        )
        found = listed(result)
        return found.page(lean_rows(found.rows))

    async def changed(self, deltas: Sequence[Delta], size: int) -> list[DeltaReading]:
        """Lean rows that changed, of several repositories in one request."""
        ids = {f"r{n}": each.repository.forge_id for n, each in enumerate(deltas)}
        cursors = {f"c{n}": _own(each.cursor) for n, each in enumerate(deltas)}
        result = await self._api.ask(documents.delta(len(deltas)), size=size, **ids, **cursors)
        return [_delta_reading(result, f"r{n}", each) for n, each in enumerate(deltas)]

    async def read(self, targets: Sequence[Target]) -> list[Reading]:
        """Targets with all facts."""
        ids = [each.provider_id for each in targets]
        result = await self._api.ask(documents.READ, ids=ids)
        found = [_row_or_fault(result, number) for number in range(len(targets))]
        seen = iter(await self._whole([each for each in found if isinstance(each, Row)]))
        return [_reading(each, one, seen) for each, one in zip(targets, found, strict=True)]

    async def find_number(self, repository: Repository, number: int) -> PullRequest:
        """One by its number."""
        asked = {"repository": repository.forge_id, "number": number}
        result = await self._api.ask(documents.NUMBERED, **asked)
        node = result.data.get("node")
        if not node:
            raise result.missing("node")
        found = row(result, mapping(node).get("pullRequest"), "node", "pullRequest")
        [(seen, _)] = await self._whole([found])
        return seen

    async def find_branch(
        self, repository: Repository, branch: str, owner: str | None, limits: Limits
    ) -> tuple[PullRequest, ...]:
        """Those of a branch: finished ones as a list has them, the others with all facts."""
        listed_ones = await self._from_branch(repository, branch, limits.lean_page)
        rows = [e for e in listed_ones if e.head.branch == branch and _is_of(e, owner)]
        unfinished = [Target(repository, e.number, e.provider_id) for e in rows if not e.finished]
        whole: dict[int, PullRequest] = {}
        for start in range(0, len(unfinished), limits.read_batch):
            for reading in await self.read(unfinished[start : start + limits.read_batch]):
                if reading.pull_request is not None:
                    whole[reading.target.number] = reading.pull_request
        return tuple(whole.get(each.number, each) for each in rows)

    async def _from_branch(
        self, repository: Repository, branch: str, size: int
    ) -> list[PullRequest]:
        rows: list[PullRequest] = []
        asked = {"repository": repository.forge_id, "branch": branch, "size": size}
        cursor: str | None = None
        while True:
            found = listed(await self._api.ask(documents.FROM_BRANCH, **asked, after=cursor))
            rows += lean_rows(found.rows)
            if found.next is None:
                return rows
            cursor = found.next

    async def _whole(self, rows: Sequence[Row]) -> list[tuple[PullRequest, Gaps]]:
        return await whole_rows(self._api, [await self._completed(each) for each in rows])

    async def _completed(self, found: Row) -> Row:
        if is_finished(found.seen):
            return found
        return replace(
            found, seen=await self._rulesets.applied(await self._run_heads.own(found.seen))
        )


def _delta_reading(result: Result, alias: str, delta: Delta) -> DeltaReading:
    """One repository's page, down to `since`; what is missing says nothing of the repository."""
    try:
        found = listed(result, alias)
    except ForgeError as fault:
        return DeltaReading(delta, fault=fault)
    page = found.page(lean_rows(found.rows))
    rows = tuple(each for each in page.rows if each.changed_at >= delta.since)
    onward = page.next if len(rows) == len(page.rows) else None
    return DeltaReading(delta, replace(page, rows=rows, next=onward))


def _row_or_fault(result: Result, number: int) -> Row | ForgeError:
    try:
        nodes = listing(result.data.get("nodes"))
        return row(result, nodes[number] if number < len(nodes) else None, "nodes", number)
    except ForgeError as fault:
        return fault


def _reading(
    target: Target, found: Row | ForgeError, seen: Iterator[tuple[PullRequest, Gaps]]
) -> Reading:
    if isinstance(found, ForgeError):
        return Reading(target, fault=found)
    pull_request, gaps = next(seen)
    return Reading(target, pull_request, gaps=gaps)


def _own(cursor: str | None) -> str | None:
    """A cursor of GraphQL's; a walk that began over REST begins anew."""
    return None if is_rest_cursor(cursor) else cursor


def _is_of(seen: PullRequest, owner: str | None) -> bool:
    return owner is None or seen.head.owner.casefold() == owner.casefold()
