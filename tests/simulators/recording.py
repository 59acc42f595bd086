"""Reading the log of a simulated forge."""

from __future__ import annotations

import re
from typing import Any

from tests.simulators.watched import Request


def operation_name(request: Request) -> str:
    """The name of the operation that a GraphQL request executes, `""` when it has none."""
    try:
        asked = request.graphql
    except ValueError:
        return ""
    if name := asked.get("operationName"):
        return str(name)
    named = re.search(r"\b(?:query|mutation)\s+(\w+)", asked.get("query", ""))
    return named[1] if named else ""


def matches(request: Request, operation: str) -> bool:
    """Whether it is a GraphQL request whose operation matches; `""` is matched by all requests."""
    return not operation or (
        request.is_graphql and re.search(operation, operation_name(request)) is not None
    )


def described(request: Request) -> dict[str, Any]:
    """A log entry as JSON, with no more of the token than its last four characters."""
    operation = operation_name(request)
    return {
        "at": request.at,
        "method": request.method,
        "path": request.path,
        "query": request.query,
        "operation": operation or None,
        "document": request.graphql.get("query") if operation else None,
        "variables": request.graphql.get("variables") if operation else None,
        "user": request.notes.get("user"),
        "token": request.notes.get("token", "")[-4:],
        "cost": request.notes.get("cost", 0),
        "resource": request.notes.get("resource"),
        "status": request.status,
        "fault": request.fault,
    }
