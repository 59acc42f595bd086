"""How `get_merge_request` is answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import anyio
from sqlalchemy import Connection

from pullstate.domain import freshness
from pullstate.domain.freshness import Freshness
from pullstate.domain.merge_request import Facet, Note, Overview
from pullstate.server import answers, facet_rows
from pullstate.server.asking import Asked, asked_about
from pullstate.server.context import Context, Granted
from pullstate.server.facet_rows import Shape
from pullstate.server.merge_request_question import Question, understand
from pullstate.server.registry import ToolError
from pullstate.server.tools.get_merge_request import GetMergeRequest
from pullstate.store import reading
from pullstate.store.records import Depth, StoredFacet, StoredPullRequest
from pullstate.store.wishes import WishKind

REPLY_BYTES = 48_000

# What is kept by head commit; the others are good until the merge request is updated.
_OF_THE_HEAD = {Facet.DIFFS, Facet.COMMITS, Facet.PIPELINES, Facet.CONFLICTS}


@dataclass(frozen=True, slots=True)
class View:
    """What is stored of a merge request; without `stored` nothing is."""

    freshness: Freshness
    stored: StoredPullRequest | None
    facets: Mapping[Facet, StoredFacet]
    notes: tuple[tuple[Note, ...], bool] = ((), False)

    def current(self, facet: Facet) -> bool:
        """Whether a facet was read since what it is about last moved."""
        kept = self.facets.get(facet)
        if self.stored is None or kept is None or kept.observed_at is None:
            return False
        seen = self.stored.pull_request
        if facet in _OF_THE_HEAD:
            return kept.head_sha == seen.head.sha
        return kept.changed_at_when_read == seen.changed_at


async def answer(context: Context, arguments: GetMergeRequest) -> answers.Row:
    """Answer from the store; what is not stored or out of date is wished for, once."""
    question = understand(context, arguments)
    asked = await asked_about(context, question.address, Depth.ONE)
    view = await context.store.read(_view, asked, question, context.clock())
    granted = await _wish(context, asked, question, view)
    if granted:
        view = await context.store.read(_view, asked, question, context.clock())
    _refuse_what_is_none(asked, question, view, granted)
    return _reply(context, asked, question, view, granted)


def _view(conn: Connection, asked: Asked, question: Question, now: datetime) -> View:
    repository = asked.repository.id
    known = reading.freshness(conn, repository, now)
    stored = reading.pull_request(conn, repository, question.number)
    if stored is None:
        return View(known, None, {})
    wanted = (Facet.OVERVIEW, *question.facets)
    facets = {facet: reading.facet(conn, stored.id, facet) for facet in wanted}
    notes, more = ((), False)
    if Facet.NOTES in wanted:
        notes, more = reading.note_page(
            conn, stored.id, question.notes_page, question.notes_per_page
        )
    found = {facet: kept for facet, kept in facets.items() if kept is not None}
    return View(known, stored, found, (tuple(notes), more))


async def _wish(
    context: Context, asked: Asked, question: Question, view: View
) -> dict[Facet, Granted]:
    """One wish for each facet that is missing or out of date, all waited for together."""
    granted: dict[Facet, Granted] = {}

    async def wish(facet: Facet) -> None:
        target = f"{question.number}:{facet}"
        granted[facet] = await context.wisher.wish(
            WishKind.FACET, asked.repository.id, target, context.patience
        )

    async with anyio.create_task_group() as group:
        for facet in (Facet.OVERVIEW, *question.facets):
            if not view.current(facet):
                group.start_soon(wish, facet)
    return granted


def _refuse_what_is_none(
    asked: Asked, question: Question, view: View, granted: Mapping[Facet, Granted]
) -> None:
    """Missing and forbidden get one wording: forges answer both alike."""
    words = f"{asked.address.url} has no merge or pull request {question.number} that we know of"
    if view.stored is not None and view.stored.gone_at is None:
        return
    if view.stored is not None or any(each.outcome == "not_found" for each in granted.values()):
        raise ToolError(f"{words}: not found, or not visible to the configured token.")
    why = next((each.why for each in granted.values() if each.why), None)
    reason = why or (view.freshness.fault and view.freshness.fault.detail) or "it is being read"
    raise ToolError(f"{words} yet: {reason}. Ask again in a few seconds.")


def _reply(
    context: Context,
    asked: Asked,
    question: Question,
    view: View,
    granted: Mapping[Facet, Granted],
) -> answers.Row:
    assert view.stored is not None
    kept = view.facets.get(Facet.OVERVIEW)
    overview = kept.body if kept and isinstance(kept.body, Overview) else None
    reply = answers.merge_request_row(view.stored, overview)
    report = freshness.report(view.freshness, context.clock())
    why = next((each.why for each in granted.values() if each.why), None)
    sync = answers.sync_block(report, why=why)
    left = REPLY_BYTES - answers.size(reply) - answers.size(sync)
    for ahead, facet in enumerate(question.facets):
        share = left // (len(question.facets) - ahead)
        reply[facet.value] = _facet_row(context, question, view, facet, granted, share)
        left -= answers.size({facet.value: reply[facet.value]})
    return reply | {"sync": sync}


def _facet_row(
    context: Context,
    question: Question,
    view: View,
    facet: Facet,
    granted: Mapping[Facet, Granted],
    room: int,
) -> answers.Row:
    """One facet within `room` bytes, or why there is none: it fails alone."""
    kept = view.facets.get(facet)
    wish = granted.get(facet)
    if kept is None or kept.body is None:
        why = (kept.fault if kept else None) or (wish.why if wish else None)
        return {"error": why or "not read yet; it is on its way: ask again in a few seconds"}
    shape = Shape(
        room, question.detail, context.exclusion, question.notes_page, question.notes_per_page
    )
    row = (
        facet_rows.notes(*view.notes, shape)
        if facet is Facet.NOTES
        else facet_rows.row(kept.body, shape)
    )
    if not view.current(facet):
        row["error"] = "as it was before the last change: " + (
            kept.fault or (wish and wish.why) or "the newer one is being read"
        )
    return row
