"""Domain → what goes over the wire: rows, the sync block, and the words for what went wrong.

Every string that a stranger wrote passes the text boundary here; a row that lost characters there
says how many (`hiddenChars`).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from pullstate.domain import classifier
from pullstate.domain.address import RepositoryAddress
from pullstate.domain.freshness import SyncReport
from pullstate.domain.merge_request import Overview
from pullstate.domain.pull_request import PullRequest
from pullstate.domain.review import Comment, ReviewThread
from pullstate.domain.text import BODY_LIMIT, Cleaned, clean_body, clean_line
from pullstate.store.errors import (
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreMisplaced,
    StoreReadOnly,
    StoreTooNew,
    StoreUnreachable,
)
from pullstate.store.records import StoredPullRequest

Row = dict[str, Any]


def stamp(moment: datetime) -> str:
    """RFC 3339 in UTC with `Z`; a fraction only where there is one."""
    return moment.isoformat().replace("+00:00", "Z")


class Strings:
    """Cleans the strings of one object and counts what was hidden in them."""

    def __init__(self) -> None:
        self.hidden = 0

    def line(self, text: str) -> str:
        """A field of one line."""
        cleaned = clean_line(text)
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


def pull_request_row(stored: StoredPullRequest, address: RepositoryAddress) -> Row:
    """A `PullRequest` of `list_pull_requests`. Facts only: no clock, so it is stable."""
    text = Strings()
    seen = stored.pull_request
    return _details(stored, address, text.line) | _times(seen) | _verdicts(seen) | text.count()


def _details(
    stored: StoredPullRequest, address: RepositoryAddress, line: Callable[[str], str]
) -> Row:
    seen = stored.pull_request
    return {
        "id": stored.handle,
        "forge": address.site.kind.value,
        "providerId": seen.provider_id,
        "url": line(seen.url),
        "repositoryUrl": address.url,
        "headRepositoryUrl": line(seen.head.repository_url),
        "number": seen.number,
        "title": line(seen.title),
        "headBranch": line(seen.head.branch),
        "headSha": seen.head.sha,
        "baseBranch": line(seen.base.branch),
        "baseSha": seen.base.sha,
        "draft": seen.draft,
    }


def _times(seen: PullRequest) -> Row:
    row = {"openedAt": stamp(seen.opened_at), "changedAt": stamp(seen.changed_at)}
    if seen.merged_at is not None:
        row["mergedAt"] = stamp(seen.merged_at)
    if (closed := seen.closed_at or seen.merged_at) is not None:
        row["closedAt"] = stamp(closed)
    return row


def _verdicts(seen: PullRequest) -> Row:
    verdict = classifier.classify(seen)
    return {
        "state": f"PULL_REQUEST_STATE_{verdict.state}",
        "reviewDecision": f"REVIEW_DECISION_{verdict.review_decision}",
        "checks": f"CHECKS_{verdict.checks}",
        "mergeability": f"MERGEABILITY_{verdict.mergeability}",
    }


def thread_row(thread: ReviewThread) -> Row:
    """A thread of `list_pull_request_review_threads`."""
    text = Strings()
    row = {
        "id": thread.id,
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
        "firstComment": comment_row(thread.comments[0], text) if thread.comments else None,
    }
    if len(thread.comments) > 1:
        row["lastComment"] = comment_row(thread.comments[-1], text)
    return row | text.count()


def comment_row(comment: Comment, text: Strings) -> Row:
    """A comment; `bodyTruncated` where its body was cut."""
    body = text.body(comment.body)
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


def merge_request_row(stored: StoredPullRequest, overview: Overview | None) -> Row:
    """The base of `get_merge_request`."""
    text = Strings()
    seen = stored.pull_request
    description = text.body(overview.description if overview else "")
    row: Row = {
        "iid": seen.number,
        "title": text.line(seen.title),
        "state": overview.state if overview else _gitlab_state(seen),
        "author": text.line(seen.author),
        "source_branch": text.line(seen.head.branch),
        "target_branch": text.line(seen.base.branch),
        "web_url": text.line(seen.url),
        "draft": seen.draft,
        "sha": seen.head.sha,
        "created_at": stamp(seen.opened_at),
        "updated_at": stamp(seen.changed_at),
        "merged_at": stamp(seen.merged_at) if seen.merged_at else None,
        "closed_at": stamp(seen.closed_at) if seen.closed_at else None,
        "description": description.text,
        "labels": [text.line(label) for label in overview.labels] if overview else [],
        "reviewers": [text.line(name) for name in overview.reviewers] if overview else [],
        "detailed_merge_status": text.line(overview.detailed_merge_status) if overview else "",
        "pull_request_state": f"PULL_REQUEST_STATE_{classifier.classify(seen).state}",
    }
    if description.truncated:
        row["description_truncated"] = True
    return row | text.count("hidden_chars")


def _gitlab_state(seen: PullRequest) -> str:
    if seen.merged_at is not None:
        return "merged"
    return "closed" if seen.closed_at is not None else "opened"


def size(part: Any) -> int:
    """The bytes that a part of a reply takes as compact JSON in UTF-8."""
    return len(json.dumps(part, ensure_ascii=False, separators=(",", ":")).encode())


def sync_block(report: SyncReport, *, refreshed: bool | None = None, why: str | None = None) -> Row:
    """The `sync` of every reply; `why` is what kept a refresh or a wish from being fulfilled."""
    reason = "; ".join(part for part in (report.reason, why) if part)
    fields = {
        "state": report.state.value,
        "asOf": stamp(report.as_of) if report.as_of else None,
        "ageSeconds": _seconds(report.age),
        "reason": reason or None,
        "nextAt": stamp(report.next_at) if report.next_at else None,
        "refreshed": refreshed,
        "facets": dict(report.gaps) or None,
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
}


def store_trouble(error: StoreError) -> str:
    """What an agent is told of the store; the path stands in `pullstate status` and the log."""
    words = _STORE_TROUBLE.get(
        type(error), "the store was taken over by another process; ask again"
    )
    return f"Not answered: {words}. `pullstate status` in a shell tells more."
