"""GraphQL answers → rows: pages of pull requests, and single ones with all their facts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pullstate.domain.pull_request import PullRequest
from pullstate.forges.errors import ForgeError
from pullstate.forges.forge import Page, Repository
from pullstate.forges.github import payloads
from pullstate.forges.github.api import Api, listing, mapping, read
from pullstate.forges.github.contexts import Contexts, contexts_of, wanted
from pullstate.forges.github.translate import Gaps, Refusals, lean, whole
from pullstate.forges.graphql import Result

UNREAD_ROWS = "details"


@dataclass(frozen=True, slots=True)
class Row:
    """One pull request of an answer, and what of it was refused."""

    seen: payloads.PullRequest
    refusals: Refusals


@dataclass(frozen=True, slots=True)
class Listed:
    """One page of an answer: a repository, rows, where to go on, what could not be read."""

    repository: Repository
    rows: tuple[Row, ...]
    next: str | None
    gaps: Gaps

    def page(self, pull_requests: Iterable[PullRequest], gaps: Gaps = ()) -> Page:
        """As the forge protocol has it; each gap once."""
        return Page(self.repository, tuple(pull_requests), self.next, merged(self.gaps, gaps))


def listed(result: Result, alias: str = "node") -> Listed:
    """The page of pull requests under an alias. Raises where it is missing, and says why."""
    found = result.data.get(alias)
    if not found:
        raise result.missing(alias)
    connection = mapping(found).get("pullRequests")
    if connection is None:
        raise result.missing(alias, "pullRequests")
    connection = mapping(connection)
    rows, gaps = _rows(result, listing(connection.get("nodes")), (alias, "pullRequests", "nodes"))
    info = read(payloads.PageInfo, connection.get("pageInfo") or {})
    named = read(payloads.Identity, found)
    return Listed(
        repository=Repository(named.id, named.name_with_owner),
        rows=rows,
        next=info.end_cursor if info.has_next_page else None,
        gaps=gaps,
    )


def _rows(
    result: Result, nodes: Sequence[Any], path: tuple[str, ...]
) -> tuple[tuple[Row, ...], Gaps]:
    """A row that cannot be read is a gap of its page, and no reason to lose the others."""
    rows: list[Row] = []
    gaps: Gaps = ()
    for number, node in enumerate(nodes):
        try:
            rows.append(row(result, node, *path, number))
        except ForgeError as error:
            gaps = ((UNREAD_ROWS, str(error)),)
    return tuple(rows), merged(gaps, *(each.refusals.gaps() for each in rows))


def row(result: Result, node: Mapping[str, Any] | None, *path: str | int) -> Row:
    """The pull request at a path. Raises where there is none, and says why."""
    if node is None:
        raise result.missing(*path)
    return Row(read(payloads.PullRequest, node), Refusals.of(result.below(*path)))


def lean_rows(rows: Iterable[Row]) -> list[PullRequest]:
    return [lean(each.seen, each.refusals) for each in rows]


async def whole_rows(api: Api, rows: Sequence[Row]) -> list[tuple[PullRequest, Gaps]]:
    """Pull requests with all facts, each with its gaps; what failed on them is asked by name."""
    contexts = await contexts_of(api, [each.seen.id for each in rows if wanted(each.seen)])
    return [_whole(each, contexts.get(each.seen.id)) for each in rows]


def _whole(each: Row, contexts: Contexts | None) -> tuple[PullRequest, Gaps]:
    """Contexts count for the commit that they are of: a push may come between two requests."""
    gaps = each.refusals.gaps()
    if contexts is None:
        return whole(each.seen, each.refusals), gaps
    if contexts.unread:
        why = contexts.unread
        return whole(each.seen, each.refusals, None, why), merged(gaps, (("checks", why),))
    commit = each.seen.commit
    if commit is None or contexts.oid != commit.oid:
        return whole(each.seen, each.refusals), gaps
    return whole(each.seen, each.refusals, contexts.found), gaps


def merged(*gaps: Gaps) -> Gaps:
    """Every (facet, why) once, the first reason for each facet."""
    found: dict[str, str] = {}
    for facet, why in (gap for some in gaps for gap in some):
        found.setdefault(facet, why)
    return tuple(found.items())
