"""The simulated forge over HTTP: authentication, limits, ETags, redirects, both interfaces."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable
from email.utils import format_datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.simulators.github import rest
from tests.simulators.github.calls import Answer, Call, RestRefusal, etag, missing
from tests.simulators.github.engine import Engine, spoiled
from tests.simulators.github.tokens import CORE, GRAPHQL, NOBODY, Viewer
from tests.simulators.github.world import World
from tests.simulators.watched import SEEN, Seen

API_VERSIONS = ("2022-11-28", "2026-03-10")
ROOTS = ("", "/api/v3")
"""github.com's REST lies at the root of its own host, an Enterprise Server's under `/api/v3`."""


class Forge:
    """Answers HTTP requests from a world, at its routes."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.engine = Engine(world)

    def always_headers(self) -> dict[str, str]:
        """What every answer carries."""
        return {
            "date": format_datetime(self.world.clock(), usegmt=True),
            "server": "github.com",
            "x-github-media-type": "github.v3; format=json",
            "x-github-request-id": "C0DE:1:2:3:4",
        }

    def routes(self) -> list[Route]:
        routes = [
            Route("/graphql", self._graphql, methods=["POST"]),
            Route("/api/graphql", self._graphql, methods=["POST"]),
            Route("/_job-logs/{job}", self._job_log),
        ]
        for root in ROOTS:
            for path, handler in rest.ELSEWHERE.items():
                routes.append(Route(root + path, self._rest(handler, root, path)))
            for path, handler in rest.IN_REPOSITORY.items():
                for place in ("/repos/{owner}/{name}", "/repositories/{repository_id:int}"):
                    routes.append(Route(root + place + path, self._rest(handler, root, path)))
        return routes

    def _rest(self, handler: rest.Handler, root: str, path: str) -> Callable[..., Any]:
        async def endpoint(request: Request) -> Response:
            with self.world.lock:
                return _response(self._answer_rest(request, handler, root, path))

        return endpoint

    def _answer_rest(self, request: Request, handler: rest.Handler, root: str, path: str) -> Answer:
        try:
            viewer = self._viewer(request)
            _check_manners(request)
        except RestRefusal as refusal:
            return refusal.answer
        free = handler is rest.rate_limit
        if not free and not self.world.budgets.of(viewer.payer, CORE).remaining:
            return self._limited(request, viewer, self._exhausted(viewer).answer, 0)
        answer = self._attempt(request, viewer, handler, root, path)
        unchanged = _revalidate(request, viewer, answer)
        cost = 0 if free or (unchanged and viewer.user) else 1
        return self._limited(request, viewer, answer, cost)

    def _attempt(
        self, request: Request, viewer: Viewer, handler: rest.Handler, root: str, path: str
    ) -> Answer:
        call = self._call(request, viewer, root, path)
        try:
            if path and path.rpartition("/")[2] in viewer.forbids:
                raise RestRefusal(403, "Resource not accessible by personal access token")
            if "repository_id" in call.variables:
                found = self.world.repositories.get(call.variables["repository_id"])
                call.repository = self.world.visible(found, viewer)
            elif "owner" in call.variables:
                named = f"{call.variables['owner']}/{call.variables['name']}"
                call.repository = self.world.visible(self.world.find_repository(named), viewer)
                if call.repository and _is_former(call, named):
                    return _moved(call, request)
            if call.repository is None and handler in rest.IN_REPOSITORY.values():
                raise missing()
            return handler(call)
        except RestRefusal as refusal:
            return refusal.answer

    def _call(self, request: Request, viewer: Viewer, root: str, path: str) -> Call:
        variables = dict(request.path_params)
        route = re.sub(r"\{(\w+)(:\w+)?\}", lambda found: str(variables[found[1]]), path)
        return Call(
            self.world,
            viewer,
            self.world.site.root + root,
            route,
            dict(request.query_params),
            variables,
            finds_no_checks=bool(_told(request).get("no_checks")),
        )

    async def _graphql(self, request: Request) -> Response:
        body = await request.body()
        with self.world.lock:
            return _response(self._answer_graphql(request, body))

    def _answer_graphql(self, request: Request, body: bytes) -> Answer:
        try:
            viewer = self._viewer(request)
            _check_manners(request)
            if viewer.user is None:
                raise RestRefusal(401, "This endpoint requires you to be authenticated.")
            asked = _graphql_request(body)
        except RestRefusal as refusal:
            return refusal.answer
        told, variables = _told(request), asked.get("variables") or {}
        reply = self.engine.answer(
            viewer,
            asked["query"],
            variables,
            asked.get("operationName"),
            empty_rollups=bool(told.get("no_checks")),
        )
        self._note(request, viewer, reply.cost, GRAPHQL)
        answer = Answer.of(spoiled(reply.body, told.get("nulls", {})))
        answer.headers.update(self._limits(viewer, GRAPHQL))
        return answer

    async def _job_log(self, request: Request) -> Response:
        """The storage host: it refuses whoever sends it another host's token."""
        if "authorization" in request.headers:
            return Response("InvalidAuthenticationInfo", 400)
        for repository in self.world.repositories.values():
            call = Call(self.world, NOBODY, "", "", {}, dict(request.path_params), repository)
            try:
                return Response(rest.job(call).log, media_type="text/plain")
            except RestRefusal:
                continue
        return Response("BlobNotFound", 404)

    def _viewer(self, request: Request) -> Viewer:
        scheme, _, credential = request.headers.get("authorization", "").partition(" ")
        if not scheme:
            return NOBODY
        token = _basic_password(credential) if scheme.lower() == "basic" else credential.strip()
        viewer = self.world.tokens.viewer(token)
        if viewer is None:
            raise RestRefusal(401, "Bad credentials")
        return viewer

    def _exhausted(self, viewer: Viewer) -> RestRefusal:
        who = f"user ID {viewer.user.database_id}" if viewer.user else "127.0.0.1"
        return RestRefusal(403, f"API rate limit exceeded for {who}.")

    def _limited(self, request: Request, viewer: Viewer, answer: Answer, cost: int) -> Answer:
        self.world.budgets.of(viewer.payer, CORE).used += cost
        self._note(request, viewer, cost, CORE)
        answer.headers.update(self._limits(viewer, CORE))
        return answer

    def _limits(self, viewer: Viewer, resource: str) -> dict[str, str]:
        if not self.world.has_limits:
            return {}
        budget = self.world.budgets.of(viewer.payer, resource)
        return {
            "x-ratelimit-limit": str(budget.limit),
            "x-ratelimit-remaining": str(budget.remaining),
            "x-ratelimit-used": str(budget.used),
            "x-ratelimit-reset": str(int(budget.reset_at.timestamp())),
            "x-ratelimit-resource": resource,
        }

    def _note(self, request: Request, viewer: Viewer, cost: int, resource: str) -> None:
        seen: Seen | None = request.scope.get(SEEN)
        if seen:
            seen.request.notes.update(
                user=viewer.payer, token=viewer.token, cost=cost, resource=resource
            )


