"""GitLab's own ways of failing; those of every server stand in `tests.simulators.faults`."""

from __future__ import annotations

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

GRAPHQL = r"/api/graphql"


def too_many_requests(
    retry_after: str | int | None = None, *, request: str = "", times: int | None = 1
) -> Fault:
    """429: with Retry-After (seconds or a date) as the throttle gives it, or without, as the
    limits within the application do."""
    if retry_after is None:
        words = "This endpoint has been requested too many times. Try again later."
        body = {"message": {"error": words}}
        return Fault("429", request, times=times, status=429, json=body)
    return Fault(
        "429 with Retry-After",
        request,
        times=times,
        status=429,
        text="Retry later\n",
        headers={"content-type": "text/plain", "retry-after": str(retry_after)},
    )


def graphql_error(message: str = "Timeout on validation of query", *, times: int = 1) -> Fault:
    """200 with `errors` and no `data`."""
    body = {"errors": [{"message": message}]}
    return Fault("graphql error", GRAPHQL, times=times, status=200, json=body)


def graphql_null(message: str = "Internal server error", *, times: int = 1) -> Fault:
    """200 with `errors` and `data: null`: a resolver failed."""
    body = {"data": None, "errors": [{"message": message, "path": ["project"]}]}
    return Fault("graphql null", GRAPHQL, times=times, status=200, json=body)


def graphql_timeout(*, times: int = 1) -> Fault:
    """What GitLab answers when a query runs out of its time: data in part, and an error."""
    body = {
        "data": {"project": None},
        "errors": [{"message": "Timeout on Project.mergeRequests", "path": ["project"]}],
    }
    return Fault("graphql timeout", GRAPHQL, times=times, status=200, json=body)


def unauthorized(*, request: str = "", times: int | None = 1) -> Fault:
    body = {"message": "401 Unauthorized"}
    return Fault("401", request, times=times, status=401, json=body)


def forbidden(*, request: str = "", times: int | None = 1) -> Fault:
    return Fault("403", request, times=times, status=403, json={"message": "403 Forbidden"})


def not_found(*, request: str = "", times: int | None = 1) -> Fault:
    body = {"message": "404 Project Not Found"}
    return Fault("404", request, times=times, status=404, json=body)


def redirect_to(location: str, *, request: str = "", times: int | None = 1) -> Fault:
    """A redirect, to another host perhaps."""
    headers = {"location": location, "content-type": "text/plain"}
    return Fault("redirect", request, times=times, status=301, text="", headers=headers)


KINDS = {
    "fault": Fault,
    **{
        made.__name__: made
        for made in (
            broken_off,
            cut_json,
            dropped,
            forbidden,
            graphql_error,
            graphql_null,
            graphql_timeout,
            hanging,
            html_page,
            not_found,
            redirect_to,
            server_error,
            slow,
            too_many_requests,
            unauthorized,
        )
    },
}
"""How `/_control` calls them."""
