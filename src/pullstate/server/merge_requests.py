"""How `get_merge_request` is answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from pullstate.domain import freshness
from pullstate.domain.freshness import Freshness
from pullstate.domain.merge_request import Facet
from pullstate.server import answers, facet_rows
from pullstate.server.asking import note_asked
from pullstate.server.context import Context
from pullstate.server.facet_age import Age
from pullstate.server.facet_rows import Shape
from pullstate.server.merge_request_question import Question, understand
from pullstate.server.merge_request_refusals import AGAIN, refuse_none, refuse_two_different
from pullstate.server.merge_request_row import merge_request_row
from pullstate.server.merge_request_view import View, view_of
from pullstate.server.merge_request_wishes import Wishes, located
from pullstate.server.room import Row, size, together
from pullstate.server.tools.get_merge_request import GetMergeRequest
from pullstate.store.wishes import Granted

REPLY_BYTES = 48_000
NOT_FOUND = "the forge did not find it just now"
Grants = Mapping[Facet, Granted]


async def answer(context: Context, arguments: GetMergeRequest) -> Row:
    """Answer from the store; what is missing or out of date is wished for, once."""
    question, wishes = understand(context, arguments), Wishes.of(context)
    if question.named.by_id_alone:
        question = replace(question, named=await located(context, question.named, wishes))
    view, number = await _with_base(context, question, wishes)
    view, granted = await _with_facets(context, question, wishes, view, number)
    if view.stored is not None:
        await note_asked(context, view.stored)
    return _reply(context, question, view, number, granted)


async def _with_base(context: Context, question: Question, wishes: Wishes) -> tuple[View, Granted]:
    """The view with the merge request itself, and how the wish for it ended. ToolError."""
    named, number = question.named, Granted(True)
    view = await view_of(context, question)
    if not view.known:
        number = await wishes.number(view.asked.repository.id, named.number)
        view = await view_of(context, question)
    refuse_two_different(named, view)
    refuse_none(named, view, number)
    return view, number


async def _with_facets(
    context: Context, question: Question, wishes: Wishes, view: View, number: Granted
) -> tuple[View, Grants]:
    """The view with its facets, and how the wishes for those that were not current ended."""
    wanted = [each for each in _asked_facets(question) if view.age(each) is not Age.CURRENT]
    if not wanted or not number.fulfilled:
        return view, dict.fromkeys(wanted, number)
    repository = view.asked.repository.id
    granted = await wishes.facets(repository, question.named.number, wanted)
    view = await view_of(context, question)
    refuse_none(question.named, view, number)
    return view, granted


def _asked_facets(question: Question) -> tuple[Facet, ...]:
    return (Facet.OVERVIEW, *question.facets)


# --- The reply -----------------------------------------------------------------------------------


def _reply(
    context: Context,
    question: Question,
    view: View,
    number: Granted,
    granted: Grants,
) -> Row:
    assert view.stored is not None
    problems = {
        facet: words
        for facet in _asked_facets(question)
        if (words := _problem(view, facet, granted.get(facet)))
    }
    reply = merge_request_row(view.stored, view.overview)
    end = {"sync": _sync(view, number, problems)}
    shape = Shape(
        question.detail,
        context.exclusion,
        question.notes_page,
        question.notes_per_page,
        view.more_notes,
    )
    parts = {
        facet.value: partial(_facet, view, facet, problems.get(facet), shape)
        for facet in question.facets
    }
    return reply | together(parts, REPLY_BYTES - size(reply | end)) | end


def _facet(view: View, facet: Facet, problem: str | None, shape: Shape, room: int) -> Row:
    """One facet within `room` bytes, or why there is none: it fails alone."""
    said = {"error": problem} if problem else {}
    body = view.body(facet)
    if body is None:
        return said
    return said | facet_rows.row(body, shape, room - size(said))


def _problem(view: View, facet: Facet, wish: Granted | None) -> str | None:
    """What is wrong with a facet, in words; None where it says what the forge would."""
    age = view.age(facet)
    read_now = wish is not None and wish.outcome == "read"
    kept = view.facets.get(facet)
    why = (kept.fault if kept else None) or _why(wish)
    if age is Age.CURRENT or (age is Age.UNSURE and read_now):
        return f"{_as_of(view, facet)}; a later reading failed: {why}" if why else None
    if age is Age.UNREAD:
        return f"not read: {why}" if why else f"not read yet; it is on its way: {AGAIN}"
    said = "before the last change" if age is Age.OUTDATED else "and may have moved since"
    return f"{_as_of(view, facet)}, {said}: {why or f'the newer one is on its way, {AGAIN}'}"


def _why(wish: Granted | None) -> str | None:
    if wish is not None and wish.outcome == "not_found":
        return NOT_FOUND
    return wish.why if wish else None


def _as_of(view: View, facet: Facet) -> str:
    kept = view.facets[facet]
    assert kept.observed_at is not None
    return f"as it was at {answers.stamp(kept.observed_at.replace(microsecond=0))}"


def _sync(view: View, number: Granted, problems: Mapping[Facet, str]) -> Row:
    """How fresh this merge request is: by its repository's sync, or by its own last reading."""
    known = replace(
        view.freshness if view.kept_up else _of_itself(view, number),
        gaps=(*view.freshness.gaps, *((facet.value, why) for facet, why in problems.items())),
    )
    return answers.sync_block(freshness.report(known, view.now), why=_why(number))


def _of_itself(view: View, number: Granted) -> Freshness:
    """Nobody sweeps the repository: this one was read when it was asked about.

    Where it should have been read again and was not, that reading is overdue.
    """
    assert view.stored is not None
    read_at = view.stored.observed.details
    overdue = read_at is not None and not number.fulfilled
    return replace(
        view.freshness,
        swept=read_at is not None,
        as_of=read_at,
        next_at=read_at + view.freshness.interval if overdue and read_at else None,
    )
