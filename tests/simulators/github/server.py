"""The simulated GitHub running: in a thread beside a test, or as a process of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from starlette.applications import Starlette

from tests.simulators.faults import FaultPlan
from tests.simulators.github.app import Forge
from tests.simulators.github.control import Control
from tests.simulators.github.world import World
from tests.simulators.recording import matches
from tests.simulators.remote import Remote
from tests.simulators.serving import serving
from tests.simulators.watched import Request, RequestLog, Watched

REPOSITORY_ROOT = Path(__file__).parents[3]
END_SECONDS = 10.0


class GitHub:
    """A running forge: its world, its faults, its log of requests, its address."""

    def __init__(self, world: World, latency: float = 0.0) -> None:
        self.world = world
        self.faults = FaultPlan()
        self.log = RequestLog()
        forge = Forge(world)
        self.app = Watched(
            None, self.faults, self.log, latency=latency, always=forge.always_headers
        )
        control = Control(world, self.app)
        self.app.app = Starlette(routes=[*control.routes(), *forge.routes()])

    @property
    def url(self) -> str:
        """The web root, as a forge of kind github is configured."""
        return self.world.site.root

    def operations(self, name: str = "") -> list[Request]:
        """The GraphQL requests so far whose operation name matches the regular expression."""
        return [each for each in self.log.matching("/graphql$") if matches(each, name)]

    @property
    def points(self) -> int:
        """What the GraphQL requests in the log have cost."""
        return sum(request.notes.get("cost", 0) for request in self.operations())


@contextmanager
def running(
    world: World | None = None,
    *,
    latency: float = 0.0,
    port: int = 0,
    tls: tuple[Path, Path] | None = None,
) -> Iterator[GitHub]:
    """Serve `world` on loopback while the block runs; `latency` in seconds for every request."""
    github = GitHub(world or World(), latency)
    with serving(github.app, port=port, tls=tls) as url:
        github.world.site.root = url
        yield github


@contextmanager
def separate_process(*arguments: str) -> Iterator[Remote]:
    """The same as a process of its own, which takes no time from the test's: for benchmarks.

    `arguments` are those of `python -m tests.simulators.github`.
    """
    command = [sys.executable, "-m", "tests.simulators.github", *arguments]
    process = subprocess.Popen(command, cwd=REPOSITORY_ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        if not address:
            raise RuntimeError("the simulator ended before it served")
        with Remote(address) as remote:
            yield remote
    finally:
        process.terminate()
        process.communicate(timeout=END_SECONDS)
