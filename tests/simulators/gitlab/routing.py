"""One REST call: what was asked, by whom, of which project."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl, unquote

from tests.simulators.gitlab.access import (
    Caller,
    Refused,
    forbidden,
    invalid,
    message,
    not_found,
    unauthorized,
)
from tests.simulators.gitlab.entities import Entities
from tests.simulators.gitlab.model import MergeRequest, Project
from tests.simulators.gitlab.paging import paginate
from tests.simulators.gitlab.world import World

Reply = tuple[Any, dict[str, str]]
PROJECT = r"/projects/(?P<project>[^/]+)"
MERGE_REQUEST = PROJECT + r"/merge_requests/(?P<iid>[^/]+)"


@dataclass(frozen=True, slots=True)
class Call:
    world: World
    caller: Caller
    entities: Entities
    method: str
    url: str
    """The address as it was asked for, without the query."""
    query_string: str
    body: str
    path: dict[str, str]

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(self.query_string, keep_blank_values=True))

    def listed(self, name: str) -> list[str] | None:
        """The values of `name[]`; `None` when it is not given."""
        given = parse_qsl(self.query_string, keep_blank_values=True)
        values = [value for key, value in given if key == f"{name}[]"]
        return values or None

    @property
    def given(self) -> dict[str, Any]:
        """Parameters of a write, from the query and from a JSON or form body."""
        if self.body.lstrip().startswith("{"):
            try:
                return {**self.query, **json.loads(self.body)}
            except ValueError as error:
                raise message(400, "400 Bad request - the body is no JSON") from error
        return {**self.query, **dict(parse_qsl(self.body))}

    def choice(self, name: str, default: str, *allowed: str) -> str:
        value = self.query.get(name) or default
        if value not in allowed:
            raise invalid(name, "does not have a valid value")
        return value

    def flag(self, name: str) -> bool:
        return self.query.get(name, "").lower() in ("true", "1", "t", "yes", "on")

    def time(self, name: str) -> datetime | None:
        value = self.query.get(name)
        if not value:
            return None
        try:
            at = datetime.fromisoformat(value)
        except ValueError as error:
            raise invalid(name) from error
        return at if at.tzinfo else at.replace(tzinfo=UTC)

    @property
    def project(self) -> Project:
        """The project, or the refusal that GitLab gives: redirects only what is read."""
        reference = unquote(self.path["project"])
        project = self.world.find(reference)
        moved = self.world.moved.get(reference) if project is None else None
        project = self.world.projects.get(moved) if moved else project
        if project is None or not self.caller.sees(project):
            raise not_found("Project")
        if moved:
            raise self._redirect(project)
        return project

    def _redirect(self, project: Project) -> Refused:
        if self.method != "GET":
            return message(405, "405 Non GET methods are not allowed for moved projects")
        where = self.url.replace(self.path["project"], str(project.id), 1)
        query = f"?{self.query_string}" if self.query_string else ""
        words = f"This resource has been moved permanently to {where}{query}"
        return Refused(301, words, {"Location": where + query})

    @property
    def merge_request(self) -> MergeRequest:
        project = self.readable_project
        if not self.path["iid"].isdigit():
            raise invalid("merge_request_iid")
        mr = project.merge_requests.get(int(self.path["iid"]))
        if mr is None:
            raise not_found()
        return mr

    @property
    def readable_project(self) -> Project:
        """The project, whose merge requests the caller may read."""
        project = self.project
        if not self.caller.may_read("merge_requests") or not project.merge_requests_enabled:
            raise forbidden()
        return project

    def need_user(self) -> None:
        if self.caller.user is None:
            raise unauthorized()

    def need(self, what: str) -> None:
        """`what` is refused with 403, or with 404 where it is `what:hidden`."""
        if not self.caller.may_read(f"{what}:hidden"):
            raise not_found()
        if not self.caller.may_read(what):
            raise forbidden()

    def page(self, rows: Any, shape: Callable[[Any], Any], *, limited: bool = False) -> Reply:
        return paginate(self.world, rows, self.url, self.query_string, shape, limited=limited)


Handler = Callable[[Call], Any]


@dataclass(frozen=True, slots=True)
class Route:
    method: str
    pattern: re.Pattern[str]
    handler: Handler
    status: int
    since: str | None


ROUTES: list[Route] = []


def route(
    method: str, pattern: str, *, status: int = 200, since: str | None = None
) -> Callable[[Handler], Handler]:
    """Register a handler; it gives a body, or a body with headers. `since` names a `REST` entry."""

    def register(handler: Handler) -> Handler:
        ROUTES.append(Route(method, re.compile(pattern), handler, status, since))
        return handler

    return register
