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


def not_found(kind: str, what: str) -> Refusal:
    return Refusal("NOT_FOUND", f"Could not resolve to a {kind} with the {what}.")


def forbidden() -> Refusal:
    message = "Resource not accessible by personal access token"
    return Refusal("FORBIDDEN", message, {"saml_failure": False})
