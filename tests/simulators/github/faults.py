"""GitHub's own ways of failing; those of every server stand in `tests.simulators.faults`.

A fault without a status lets the real answer through; its `json` then says what is to be missing
from it: `{"nulls": {PATH: TYPE}}` or `{"no_checks": true}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from email.utils import format_datetime

from tests.simulators.faults import (
    Fault,
    broken_off,
    cut_json,
    dropped,
    hanging,
    html_page,
    server_error,
    slow,
)

__all__ = [
    "KINDS",
    "Fault",
    "bad_credentials",
    "broken_off",
    "cut_json",
    "dropped",
    "hanging",
    "html_page",
    "no_checks",
    "partial",
    "primary_limit",
    "resource_limits",
    "secondary_limit",
    "server_error",
    "slow",
    "something_went_wrong",
]

SECONDARY = (
    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
)
GRAPHQL = "/graphql$"


def secondary_limit(
    retry_after: int | datetime | None = None,
    *,
    status: int = 403,
    request: str = "",
    times: int | None = 1,
) -> Fault:
    """Too much at once; `Retry-After` in seconds, as an HTTP date, or said by the body alone."""
    headers = {"x-ratelimit-limit": "5000", "x-ratelimit-remaining": "4000"}
    if isinstance(retry_after, datetime):
        headers["retry-after"] = format_datetime(retry_after, usegmt=True)
    elif retry_after is not None:
        headers["retry-after"] = str(retry_after)
    body = {"message": SECONDARY, "documentation_url": "https://docs.github.com/rest"}
    return Fault("secondary limit", request, times=times, status=status, json=body, headers=headers)


def primary_limit(
    reset: datetime, *, status: int = 403, request: str = "", times: int | None = 1
) -> Fault:
    """The budget is said to be empty until `reset`, whatever it is."""
    headers = {
        "x-ratelimit-limit": "5000",
        "x-ratelimit-remaining": "0",
        "x-ratelimit-used": "5000",
        "x-ratelimit-reset": str(int(reset.timestamp())),
    }
    body = {"message": "API rate limit exceeded for user ID 1."}
    return Fault("primary limit", request, times=times, status=status, json=body, headers=headers)


def bad_credentials(*, request: str = "", times: int | None = 1) -> Fault:
    body = {"message": "Bad credentials", "status": "401"}
    return Fault("bad credentials", request, times=times, status=401, json=body)


def resource_limits(*, body: str = "", request: str = GRAPHQL, times: int | None = 1) -> Fault:
    """200 with no data: the query was too much work, whatever its points."""
    message = "Resource limits for this query exceeded."
    errors = [{"type": "RESOURCE_LIMITS_EXCEEDED", "message": message}]
    return _graphql("resource limits", 200, {"data": None, "errors": errors}, body, request, times)


def something_went_wrong(
    *, status: int = 502, body: str = "", request: str = GRAPHQL, times: int | None = 1
) -> Fault:
    """What GraphQL says after its ten seconds are over; also with status 200."""
    message = (
        "Something went wrong while executing your query. This may be the result of a timeout,"
        " or it could be a GitHub bug. Please include `C0DE:1` when reporting this issue."
    )
    answer = {"data": None, "errors": [{"message": message}]}
    return _graphql("something went wrong", status, answer, body, request, times)


def partial(
    nulls: Mapping[str, str], *, body: str = "", request: str = GRAPHQL, times: int | None = 1
) -> Fault:
    """Nodes that are null with an error beside them: `{"r0": "FORBIDDEN", "nodes.3": "NOT_FOUND"}`.

    A key is the path in the answer's data, with dots; `body` matches the request's text.
    """
    told = {"nulls": dict(nulls)}
    return Fault("partial", request, body, times=times, json=told)


def no_checks(*, body: str = "", request: str = "", times: int | None = 1) -> Fault:
    """Rollups, suites and runs come back empty, as they once in a while do."""
    return Fault("no checks", request, body, times=times, json={"no_checks": True})


def _graphql(
    name: str, status: int, answer: object, body: str, request: str, times: int | None
) -> Fault:
    return Fault(name, request, body, times=times, status=status, json=answer)


KINDS = {
    "fault": Fault,
    **{
        made.__name__: made
        for made in (
            bad_credentials,
            broken_off,
            cut_json,
            dropped,
            hanging,
            html_page,
            no_checks,
            partial,
            primary_limit,
            resource_limits,
            secondary_limit,
            server_error,
            slow,
            something_went_wrong,
        )
    },
}
"""Every fault by its name, and `fault` for one that is given field by field."""
