"""Where a pull request stands: observations → three verdicts → one state, with the reasons."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from pullstate.domain.facts import Facts, Mover, Reason, is_ready
from pullstate.domain.pull_request import CheckVerdict, MergeVerdict, PullRequest, ReviewDecision
from pullstate.domain.reasons import reasons_of

__all__ = [
    "Mover",
    "Reason",
    "State",
    "Verdict",
    "checks_of",
    "classify",
    "facts_of",
    "mergeability_of",
    "ready",
    "review_of",
    "state_of",
]


class State(StrEnum):
    """UNREAD and NONE belong to a branch, the others to a pull request."""

    UNREAD = "UNREAD"
    NONE = "NONE"
    OPEN = "OPEN"
    APPROVED = "APPROVED"
    CHANGES_REQUESTED = "CHANGES_REQUESTED"
    DRAFT = "DRAFT"
    MERGED = "MERGED"
    CLOSED = "CLOSED"
    FAILING = "FAILING"
    APPROVED_WAITING = "APPROVED_WAITING"
    CONFLICTING = "CONFLICTING"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The state, every reason for it, and the three verdicts that it was decided from.

    A finished pull request waits for nobody and has no reasons; an open one that is not ready to
    be merged has at least one.
    """

    state: State
    reasons: tuple[Reason, ...]
    checks: CheckVerdict
    mergeability: MergeVerdict
    review_decision: ReviewDecision


def classify(pull_request: PullRequest) -> Verdict:
    """The state is that of the first rule that holds; the reasons are all that hold."""
    facts = facts_of(pull_request)
    return Verdict(
        state=state_of(facts),
        reasons=reasons_of(facts),
        checks=facts.checks,
        mergeability=facts.mergeability,
        review_decision=facts.review,
    )


def state_of(facts: Facts) -> State:
    """The state alone: finding the reasons costs several times as much."""
    for holds, state in RULES:
        if holds(facts):
            return state
    raise AssertionError("the last rule holds of everything")


def ready(pull_request: PullRequest) -> bool:
    """Whether nothing stands between an open pull request and its merge: not draft, CLEAN, checks
    PASSING or NONE, reviews APPROVED or NONE, not queued."""
    return is_ready(facts_of(pull_request))


def checks_of(pull_request: PullRequest) -> CheckVerdict:
    """What the checks say of the head; PENDING where only another commit's were read.

    Never read is PENDING too, unless the pull request is finished. A verdict that could not be
    read is NONE, which the reasons explain.
    """
    checks = pull_request.checks
    if checks is None:
        return CheckVerdict.NONE if pull_request.finished else CheckVerdict.PENDING
    return checks.verdict if checks.sha == pull_request.head.sha else CheckVerdict.PENDING


def mergeability_of(pull_request: PullRequest) -> MergeVerdict:
    """Whether the head merges; UNKNOWN where that was never read, or only of another head."""
    seen = pull_request.mergeability
    if seen is None or seen.head_sha != pull_request.head.sha:
        return MergeVerdict.UNKNOWN
    return seen.verdict


def review_of(pull_request: PullRequest) -> ReviewDecision:
    """What the reviews come to; NONE where they were never read."""
    return pull_request.review.decision if pull_request.review else ReviewDecision.NONE


def facts_of(pull_request: PullRequest) -> Facts:
    """A pull request, and what its observations come to."""
    return Facts(
        pull_request,
        checks_of(pull_request),
        mergeability_of(pull_request),
        review_of(pull_request),
    )


def is_merged(facts: Facts) -> bool:
    """MERGED: the time of the merge is set. Final, whatever else is still said."""
    return facts.pull_request.merged_at is not None


def is_closed(facts: Facts) -> bool:
    """CLOSED: the time of the closing is set; a reopening clears it."""
    return facts.pull_request.closed_at is not None


def is_draft(facts: Facts) -> bool:
    """DRAFT: the flag, whatever the rest says."""
    return facts.pull_request.draft


def is_conflicting(facts: Facts) -> bool:
    """CONFLICTING: the head does not merge. Before failing checks, for a forge runs none on it."""
    return facts.mergeability is MergeVerdict.CONFLICTING


def is_failing(facts: Facts) -> bool:
    """FAILING: a check failed, required or not."""
    return facts.checks is CheckVerdict.FAILING


def has_changes_requested(facts: Facts) -> bool:
    """CHANGES_REQUESTED: that is what the reviews come to."""
    return facts.review is ReviewDecision.CHANGES_REQUESTED


def is_approved(facts: Facts) -> bool:
    """APPROVED: reviews say so, the head merges cleanly, checks pass or are none, no queue."""
    return facts.review is ReviewDecision.APPROVED and is_ready(facts)


def is_approved_waiting(facts: Facts) -> bool:
    """APPROVED_WAITING: the reviews say so, and something else is missing."""
    return facts.review is ReviewDecision.APPROVED


def is_open(facts: Facts) -> bool:
    """OPEN: none of the others."""
    return True


RULES: tuple[tuple[Callable[[Facts], bool], State], ...] = (
    (is_merged, State.MERGED),
    (is_closed, State.CLOSED),
    (is_draft, State.DRAFT),
    (is_conflicting, State.CONFLICTING),
    (is_failing, State.FAILING),
    (has_changes_requested, State.CHANGES_REQUESTED),
    (is_approved, State.APPROVED),
    (is_approved_waiting, State.APPROVED_WAITING),
    (is_open, State.OPEN),
)
