"""A simulated forge under watch: each request is logged, then answered by a fault or the forge."""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

from tests.simulators.faults import Fault, FaultPlan

Scope = dict[str, Any]
Message = dict[str, Any]
SEEN = "simulator.seen"
"""Where in its scope the application finds what is `Seen` of a request."""


@dataclass(slots=True)
class Request:
    """One request as it arrived, and how it was answered."""

    method: str
    path: str
    """Still percent-encoded, without the query."""
    query: str
    headers: dict[str, str]
    body: str
    status: int | None = None
    """`None` while it is not answered, or when the connection was dropped."""
    sent: int = 0
    """Bytes of body that went back."""
    response_headers: dict[str, str] = field(default_factory=dict)
    fault: str | None = None
    at: float = field(default_factory=time.monotonic)
    """When it arrived, in seconds of the monotonic clock."""
    notes: dict[str, Any] = field(default_factory=dict)
    """What the forge says of it that is no part of its answer: whose it was, what it cost."""

    @property
    def line(self) -> str:
        return f"{self.method} {self.path}{'?' + self.query if self.query else ''}"

    @property
    def parameters(self) -> dict[str, list[str]]:
        return parse_qs(self.query, keep_blank_values=True)

    @property
    def is_graphql(self) -> bool:
        return self.path.endswith("/graphql")

    @property
    def graphql(self) -> dict[str, Any]:
        """The GraphQL request: `query` and `variables`; empty for any other request."""
        return json.loads(self.body) if self.is_graphql and self.body else {}


@dataclass(frozen=True, slots=True)
class Seen:
    """A request's entry in the log, for the application's notes, and the fault that it must see."""

    request: Request
    fault: Fault | None


class RequestLog:
    """What the simulator was asked, in order; control requests are left out."""

    def __init__(self) -> None:
        self._seen: list[Request] = []
        self._changed = threading.Condition()

    def add(self, request: Request) -> None:
        with self._changed:
            self._seen.append(request)
            self._changed.notify_all()

    def answered(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def clear(self) -> list[Request]:
        """Forget all, and give what was there."""
        with self._changed:
            seen, self._seen = self._seen, []
        return seen

    def matching(self, pattern: str = "") -> list[Request]:
        """Requests whose `METHOD /path?query` matches the regular expression."""
        with self._changed:
            return [request for request in self._seen if re.search(pattern, request.line)]

    def wait_for(self, pattern: str, count: int = 1, timeout: float = 10.0) -> list[Request]:
        """Wait until `count` such requests were answered; TimeoutError when they do not come."""

        def done() -> list[Request]:
            return [request for request in self.matching(pattern) if request.status is not None]

        with self._changed:
            if not self._changed.wait_for(lambda: len(done()) >= count, timeout):
                raise TimeoutError(f"{len(done())} of {count} requests matched {pattern!r}")
        return done()

    def __len__(self) -> int:
        with self._changed:
            return len(self._seen)


class Watched:
    """The application behind its log, its faults and its latency in seconds.

    `always` gives headers for every answer, faults included; requests under `unwatched` are
    neither logged nor hindered.
    """

    def __init__(
        self,
        app: Any,
        faults: FaultPlan,
        log: RequestLog,
        *,
        latency: float = 0.0,
        unwatched: str = "/_control",
        always: Callable[[], dict[str, str]] = dict,
    ) -> None:
        self.app, self.faults, self.log = app, faults, log
        self.latency, self.unwatched, self.always = latency, unwatched, always

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or self.unwatched in scope["path"]:
            await self.app(scope, receive, send)
            return
        body = await _whole_body(receive)
        request = _request(scope, body)
        fault = self.faults.take(request)
        request.fault = fault.name if fault else None
        self.log.add(request)
        await asyncio.sleep(self.latency + (fault.delay if fault else 0.0))
        if fault and fault.hang:
            await self.faults.hang()
        if fault and fault.drop:
            _transport(send).abort()
            return
        answer = await self._answer({**scope, SEEN: Seen(request, fault)}, body, fault)
        await _send(answer, request, fault, send, self.log)

    async def _answer(self, scope: Scope, body: bytes, fault: Fault | None) -> _Answer:
        if fault and fault.status is not None:
            answer = _Answer(fault.status, {}, _fault_body(fault))
            answer.headers["content-type"] = "application/json"
        else:
            answer = await self._run(scope, body)
        for name, value in {**self.always(), **(fault.headers if fault else {})}.items():
            answer.headers[name.lower()] = value
        return answer

    async def _run(self, scope: Scope, body: bytes) -> _Answer:
        try:
            return await _run(self.app, scope, body)
        except Exception:
            # The simulator's own mistake: no forge says this, so it must not pass for one.
            traceback.print_exc()
            text = traceback.format_exc().encode()
            return _Answer(500, {"content-type": "text/plain", "x-simulator": "crashed"}, text)


@dataclass(slots=True)
class _Answer:
    status: int
    headers: dict[str, str]
    body: bytes


def _fault_body(fault: Fault) -> bytes:
    if fault.json is not None:
        return json.dumps(fault.json).encode()
    return (fault.text or "").encode()


async def _run(app: Any, scope: Scope, body: bytes) -> _Answer:
    answer = _Answer(500, {}, b"")
    pending = deque([{"type": "http.request", "body": body, "more_body": False}])

    async def receive() -> Message:
        return pending.popleft() if pending else {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            answer.status = message["status"]
            answer.headers = _headers(message["headers"])
        else:
            answer.body += message.get("body", b"")

    await app(scope, receive, send)
    return answer


async def _send(
    answer: _Answer, request: Request, fault: Fault | None, send: Any, log: RequestLog
) -> None:
    body = answer.body
    if fault and fault.truncate is not None:
        body = body[: int(len(body) * fault.truncate)]
    answer.headers["content-length"] = str(len(body))
    if fault and fault.cut is not None:
        body = body[: int(len(body) * fault.cut)]
    request.sent, request.response_headers = len(body), dict(answer.headers)
    request.status = answer.status
    log.answered()
    headers = [(k.encode(), v.encode("latin-1")) for k, v in answer.headers.items()]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    if answer.status == 304 or request.method == "HEAD":
        body = b""
    more = fault is not None and fault.cut is not None
    await send({"type": "http.response.body", "body": body, "more_body": more})


async def _whole_body(receive: Any) -> bytes:
    parts = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return b"".join(parts)
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)


def _request(scope: Scope, body: bytes) -> Request:
    raw = scope.get("raw_path") or scope["path"].encode()
    return Request(
        scope["method"],
        raw.decode("ascii").partition("?")[0],
        scope["query_string"].decode(),
        _headers(scope["headers"]),
        body.decode("utf-8", "replace"),
    )


def _transport(send: Any) -> asyncio.Transport:
    # ASGI has no message for closing a connection without an answer; uvicorn's own cycle has.
    return send.__self__.transport


def _headers(pairs: Any) -> dict[str, str]:
    return {name.decode().lower(): value.decode("latin-1") for name, value in pairs}
