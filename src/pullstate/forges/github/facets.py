"""What is shown of one pull request beyond its row: read when it is wished for, whole."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pullstate.domain.merge_request import (
    Commits,
    Conflicts,
    Diffs,
    Facet,
    FacetBody,
    Notes,
    Overview,
    Pipelines,
)
from pullstate.forges.errors import Unexpected
from pullstate.forges.forge import Target
from pullstate.forges.github import facet_documents as documents
from pullstate.forges.github import facet_translate as translate
from pullstate.forges.github import payloads
from pullstate.forges.github.api import Api, Read, listing, mapping, read, route
from pullstate.forges.github.conversation import notes
from pullstate.forges.github.facet_payloads import (
    ListedCommit,
    ListedCommitNode,
    OnHead,
    Said,
    Submitted,
)
from pullstate.forges.github.facet_payloads import Overview as SeenOverview

MAX_FILES = 3000  # as many as GitHub lists
MAX_PAGES = 50  # of 100 commits, comments or reviews each


async def overview(api: Api, target: Target) -> Overview:
    return translate.overview(await _overview(api, target))


async def conflicts(api: Api, target: Target) -> Conflicts:
    """GitHub says whether there are conflicts, and not in which files."""
    return translate.conflicts(await _overview(api, target))


async def diffs(api: Api, target: Target) -> Diffs:
    """Every changed file with its patch, from REST: GraphQL has no patches."""
    totals = await _overview(api, target)
    files = await files_of(api, target)
    return translate.diffs(files, totals.changed_files, totals.additions, totals.deletions)


async def files_of(api: Api, target: Target) -> list[Mapping[str, Any]]:
    """The files as REST lists them, at most 3,000."""
    path = f"{route(target.repository.path)}/pulls/{target.number}/files"
    files, _ = await api.items(path, {}, pages=MAX_FILES // 100)
    return files


async def commits(api: Api, target: Target) -> Commits:
    """Newest first."""
    found: list[ListedCommit] = []
    before: str | None = None
    for _ in range(MAX_PAGES):
        node = await _node(api, documents.COMMITS, target, before=before)
        page = read(payloads.Connection[ListedCommitNode], node.get("commits") or {})
        found += [each.commit for each in reversed(page.items) if each.commit]
        before = page.page_info.start_cursor
        if not page.page_info.has_previous_page or before is None:
            return translate.commits(found, truncated=False)
    return translate.commits(found, truncated=True)


async def conversation(api: Api, target: Target) -> Notes:
    """The conversation's comments and the submitted reviews that have a body, oldest first."""
    said, more = await _all(api, documents.CONVERSATION, target, "comments", Said)
    reviews, others = await _all(api, documents.REVIEWS, target, "reviews", Submitted)
    return Notes(notes(said, reviews), truncated=more or others)


async def pipelines(api: Api, target: Target) -> Pipelines:
    """The head's check suites, newest first: a workflow's runs, an app's, and the statuses."""
    pages: list[OnHead] = []
    after: str | None = None
    for _ in range(MAX_PAGES):
        node = await _node(api, documents.PIPELINES, target, after=after)
        pages.append(read(OnHead, node))
        commit = pages[-1].commit
        info = commit.check_suites.page_info if commit and commit.check_suites else None
        if info is None or not info.has_next_page or info.end_cursor is None:
            return translate.pipelines(pages, truncated=False)
        after = info.end_cursor
    return translate.pipelines(pages, truncated=True)


READERS: dict[Facet, Callable[[Api, Target], Awaitable[FacetBody]]] = {
    Facet.OVERVIEW: overview,
    Facet.DIFFS: diffs,
    Facet.COMMITS: commits,
    Facet.NOTES: conversation,
    Facet.PIPELINES: pipelines,
    Facet.CONFLICTS: conflicts,
}
"""The facets that have a reading of their own; discussions are the threads."""


# A token without `read:org` may not name teams, one without `statuses` no legacy statuses.
_DISPENSABLE = frozenset({"requestedReviewer", "statusCheckRollup", "contexts"})


async def _overview(api: Api, target: Target) -> SeenOverview:
    return read(SeenOverview, await _node(api, documents.OVERVIEW, target))


async def _node(api: Api, document: str, target: Target, **variables: Any) -> Mapping[str, Any]:
    """The pull request's node. Raises where it, or what the facet is about, is refused."""
    result = await api.ask(document, id=target.provider_id, **variables)
    node = result.data.get("node")
    if not node:
        raise result.missing("node")
    if refused := [each for each in result.below("node") if each.field not in _DISPENSABLE]:
        raise refused[0].error()
    return mapping(node)


async def _all(
    api: Api, document: str, target: Target, connection: str, model: type[Read]
) -> tuple[list[Read], bool]:
    """Every item of a connection, and whether there were more than are read."""
    found: list[Read] = []
    after: str | None = None
    for _ in range(MAX_PAGES):
        page = (await _node(api, document, target, after=after)).get(connection)
        if page is None:
            raise Unexpected("the forge left out a part of its answer without a reason")
        nodes = listing(mapping(page).get("nodes"))
        found += [read(model, each) for each in nodes if each is not None]
        info = read(payloads.PageInfo, page.get("pageInfo") or {})
        if not info.has_next_page or info.end_cursor is None:
            return found, False
        after = info.end_cursor
    return found, True
