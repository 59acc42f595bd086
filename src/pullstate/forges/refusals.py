"""A forge's answer → what it refuses, what is left of its limits, and its clock.

Pure: status, headers and body in, errors and quotas out. Both forges refuse alike; where they
differ is in the names of their headers.
https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
https://docs.gitlab.com/administration/settings/user_and_ip_rate_limits/#response-headers
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from pullstate.forges.errors import (
    Forbidden,
    ForgeError,
    NotTheApi,
    NotVisible,
    Overloaded,
    RateLimited,
    Unauthorized,
    Unexpected,
)
from pullstate.forges.forge import Quota

WHOLE_HOST = "*"
UNTOLD_WAIT = timedelta(seconds=60)  # the forge says to wait and not how long
TRUSTED_SKEW = timedelta(seconds=5)  # less is the second that a Date header cuts off, and latency
_SECONDARY_WORDS = (b"secondary rate limit", b"abuse detection", b"temporarily blocked")


@dataclass(frozen=True, slots=True)
class Received:
    """One answer: header names in lower case; `at` is our clock when it came."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    at: datetime
    url: str
    resource: str  # what the request counts against unless the answer says otherwise

    @property
    def is_html(self) -> bool:
        kind = self.headers.get("content-type", "").lower()
        return "html" in kind or self.body.lstrip()[:1] == b"<"


def refusal_of(answer: Received) -> ForgeError | None:
    """Why an answer is none; None for one that can be read (2xx, 304)."""
    if limited := _rate_limit(answer):
        return limited
    if _met_no_route(answer):
        return NotTheApi(DECODED_SLASHES)
    if answer.status in (502, 503, 504) or (answer.is_html and answer.status != 304):
        kind = NotTheApi if answer.status < 500 else Overloaded
        return kind(_words_for_a_page(answer))
    if 200 <= answer.status < 300 or answer.status == 304:
        return None
    if answer.status == 401:
        return Unauthorized("the forge does not accept the token (401)")
    if answer.status in (403, 451):
        return Forbidden(_words_for_forbidden(answer))
    if answer.status in (404, 410):
        return NotVisible(f"not found, or not visible to the configured token ({answer.status})")
    return Unexpected(f"the forge answered with status {answer.status}")


DECODED_SLASHES = (
    "no answer of the API (404): a proxy before the forge decodes %2F in paths; it must leave them "
    "alone (AllowEncodedSlashes NoDecode, nocanon)"
)


def _met_no_route(answer: Received) -> bool:
    """Whether a path with %2F led to no route. GitLab words it unlike what is not to be found:
    `error` for a missing route, `message` for a missing project."""
    if answer.status != 404 or "%2f" not in answer.url.lower():
        return False
    return answer.is_html or answer.body.replace(b" ", b"") == b'{"error":"404NotFound"}'


def _words_for_a_page(answer: Received) -> str:
    if answer.is_html:
        return f"a web page instead of the API's answer ({answer.status})"
    return f"the forge is overloaded ({answer.status})"


def _words_for_forbidden(answer: Received) -> str:
    if "required" in answer.headers.get("x-github-sso", ""):
        return "the token is not authorised for the organization's single sign-on (403)"
    return f"the token may not see this ({answer.status})"


def _rate_limit(answer: Received) -> RateLimited | None:
    """GitHub answers 403 or 429, GitLab 429; `remaining: 0` is the primary limit, and whatever else
    tells to wait is a secondary one, which holds for all resources."""
    if answer.status not in (403, 429):
        return None
    wait = retry_after(answer)
    left = quota_of(answer)
    if left and left.remaining == 0:
        until = max(left.resets_at, wait or left.resets_at)
        return RateLimited(until, left.resource)
    if wait is None and not _is_secondary(answer):
        return None
    return RateLimited(wait or answer.at + UNTOLD_WAIT, WHOLE_HOST, secondary=True)


def _is_secondary(answer: Received) -> bool:
    body = answer.body[:4096].lower()
    return (
        answer.status == 429
        or "gh-limited-by" in answer.headers
        or any(words in body for words in _SECONDARY_WORDS)
    )


def retry_after(answer: Received) -> datetime | None:
    """When a Retry-After header (seconds, or a date) lets us ask again, by our clock."""
    text = answer.headers.get("retry-after", "").strip()
    if not text:
        return None
    if text.isdecimal():
        return answer.at + timedelta(seconds=min(int(text), 86_400))
    moment = _http_date(text)
    return _by_our_clock(moment, answer) if moment else answer.at + UNTOLD_WAIT


def quota_of(answer: Received) -> Quota | None:
    """What the answer says is left; None where it says nothing that can be read."""
    for prefix in ("x-ratelimit-", "ratelimit-"):
        limit, remaining = (_number(answer, prefix + name) for name in ("limit", "remaining"))
        if limit is None or remaining is None:
            continue
        reset = _number(answer, prefix + "reset")
        resets_at = _by_our_clock(_epoch(reset), answer) if reset else answer.at + UNTOLD_WAIT
        resource = answer.headers.get("x-ratelimit-resource") or answer.resource
        return Quota(resource, limit, remaining, max(resets_at, answer.at + timedelta(seconds=1)))
    return None


def skew_of(answer: Received) -> timedelta | None:
    """How far the forge's clock is ahead of ours; zero where the difference may be only latency."""
    forges = _http_date(answer.headers.get("date", ""))
    if forges is None:
        return None
    skew = forges - answer.at
    return skew if abs(skew) > TRUSTED_SKEW else timedelta(0)


def _by_our_clock(moment: datetime, answer: Received) -> datetime:
    return moment - (skew_of(answer) or timedelta(0))


def _epoch(seconds: int) -> datetime:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        return datetime.fromtimestamp(0, UTC)


def _number(answer: Received, header: str) -> int | None:
    text = answer.headers.get(header, "").strip()
    return int(text) if text.isdecimal() else None


def _http_date(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
