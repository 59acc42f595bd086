"""What is known of a repository's sync: its age, its gaps, and the fault that stopped it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    site_url: str = ""
    looked_in: tuple[str, ...] = ()  # where the process that answers looks for a token of it


@dataclass(frozen=True, slots=True)
class SyncReport:
    """The state of a repository's sync at one moment, and what explains it."""

    state: SyncState
    as_of: datetime | None
    age: timedelta | None
    reason: str | None
    next_at: datetime | None
    gaps: tuple[tuple[str, str], ...] = field(default=())


NOT_VISIBLE = "not found, or not visible to the configured token"  # forges answer both alike

FAULT_WORDS = {
    FaultKind.UNAUTHORIZED: "the forge refuses the credential",
    FaultKind.FORBIDDEN: "the credential may not see this repository",
    FaultKind.NOT_FOUND: "the repository was not found, or is not visible to the credential",
    FaultKind.RATE_LIMITED: "the forge's rate limit is used up",
    FaultKind.UNREACHABLE: "the forge could not be reached, or gave no usable answer",
    FaultKind.UNEXPECTED: "the forge's answer could not be used",
    FaultKind.PULL_REQUESTS_DISABLED: "the repository has pull requests turned off",
}


def unserved(site_url: str, looked_in: tuple[str, ...] = ()) -> str:
    """What is said of a forge that nobody reads; `looked_in` by the process that says so.

    That one may have found a token and not have begun to read, so nothing is said of what it found.
    """
    where = f" (this one looks for a token in {', '.join(looked_in)})" if looked_in else ""
    return f"no running pullstate process reads {site_url or 'this forge'}{where}"


def report(freshness: Freshness, now: datetime) -> SyncReport:
    """What the facts of a repository's sync come to at `now`.

    The state is the first condition that holds; the reason names every one that does.
    """
    holding = [(state, words) for state, words in _conditions(freshness, now) if words]
    said = [words for _, words in holding]
    as_of, fault = freshness.as_of, freshness.fault
    return SyncReport(
        state=holding[0][0] if holding else SyncState.OK,
        as_of=as_of,
        age=max(now - as_of, timedelta(0)) if as_of else None,
        reason="; ".join((*said, *_cause(freshness, holding))) or None,
        next_at=(fault and fault.retry_at) or freshness.next_at,
        gaps=freshness.gaps,
    )


def _conditions(freshness: Freshness, now: datetime) -> list[tuple[SyncState, str | None]]:
    """Each state in order, with what makes it hold, or None."""
    return [
        (SyncState.UNREAD, _unread(freshness)),
        (SyncState.FAILING, _failing(freshness.fault)),
        (SyncState.PAUSED, _paused(freshness.fault, now)),
        (SyncState.STALE, _stale(freshness, now)),
        (SyncState.PARTIAL, _partial(freshness)),
    ]


def _unread(freshness: Freshness) -> str | None:
    return None if freshness.swept else "the first sweep of this repository has not completed"


def _cause(freshness: Freshness, holding: Sequence[tuple[SyncState, str]]) -> Iterator[str]:
    """What stands behind the conditions, said once whichever of them hold."""
    fault = freshness.fault
    refused = fault is not None and fault.kind in _OF_CREDENTIALS and bool(freshness.looked_in)
    unread = {SyncState.UNREAD, SyncState.STALE} & {state for state, _ in holding}
    if not freshness.served and (unread or refused):
        yield unserved(freshness.site_url, freshness.looked_in)
    elif refused:
        yield f"this process looks for a token in {', '.join(freshness.looked_in)}"


_OF_CREDENTIALS = {FaultKind.UNAUTHORIZED, FaultKind.FORBIDDEN, FaultKind.NOT_FOUND}


def _failing(fault: Fault | None) -> str | None:
    if fault is None or fault.kind is FaultKind.RATE_LIMITED:
        return None
    words = f"{FAULT_WORDS[fault.kind]}, since {_at(fault.since)}"
    return f"{words} ({fault.detail})" if fault.detail else words


def _paused(fault: Fault | None, now: datetime) -> str | None:
    if fault is None or fault.kind is not FaultKind.RATE_LIMITED:
        return None
    if fault.retry_at is None:
        return FAULT_WORDS[fault.kind]
    return (
        f"{FAULT_WORDS[fault.kind]} until {_at(fault.retry_at)}" if fault.retry_at > now else None
    )


def _stale(freshness: Freshness, now: datetime) -> str | None:
    due = freshness.next_at
    if not freshness.swept or due is None or now - due <= 2 * freshness.interval:
        return None
    return f"the read planned for {_at(due)} has not happened"


def _partial(freshness: Freshness) -> str | None:
    facets = ", ".join(sorted({facet for facet, _ in freshness.gaps}))
    return f"could not be read completely: {facets}" if facets else None


def _at(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"
