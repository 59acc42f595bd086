"""A raw JSON-RPC client that drives a real server process over its standard streams.

It knows nothing of the SDK: what goes over the pipe is written and read here, so that a test can
send what no SDK would send. Both protocol eras:

    with Client(command) as client:                      # legacy: initialize
        client.open("2025-06-18")
    with Client(command, era="modern") as client:        # every request says its version
        client.open()
    client.call("list_pull_requests", repositoryUrl="…")  # → the tool's result

Every wait has a deadline and fails with what the server wrote to stderr.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Literal

Message = dict[str, Any]

DEADLINE = 20.0
MODERN_VERSION = "2026-07-28"
LEGACY_VERSION = "2025-11-25"
LEGACY_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
PASSED_ON = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER")  # all that clients pass on
CLIENT_INFO = {"name": "raw-client", "version": "1.0"}
ENVELOPE = "io.modelcontextprotocol"


class RpcError(Exception):
    """The server answered with a JSON-RPC error."""

    def __init__(self, error: Message) -> None:
        super().__init__(error["message"])
        self.code: int = error["code"]
        self.message: str = error["message"]
        self.data: Any = error.get("data")


class Lines:
    """The lines of a pipe, as a thread reads them."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self.read: list[str] = []
        self._pipe = pipe
        self._queue: queue.Queue[str | None] = queue.Queue()
        self._thread = threading.Thread(target=self._pump, daemon=True)
        self._thread.start()

    def _pump(self) -> None:
        for line in self._pipe:
            text = line.decode("utf-8", "backslashreplace")
            self.read.append(text)
            self._queue.put(text)
        self._queue.put(None)

    def next(self, timeout: float) -> str | None:
        """The next line, or None at the end of the pipe. Raises queue.Empty."""
        line = self._queue.get(timeout=timeout)
        if line is None:
            self._queue.put(None)
        return line

    def wait_for(self, text: str, timeout: float = DEADLINE) -> str:
        """The first unread line that contains the text."""
        end = time.monotonic() + timeout
        with contextlib.suppress(queue.Empty):
            while (line := self.next(max(0.0, end - time.monotonic()))) is not None:
                if text in line:
                    return line
        raise AssertionError(f"{text!r} did not come; what came: {''.join(self.read)}")

    def ended(self, timeout: float = DEADLINE) -> str:
        """Everything, once the pipe has ended."""
        self._thread.join(timeout)
        assert not self._thread.is_alive(), "the pipe is still open"
        return "".join(self.read)


class Client:
    """One server process and the client at its other end."""

    def __init__(
        self,
        command: Sequence[str | Path],
        *,
        era: Literal["legacy", "modern"] = "legacy",
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> None:
        self.era = era
        self.notifications: list[Message] = []
        self._answers: dict[Any, Message] = {}
        self._ids = itertools.count(1)
        self.process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(env),
            cwd=cwd,
        )
        assert self.process.stdin and self.process.stdout and self.process.stderr
        self.stdin = self.process.stdin
        self.stdout = Lines(self.process.stdout)
        self.stderr = Lines(self.process.stderr)

    # --- What a client does ------------------------------------------------------------------

    def open(self, version: str | None = None) -> Message:
        """Open the connection as the era does, and return the answer to its first request."""
        if self.era == "modern":
            return self.request("server/discover")
        answer = self.request(
            "initialize",
            protocolVersion=version or LEGACY_VERSION,
            capabilities={},
            clientInfo=CLIENT_INFO,
        )
        self.notify("notifications/initialized")
        return answer

    def list_tools(self) -> list[Message]:
        """The tools as the server lists them."""
        return self.request("tools/list")["tools"]

    def call(self, tool: str, /, **arguments: Any) -> Message:
        """Call a tool and return its result, an error result too."""
        return self.request("tools/call", name=tool, arguments=arguments)

    def structured(self, tool: str, /, **arguments: Any) -> Message:
        """Call a tool that must succeed, and return its structured content.

        Holds every reply to the promise that text and structured content say the same.
        """
        result = self.call(tool, **arguments)
        assert not result.get("isError"), result["content"]
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
        return result["structuredContent"]

    def error(self, tool: str, /, **arguments: Any) -> str:
        """Call a tool that must answer with an error, and return its text."""
        result = self.call(tool, **arguments)
        assert result.get("isError") is True, result
        assert "structuredContent" not in result
        return result["content"][0]["text"]

    # --- JSON-RPC ----------------------------------------------------------------------------

    def request(self, method: str, /, **params: Any) -> Message:
        """Send a request and return its result. Raises RpcError."""
        return self.result_of(self.start(method, **params))

    def start(self, method: str, /, **params: Any) -> int:
        """Send a request and return its id, without waiting."""
        number = next(self._ids)
        if self.era == "modern":
            params.setdefault("_meta", {}).update(envelope())
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return number

    def notify(self, method: str, /, **params: Any) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def cancel(self, number: int) -> None:
        """Take a request back."""
        self.notify("notifications/cancelled", requestId=number, reason="no longer wanted")

    def result_of(self, number: Any, timeout: float = DEADLINE) -> Message:
        """Wait for the answer to a request. Raises RpcError."""
        answer = self.answer_to(number, timeout)
        if "error" in answer:
            raise RpcError(answer["error"])
        return answer["result"]

    def answer_to(self, number: Any, timeout: float = DEADLINE) -> Message:
        """Wait for the whole answer under an id (None for an error that names none)."""
        end = time.monotonic() + timeout
        while number not in self._answers:
            self._read(max(0.0, end - time.monotonic()))
        return self._answers.pop(number)

    def is_answered(self, number: Any) -> bool:
        """Whether an answer under this id was read so far (a later answer has been waited for)."""
        return number in self._answers

    def _read(self, timeout: float) -> None:
        try:
            line = self.stdout.next(timeout)
        except queue.Empty:
            raise AssertionError(f"no answer in time; stderr: {self.stderr.read}") from None
        assert line is not None, f"the server ended: {self.stderr.ended()}"
        message = json.loads(line)
        if "method" in message:
            self.notifications.append(message)
        else:
            self._answers[message["id"]] = message

    # --- The bare pipe -----------------------------------------------------------------------

    def send(self, message: Message) -> None:
        self.send_line(json.dumps(message))

    def send_line(self, line: str | bytes) -> None:
        """Send a line as it is, whatever is in it."""
        raw = line.encode("utf-8") if isinstance(line, str) else line
        self.stdin.write(raw + b"\n")
        self.stdin.flush()

    def close_stdin(self) -> None:
        self.stdin.close()

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def wait(self, timeout: float = DEADLINE) -> int:
        """Wait for the process to end and return its status."""
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running; stderr: {self.stderr.read}") from None

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave no process behind, however the test went."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        with contextlib.suppress(BrokenPipeError):
            self.stdin.close()
        for lines, pipe in ((self.stdout, self.process.stdout), (self.stderr, self.process.stderr)):
            lines.ended()
            assert pipe
            pipe.close()


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment that clients start a server with: a few variables, and what they add."""
    return {name: os.environ[name] for name in PASSED_ON if name in os.environ} | dict(more or {})


def envelope(version: str = MODERN_VERSION) -> Message:
    """What every modern request carries in `_meta`."""
    return {
        f"{ENVELOPE}/protocolVersion": version,
        f"{ENVELOPE}/clientInfo": CLIENT_INFO,
        f"{ENVELOPE}/clientCapabilities": {},
    }


def python(*arguments: str | Path) -> list[str]:
    """The command that runs the tests' own interpreter."""
    return [sys.executable, *map(str, arguments)]
