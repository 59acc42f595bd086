"""Who asks, and what GitLab refuses with which words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.simulators.gitlab.model import Project, Token, User
from tests.simulators.gitlab.world import World


class Refused(Exception):
    """An answer that is no success."""

    def __init__(self, status: int, body: Any, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status)
        self.status, self.body, self.headers = status, body, dict(headers or {})


def message(status: int, words: str) -> Refused:
    return Refused(status, {"message": words})


def unauthorized() -> Refused:
    return message(401, "401 Unauthorized")


def forbidden() -> Refused:
    return message(403, "403 Forbidden")


def not_found(what: str = "") -> Refused:
    return message(404, f"404 {what} Not Found" if what else "404 Not found")


def invalid(parameter: str, words: str = "is invalid") -> Refused:
    return Refused(400, {"error": f"{parameter} {words}"})


@dataclass(frozen=True, slots=True)
class Caller:
    token: Token | None

    @property
    def user(self) -> User | None:
        return self.token.user if self.token else None

    def may_read(self, what: str) -> bool:
        return self.token is None or what not in self.token.refused

    def sees(self, project: Project) -> bool:
        if self.user is None:
            return project.visibility == "public"
        if project.visibility in ("public", "internal"):
            return True
        return project.members is None or self.user.username in project.members


def identify(world: World, headers: Mapping[str, str]) -> Caller:
    """The bearer of PRIVATE-TOKEN, `Authorization: Bearer` or JOB-TOKEN; 401 if it is no good."""
    name, secret = _presented(headers)
    if not secret:
        if not world.anonymous_access:
            raise unauthorized()
        return Caller(None)
    token = world.tokens.get(secret)
    accepted = {"private": ("personal",), "bearer": ("personal", "oauth"), "job": ("job",)}
    if token is None or token.kind not in accepted[name]:
        raise unauthorized()
    _check_alive(world, token)
    return Caller(token)


def _presented(headers: Mapping[str, str]) -> tuple[str, str]:
    if secret := headers.get("private-token", ""):
        return "private", secret
    if secret := headers.get("job-token", ""):
        return "job", secret
    scheme, _, secret = headers.get("authorization", "").partition(" ")
    return "bearer", secret.strip() if scheme.lower() == "bearer" else ""


def _check_alive(world: World, token: Token) -> None:
    words = None
    if token.revoked:
        words = "Token was revoked. You have to re-authorize from the user."
    elif token.expires is not None and token.expires <= world.now:
        words = "Token is expired. You can either do re-authorization or token refresh."
    if words:
        raise Refused(401, {"error": "invalid_token", "error_description": words})


def need_scope(caller: Caller, *scopes: str) -> None:
    if caller.token is None or caller.token.kind == "job":
        return
    if not set(scopes) & set(caller.token.scopes):
        raise Refused(
            403,
            {
                "error": "insufficient_scope",
                "error_description": "The request requires higher privileges than provided by "
                "the access token.",
                "scope": " ".join(scopes),
            },
        )
