"""Faults that a simulated forge can be told to commit.

A fault is plain data, so that a simulator in another process takes it as JSON; `watched.py`
commits it.
"""

from __future__ import annotations

import asyncio
import re
import threading
from dataclasses import dataclass, field, fields
from typing import Any, Protocol

HTML_ERROR = "<!DOCTYPE html><html><head><title>{0}</title></head><body><h1>{0}</h1></body></html>"


class Asked(Protocol):
    """What a fault is matched against."""

    @property
    def line(self) -> str: ...

    @property
    def body(self) -> str: ...


@dataclass(slots=True)
class Fault:
    """What goes wrong, for which requests, and how often.

    With `status` the answer is the fault's own; with none of `status`, `drop` and `hang` the real
    answer is sent, late (`delay`), cut short (`cut`) or with more `headers`.
    """

    name: str = "fault"
    request: str = ""
    """Regular expression searched in `METHOD /path?query`."""
    body: str = ""
    """Regular expression searched in the request's body: a GraphQL field, say."""
    skip: int = 0
    """So many matching requests are answered well first."""
    times: int | None = 1
    """So many are answered with the fault; `None`: all."""
    status: int | None = None
    text: str | None = None
    json: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    cut: float | None = None
    """The share of the answer's bytes that arrives before the connection closes."""
    truncate: float | None = None
    """The share of the answer's bytes that is sent as if it were all of it: cut JSON."""
    drop: bool = False
    """The connection is closed without a byte."""
    hang: bool = False
    """No answer comes until the plan is cleared."""
    delay: float = 0.0
    """Seconds before anything is answered."""

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Fault:
        known = {each.name for each in fields(cls)}
        if unknown := set(values) - known:
            raise ValueError(f"unknown: {sorted(unknown)}; known: {sorted(known)}")
        return cls(**values)

    def concerns(self, request: Asked) -> bool:
        if self.times == 0 or not re.search(self.request, request.line):
            return False
        return not self.body or re.search(self.body, request.body) is not None


class FaultPlan:
    """The faults still to commit; the first that matches a request is taken."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []
        self._hanging: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []
        self._lock = threading.Lock()

    def add(self, fault: Fault) -> Fault:
        with self._lock:
            self._faults.append(fault)
        return fault

    def clear(self) -> None:
        """Commit no more faults, and let hanging requests be answered."""
        with self._lock:
            self._faults.clear()
            hanging, self._hanging = self._hanging, []
        for loop, release in hanging:
            loop.call_soon_threadsafe(release.set)

    def take(self, request: Asked) -> Fault | None:
        with self._lock:
            for fault in self._faults:
                if not fault.concerns(request):
                    continue
                if fault.skip:
                    fault.skip -= 1
                    continue
                if fault.times is not None:
                    fault.times -= 1
                return fault
            return None

    async def hang(self) -> None:
        """Return when the plan is cleared."""
        release = asyncio.Event()
        with self._lock:
            self._hanging.append((asyncio.get_running_loop(), release))
        await release.wait()


def server_error(status: int = 502, *, request: str = "", times: int | None = 1) -> Fault:
    """A proxy's HTML page instead of an answer, as with 502, 503 and 504."""
    return html_page(status, request=request, times=times)


def html_page(status: int = 200, *, request: str = "", times: int | None = 1) -> Fault:
    """An HTML page with this status: a proxy's error, a login or maintenance page."""
    return Fault(
        f"html {status}",
        request,
        times=times,
        status=status,
        text=HTML_ERROR.format(status),
        headers={"content-type": "text/html; charset=utf-8"},
    )


def cut_json(share: float = 0.5, *, request: str = "", times: int | None = 1) -> Fault:
    """A well-formed answer of which only the first part is JSON."""
    return Fault("cut json", request, times=times, truncate=share)


def broken_off(share: float = 0.5, *, request: str = "", times: int | None = 1) -> Fault:
    """The connection closes in the middle of the body."""
    return Fault("broken off", request, times=times, cut=share)


def dropped(*, request: str = "", times: int | None = 1) -> Fault:
    return Fault("dropped", request, times=times, drop=True)


def hanging(*, request: str = "", times: int | None = 1) -> Fault:
    return Fault("hanging", request, times=times, hang=True)


def slow(seconds: float, *, request: str = "", times: int | None = None) -> Fault:
    return Fault("slow", request, times=times, delay=seconds)
