"""How the simulated forge refuses.

Exception
└── Refusal      GraphQL: null at the field's path, an error with a type beside it
    └── WholeRefusal  GraphQL: no data at all
"""

from __future__ import annotations

from typing import Any


class Refusal(Exception):
    """A field that is not answered, with GitHub's error type."""

    def __init__(self, type: str, message: str, extensions: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.type, self.message, self.extensions = type, message, extensions


class WholeRefusal(Refusal):
    """A query that is not executed."""

    @property
    def shaped(self) -> dict[str, Any]:
        """As one of the answer's errors."""
        return {"type": self.type, **(self.extensions or {}), "message": self.message}


def not_found(kind: str, what: str) -> Refusal:
    return Refusal("NOT_FOUND", f"Could not resolve to a {kind} with the {what}.")


def rate_limited(type: str, user_id: int) -> WholeRefusal:
    """`RATE_LIMITED` as documented; since 2026 also RATE_LIMIT with a code.

    https://github.com/yanyongyu/githubkit/issues/271
    """
    if type == "RATE_LIMIT":
        message = f"API rate limit already exceeded for user ID {user_id}."
        return WholeRefusal(type, message, {"code": "graphql_rate_limit"})
    return WholeRefusal(type, f"API rate limit exceeded for user ID {user_id}.")


def forbidden() -> Refusal:
    message = "Resource not accessible by personal access token"
    return Refusal("FORBIDDEN", message, {"saml_failure": False})
