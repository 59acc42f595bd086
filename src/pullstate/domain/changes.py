"""What happened to a pull request between two readings: the events of the feed.

An event is a change of what is known, so reading the same again is none. What was never known
before does not count as changed where the pull request was already there when the store began.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from pullstate.domain.classifier import checks_of, mergeability_of, ready, review_of
from pullstate.domain.pull_request import (
    CheckVerdict,
    MergeVerdict,
    PullRequest,
    Queue,
    Review,
    ReviewDecision,
)


class ChangeKind(StrEnum):
    """What can happen to a pull request."""

    OPENED = "opened"
    HEAD_MOVED = "head_moved"
    CHECKS_PENDING = "checks_pending"
    CHECKS_FAILING = "checks_failing"
    CHECKS_PASSING = "checks_passing"
    REVIEW_APPROVED = "review_approved"
    REVIEW_CHANGES_REQUESTED = "review_changes_requested"
    REVIEW_RESET = "review_reset"
    REVIEW_COMMENTED = "review_commented"
    COMMENT_ADDED = "comment_added"
    COMMENT_EDITED = "comment_edited"
    THREAD_OPENED = "thread_opened"
    THREAD_REPLIED = "thread_replied"
    THREAD_RESOLVED = "thread_resolved"
    THREAD_UNRESOLVED = "thread_unresolved"
    BECAME_CONFLICTING = "became_conflicting"
    CONFLICT_CLEARED = "conflict_cleared"
    READY = "ready"
    QUEUED = "queued"
    DEQUEUED = "dequeued"
    MERGED = "merged"
    CLOSED = "closed"
    REOPENED = "reopened"
    RETARGETED = "retargeted"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Change:
    """One event: the value before and after, and who or what it is about.

    `names` are failing checks (required ones first), reviewers, a comment's author.
    """

    kind: ChangeKind
    old: str | None = None
    new: str | None = None
    names: tuple[str, ...] = ()


def events(
    before: PullRequest | None, after: PullRequest, *, was_ready: bool | None = None
) -> tuple[Change, ...]:
    """What changed from `before` to `after`, in the order in which an agent would tell it.

    `was_ready` is what was last announced, where that is kept; else it is read off `before`.
    """
    if was_ready is None:
        was_ready = before is not None and ready(before)
    found = [*_life(before, after), *_code(before, after)]
    if not after.finished:
        found += [*_observations(before, after)]
        if ready(after) and not was_ready:
            found.append(Change(ChangeKind.READY))
    return tuple(found)


def known_first(before: PullRequest, after: PullRequest) -> PullRequest:
    """`before` as if what it is silent on had been read: the first observation is no event then."""
    return replace(
        before,
        checks=before.checks or after.checks,
        mergeability=before.mergeability or after.mergeability,
        review=before.review or after.review,
    )


def _life(before: PullRequest | None, after: PullRequest) -> Iterator[Change]:
    if before is None:
        yield Change(ChangeKind.OPENED, None, after.head.sha)
    if after.merged_at and not (before and before.merged_at):
        yield Change(ChangeKind.MERGED, None, after.base.branch)
    elif after.closed_at and not (before and before.finished):
        yield Change(ChangeKind.CLOSED)
    elif before and before.closed_at and not after.finished:
        yield Change(ChangeKind.REOPENED)


def _code(before: PullRequest | None, after: PullRequest) -> Iterator[Change]:
    if before is None:
        return
    if after.head.sha != before.head.sha:
        yield Change(ChangeKind.HEAD_MOVED, before.head.sha, after.head.sha)
    if after.base.branch != before.base.branch:
        yield Change(ChangeKind.RETARGETED, before.base.branch, after.base.branch)


def _observations(before: PullRequest | None, after: PullRequest) -> Iterator[Change]:
    yield from _checks(before, after)
    yield from _reviews(before, after)
    yield from _conflict(before, after)
    yield from _queue(before.queue if before else None, after.queue)


_CHECKS = {
    CheckVerdict.PENDING: ChangeKind.CHECKS_PENDING,
    CheckVerdict.FAILING: ChangeKind.CHECKS_FAILING,
    CheckVerdict.PASSING: ChangeKind.CHECKS_PASSING,
}


def _checks(before: PullRequest | None, after: PullRequest) -> Iterator[Change]:
    """One event, however many checks turned: it names them all."""
    old, new = _checks_known(before), _checks_known(after)
    kind = _CHECKS.get(new) if new else None
    if new is old or kind is None or after.checks is None:
        return
    names = tuple(check.name for check in after.checks.failing)
    yield Change(kind, old, new, names if new is CheckVerdict.FAILING else ())


def _checks_known(pull_request: PullRequest | None) -> CheckVerdict | None:
    if pull_request is None or pull_request.checks is None:
        return None
    return checks_of(pull_request)


def _reviews(before: PullRequest | None, after: PullRequest) -> Iterator[Change]:
    """An approval is an event even where more are wanted; so is a second one."""
    old = before.review if before and before.review else Review(ReviewDecision.NONE)
    new = after.review
    if new is None or new.unreadable:
        return
    decisions = (review_of(before) if before else ReviewDecision.NONE, new.decision)
    yield from _opinion(
        ChangeKind.REVIEW_APPROVED,
        ReviewDecision.APPROVED,
        decisions,
        _joined(old.approved_by, new.approved_by),
    )
    yield from _opinion(
        ChangeKind.REVIEW_CHANGES_REQUESTED,
        ReviewDecision.CHANGES_REQUESTED,
        decisions,
        _joined(old.changes_requested_by, new.changes_requested_by),
    )
    settled = (ReviewDecision.APPROVED, ReviewDecision.CHANGES_REQUESTED)
    if decisions[0] in settled and decisions[1] not in settled:
        yield Change(ChangeKind.REVIEW_RESET, *decisions)


def _opinion(
    kind: ChangeKind,
    meaning: ReviewDecision,
    decisions: tuple[ReviewDecision, ReviewDecision],
    joined: tuple[str, ...],
) -> Iterator[Change]:
    old, new = decisions
    if joined or (new is meaning and old is not meaning):
        yield Change(kind, old, new, joined)


def _joined(before: tuple[str, ...], after: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in after if name not in before)


def _conflict(before: PullRequest | None, after: PullRequest) -> Iterator[Change]:
    """A verdict that the forge is still computing neither clears a conflict nor makes one."""
    conflicted = before is not None and _last_verdict(before) is MergeVerdict.CONFLICTING
    verdict = mergeability_of(after)
    if verdict is MergeVerdict.UNKNOWN:
        return
    old = mergeability_of(before) if before else None
    if verdict is MergeVerdict.CONFLICTING and not conflicted:
        yield Change(ChangeKind.BECAME_CONFLICTING, old, verdict)
    elif verdict is not MergeVerdict.CONFLICTING and conflicted:
        yield Change(ChangeKind.CONFLICT_CLEARED, MergeVerdict.CONFLICTING, verdict)


def _last_verdict(pull_request: PullRequest) -> MergeVerdict | None:
    known = pull_request.mergeability
    if known is None:
        return None
    return known.last_known if known.verdict is MergeVerdict.UNKNOWN else known.verdict


def _queue(before: Queue | None, after: Queue | None) -> Iterator[Change]:
    """A place that only moves up is no event; leaving by a merge is told as that alone."""
    if after and not before:
        yield Change(ChangeKind.QUEUED, None, after.state)
    elif before and not after:
        yield Change(ChangeKind.DEQUEUED, before.state, None)
