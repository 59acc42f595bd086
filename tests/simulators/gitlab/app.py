"""The simulated GitLab as an ASGI application."""

from __future__ import annotations

import email.utils
import hashlib
import json
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route as StarletteRoute

from tests.simulators.faults import HTML_ERROR, FaultPlan
from tests.simulators.gitlab import facets, graphql_api, reads, writes
from tests.simulators.gitlab.access import Caller, Refused, identify, need_scope
from tests.simulators.gitlab.asking import Context
from tests.simulators.gitlab.control import Control
from tests.simulators.gitlab.entities import Entities
from tests.simulators.gitlab.limits import RateLimit
from tests.simulators.gitlab.routing import ROUTES, Call, Route
from tests.simulators.gitlab.versions import REST, has
from tests.simulators.gitlab.world import World
from tests.simulators.watched import SEEN, RequestLog, Watched

API = "/api/v4"
ENDPOINTS = (reads, facets, writes)
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]


class GitLab:
    """Answers for one world; paths below `root`, the install's subpath."""

    def __init__(self, world: World, root: str) -> None:
        self.world, self.root = world, root.rstrip("/")
        self.limits = RateLimit(world)

    async def __call__(self, request: Request) -> Response:
        body = (await request.body()).decode("utf-8", "replace")
        path = request.scope["raw_path"].decode("ascii").partition("?")[0]
        if not path.startswith(f"{self.root}/"):
            return html(404)
        with self.world.lock:
            self.world.run_jobs()
            return self._answer(request, path.removeprefix(self.root), body)

    def _answer(self, request: Request, path: str, body: str) -> Response:
        if self.world.decodes_slashes and "%2f" in path.lower():
            return html(404)
        if path == "/api/graphql":
            return self._guarded(request, lambda caller: self._graphql(request, caller, body))
        if path.startswith(API + "/"):
            rest = path.removeprefix(API)
            return self._guarded(request, lambda caller: self._rest(request, caller, rest, body))
        return self._page(path)

    def _guarded(self, request: Request, answer: Any) -> Response:
        """Authenticate and count, then answer; every refusal becomes a response."""
        try:
            caller = identify(self.world, request.headers)
        except Refused as refused:
            return self._refusal(request, refused)
        _note(request, caller)
        limited, headers = self.limits.count(caller)
        if limited:
            return Response("Retry later\n", 429, headers, media_type="text/plain")
        try:
            response = answer(caller)
        except Refused as refused:
            response = self._refusal(request, refused)
        response.headers.update(headers)
        return response

    def _refusal(self, request: Request, refused: Refused) -> Response:
        if isinstance(refused.body, str):
            kind = "text/plain"
            return Response(refused.body, refused.status, refused.headers, media_type=kind)
        body = refused.body
        if request.scope["raw_path"].endswith(b"/api/graphql"):
            body = {"errors": [{"message": _graphql_words(refused)}]}
        return as_json(body, refused.status, refused.headers)

    def _entities(self, request: Request) -> Entities:
        return Entities(self.world, f"{request.url.scheme}://{request.url.netloc}{self.root}")

    def _rest(self, request: Request, caller: Caller, path: str, body: str) -> Response:
        need_scope(caller, "api", "read_api", *(["read_user"] if path == "/user" else []))
        method = "GET" if request.method == "HEAD" else request.method
        found = self._find(method, path)
        if found is None:
            raise Refused(404, {"error": "404 Not Found"})
        route, groups = found
        base = self._entities(request)
        origin = f"{request.url.scheme}://{request.url.netloc}"
        url = f"{origin}{request.scope['raw_path'].decode().partition('?')[0]}"
        query = request.scope["query_string"].decode()
        call = Call(self.world, caller, base, method, url, query, body, groups)
        return _replied(route, route.handler(call), request)

    def _find(self, method: str, path: str) -> tuple[Route, dict[str, str]] | None:
        allowed = False
        for route in ROUTES:
            match = route.pattern.fullmatch(path)
            if match and (not route.since or has(self.world.version, REST[route.since])):
                if route.method == method:
                    return route, match.groupdict()
                allowed = True
        if allowed:
            raise Refused(405, {"error": "405 Not Allowed"})
        return None

    def _graphql(self, request: Request, caller: Caller, body: str) -> Response:
        mode = self.world.graphql_mode
        if mode == "absent" or request.method != "POST":
            return html(404)
        if mode == "refused":
            raise Refused(403, {"message": "403 Forbidden"})
        if mode == "unauthorized":
            raise Refused(401, {"message": "401 Unauthorized"})
        need_scope(caller, "api", "read_api")
        known = Caller(None) if caller.token and caller.token.kind == "job" else caller
        context = Context(self.world, known, self._entities(request))
        return as_json(graphql_api.answer(context, body))

    def _page(self, path: str) -> Response:
        """The web interface shows a stranger its sign-in page."""
        if path == "/users/sign_in":
            return HTMLResponse("<!DOCTYPE html><html><body>Sign in · GitLab</body></html>")
        return RedirectResponse(f"{self.root}/users/sign_in", 302)


def _note(request: Request, caller: Caller) -> None:
    """Leave in the log whose request it was."""
    seen = request.scope.get(SEEN)
    if seen is not None and caller.token is not None:
        seen.request.notes |= {"user": caller.token.user.username, "token": caller.token.secret}


def _graphql_words(refused: Refused) -> str:
    if refused.status == 401:
        return "Invalid token"
    return str(refused.body.get("message") or refused.body.get("error"))


def _replied(route: Route, given: Any, request: Request) -> Response:
    if isinstance(given, str):
        return Response(given, route.status, media_type="text/plain")
    body, headers = given if isinstance(given, tuple) else (given, {})
    response = as_json(body, route.status, headers)
    if request.method == "GET":
        response.headers["Cache-Control"] = "max-age=0, private, must-revalidate"
        response.headers["ETag"] = tag = f'W/"{hashlib.md5(response.body).hexdigest()}"'
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers={"ETag": tag})
    return response


def as_json(body: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        # A lone surrogate has no UTF-8; as an escape JSON carries it.
        text = json.dumps(body, separators=(",", ":"))
    meta = {"X-Gitlab-Meta": '{"correlation_id":"simulated","version":"1"}', "Vary": "Origin"}
    return Response(text, status, {**meta, **(headers or {})}, media_type="application/json")


def html(status: int) -> Response:
    return HTMLResponse(HTML_ERROR.format(status), status)


def application(
    world: World,
    *,
    root: str = "/gitlab",
    latency: float = 0.0,
    faults: FaultPlan | None = None,
    log: RequestLog | None = None,
) -> Watched:
    """The whole simulator: the world's GitLab under `root` behind its faults and its log.

    `latency` is in seconds. The Date header is the world's time.
    """
    plan, seen = faults or FaultPlan(), RequestLog() if log is None else log

    def dated() -> dict[str, str]:
        return {"date": email.utils.format_datetime(world.now, usegmt=True)}

    watched = Watched(None, plan, seen, latency=latency, always=dated)
    gitlab = StarletteRoute("/{path:path}", GitLab(world, root).__call__, methods=METHODS)
    watched.app = Starlette(routes=[*Control(world, watched).routes(), gitlab])
    return watched
