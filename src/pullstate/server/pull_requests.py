"""How `list_pull_requests` is answered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from math import inf
from typing import Any

from sqlalchemy import Connection

from pullstate.domain import freshness
from pullstate.domain.classifier import State, facts_of, state_of
from pullstate.domain.freshness import Freshness
from pullstate.domain.text import quote
from pullstate.server import answers, cursors
from pullstate.server.asking import Asked, address_of, look, wished
from pullstate.server.context import Context
from pullstate.server.registry import ToolError
from pullstate.server.tools.list_pull_requests import ListPullRequests
from pullstate.server.wire import fitting, size
from pullstate.store import reading
from pullstate.store.errors import StoreError
from pullstate.store.records import Depth, FacetTimes, ListedPullRequest, PageKey, key_of
from pullstate.store.wishes import Granted, WishKind

PAGE_BYTES = 40_000
DEFAULT_LIMIT = 20
MOST = 100


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a repository. `branch` is empty for all, `owner` None for every owner."""

    owner: str | None
    branch: str
    limit: int
    cursor: str
    max_age: int | None = None  # seconds that what is shown may be old; None: as it is

    @property
    def head(self) -> dict[str, str | None]:
        """What narrows the list."""
        return {"branch": self.branch or None, "owner": self.owner}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page begins, and the newest change when the first page was made."""

    key: PageKey | None = None
    change: int | None = None


@dataclass(frozen=True, slots=True)
class View:
    """One page and what is known of its repository, read in one transaction."""

    asked: Asked
    now: datetime
    identity: tuple[Any, ...]  # what a cursor is bound to
    rows: list[ListedPullRequest]  # one more than are shown, where there is one
    observed: Mapping[int, FacetTimes]  # looked for where an age is asked for
    first: ListedPullRequest | None  # of the whole list; looked for where a branch is named
    freshness: Freshness
    change: int
    moved: int  # looked for where the list may end


async def answer(context: Context, arguments: ListPullRequests) -> answers.Row:
    """Answer from the store; where it is too old or silent, after a wait that is bounded."""
    address = address_of(context, arguments.repository_url)
    question = _question(arguments)
    see = partial(_view, question=question, store_id=context.store.id, clock=context.clock)
    unknown = _bad_cursor(cursors.BadCursor(cursors.ELSEWHERE)) if question.cursor else None
    view_now = partial(look, context, address, Depth.OPEN, see, unknown=unknown)
    view = await view_now()
    first, left = await _first_sweep(context, question, view)
    if first is not None:
        view = await view_now()
    granted = await _wish(context, question, view, left)
    if granted is not None:
        view = await view_now()
    return _reply(question, view, granted or first)


def _question(arguments: ListPullRequests) -> Question:
    owner, colon, branch = arguments.head_branch.rpartition(":")
    if (colon and not (owner and branch)) or ":" in owner:
        raise ToolError(
            f"headBranch: {quote(arguments.head_branch)} is neither BRANCH nor OWNER:BRANCH (no "
            "branch's name holds a colon); send one of them, or leave it out for all branches."
        )
    page = arguments.pagination
    limit = min(page.limit or DEFAULT_LIMIT, MOST)
    max_age = arguments.max_age_seconds
    return Question(owner.lower() or None, branch, limit, page.cursor, max_age)


# --- What is stored ------------------------------------------------------------------------------


def _view(
    conn: Connection,
    asked: Asked,
    question: Question,
    store_id: str,
    clock: Callable[[], datetime],
) -> View:
    repository, now = asked.repository.id, clock()
    identity = (store_id, "list_pull_requests", repository, question.owner, question.branch)
    place = _place(question, identity)
    rows = reading.page(
        conn, repository, **question.head, after=place.key, limit=question.limit + 1
    )
    return View(
        asked,
        now,
        identity,
        rows,
        observed=_observed(conn, question, rows),
        first=_first(conn, repository, question, place, rows),
        freshness=asked.freshness,
        change=asked.newest_change if place.change is None else place.change,
        moved=0 if len(rows) > question.limit else _moved(conn, repository, question, place),
    )


def _observed(
    conn: Connection, question: Question, rows: list[ListedPullRequest]
) -> Mapping[int, FacetTimes]:
    """When what moves without an update was read, of those in which something still moves."""
    if question.max_age is None:
        return {}
    return reading.observed(conn, [row.id for row in rows if not row.pull_request.finished])


def _moved(conn: Connection, repository: int, question: Question, place: Place) -> int:
    """How many closed or reopened since the first page."""
    if place.change is None:
        return 0
    return reading.moved_since(conn, repository, place.change, **question.head)


def _first(
    conn: Connection,
    repository: int,
    question: Question,
    place: Place,
    rows: list[ListedPullRequest],
) -> ListedPullRequest | None:
    if place.key is not None and question.branch:
        rows = reading.page(conn, repository, **question.head, limit=1)
    return rows[0] if rows else None


def _place(question: Question, identity: tuple[Any, ...]) -> Place:
    if not question.cursor:
        return Place()
    try:
        unfinished, opened_at, number, change = cursors.decode(question.cursor, identity)
    except cursors.BadCursor as bad:
        raise _bad_cursor(bad) from None
    return Place(PageKey(unfinished, datetime.fromisoformat(opened_at), number), change)


def _bad_cursor(why: cursors.BadCursor) -> ToolError:
    return ToolError(answers.bad_cursor("pagination.cursor", why))


# --- What is wished for --------------------------------------------------------------------------


async def _first_sweep(
    context: Context, question: Question, view: View
) -> tuple[Granted | None, float]:
    """Wait for the first sweep, where a list would lack rows without it; the patience left."""
    if view.freshness.swept or question.branch or question.cursor:
        return None, context.patience
    began_at = context.clock()
    try:
        swept = await context.wisher.swept(view.asked.repository.id, context.patience)
    except StoreError as error:
        swept = Granted(False, why=answers.trouble(error))
    return swept, context.patience - (context.clock() - began_at).total_seconds()


async def _wish(
    context: Context, question: Question, view: View, patience: float
) -> Granted | None:
    """One wish where the answer is older than asked for, or the branch is not stored."""
    unknown, max_age = bool(question.branch) and view.first is None, question.max_age
    if patience <= 0 or (not unknown and (max_age is None or _age(view) <= max_age)):
        return None
    kind = WishKind.BRANCH if question.branch else WishKind.REFRESH
    target = _target(question, view.first)
    return await wished(context, kind, view.asked.repository.id, target, patience)


def _target(question: Question, first: ListedPullRequest | None) -> str:
    """The head as the forge has it, where that is known: we may have shown it differently."""
    if not question.branch or first is None:
        return f"{question.owner}:{question.branch}" if question.owner else question.branch
    head = first.pull_request.head
    return f"{head.owner}:{head.branch}" if question.owner else head.branch


def _age(view: View) -> float:
    """Seconds since the oldest of what the page shows was seen."""
    moments = [view.freshness.as_of, *(at for row in view.rows for at in _moments(view, row))]
    return max((view.now - at).total_seconds() if at else inf for at in moments)


def _moments(view: View, row: ListedPullRequest) -> Iterator[datetime | None]:
    """When what moves without an update was read; what cannot be read is never of any age."""
    seen = row.pull_request
    if seen.finished:
        return
    observed = view.observed[row.id]
    yield observed.mergeability
    if not (seen.checks and seen.checks.unreadable):
        yield observed.checks
    if not (seen.review and seen.review.unreadable):
        yield observed.review


# --- What is answered ----------------------------------------------------------------------------


def _reply(question: Question, view: View, granted: Granted | None) -> answers.Row:
    address = view.asked.address
    rows = (answers.pull_request_row(row, address) for row in view.rows[: question.limit])
    reply: answers.Row = {"repositoryUrl": answers.line(address.url), "pullRequests": []}
    end = _end(question, view, granted)
    shown = fitting(rows, PAGE_BYTES, rest=size(reply | end) + _TOKEN_BYTES)
    reply["pullRequests"] = shown
    if len(view.rows) > len(shown):
        reply["nextPageToken"] = _token(view, view.rows[len(shown) - 1])
    elif view.moved:
        reply["movedWhilePaging"] = view.moved
    return reply | end


_TOKEN_BYTES = 300  # at most, with its name, for a store id of 16 characters


def _end(question: Question, view: View, granted: Granted | None) -> answers.Row:
    """What follows the rows."""
    end: answers.Row = {}
    if question.branch:
        end["branchState"] = f"PULL_REQUEST_STATE_{_branch_state(view, granted)}"
    why = granted.why if granted else None
    known = replace(view.freshness, gaps=_gaps(view))
    end["sync"] = answers.sync_block(
        freshness.report(known, view.now),
        refreshed=None if question.max_age is None else granted is None or granted.fulfilled,
        why=why,
    )
    return end


def _gaps(view: View) -> tuple[tuple[str, str], ...]:
    """What the last reads missed, and what the rows of this page lack."""
    missing: dict[str, str] = {}
    for row in view.rows:
        seen = row.pull_request
        if seen.finished:
            continue
        if seen.checks and seen.checks.unreadable:
            missing.setdefault("checks", seen.checks.unreadable)
        if seen.review and seen.review.unreadable:
            missing.setdefault("review", seen.review.unreadable)
    return (*missing.items(), *view.freshness.gaps)


def _token(view: View, last: ListedPullRequest) -> str:
    unfinished, opened_at, number = key_of(last.pull_request)
    return cursors.encode(view.identity, (unfinished, opened_at.isoformat(), number, view.change))


def _branch_state(view: View, granted: Granted | None) -> State:
    if view.first is not None:
        return state_of(facts_of(view.first.pull_request))
    looked = granted is not None and granted.outcome == "nothing"
    return State.NONE if view.freshness.swept or looked else State.UNREAD
