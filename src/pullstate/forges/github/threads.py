"""Review threads, all pages of them and of their comments.

A first hundred is not all: what is left out of a list of threads looks resolved, or is never
answered. What cannot be read leaves a gap, and nothing is concluded from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pullstate.domain.review import Threads
from pullstate.forges.errors import ForgeError, Unexpected
from pullstate.forges.forge import Target, ThreadsReading
from pullstate.forges.github import facet_documents, facet_payloads, payloads
from pullstate.forges.github.api import Api, Read, listing, mapping, read
from pullstate.forges.github.conversation import in_order, thread
from pullstate.forges.graphql import Result

BATCH = 10
MAX_PAGES = 200  # of 50 threads, or of 100 comments: more is a forge that goes in circles


@dataclass(slots=True)
class Found:
    """What was read of one thing that has pages: its nodes, or why some are missing."""

    nodes: list[Any] = field(default_factory=list)
    fault: ForgeError | None = None
    pages: int = 0


async def threads_of(api: Api, targets: Sequence[Target]) -> list[ThreadsReading]:
    """Every thread of up to ten pull requests: 1 point for one of them, 5 for ten.

    Raises where the first request fails as a whole; what fails later is a gap.
    """
    ids = [each.provider_id for each in targets]
    found = await _paged(api, dict.fromkeys(ids), facet_documents.threads, "reviewThreads")
    _raise_if_nothing_was_answered(list(found.values()))
    seen = {each: _read_all(facet_payloads.Thread, found[each]) for each in found}
    more = {
        each.id: each.comments.page_info.end_cursor
        for threads in seen.values()
        for each in threads
        if each.comments.page_info.has_next_page
    }
    rest = await _paged(api, more, facet_documents.comments, "comments")
    return [
        _reading(each, found[each.provider_id], seen[each.provider_id], rest) for each in targets
    ]


def _raise_if_nothing_was_answered(found: Sequence[Found]) -> None:
    faults = {id(each.fault) for each in found}
    if found and found[0].fault and len(faults) == 1 and not any(each.pages for each in found):
        raise found[0].fault


def _reading(
    target: Target, found: Found, seen: Sequence[facet_payloads.Thread], rest: Mapping[str, Found]
) -> ThreadsReading:
    """All threads, those that were read with a gap, or the fault where nothing was read."""
    if found.fault and not found.pages:
        return ThreadsReading(target, fault=found.fault)
    made, faults = [], [found.fault]
    for each in seen:
        more = rest.get(each.id) or Found()
        comments = [*each.comments.items, *_read_all(facet_payloads.ReviewComment, more)]
        made.append(thread(each, comments))
        faults.append(more.fault)
    gap = next((str(fault) for fault in faults if fault), None)
    return ThreadsReading(target, Threads(in_order(one for one in made if one), gap))


def _read_all(model: type[Read], found: Found) -> list[Read]:
    """The nodes that can be read; one that cannot is a fault of the whole."""
    seen: list[Read] = []
    for node in found.nodes:
        try:
            seen.append(read(model, node))
        except ForgeError as fault:
            found.fault = found.fault or fault
    return seen


async def _paged(
    api: Api, cursors: Mapping[str, str | None], document: Callable[[int], str], connection: str
) -> dict[str, Found]:
    """Every page of a connection of several nodes, ten nodes a request, from a cursor each."""
    found = {each: Found() for each in cursors}
    waiting = dict(cursors)
    while waiting:
        batch = dict(list(waiting.items())[:BATCH])
        onward = await _next_pages(api, batch, document, connection, found)
        waiting = {each: at for each, at in waiting.items() if each not in batch} | onward
    return found


async def _next_pages(
    api: Api,
    batch: Mapping[str, str | None],
    document: Callable[[int], str],
    connection: str,
    found: Mapping[str, Found],
) -> dict[str, str | None]:
    """Read the next page of each of a batch; the cursors of those that have another."""
    aliases = {f"p{n}": each for n, each in enumerate(batch)}
    after = {f"c{n}": cursor for n, cursor in enumerate(batch.values())}
    try:
        result = await api.ask(document(len(batch)), **aliases, **after)
    except ForgeError as fault:
        for each in batch:
            found[each].fault = fault
        return {}
    pages = {each: _take(result, alias, connection, found[each]) for alias, each in aliases.items()}
    return {each: page.end_cursor for each, page in pages.items() if page.has_next_page}


def _take(result: Result, alias: str, connection: str, into: Found) -> payloads.PageInfo:
    """Add one page; a node or a field that was refused is a fault of the whole."""
    try:
        node = result.data.get(alias)
        page = mapping(node).get(connection) if node else None
        if page is None:
            raise result.missing(alias, connection)
        nodes = listing(mapping(page).get("nodes"))
        info = read(payloads.PageInfo, page.get("pageInfo") or {})
    except ForgeError as fault:
        into.fault = fault
        return payloads.PageInfo()
    into.pages += 1
    into.nodes += [each for each in nodes if each is not None]
    if refused := result.below(alias):
        into.fault = refused[0].error()
    elif None in nodes:
        into.fault = result.missing(alias, connection)
    return _onward(info, into)


def _onward(info: payloads.PageInfo, into: Found) -> payloads.PageInfo:
    if not info.has_next_page or (info.end_cursor and into.pages < MAX_PAGES):
        return info
    into.fault = Unexpected("the forge has more pages and does not lead to them")
    return payloads.PageInfo()