def _told(request: Request) -> dict[str, Any]:
    """What a fault says about the content of an answer (see `faults.py`)."""
    seen: Seen | None = request.scope.get(SEEN)
    return (seen.fault.json or {}) if seen and seen.fault else {}


def _check_manners(request: Request) -> None:
    if not request.headers.get("user-agent"):
        raise RestRefusal(403, "Request forbidden by administrative rules. No User-Agent header.")
    version = request.headers.get("x-github-api-version", API_VERSIONS[0])
    if version not in API_VERSIONS:
        raise RestRefusal(400, f"{version!r} is not a supported version.")


def _graphql_request(body: bytes) -> dict[str, Any]:
    try:
        asked = json.loads(body)
    except ValueError:
        raise RestRefusal(400, "Problems parsing JSON") from None
    if not isinstance(asked, dict) or not isinstance(asked.get("query"), str):
        raise RestRefusal(400, "A query attribute must be specified and must be a string.")
    return asked


def _basic_password(credential: str) -> str:
    try:
        return base64.b64decode(credential).decode().partition(":")[2]
    except (binascii.Error, UnicodeDecodeError):
        return ""


def _is_former(call: Call, name: str) -> bool:
    return call.found.name_with_owner.lower() != name.lower()


def _moved(call: Call, request: Request) -> Answer:
    """301 for reading and 307 for writing, to the address by id, with the query."""
    address = f"{call.api}/repositories/{call.found.database_id}{call.route}"
    if request.url.query:
        address += f"?{request.url.query}"
    status = 301 if request.method in ("GET", "HEAD") else 307
    return Answer.of({"message": "Moved Permanently", "url": address}, status, location=address)


def _revalidate(request: Request, viewer: Viewer, answer: Answer) -> bool:
    """Give a good answer its ETag; make it a 304 where the client has it already."""
    if answer.status != 200:
        return False
    tag = answer.headers["etag"] = etag(answer.body, viewer)
    known = [each.strip() for each in request.headers.get("if-none-match", "").split(",")]
    if tag not in known:
        return False
    answer.status, answer.body = 304, b""
    return True


def _response(answer: Answer) -> Response:
    return Response(answer.body, answer.status, answer.headers)
