"""Readings of one pull request, for tests: everything has a value, and each test changes a few."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from pullstate.domain.pull_request import (
    Base,
    Checks,
    CheckVerdict,
    Head,
    Mergeability,
    MergeVerdict,
    PullRequest,
    Review,
    ReviewDecision,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HEAD = "a" * 40
NEXT_HEAD = "b" * 40
BASE = "0" * 40
NEXT_BASE = "1" * 40


def minutes(count: float) -> timedelta:
    return timedelta(minutes=count)


def lean(number: int = 7, **changes: Any) -> PullRequest:
    """A row of a list: details without any observation. `head` and `base` may be plain commits."""
    opened_at = changes.pop("opened_at", NOON + minutes(number))
    head = changes.pop("head", HEAD)
    base = changes.pop("base", BASE)
    branch = changes.pop("branch", "topic")
    known = PullRequest(
        provider_id=f"PR_{number}",
        number=number,
        url=f"https://github.com/acme/rocket/pull/{number}",
        title=f"Change {number}",
        author="octo",
        head=head if isinstance(head, Head) else Head(branch, head, "acme", "https://x/acme/r"),
        base=base if isinstance(base, Base) else Base("main", base),
        draft=False,
        opened_at=opened_at,
        changed_at=changes.pop("changed_at", opened_at),
    )
    return replace(known, **changes)


def full(number: int = 7, **changes: Any) -> PullRequest:
    """A reading with all facts: green, mergeable, approved."""
    known = lean(number, **{name: value for name, value in changes.items() if name in _DETAILS})
    observed = {
        "checks": checks(sha=known.head.sha),
        "mergeability": mergeability(head=known.head.sha, base=known.base.sha),
        "review": Review(ReviewDecision.APPROVED, approved_by=("ann",)),
    }
    rest = {name: value for name, value in changes.items() if name not in _DETAILS}
    return replace(known, **{**observed, **rest})


_DETAILS = ("head", "base", "branch", "opened_at", "changed_at")


def checks(verdict: CheckVerdict = CheckVerdict.PASSING, sha: str = HEAD, **more: Any) -> Checks:
    return Checks(sha, verdict, **more)


def mergeability(
    verdict: MergeVerdict = MergeVerdict.CLEAN, head: str = HEAD, base: str = BASE, **more: Any
) -> Mergeability:
    return Mergeability(verdict, verdict.value, head, base, **more)
