"""How `list_pull_requests` is answered."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from math import inf

from sqlalchemy import Connection

from pullstate.domain import freshness
from pullstate.domain.classifier import State, classify
from pullstate.domain.freshness import Freshness
from pullstate.server import answers, cursors
from pullstate.server.asking import Asked, address_of, asked_about
from pullstate.server.context import Context, Granted
from pullstate.server.registry import ToolError, fitting
from pullstate.server.tools.list_pull_requests import ListPullRequests
from pullstate.store import reading
from pullstate.store.records import PageKey, StoredPullRequest
from pullstate.store.wishes import WishKind

PAGE_BYTES = 40_000
DEFAULT_LIMIT = 20
MOST = 100


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, once understood. A walk begins at `key` None, when `change` was newest."""

    asked: Asked
    owner: str | None
    branch: str
    limit: int
    key: PageKey | None = None
    change: int | None = None

    @property
    def head(self) -> str:
        """The branch as a wish spells it."""
        return f"{self.owner}:{self.branch}" if self.owner else self.branch


@dataclass(frozen=True, slots=True)
class View:
    """One page and what is known of its repository, read in one transaction."""

    rows: list[StoredPullRequest]
    first: StoredPullRequest | None  # of the whole list, not of the page
    freshness: Freshness
    newest_change: int
    moved: int


async def answer(context: Context, arguments: ListPullRequests) -> answers.Row:
    """Answer from the store; where it is too old or silent, after one wish."""
    address = address_of(context, arguments.repository_url)
    question = _question(context, await asked_about(context, address), arguments)
    view = await context.store.read(_view, question, context.clock())
    granted = await _wish(context, question, view, arguments.max_age_seconds)
    if granted is not None:
        view = await context.store.read(_view, question, context.clock())
    return _reply(context, question, view, granted, arguments.max_age_seconds is not None)


def _question(context: Context, asked: Asked, arguments: ListPullRequests) -> Question:
    owner, _, branch = arguments.head_branch.rpartition(":")
    limit = min(arguments.pagination.limit or DEFAULT_LIMIT, MOST)
    question = Question(asked, owner or None, branch, limit)
    if not arguments.pagination.cursor:
        return question
    try:
        position = cursors.decode(arguments.pagination.cursor, _identity(context, question))
    except cursors.BadCursor as bad:
        raise ToolError(answers.bad_cursor("pagination.cursor", bad)) from None
    unfinished, opened_at, number, change = position
    key = PageKey(unfinished, datetime.fromisoformat(opened_at), number)
    return replace(question, key=key, change=change)


def _identity(context: Context, question: Question) -> tuple[object, ...]:
    return (context.store.id, question.asked.repository.id, question.owner, question.branch)


def _view(conn: Connection, question: Question, now: datetime) -> View:
    repository = question.asked.repository.id
    head = {"branch": question.branch or None, "owner": question.owner}
    rows = reading.page(conn, repository, **head, after=question.key, limit=question.limit + 1)
    first = rows if question.key is None else reading.page(conn, repository, **head, limit=1)
    return View(
        rows=rows,
        first=first[0] if first else None,
        freshness=reading.freshness(conn, repository, now),
        newest_change=reading.newest_change(conn),
        moved=0
        if question.change is None
        else reading.moved_since(conn, repository, question.change, **head),
    )


async def _wish(
    context: Context, question: Question, view: View, max_age: int | None
) -> Granted | None:
    """One wish where the answer is older than asked for, or the branch is not stored."""
    unknown = bool(question.branch) and view.first is None
    if not unknown and (max_age is None or _age(view, context.clock()) <= max_age):
        return None
    kind = WishKind.BRANCH if question.branch else WishKind.REFRESH
    repository = question.asked.repository.id
    return await context.wisher.wish(kind, repository, question.head, context.patience)


def _age(view: View, now: datetime) -> float:
    """Seconds since the oldest fact on the page was seen."""
    moments = [view.freshness.as_of]
    for row in view.rows:
        if not row.pull_request.finished:
            moments += [row.observed.checks, row.observed.mergeability, row.observed.review]
    return max((now - moment).total_seconds() if moment else inf for moment in moments)


def _reply(
    context: Context, question: Question, view: View, granted: Granted | None, wanted_fresh: bool
) -> answers.Row:
    address = question.asked.address
    rows = [answers.pull_request_row(row, address) for row in view.rows[: question.limit]]
    shown = fitting(rows, PAGE_BYTES)
    more = len(view.rows) > len(shown)
    reply: answers.Row = {"repositoryUrl": address.url, "pullRequests": shown}
    if more:
        reply["nextPageToken"] = _token(context, question, view, view.rows[len(shown) - 1])
    elif view.moved:
        reply["movedWhilePaging"] = view.moved
    if question.branch:
        reply["branchState"] = f"PULL_REQUEST_STATE_{_branch_state(view, granted)}"
    report = freshness.report(view.freshness, context.clock())
    refreshed = (granted is None or granted.fulfilled) if wanted_fresh else None
    reply["sync"] = answers.sync_block(
        report, refreshed=refreshed, why=granted.why if granted else None
    )
    return reply


def _token(context: Context, question: Question, view: View, last: StoredPullRequest) -> str:
    seen = last.pull_request
    change = view.newest_change if question.change is None else question.change
    position = (not seen.finished, seen.opened_at.isoformat(), seen.number, change)
    return cursors.encode(_identity(context, question), position)


def _branch_state(view: View, granted: Granted | None) -> State:
    if view.first is not None:
        return classify(view.first.pull_request).state
    looked = granted is not None and granted.outcome == "nothing"
    return State.NONE if view.freshness.swept or looked else State.UNREAD
