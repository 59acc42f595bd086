"""The simulated GitLab over HTTP: in a thread of a test, or as a process of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.simulators.faults import FaultPlan
from tests.simulators.gitlab.app import application
from tests.simulators.gitlab.world import DEFAULT_TOKEN, World
from tests.simulators.remote import Remote
from tests.simulators.serving import serving
from tests.simulators.watched import RequestLog

REPOSITORY_ROOT = Path(__file__).parents[3]
END_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Running:
    """A GitLab that answers: `base` is `http://127.0.0.1:PORT` with the subpath."""

    world: World
    base: str
    faults: FaultPlan
    log: RequestLog
    token: str = DEFAULT_TOKEN

    @property
    def api(self) -> str:
        return f"{self.base}/api/v4"

    @property
    def graphql(self) -> str:
        return f"{self.base}/api/graphql"

    @property
    def url(self) -> str:
        """The web root, as a forge of kind gitlab is configured."""
        return self.base

    @property
    def host(self) -> str:
        """`host:port/subpath`, as a configuration names it."""
        return self.base.partition("://")[2]


@contextmanager
def running(
    world: World,
    root: str = "/gitlab",
    latency: float = 0.0,
    *,
    port: int = 0,
    tls: tuple[Path, Path] | None = None,
) -> Iterator[Running]:
    """Serve the world while the block runs. `latency` in seconds; `tls`: certificate and key."""
    faults, log = FaultPlan(), RequestLog()
    app = application(world, root=root, latency=latency, faults=faults, log=log)
    with serving(app, port=port, tls=tls) as origin:
        try:
            yield Running(world, origin + root.rstrip("/"), faults, log)
        finally:
            faults.clear()


@contextmanager
def separate_process(*arguments: str) -> Iterator[Remote]:
    """The same as a process of its own, which takes no time from the test's: for benchmarks.

    `arguments` are those of `python -m tests.simulators.gitlab`; its address is `Remote.url`, and
    its GitLab lies below that under `--root`.
    """
    command = [sys.executable, "-m", "tests.simulators.gitlab", *arguments]
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
