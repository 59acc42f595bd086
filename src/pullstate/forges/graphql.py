"""GraphQL over `ForgeHttp`: a question, its data, and which parts of it were refused.

A GraphQL answer has status 200 whatever happens: what is wrong stands in `errors`, some of it for
single fields (by path) beside data that is good.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pullstate.forges.errors import (
    Forbidden,
    ForgeError,
    NotVisible,
    Overloaded,
    RateLimited,
    Unexpected,
)
from pullstate.forges.http import ForgeHttp
from pullstate.forges.refusals import UNTOLD_WAIT

RESOURCE = "graphql"
_LIMITED = frozenset({"RATE_LIMITED", "RATE_LIMIT"})
_FORBIDDEN = frozenset({"FORBIDDEN", "INSUFFICIENT_SCOPES", "UNAUTHORIZED"})
_TOO_MUCH = frozenset({"RESOURCE_LIMITS_EXCEEDED", "MAX_NODE_LIMIT_EXCEEDED", "TIMEOUT"})
# Both forges give up on a query that takes too long without a type, in these words.
_TOO_MUCH_WORDS = re.compile(r"something went wrong|timed out|timeout|complexity", re.IGNORECASE)

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """A part of an answer that is null because it was refused."""

    path: Path
    kind: str  # FORBIDDEN, NOT_FOUND, …; "" where the forge gave none

    @property
    def field(self) -> str:
        """The name of the field that was refused."""
        return next((step for step in reversed(self.path) if isinstance(step, str)), "")

    def error(self) -> ForgeError:
        """What it means where the refused part is all that was asked for."""
        if self.kind == "NOT_FOUND":
            return NotVisible("not found, or not visible to the configured token")
        if self.kind in _FORBIDDEN:
            return Forbidden("the token may not see this")
        return Unexpected(f"the forge did not answer ({self.kind or 'no reason given'})")


@dataclass(frozen=True, slots=True)
class Result:
    """The data of an answer, and what of it was refused."""

    data: Mapping[str, Any]
    refused: tuple[Refused, ...] = ()

    def missing(self, *path: str | int) -> ForgeError:
        """Why there is nothing at a path; Unexpected where the forge does not say.

        A field that may not be null takes what it is a part of with it, which then still exists.
        https://spec.graphql.org/October2021/#sec-Handling-Field-Errors
        """
        for each in self.refused:
            if each.path and each.path == path[: len(each.path)]:
                return each.error()
        if any(each.kind in _FORBIDDEN for each in self.below(*path)):
            return Forbidden("the token may not see a part of this")
        return Unexpected("the forge left out a part of its answer without a reason")

    def below(self, *path: str | int) -> tuple[Refused, ...]:
        """What was refused inside a part that is there, with paths that begin inside it."""
        return tuple(
            Refused(each.path[len(path) :], each.kind)
            for each in self.refused
            if len(each.path) > len(path) and each.path[: len(path)] == path
        )


async def ask(
    http: ForgeHttp,
    path: str,
    document: str,
    variables: Mapping[str, Any],
    *,
    resource: str = RESOURCE,
) -> Result:
    """Send a document. Raises where there is no data to speak of; the rest is in the result.

    `resource` is what the request counts against unless the answer says otherwise.
    """
    body = {"query": document, "variables": variables}
    answer = (await http.post(path, body, resource=resource)).json
    if not isinstance(answer, dict):
        raise Overloaded("an answer that is no GraphQL answer")
    refused = tuple(_refused(answer.get("errors")))
    if any(each.kind in _LIMITED for each in refused):
        raise RateLimited(_until(http, resource), resource)
    if any(each.kind in _TOO_MUCH for each in refused):
        raise Overloaded("the question takes the forge too long")
    data = answer.get("data")
    if isinstance(data, dict):
        return Result(data, refused)
    raise refused[0].error() if refused else Unexpected("an answer without data")


def _refused(errors: Any) -> Iterator[Refused]:
    for error in errors if isinstance(errors, list) else ():
        if isinstance(error, dict):
            path = error.get("path")
            steps = tuple(path) if isinstance(path, list) else ()
            yield Refused(steps, _kind(error))


def _kind(error: Mapping[str, Any]) -> str:
    """The error's type, if it is a plain word; the forge's own text goes no further than here."""
    extensions = error.get("extensions")
    code = extensions.get("code") if isinstance(extensions, dict) else None
    for word in (error.get("type"), code):
        if isinstance(word, str) and re.fullmatch(r"[A-Za-z_]{1,40}", word):
            return word.upper()
    return "TIMEOUT" if _TOO_MUCH_WORDS.search(str(error.get("message"))) else ""


def _until(http: ForgeHttp, resource: str) -> datetime:
    for quota in http.quotas():
        if quota.resource == resource and quota.resets_at > http.now():
            return quota.resets_at
    return http.now() + UNTOLD_WAIT
