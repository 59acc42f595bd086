"""A failed attempt → the fault that is stored and shown."""

from __future__ import annotations

from datetime import datetime, timedelta

from pullstate.domain.freshness import FAULT_WORDS, NOT_VISIBLE, Fault, FaultKind
from pullstate.forges.errors import (
    Forbidden,
    ForgeError,
    NeedsToken,
    NotTheApi,
    NotVisible,
    PullRequestsDisabled,
    RateLimited,
    Unauthorized,
    Unreachable,
)
from pullstate.sync.schedule import DAY, retry_at

_KINDS: tuple[tuple[type[ForgeError], FaultKind], ...] = (
    (Unauthorized, FaultKind.UNAUTHORIZED),
    (Forbidden, FaultKind.FORBIDDEN),
    (NotVisible, FaultKind.NOT_FOUND),
    (RateLimited, FaultKind.RATE_LIMITED),
    (PullRequestsDisabled, FaultKind.PULL_REQUESTS_DISABLED),
    (Unreachable, FaultKind.UNREACHABLE),
)
REFUSALS = (Unauthorized, Forbidden, NotVisible)  # another credential may be let in


def kind_of(error: Exception) -> FaultKind:
    """What an error is to the reader of a fault; all that is not foreseen is unexpected."""
    return next((kind for cls, kind in _KINDS if isinstance(error, cls)), FaultKind.UNEXPECTED)


def fault_of(
    error: Exception, known: Fault | None, now: datetime, interval: timedelta, detail: str = ""
) -> Fault:
    """The fault after one more failure; it fails since the first of its kind in a row."""
    kind = kind_of(error)
    since = known.since if known and known.kind is kind else now
    if isinstance(error, NotTheApi):
        detail = str(error)
    return Fault(kind, since, _retry_at(error, since, now, interval), detail)


def _retry_at(error: Exception, since: datetime, now: datetime, interval: timedelta) -> datetime:
    if isinstance(error, RateLimited):
        return max(error.until, now)
    if isinstance(error, PullRequestsDisabled):
        return now + DAY
    return retry_at(since, now, interval)


def words(error: Exception) -> str:
    """A failure in few words of ours, for a facet or a wish."""
    if isinstance(error, RateLimited):
        return f"the forge's rate limit is used up until {error.until:%Y-%m-%dT%H:%M:%SZ}"
    if isinstance(error, NotTheApi | NeedsToken):
        return str(error)  # it names what stands between us and the forge
    return _WORDS[kind_of(error)]


# In few words: a facet or a wish has no sentence around it.
_WORDS = FAULT_WORDS | {
    FaultKind.UNAUTHORIZED: "the forge refused the credential",
    FaultKind.FORBIDDEN: NOT_VISIBLE,
    FaultKind.NOT_FOUND: NOT_VISIBLE,
}
