"""How `list_pull_request_review_threads` is answered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import Connection

from pullstate.domain import freshness
from pullstate.domain.freshness import Freshness, SyncReport, SyncState
from pullstate.domain.review import ReviewThread
from pullstate.domain.text import BODY_LIMIT
from pullstate.server import answers, cursors
from pullstate.server.asking import Asked, look, note_asked, path_of, wished
from pullstate.server.context import Context
from pullstate.server.registry import ToolError
from pullstate.server.tools.list_pull_request_review_threads import ListReviewThreads
from pullstate.server.wire import fitting, size
from pullstate.store import reading
from pullstate.store.records import Depth, StoredPullRequest, ThreadCounts, ThreadState
from pullstate.store.wishes import Granted, WishKind

PAGE_BYTES = 40_000
DEFAULT_LIMIT = 50
MOST = 100
GOOD_FOR = 5  # intervals, where only questions have a pull request read: as its threads are re-read
NEVER_READ = ThreadState(None, False, None, None)
NONE_STORED = ThreadCounts(0, 0)
MISSING = (
    "the forge said just now that there is no such pull request; it counts as gone once that is "
    "said again"
)
UNREAD = "the threads of this pull request have not been read yet"


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a repository; `resolved` None asks for all threads."""

    number: int
    resolved: bool | None
    limit: int
    cursor: str


@dataclass(frozen=True, slots=True)
class View:
    """One page of threads and what is known of them; without `stored` nothing is."""

    asked: Asked
    now: datetime
    identity: tuple[Any, ...]  # what a cursor is bound to
    freshness: Freshness
    stored: StoredPullRequest | None = None
    state: ThreadState = NEVER_READ
    counts: ThreadCounts = NONE_STORED
    rows: tuple[ReviewThread, ...] = ()  # one more than are shown, where there is one

    @property
    def current(self) -> bool:
        """All threads were read, and the pull request has not changed since, as far as is known."""
        state = self.state
        if self.stored is None or state.observed_at is None or not state.complete:
            return False
        if state.changed_at_when_read != self.stored.pull_request.changed_at:
            return False
        lately = self.now - state.observed_at <= GOOD_FOR * self.freshness.interval
        return self._is_kept_up or lately

    @property
    def _is_kept_up(self) -> bool:
        """Whether a change would be noticed without a question about this pull request."""
        return self.freshness.swept and self.asked.repository.depth in (Depth.OPEN, Depth.ALL)


async def answer(context: Context, arguments: ListReviewThreads) -> answers.Row:
    """Answer from the store; where the threads are not stored or have changed, after one wish."""
    address = path_of(context, arguments.owner, arguments.repo, arguments.host)
    question = _question(arguments)
    see = partial(_view, question=question, store_id=context.store.id, clock=context.clock)
    unknown = _bad_cursor(cursors.BadCursor(cursors.ELSEWHERE)) if question.cursor else None
    view = await look(context, address, Depth.ONE, see, unknown=unknown)
    granted: Granted | None = None
    if not view.current:
        repository = view.asked.repository.id
        granted = await wished(context, WishKind.THREADS, repository, str(question.number))
        view = await look(context, address, Depth.ONE, see)
    _refuse_what_is_none(question, view, granted)
    if view.stored is not None:
        await note_asked(context, view.stored)
    return _reply(question, view, granted)


def _question(arguments: ListReviewThreads) -> Question:
    limit = min(arguments.limit or DEFAULT_LIMIT, MOST)
    return Question(arguments.pull_number, arguments.is_resolved, limit, arguments.cursor)


# --- What is stored ------------------------------------------------------------------------------


def _view(
    conn: Connection,
    asked: Asked,
    question: Question,
    store_id: str,
    clock: Callable[[], datetime],
) -> View:
    repository, now = asked.repository.id, clock()
    identity = (store_id, _TOOL, repository, question.number, question.resolved)
    after = _after(question, identity)
    known = asked.freshness
    stored = reading.pull_request(conn, repository, question.number)
    if stored is None:
        return View(asked, now, identity, known)
    rows = reading.thread_page(
        conn, stored.id, resolved=question.resolved, after=after, limit=question.limit + 1
    )
    return View(
        asked,
        now,
        identity,
        known,
        stored,
        reading.thread_state(conn, stored.id),
        reading.thread_counts(conn, stored.id),
        tuple(rows),
    )


