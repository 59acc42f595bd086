"""What is known of a repository's sync: its age, its gaps, and the fault that stopped it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum


class FaultKind(StrEnum):
    """Why a read failed, told apart because each has another remedy."""

    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    RATE_LIMITED = "rate_limited"
    UNREACHABLE = "unreachable"
    UNEXPECTED = "unexpected"
    PULL_REQUESTS_DISABLED = "pull_requests_disabled"


@dataclass(frozen=True, slots=True)
class Fault:
    """A failed attempt, as it is stored: every server over the store can tell its agent."""

    kind: FaultKind
    since: datetime
    retry_at: datetime | None = None
    detail: str = ""  # our own words; never the forge's


class SyncState(StrEnum):
    """In order: the first that holds is the answer."""

    UNREAD = "unread"
    FAILING = "failing"
    PAUSED = "paused"
    STALE = "stale"
    PARTIAL = "partial"
    OK = "ok"


@dataclass(frozen=True, slots=True)
class Freshness:
    """The facts of one repository's sync, as stored."""

    swept: bool  # the first sweep is complete
    as_of: datetime | None  # when its picture was last known to be complete
    fault: Fault | None  # of the last attempt; None when it succeeded
    next_at: datetime | None  # the next planned read
    interval: timedelta
    gaps: tuple[tuple[str, str], ...] = ()  # (facet, why it is unreadable or incomplete)
    served: bool = True  # some live process syncs this host


@dataclass(frozen=True, slots=True)
class SyncReport:
    """The state of a repository's sync at one moment, and what explains it."""

    state: SyncState
    as_of: datetime | None
    age: timedelta | None
    reason: str | None
    next_at: datetime | None
    gaps: tuple[tuple[str, str], ...] = field(default=())
