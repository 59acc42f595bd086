"""When what is due. Pure: times go in, times come out.

`I` below is the sync interval (60 s unless set). A forge's `updatedAt` is moved by neither checks,
nor mergeability, nor the base, so what is unfinished is read again by age: the more its facts are
in motion, the sooner.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from pullstate.domain.pull_request import CheckVerdict, MergeVerdict, PullRequest
from pullstate.domain.site import ForgeKind

HOUR, DAY, WEEK = timedelta(hours=1), timedelta(days=1), timedelta(weeks=1)
OVERLAP = timedelta(minutes=5)  # a delta looks back this far beyond its watermark
BACK_OFF_LIMIT = timedelta(minutes=30)
UNSETTLED = timedelta(seconds=75)  # GitLab's notes move `updated_at` at most once a minute
SAME_SECOND = timedelta(seconds=2)  # GitHub's `updatedAt` is in whole seconds, by its own clock
UNKNOWN_AGAIN = tuple(timedelta(seconds=s) for s in (2, 4, 8, 16, 32))

CHECKS_RUN = 1 / 4  # all in intervals
IN_MOTION = 1
UNFINISHED = 5
UNTOUCHED = 30
THREADS_AGAIN = 5
DELTA_AT_REST = 5
ROLL_CALL = 10
QUIET_DELTAS = 10  # so many deltas in a row without news before the next waits an interval longer


@dataclass(frozen=True, slots=True)
class Motion:
    """What a single reading does not show of a pull request's motion."""

    head_since: datetime | None = None  # when its present head was first seen
    base_moved: bool = False  # since the reading before
    unknowns: int = 0  # readings in a row, this one included, that said UNKNOWN
    settles_late: bool = False  # the forge may change it without moving `changed_at` for a while


def read_again_at(
    pull_request: PullRequest, read_at: datetime, interval: timedelta, motion: Motion
) -> datetime | None:
    """When a pull request that was just read with all facts is due again.

    A finished one is only while it may not be settled, else None. What is in motion is due sooner
    than it settles.
    """
    settles_at = _settles_at(pull_request, read_at, motion)
    if pull_request.finished:
        return settles_at
    wait = interval * _patience(pull_request, read_at, motion)
    if mergeability_unknown(pull_request) and 0 < motion.unknowns <= len(UNKNOWN_AGAIN):
        wait = min(wait, UNKNOWN_AGAIN[motion.unknowns - 1])
    return min(read_at + wait, settles_at) if settles_at else read_at + wait


def _settles_at(pull_request: PullRequest, read_at: datetime, motion: Motion) -> datetime | None:
    settled_at = pull_request.changed_at + UNSETTLED
    return settled_at if motion.settles_late and read_at < settled_at else None


def _patience(pull_request: PullRequest, read_at: datetime, motion: Motion) -> float:
    if pull_request.checks and pull_request.checks.verdict is CheckVerdict.PENDING:
        return CHECKS_RUN
    if in_motion(pull_request, read_at, motion):
        return IN_MOTION
    return UNTOUCHED if read_at - pull_request.changed_at > WEEK else UNFINISHED


def in_motion(pull_request: PullRequest, read_at: datetime, motion: Motion) -> bool:
    """Its mergeability is unknown, it is queued, its head is young, or its base moved."""
    pushed = motion.head_since is not None and read_at - motion.head_since < HOUR
    return (
        mergeability_unknown(pull_request)
        or pull_request.queue is not None
        or pushed
        or motion.base_moved
    )


def mergeability_unknown(pull_request: PullRequest) -> bool:
    """The forge has not said, or is computing anew; one that was never read is neither."""
    mergeability = pull_request.mergeability
    if mergeability is None:
        return False
    return mergeability.verdict is MergeVerdict.UNKNOWN or mergeability.recheck_due


def settles_late(kind: ForgeKind) -> bool:
    """GitLab's notes move `updated_at` at most once a minute."""
    return kind is ForgeKind.GITLAB


def settles_within(kind: ForgeKind) -> timedelta:
    """How long after a change of a pull request more may be said without moving `changed_at`."""
    if kind is ForgeKind.GITHUB:
        return SAME_SECOND
    return UNSETTLED if settles_late(kind) else timedelta(0)


def delta_again_at(
    began_at: datetime, interval: timedelta, *, unfinished: bool, quiet: int
) -> datetime:
    """When a repository's next delta is due.

    `quiet` counts the deltas in a row that brought nothing: with nothing unfinished they slowly
    stretch the interval, up to five.
    """
    patience = 1 if unfinished else min(1 + quiet // QUIET_DELTAS, DELTA_AT_REST)
    return began_at + interval * patience


def roll_call_again_at(began_at: datetime, interval: timedelta) -> datetime:
    """When a repository's next roll-call is due."""
    return began_at + interval * ROLL_CALL


def retry_at(failing_since: datetime, now: datetime, interval: timedelta) -> datetime:
    """The next attempt at what failed: after I, then each time as long again as it has failed.

    That doubles the wait without counting the attempts, so it survives a restart.
    """
    return now + min(max(now - failing_since, interval), max(BACK_OFF_LIMIT, interval))