_TOOL = "list_pull_request_review_threads"


def _after(question: Question, identity: tuple[Any, ...]) -> tuple[datetime, str] | None:
    if not question.cursor:
        return None
    try:
        opened_at, thread = cursors.decode(question.cursor, identity)
    except cursors.BadCursor as bad:
        raise _bad_cursor(bad) from None
    return datetime.fromisoformat(opened_at), thread


def _bad_cursor(why: cursors.BadCursor) -> ToolError:
    return ToolError(answers.bad_cursor("cursor", why))


# --- What is answered ----------------------------------------------------------------------------


def _refuse_what_is_none(question: Question, view: View, granted: Granted | None) -> None:
    """An error for a number that the forge says is no pull request, and how that was learned."""
    url, number, stored = view.asked.address.url, question.number, view.stored
    if stored is None and granted is not None and granted.outcome == "not_found":
        raise ToolError(
            f"pull_number: {url} has no pull request {number} that is visible to the configured "
            "token: the forge was asked just now, and shows the repository without it (an issue's "
            "number is none). Check owner, repo and pull_number."
        )
    if stored is not None and stored.gone_at is not None:
        raise ToolError(
            f"pull_number: {url} had a pull request {number} once, but the forge has said since "
            f"{answers.stamp(stored.gone_at)} that it does not exist: it was asked twice. Send "
            "another number."
        )


def _reply(question: Question, view: View, granted: Granted | None) -> answers.Row:
    sync = answers.sync_block(_report(view), why=_why_not_read(view, granted))
    reply: answers.Row = {
        "threads": [],
        "totalCount": _matching(view.counts, question.resolved),
        "truncated": False,
        "unresolvedCount": view.counts.unresolved,
    }
    room = PAGE_BYTES - size(reply) - size(sync) - _TOKEN_BYTES
    shown = _shown(view.rows[: question.limit], room)
    more = len(view.rows) > len(shown)
    reply |= {"threads": shown, "truncated": more or not view.state.complete}
    if more:
        reply["nextPageToken"] = _token(view, view.rows[len(shown) - 1])
    return reply | {"sync": sync}


_TOKEN_BYTES = 600  # at most, with its names, for a thread's id of 255 characters
_SHORTER = (BODY_LIMIT // 4, 0)


def _shown(threads: Sequence[ReviewThread], room: int) -> list[answers.Row]:
    """The first threads that fit on a page; the first of all, if need be, at the cost of bodies."""
    rows = fitting(map(answers.thread_row, threads), room, rest=0)
    for limit in _SHORTER:
        if len(rows) != 1 or size(rows[0]) < room:
            break
        rows = [answers.thread_row(threads[0], limit)]
    return rows


def _matching(counts: ThreadCounts, resolved: bool | None) -> int:
    if resolved is None:
        return counts.total
    return counts.total - counts.unresolved if resolved else counts.unresolved


def _token(view: View, last: ReviewThread) -> str:
    opened_at, thread = reading.thread_key(last)
    return cursors.encode(view.identity, (opened_at.isoformat(), thread))


def _why_not_read(view: View, granted: Granted | None) -> str | None:
    """Why these are not the threads of just now, where more was wanted."""
    if granted is None:
        return None
    return MISSING if granted.outcome == "not_found" else granted.why


def _report(view: View) -> SyncReport:
    """The threads' own age and gap; whether the rest of the repository is swept is no matter."""
    state, known = view.state, view.freshness
    gaps = [(facet, why) for facet, why in known.gaps if facet != "threads"]
    if state.gap:
        gaps.append(("threads", state.gap))
    as_of = state.observed_at
    report = freshness.report(replace(known, swept=True, as_of=as_of, gaps=tuple(gaps)), view.now)
    if as_of is not None:
        return report
    reason = "; ".join(filter(None, (UNREAD, report.reason)))
    return replace(report, state=SyncState.UNREAD, reason=reason)
