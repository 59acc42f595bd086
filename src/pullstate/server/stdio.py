"""Serving over stdin and stdout: what may end the process, and the orderly end.

The process ends when the client closes stdin, when a signal says so, when stdout is broken, and
when its parent is gone without a word. Whichever comes first, nothing that hangs keeps it alive
for longer than `END_SECONDS`: clients send SIGTERM two seconds after they close stdin, and SIGKILL
two seconds after that.

Logging goes to stderr and is configured by the caller, before.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import signal
import sys
import threading
from typing import Any

import anyio
from mcp import types as t
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from pullstate.server.failures import log_failure

log = logging.getLogger(__name__)

END_SECONDS = 1.8
PARENT_LOOK_SECONDS = 1.0
FAILED_STATUS = 1

_SIGNALS = [getattr(signal, n) for n in ("SIGTERM", "SIGINT", "SIGHUP") if hasattr(signal, n)]


def serve(server: Server[Any], parent: int | None = None) -> int:
    """Serve one client until it goes, and return the exit status.

    `parent` is the parent's pid as the process began; a caller that imported much before it came
    here knows it better than `os.getppid()` does now.

    Returns (0) only at the end of stdin. In every other case a thread may be waiting for stdin
    for ever, so the process is left from here, after the server has closed: with 128 and the
    signal's number, 0 for a parent that is gone, 1 for a broken stdout or a server that failed.
    """
    return anyio.run(_serve, server, os.getppid() if parent is None else parent)


async def _serve(server: Server[Any], parent: int) -> int:
    end = _End()
    try:
        async with stdio_server() as (incoming, outgoing):
            requests = _Requests(incoming, outgoing, end)
            status = await _serve_streams(server, requests, outgoing, end, parent)
            if status is not None:
                _leave(status)
    except* OSError:  # stdout broke under the very last answer
        _leave(FAILED_STATUS)
    return 0


async def _serve_streams(
    server: Server[Any], requests: _Requests, outgoing: Any, end: _End, parent: int
) -> int | None:
    """Serve to the end. None after an orderly end of stdin, else the status to leave with."""
    try:
        async with anyio.create_task_group() as group:
            if sys.platform != "win32":
                group.start_soon(_watch_signals, end, group.cancel_scope)
                group.start_soon(_watch_parent, end, group.cancel_scope, parent)
            group.start_soon(_watch_cancellation, end)
            await server.run(requests, outgoing, server.create_initialization_options())
            group.cancel_scope.cancel()
    except anyio.get_cancelled_exc_class():
        end.begin(FAILED_STATUS)  # by stdio_server, whose stdout broke, unless it had begun before
        return end.status
    except BaseException as error:
        log_failure(log, "serving", error)
        end.begin(FAILED_STATUS)
        return FAILED_STATUS
    return None if end.of_stdin else end.status


class _End:
    """How the process ends. Once it has begun it is over in `END_SECONDS`, whatever hangs."""

    def __init__(self) -> None:
        self.begun = False
        self.status = 0
        self.of_stdin = False

    def begin(self, status: int, *, of_stdin: bool = False) -> None:
        """Begin the end, unless it has begun."""
        if self.begun:
            return
        self.begun, self.status, self.of_stdin = True, status, of_stdin
        deadline = threading.Timer(END_SECONDS, _leave, [status])
        deadline.daemon = True
        deadline.start()


def _leave(status: int) -> None:
    with contextlib.suppress(Exception):
        logging.shutdown()
        sys.stderr.flush()
    os._exit(status)


async def _watch_signals(end: _End, serving: anyio.CancelScope) -> None:
    with anyio.open_signal_receiver(*_SIGNALS) as received:
        async for number in received:
            end.begin(128 + number)
            serving.cancel()
            return


async def _watch_parent(end: _End, serving: anyio.CancelScope, parent: int) -> None:
    """A client that was killed closes no pipe that somebody else holds too."""
    while os.getppid() == parent:
        await anyio.sleep(PARENT_LOOK_SECONDS)
    log.info("the parent process is gone")
    end.begin(0)
    serving.cancel()


async def _watch_cancellation(end: _End) -> None:
    """stdio_server cancels everything when stdout breaks: from then on time counts."""
    try:
        await anyio.sleep_forever()
    finally:
        end.begin(FAILED_STATUS)


class _Requests:
    """The client's messages, as the SDK reads them.

    Lines that are no message are answered here, since the SDK drops them in silence and their
    sender would wait for ever. At the last line the end begins.
    """

    def __init__(self, incoming: Any, outgoing: Any, end: _End) -> None:
        self._incoming = incoming
        self._outgoing = outgoing
        self._end = end

    @property
    def last_context(self) -> Any:
        return self._incoming.last_context

    def __aiter__(self) -> _Requests:
        return self

    async def __anext__(self) -> SessionMessage:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def receive(self) -> SessionMessage:
        """The next message. Raises EndOfStream at the end of stdin."""
        try:
            while isinstance(item := await self._incoming.receive(), Exception):
                await self._refuse(item)
        except anyio.EndOfStream:
            self._end.begin(0, of_stdin=True)
            raise
        return item

    async def _refuse(self, error: Exception) -> None:
        refusal = refusal_of(error)
        if refusal is not None:
            with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                await self._outgoing.send(SessionMessage(refusal))

    async def aclose(self) -> None:
        await self._incoming.aclose()

    async def __aenter__(self) -> _Requests:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def refusal_of(error: Exception) -> t.JSONRPCError | None:
    """The answer to a line that is no JSON-RPC message, under its id where it has one.

    None where none is owed: to a blank line, and to a response of the client's.
    """
    details = error.errors(include_url=False) if isinstance(error, ValidationError) else []
    parsed = not any(detail["type"] == "json_invalid" for detail in details)
    message = _found_in(details)
    if message == "" or (isinstance(message, dict) and "method" not in message and parsed):
        return None
    code, words = _INVALID if parsed else _UNPARSED
    return t.JSONRPCError(
        jsonrpc="2.0", id=_id_of(message), error=t.ErrorData(code=code, message=words)
    )


_INVALID = (t.INVALID_REQUEST, "Invalid request: one JSON-RPC 2.0 object on each line is read.")
_UNPARSED = (t.PARSE_ERROR, "Parse error: the line is not JSON in UTF-8.")


def _found_in(details: list[Any]) -> Any:
    """The whole message that the parser complained of, as far as it can be read."""
    for detail in details:
        if detail["type"] == "json_invalid":
            return _leniently_read(detail["input"].strip())
        if detail["type"] == "missing" and len(detail["loc"]) == 2:
            return detail["input"]
    return None


def _leniently_read(line: str) -> Any:
    """What the standard library makes of a line; it takes half a surrogate pair, for one."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return line


def _id_of(message: Any) -> str | int | None:
    given = message.get("id") if isinstance(message, dict) else None
    return given if isinstance(given, str | int) and not isinstance(given, bool) else None
