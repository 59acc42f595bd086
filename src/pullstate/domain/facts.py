"""What the classifier decides from, and what it says of a pull request beyond its state."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pullstate.domain.pull_request import (
    Checks,
    CheckVerdict,
    MergeVerdict,
    PullRequest,
    Review,
    ReviewDecision,
    Rules,
)


class Mover(StrEnum):
    """Whose move it is."""

    AUTHOR = "author"
    REVIEWER = "reviewer"
    MAINTAINER = "maintainer"
    FORGE = "forge"


@dataclass(frozen=True, slots=True)
class Reason:
    """One condition that holds: a code, what it is about ("ESP32 Sim Compile", "3"), whose move."""

    code: str
    about: str
    mover: Mover


@dataclass(frozen=True, slots=True)
class Facts:
    """A pull request and what its observations come to."""

    pull_request: PullRequest
    checks: CheckVerdict
    mergeability: MergeVerdict
    review: ReviewDecision

    @property
    def head_checks(self) -> Checks | None:
        """What was read of the head's checks, and not of another commit's."""
        seen = self.pull_request.checks
        return seen if seen and seen.sha == self.pull_request.head.sha else None

    @property
    def rules(self) -> Rules:
        return self.pull_request.rules or Rules()

    @property
    def reviews(self) -> Review:
        return self.pull_request.review or Review(ReviewDecision.NONE)

    @property
    def may_be_blocked(self) -> bool:
        """False where the forge itself says that nothing required is missing."""
        return self.mergeability not in (MergeVerdict.CLEAN, MergeVerdict.UNSTABLE)


def is_ready(facts: Facts) -> bool:
    """Open, not draft, CLEAN, checks PASSING or NONE, reviews APPROVED or NONE, not queued."""
    pull_request = facts.pull_request
    return (
        not (pull_request.finished or pull_request.draft or pull_request.queue)
        and facts.mergeability is MergeVerdict.CLEAN
        and facts.checks in (CheckVerdict.PASSING, CheckVerdict.NONE)
        and facts.review in (ReviewDecision.APPROVED, ReviewDecision.NONE)
    )
