"""How `list_pull_request_review_threads` is answered."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection

from pullstate.domain import freshness
from pullstate.domain.freshness import Freshness
from pullstate.domain.review import ReviewThread
from pullstate.server import answers, cursors
from pullstate.server.asking import Asked, asked_about, path_of
from pullstate.server.context import Context, Granted
from pullstate.server.registry import ToolError, fitting
from pullstate.server.tools.list_pull_request_review_threads import ListReviewThreads
from pullstate.store import reading
from pullstate.store.records import Depth, StoredPullRequest, ThreadCounts, ThreadState
from pullstate.store.wishes import WishKind

PAGE_BYTES = 40_000
DEFAULT_LIMIT = 50
MOST = 100
NO_THREADS = ThreadCounts(0, 0)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, once understood; `after` is where the last page ended."""

    asked: Asked
    number: int
    resolved: bool | None
    limit: int
    after: tuple[datetime, str] | None = None


@dataclass(frozen=True, slots=True)
class View:
    """One page of threads and what is known of them; without `stored` nothing is."""

    freshness: Freshness
    stored: StoredPullRequest | None
    state: ThreadState | None = None
    counts: ThreadCounts = NO_THREADS
    matching: int = 0
    rows: tuple[ReviewThread, ...] = ()

    @property
    def known(self) -> bool:
        """The threads were read, and the pull request has not changed since."""
        if self.stored is None or self.state is None or self.state.observed_at is None:
            return False
        return self.state.changed_at_when_read == self.stored.pull_request.changed_at


async def answer(context: Context, arguments: ListReviewThreads) -> answers.Row:
    """Answer from the store; where the threads are not stored or have changed, after one wish."""
    address = path_of(context, arguments.owner, arguments.repo, arguments.host)
    question = _question(context, await asked_about(context, address, Depth.ONE), arguments)
    view = await context.store.read(_view, question, context.clock())
    granted: Granted | None = None
    if not view.known:
        granted = await context.wisher.wish(
            WishKind.THREADS, question.asked.repository.id, str(question.number), context.patience
        )
        view = await context.store.read(_view, question, context.clock())
    _refuse_what_is_none(question, view, granted)
    return _reply(context, question, view, granted)


def _question(context: Context, asked: Asked, arguments: ListReviewThreads) -> Question:
    limit = min(arguments.limit or DEFAULT_LIMIT, MOST)
    question = Question(asked, arguments.pull_number, arguments.is_resolved, limit)
    if not arguments.cursor:
        return question
    try:
        created_at, thread = cursors.decode(arguments.cursor, _identity(context, question))
    except cursors.BadCursor as bad:
        raise ToolError(answers.bad_cursor("cursor", bad)) from None
    return replace(question, after=(datetime.fromisoformat(created_at), thread))


def _identity(context: Context, question: Question) -> tuple[object, ...]:
    return (
        context.store.id,
        question.asked.repository.id,
        "threads",
        question.number,
        question.resolved,
    )


def _view(conn: Connection, question: Question, now: datetime) -> View:
    repository = question.asked.repository.id
    known = reading.freshness(conn, repository, now)
    stored = reading.pull_request(conn, repository, question.number)
    if stored is None:
        return View(known, None)
    counts = reading.thread_counts(conn, stored.id)
    matching = {
        None: counts.total,
        True: counts.total - counts.unresolved,
        False: counts.unresolved,
    }
    rows = reading.thread_page(
        conn,
        stored.id,
        resolved=question.resolved,
        after=question.after,
        limit=question.limit + 1,
    )
    state = reading.thread_state(conn, stored.id)
    return View(known, stored, state, counts, matching[question.resolved], tuple(rows))


def _refuse_what_is_none(question: Question, view: View, granted: Granted | None) -> None:
    """An error for a number that the forge says is no pull request, and how that was learned."""
    if granted is not None and granted.outcome == "not_found" and view.stored is None:
        raise ToolError(
            f"{question.asked.address.url} has no pull request {question.number} that is visible "
            "to the configured token (the forge was asked just now; an issue's number is none). "
            "Check owner, repo and pull_number."
        )
    if view.stored is not None and view.stored.gone_at is not None:
        raise ToolError(
            f"{question.asked.address.url} had a pull request {question.number} once, but the "
            f"forge has said since {answers.stamp(view.stored.gone_at)} that it does not exist."
        )


def _reply(
    context: Context, question: Question, view: View, granted: Granted | None
) -> answers.Row:
    rows = [answers.thread_row(thread) for thread in view.rows[: question.limit]]
    shown = fitting(rows, PAGE_BYTES)
    more = len(view.rows) > len(shown)
    complete = view.state is not None and view.state.complete
    reply: answers.Row = {
        "threads": shown,
        "totalCount": view.matching,
        "truncated": more or not complete,
        "unresolvedCount": view.counts.unresolved,
    }
    if more:
        last = view.rows[len(shown) - 1]
        position = (reading.thread_key(last)[0].isoformat(), last.id)
        reply["nextPageToken"] = cursors.encode(_identity(context, question), position)
    reply["sync"] = _sync(context, view, granted)
    return reply


def _sync(context: Context, view: View, granted: Granted | None) -> answers.Row:
    """The threads' own age, and the repository's faults."""
    state = view.state
    known = replace(
        view.freshness,
        swept=state is not None and state.observed_at is not None,
        as_of=state.observed_at if state else None,
    )
    if state is not None and state.gap:
        known = replace(known, gaps=(*known.gaps, ("threads", state.gap)))
    report = freshness.report(known, context.clock())
    return answers.sync_block(report, why=granted.why if granted else None)
