"""The simulated GitHub running: in a thread beside a test, or as a process of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.simulators.faults import FaultPlan
from tests.simulators.github.app import Forge
from tests.simulators.github.world import World
from tests.simulators.serving import serving
from tests.simulators.watched import Request, RequestLog, Watched


class GitHub:
    """A running forge: its world, its faults, its log of requests, its address."""

    def __init__(self, world: World, latency: float = 0.0) -> None:
        self.world = world
        self.faults = FaultPlan()
        self.log = RequestLog()
        self.forge = Forge(world)
        self.app = Watched(
            self.forge.app, self.faults, self.log, latency=latency, always=self.forge.headers
        )

    @property
    def url(self) -> str:
        """The web root, as a forge of kind github is configured."""
        return self.world.site.root

    def operations(self, name: str = "") -> list[Request]:
        """The GraphQL requests so far whose operation name matches the regular expression."""
        asked = [request for request in self.log.matching() if request.is_graphql]
        return [request for request in asked if re.search(name, operation_name(request))]

    @property
    def points(self) -> int:
        """What the GraphQL requests in the log have cost."""
        return sum(request.notes.get("cost", 0) for request in self.operations())


def operation_name(request: Request) -> str:
    """The name of the operation that a GraphQL request executes, `""` when it has none."""
    asked = request.graphql
    if name := asked.get("operationName"):
        return str(name)
    named = re.search(r"\b(?:query|mutation)\s+(\w+)", asked.get("query", ""))
    return named[1] if named else ""


@contextmanager
def running(
    world: World | None = None,
    *,
    latency: float = 0.0,
    port: int = 0,
    tls: tuple[Path, Path] | None = None,
) -> Iterator[GitHub]:
    """Serve `world` on loopback while the block runs; `latency` in seconds for every request.

    >>> world = World()
    >>> repository = world.create_repository("acme/rocket")
    >>> with running(world) as github:
    ...     github.url.startswith("http://127.0.0.1:")
    True
    """
    github = GitHub(world or World(), latency)
    with serving(github.app, port=port, tls=tls) as url:
        github.world.site.root = url
        yield github


def described(request: Request) -> dict[str, Any]:
    """A log entry as JSON. The token is there only as its last four characters."""
    token = request.notes.get("token", "")
    return {
        "at": request.at,
        "method": request.method,
        "path": request.path,
        "query": request.query,
        "operation": operation_name(request) if request.is_graphql else None,
        "variables": request.graphql.get("variables"),
        "user": request.notes.get("user"),
        "token": token[-4:],
        "cost": request.notes.get("cost", 0),
        "resource": request.notes.get("resource"),
        "status": request.status,
        "fault": request.fault,
    }
