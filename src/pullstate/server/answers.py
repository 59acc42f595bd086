"""Domain → what goes over the wire: rows, the sync block, and the words for what went wrong.

Every string that a stranger wrote passes the text boundary here; a row that lost characters there
says how many (`hiddenChars`).
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from pullstate.domain import classifier
from pullstate.domain.address import RepositoryAddress
from pullstate.domain.freshness import SyncReport
from pullstate.domain.pull_request import PullRequest
from pullstate.domain.review import Comment, ReviewThread
from pullstate.domain.text import BODY_LIMIT, LINE_LIMIT, Cleaned, clean_body, clean_line
from pullstate.store.errors import (
    FencedOut,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreMisplaced,
    StoreReadOnly,
    StoreTooNew,
    StoreUnreachable,
    Untracked,
)
from pullstate.store.records import ListedPullRequest

Row = dict[str, Any]


def stamp(moment: datetime) -> str:
    """RFC 3339 in UTC with `Z`; a fraction only where there is one."""
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return moment.isoformat()[:-6] + "Z"


class Strings:
    """Cleans the strings of one object and counts what was hidden in them."""

    def __init__(self) -> None:
        self.hidden = 0

    def line(self, text: str) -> str:
        """A field of one line."""
        if len(text) <= LINE_LIMIT and text.isascii() and text.isprintable():
            return text
        cleaned = clean_line(text, LINE_LIMIT)
        self.hidden += cleaned.hidden
        return cleaned.text

    def body(self, text: str, limit: int = BODY_LIMIT) -> Cleaned:
        """A text of many lines, cut at `limit` characters."""
        cleaned = clean_body(text, limit)
        self.hidden += cleaned.hidden
        return cleaned

    def count(self, name: str = "hiddenChars") -> Row:
        """What the object says of it."""
        return {name: self.hidden} if self.hidden else {}


def line(text: str) -> str:
    """One line of text that belongs to no row which could say what was hidden in it."""
    return clean_line(text, LINE_LIMIT).text


def pull_request_row(listed: ListedPullRequest, address: RepositoryAddress) -> Row:
    """A `PullRequest` of `list_pull_requests`. Facts only: no clock, so it is stable."""
    text, seen = Strings(), listed.pull_request
    head, base, facts = seen.head, seen.base, classifier.facts_of(seen)
    row = {
        "id": listed.handle,
        "forge": address.site.kind.value,
        "providerId": text.line(seen.provider_id),
        "url": text.line(seen.url),
        "repositoryUrl": address.url,
        "headRepositoryUrl": text.line(head.repository_url),
        "number": seen.number,
        "title": text.line(seen.title),
        "headBranch": text.line(head.branch),
        "headSha": text.line(head.sha),
        "baseBranch": text.line(base.branch),
        "baseSha": text.line(base.sha),
        "draft": seen.draft,
        "state": "PULL_REQUEST_STATE_" + classifier.state_of(facts),
        "openedAt": stamp(seen.opened_at),
        "changedAt": stamp(seen.changed_at),
        "reviewDecision": "REVIEW_DECISION_" + facts.review,
        "checks": "CHECKS_" + facts.checks,
        "mergeability": "MERGEABILITY_" + facts.mergeability,
    }
    row |= _ended(seen)
    row |= text.count()
    return row


def _ended(seen: PullRequest) -> Row:
    """When it was merged or closed, as far as it was."""
    if not seen.finished:
        return {}
    times = {"mergedAt": seen.merged_at, "closedAt": seen.closed_at or seen.merged_at}
    return {name: stamp(at) for name, at in times.items() if at is not None}


def thread_row(thread: ReviewThread, limit: int = BODY_LIMIT) -> Row:
    """A thread of `list_pull_request_review_threads`, its bodies cut at `limit` characters."""
    text = Strings()
    row = {
        "id": text.line(thread.id),
        "isResolved": thread.is_resolved,
        "isOutdated": thread.is_outdated,
        "path": None if thread.path is None else text.line(thread.path),
        "line": thread.line,
        "startLine": thread.start_line,
        "originalLine": thread.original_line,
        "originalStartLine": thread.original_start_line,
        "side": thread.side,
        "subject": thread.subject,
        "resolvedBy": None if thread.resolved_by is None else text.line(thread.resolved_by),
        "commentCount": len(thread.comments),
        "firstComment": comment_row(thread.comments[0], text, limit) if thread.comments else None,
    }
    if len(thread.comments) > 1:
        row["lastComment"] = comment_row(thread.comments[-1], text, limit)
    row |= text.count()
    return row


def comment_row(comment: Comment, text: Strings, limit: int = BODY_LIMIT) -> Row:
    """A comment; `bodyTruncated` where its body was cut."""
    body = text.body(comment.body, limit)
    row: Row = {
        "id": comment.id,
        "author": text.line(comment.author),
        "body": body.text,
        "createdAt": stamp(comment.created_at),
        "url": text.line(comment.url),
    }
    if body.truncated:
        row["bodyTruncated"] = True
    if comment.minimized:
        row["minimized"] = text.line(comment.minimized)
    return row


def sync_block(report: SyncReport, *, refreshed: bool | None = None, why: str | None = None) -> Row:
    """The `sync` of every reply; `why` is what kept a refresh or a wish from being fulfilled."""
    said = report.reason or ""
    reason = said if not why or why in said else "; ".join(filter(None, (said, why)))
    fields = {
        "state": report.state.value,
        "asOf": stamp(report.as_of) if report.as_of else None,
        "ageSeconds": _seconds(report.age),
        "reason": reason or None,
        "nextAt": stamp(report.next_at) if report.next_at else None,
        "refreshed": refreshed,
        "facets": {facet: line(words) for facet, words in report.gaps} or None,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _seconds(age: timedelta | None) -> int | None:
    return None if age is None else max(0, round(age.total_seconds()))


def bad_cursor(name: str, error: Exception) -> str:
    """What a caller is told of a cursor that cannot go on."""
    return (
        f"{name} cannot be continued: {error}. Leave it out to start at the first page, or send "
        "the nextPageToken of the last reply to this same question."
    )


_STORE_TROUBLE: dict[type[StoreError], str] = {
    StoreBusy: "another process is writing to the store; ask again in a few seconds",
    StoreTooNew: "the store was written by a newer pullstate: restart this client to get it",
    StoreReadOnly: "the store can be read but not written, and this needs a write",
    StoreFull: "there is no room left on the store's disk: free some and ask again",
    StoreDamaged: "the store was damaged; it is being filled anew: ask again in a minute",
    StoreUnreachable: "the store cannot be opened, or its server does not answer",
    StoreMisplaced: "the store's path is on a network or virtual file system, where SQLite loses "
    "data: name another path in PULLSTATE_STORE, or a PostgreSQL URL",
    FencedOut: "another process took the store over; ask again",
    Untracked: "the repository was untracked or purged just now; ask again",
}


def trouble(error: StoreError) -> str:
    """What an agent is told of the store; the path stands in `pullstate status` and the log."""
    return _STORE_TROUBLE.get(type(error), "the store could not be used")


def store_trouble(error: StoreError) -> str:
    """The same where it kept a call from being answered at all."""
    return f"Not answered: {trouble(error)}. `pullstate status` in a shell tells more."
