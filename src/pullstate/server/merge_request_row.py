"""The base of `get_merge_request`: what is shown whatever is asked for besides."""

from __future__ import annotations

from collections.abc import Sequence

from pullstate.domain import classifier
from pullstate.domain.merge_request import Overview
from pullstate.domain.pull_request import PullRequest
from pullstate.server.answers import Strings, stamp
from pullstate.server.room import Row, fill
from pullstate.store.records import StoredPullRequest

HIDDEN = "hidden_chars"
MOST_OF_A_LINE = 1_000  # bytes; the forges' own limits are 255 characters and less
MOST_OF_A_LIST = 4_000  # bytes of labels, and of reviewers


def merge_request_row(stored: StoredPullRequest, overview: Overview | None) -> Row:
    """The base, at most 40,000 bytes; what only the overview tells is null without one."""
    text = Strings()
    row = _details(stored.pull_request, overview, text) | _told(overview, text)
    state = classifier.classify(stored.pull_request).state
    return row | {"pull_request_state": f"PULL_REQUEST_STATE_{state}"} | text.count(HIDDEN)


def _details(seen: PullRequest, overview: Overview | None, text: Strings) -> Row:
    return {
        "iid": seen.number,
        "title": _line(seen.title, text),
        "state": _state(seen, overview),
        "author": _line(seen.author, text),
        "source_branch": _line(seen.head.branch, text),
        "target_branch": _line(seen.base.branch, text),
        "web_url": _line(seen.url, text),
        "draft": seen.draft,
        "sha": _line(seen.head.sha, text),
        "created_at": stamp(seen.opened_at),
        "updated_at": stamp(seen.changed_at),
        "merged_at": stamp(seen.merged_at) if seen.merged_at else None,
        "closed_at": stamp(seen.closed_at) if seen.closed_at else None,
    }


def _state(seen: PullRequest, overview: Overview | None) -> str:
    """As GitLab spells it. The overview may be older than the rest: it only tells of a lock."""
    if seen.merged_at is not None:
        return "merged"
    if seen.closed_at is not None:
        return "closed"
    return "locked" if overview and overview.state == "locked" else "opened"


def _told(overview: Overview | None, text: Strings) -> Row:
    if overview is None:
        unread = ("description", "labels", "reviewers", "detailed_merge_status")
        return dict.fromkeys(unread)
    description = text.body(overview.description)
    row: Row = {"description": description.text}
    if description.truncated:
        row["description_truncated"] = True
    row |= _names("labels", overview.labels, text)
    row |= _names("reviewers", overview.reviewers, text)
    return row | {"detailed_merge_status": _line(overview.detailed_merge_status, text)}


def _names(field: str, names: Sequence[str], text: Strings) -> Row:
    shown = fill([text.line(name) for name in names], MOST_OF_A_LIST)
    missing = len(names) - len(shown)
    return {field: shown} | ({f"{field}_not_shown": missing} if missing else {})


def _line(value: str, text: Strings) -> str:
    """One line; a longer one than any forge lets through ends in an ellipsis."""
    line = text.line(value)
    encoded = line.encode()
    if len(encoded) <= MOST_OF_A_LINE:
        return line
    return encoded[:MOST_OF_A_LINE].decode(errors="ignore") + "…"
