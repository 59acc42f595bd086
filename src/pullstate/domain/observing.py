"""Merging a reading into what is known of a pull request.

A reading tells some facets and is silent on others; it may be older than what is known, and a
forge may answer with nothing where there was something. What it says is taken facet by facet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pullstate.domain.pull_request import (
    Base,
    Checks,
    CheckVerdict,
    Mergeability,
    MergeVerdict,
    PullRequest,
    Queue,
    Rules,
)

VANISHED = "the forge gave no checks for a head that had some"


def observe(before: PullRequest | None, seen: PullRequest) -> PullRequest:
    """What is known after `seen` was read, `before` being what was known.

    A merged one stays merged. A facet that `seen` is silent on keeps its last observation. A
    reading whose `changed_at` is older takes no details back, and of its facets only those count
    that are about the known head and base.
    """
    if before is None:
        return seen
    if seen.changed_at < before.changed_at:
        return _from_older(before, seen)
    finished = seen.finished or before.merged_at is not None
    return _with_stamps(
        before,
        replace(
            seen,
            base=_base(before, seen),
            queue=None if finished else _queue(before, seen),
            checks=_checks(before.checks, seen.checks),
            mergeability=_mergeability(before, seen),
            review=seen.review or before.review,
            rules=_rules(before, seen),
            unresolved_threads=_kept(seen.unresolved_threads, before.unresolved_threads),
        ),
    )


def facets_read(before: PullRequest | None, seen: PullRequest) -> Iterator[str]:
    """The facets that `seen` dates: "details", "checks", "mergeability", "review".

    A failed or refused read dates nothing; nor does one that is older than what is known.
    """
    older = before is not None and seen.changed_at < before.changed_at
    if not older:
        yield "details"
    if _dates_checks(before, seen):
        yield "checks"
    if seen.mergeability and (not older or _same_place(before, seen)):
        yield "mergeability"
    if seen.review and not seen.review.unreadable and not older:
        yield "review"


def _dates_checks(before: PullRequest | None, seen: PullRequest) -> bool:
    checks = seen.checks
    if checks is None or (checks.unreadable and checks.verdict is CheckVerdict.NONE):
        return False
    if before is None:
        return True
    if seen.changed_at < before.changed_at and seen.head.sha != before.head.sha:
        return False
    return not _vanished(before.checks, checks)


def _from_older(before: PullRequest, seen: PullRequest) -> PullRequest:
    """The known details, and what the older reading says of the known head and base."""
    known = before if before.merged_at or not seen.merged_at else _merged(before, seen)
    same_head = seen.head.sha == before.head.sha
    return replace(
        known,
        checks=_checks(before.checks, seen.checks) if same_head else before.checks,
        mergeability=(
            _mergeability(before, seen) if _same_place(before, seen) else before.mergeability
        ),
        review=before.review or seen.review,
        rules=before.rules or (seen.rules if _same_branch(before, seen) else None),
        unresolved_threads=_kept(before.unresolved_threads, seen.unresolved_threads),
    )


def _merged(before: PullRequest, seen: PullRequest) -> PullRequest:
    """A merge is final, so an older reading that knows of it is right."""
    return replace(
        before,
        merged_at=seen.merged_at,
        closed_at=seen.closed_at,
        closed_at_is_estimated=seen.closed_at_is_estimated,
        queue=None,
    )


def _with_stamps(before: PullRequest, after: PullRequest) -> PullRequest:
    """Merged is final: no later reading takes it back. Closed is not: a reopening clears it."""
    if before.merged_at is None or after.merged_at is not None:
        return after
    return replace(
        after,
        merged_at=before.merged_at,
        closed_at=before.closed_at,
        closed_at_is_estimated=before.closed_at_is_estimated,
    )


def _base(before: PullRequest, seen: PullRequest) -> Base:
    """GitLab's lists name the base branch and not its tip: the last known one stays."""
    untold = not seen.base.sha and _same_branch(before, seen)
    return before.base if untold else seen.base


def _queue(before: PullRequest, seen: PullRequest) -> Queue | None:
    """A reading without any observation does not ask about the queue; a new head leaves it."""
    silent = seen.checks is None and seen.mergeability is None and seen.review is None
    if seen.queue or not silent or seen.head.sha != before.head.sha:
        return seen.queue
    return before.queue


def _checks(before: Checks | None, seen: Checks | None) -> Checks | None:
    """Nothing where there was something is a failed read, unless the head is another one."""
    if seen is None:
        return before
    if before is not None and _vanished(before, seen):
        return replace(before, unreadable=VANISHED)
    return seen


def _vanished(before: Checks | None, seen: Checks) -> bool:
    empty = seen.verdict is CheckVerdict.NONE and not (
        seen.names or seen.counts or seen.queued or seen.approval_required or seen.unreadable
    )
    return empty and before is not None and before.sha == seen.sha and _had_checks(before)


def _had_checks(checks: Checks) -> bool:
    """A workflow that was only queued, or awaited approval, may go without leaving a check."""
    if checks.names or checks.counts:
        return True
    only_announced = checks.queued or checks.approval_required
    if checks.verdict is CheckVerdict.PENDING:
        return not only_announced
    return checks.verdict is not CheckVerdict.NONE


def _mergeability(before: PullRequest, seen: PullRequest) -> Mergeability | None:
    """UNKNOWN on the known head and base leaves the verdict, to be asked again; else it counts."""
    known, now = before.mergeability, seen.mergeability
    if known is None:
        return now
    moved = seen.head.sha != known.head_sha or not _same_branch(before, seen)
    if now is None:
        return _unknown_after(known, seen) if moved else known
    if now.verdict is not MergeVerdict.UNKNOWN:
        return now
    if moved or (now.head_sha, now.base_sha) != (known.head_sha, known.base_sha):
        return replace(now, last_known=_last_known(known))
    if known.verdict is MergeVerdict.UNKNOWN:
        return replace(now, last_known=known.last_known)
    return replace(known, recheck_due=True)


def _unknown_after(known: Mergeability, seen: PullRequest) -> Mergeability:
    """The head or the base branch is another one, and nothing was said of its mergeability."""
    return Mergeability(
        MergeVerdict.UNKNOWN, "", seen.head.sha, seen.base.sha, last_known=_last_known(known)
    )


def _last_known(known: Mergeability) -> MergeVerdict | None:
    return known.last_known if known.verdict is MergeVerdict.UNKNOWN else known.verdict


def _rules(before: PullRequest, seen: PullRequest) -> Rules | None:
    """Rules belong to the base branch: a retarget leaves the old one's behind."""
    if seen.rules is not None or not _same_branch(before, seen):
        return seen.rules
    return before.rules


def _same_branch(before: PullRequest, seen: PullRequest) -> bool:
    return before.base.branch == seen.base.branch


def _same_place(before: PullRequest | None, seen: PullRequest) -> bool:
    """Whether a reading is about the known head and base."""
    return before is not None and (before.head.sha, before.base) == (seen.head.sha, seen.base)


def _kept(seen: int | None, before: int | None) -> int | None:
    return before if seen is None else seen
