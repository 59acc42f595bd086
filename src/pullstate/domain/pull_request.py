"""A pull request as a forge tells it: its details, and the observations that move without them.

A forge's `updatedAt` is bumped by neither a check, nor mergeability, nor a move of the base, so
each of those is an observation of its own: `None` means "not seen in this reading", never "empty".
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class CheckVerdict(StrEnum):
    """What the checks of one commit say together."""

    NONE = "NONE"
    PENDING = "PENDING"
    PASSING = "PASSING"
    FAILING = "FAILING"


class MergeVerdict(StrEnum):
    """Whether the forge would merge now; UNKNOWN is an answer of its own, never "no conflict"."""

    UNKNOWN = "UNKNOWN"
    CLEAN = "CLEAN"
    UNSTABLE = "UNSTABLE"
    BLOCKED = "BLOCKED"
    BEHIND = "BEHIND"
    CONFLICTING = "CONFLICTING"


class ReviewDecision(StrEnum):
    """What the reviews come to; NONE means that nobody with a say has spoken or must speak."""

    NONE = "NONE"
    PENDING = "PENDING"
    APPROVED = "APPROVED"
    CHANGES_REQUESTED = "CHANGES_REQUESTED"


@dataclass(frozen=True, slots=True)
class Head:
    """The branch that wants to be merged, and the commit it stands at."""

    branch: str
    sha: str
    owner: str = ""  # who the branch belongs to (login, group path); "" when the forge lost it
    repository_url: str = ""  # "" when the forge no longer has it


@dataclass(frozen=True, slots=True)
class Base:
    """The branch to be merged into, and its tip when last read."""

    branch: str
    sha: str


@dataclass(frozen=True, slots=True)
class Check:
    """One check that failed."""

    name: str
    url: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True)
class Checks:
    """What the checks said of one commit (`sha`): of that one, and of no other."""

    sha: str
    verdict: CheckVerdict
    failing: tuple[Check, ...] = ()  # required ones first
    queued: tuple[str, ...] = ()  # workflows whose run has no jobs yet
    approval_required: tuple[str, ...] = ()  # workflows that wait for a maintainer's approval
    names: tuple[str, ...] | None = None  # every context seen; None where they were not read
    counts: tuple[tuple[str, int], ...] = ()  # ("SKIPPED", 1), … where the forge gives them
    unreadable: str | None = None  # why the verdict or its names could not be read


@dataclass(frozen=True, slots=True)
class Mergeability:
    """Whether `head_sha` merges into `base_sha`, with the forge's own words for it in `raw`."""

    verdict: MergeVerdict
    raw: str
    head_sha: str
    base_sha: str
    recheck_due: bool = False  # the forge is computing anew: the verdict is the last known one
    last_known: MergeVerdict | None = None  # beside UNKNOWN: the verdict on an earlier head or base


@dataclass(frozen=True, slots=True)
class Queue:
    """A place in a merge queue or merge train."""

    position: int | None
    state: str


@dataclass(frozen=True, slots=True)
class Review:
    """The decision, and what qualifies it."""

    decision: ReviewDecision
    approved_by: tuple[str, ...] = ()
    changes_requested_by: tuple[str, ...] = ()
    requested: tuple[str, ...] = ()  # reviewers, teams as "@team", who are asked to look
    approval_on_head: bool | None = None  # False: every approval is of an older commit
    approvals_left: int | None = None
    unreadable: str | None = None


@dataclass(frozen=True, slots=True)
class Rules:
    """What the base branch requires: it names the cause of BLOCKED."""

    required_checks: tuple[str, ...] = ()
    approvals: int = 0
    code_owners: bool = False
    conversations_resolved: bool = False


@dataclass(frozen=True, slots=True)
class PullRequest:
    """One reading of a pull request, or what the store knows of it (`gone_at` is the store's)."""

    provider_id: str  # GitHub's node id, GitLab's gid://…
    number: int
    url: str
    title: str
    author: str
    head: Head
    base: Base
    draft: bool
    opened_at: datetime
    changed_at: datetime
    merged_at: datetime | None = None
    closed_at: datetime | None = None
    closed_at_is_estimated: bool = False  # the forge gave none: it is `changed_at`
    queue: Queue | None = None
    checks: Checks | None = None
    mergeability: Mergeability | None = None
    review: Review | None = None
    rules: Rules | None = None
    unresolved_threads: int | None = None  # None: the threads were never read

    @property
    def finished(self) -> bool:
        """Merged or closed."""
        return self.merged_at is not None or self.closed_at is not None
