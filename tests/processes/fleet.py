"""Several loops in processes of their own, over one store and one forge."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pullstate.domain.address import RepositoryAddress
from pullstate.forges.demo import Project, World
from pullstate.store import lease, reading, writing
from pullstate.store.engine import Store
from pullstate.store.lease import Leader
from pullstate.store.records import Depth, StoredPullRequest, Sweep
from tests.processes.shared import SITE, Desk, served
from tests.store.listed import listed

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0  # seconds; a machine that runs many tests at once is slow
LEASE = 3.0


def now() -> datetime:
    return datetime.now(UTC)


@dataclass
class Fleet:
    """The store, the forge, and the processes that were started."""

    store: Store
    world: World
    desk: Desk
    desk_at: tuple[str, int]
    place: str
    interval: float = 1.0
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, count: int = 1, fingerprint: str = "token") -> list[subprocess.Popen[bytes]]:
        host, port = self.desk_at
        settings = [self.place, host, str(port), fingerprint, str(LEASE), str(self.interval)]
        command = [sys.executable, "-m", "tests.processes.worker", *settings]
        started = [subprocess.Popen(command, cwd=ROOT) for _ in range(count)]
        self.processes += started
        return started

    def stop(self) -> None:
        """An orderly end of all that still run."""
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.terminate()
        for process in self.processes:
            process.wait(PATIENCE)

    def track(self, project: Project) -> int:
        address = RepositoryAddress(SITE, project.repository.path)
        return self.store.write_now(writing.track, address, Depth.ALL, "command").id

    def until(self, holds: Callable[[], object], what: str = "") -> None:
        """Wait, bounded, until something holds."""
        deadline = time.monotonic() + PATIENCE
        while not holds():
            if time.monotonic() > deadline:
                raise TimeoutError(f"it did not come to {what or holds}")
            time.sleep(0.01)

    def leader(self, fingerprint: str = "token") -> Leader | None:
        return self.store.read_now(lease.leader, f"{SITE.url} {fingerprint}", LEASE)

    def leads(self, process: subprocess.Popen[bytes]) -> bool:
        leader = self.leader()
        live = self.store.read_now(lease.live, now())
        pids = {each.id: each.pid for each in live}
        return leader is not None and leader.held and pids.get(leader.holder) == process.pid

    def sweep(self, id_: int) -> Sweep:
        return self.store.read_now(reading.sweep, id_)

    def rows(self, id_: int) -> dict[int, StoredPullRequest]:
        return listed(self.store, id_)


@contextmanager
def fleet(place: str, *, interval: float = 1.0) -> Iterator[Fleet]:
    """Over the empty database at `place`; nothing of it runs afterwards."""
    world = World(now)
    desk = Desk(world)
    _, host, port = served(desk)
    store = Store.open(place, lease_time=LEASE)
    built = Fleet(store, world, desk, (host, port), place, interval)
    try:
        yield built
    finally:
        built.desk.before = built.desk.after = lambda question: None
        built.stop()
        store.close()
