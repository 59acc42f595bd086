"""Cycles in which nothing changes: what they ask of the forge, and what they write."""

from __future__ import annotations

import hashlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.benchmarks.measuring import say
from tests.benchmarks.sweeps import configure, run
from tests.simulators.github import TOKEN
from tests.simulators.github.server import separate_process
from tests.simulators.remote import Remote

COUNT, UNFINISHED, INTERVAL, CYCLES = 1_000, 100, 4, 6
TABLES = ("pull_request", "thread", "change")


def main() -> None:
    """Sweep once, let a few intervals pass, and compare."""
    with (
        separate_process("--prs", str(COUNT), "--unfinished", str(UNFINISHED)) as github,
        TemporaryDirectory() as name,
    ):
        folder = Path(name)
        configure(folder, github)
        run(folder, "sync", "--once", interval=INTERVAL)
        _loop(folder, INTERVAL)  # what was due since the sweep
        before = _contents(folder)
        github.clear_log()
        _loop(folder, INTERVAL * CYCLES)
        _report(github, before == _contents(folder))


def _loop(folder: Path, seconds: float) -> None:
    command = [sys.executable, "-m", "pullstate", "sync", "--config", folder / "config.toml"]
    environ = {**os.environ, "SIMULATED": TOKEN, "PULLSTATE_SYNC_INTERVAL": str(INTERVAL)}
    process = subprocess.Popen([*command, "--store", folder / "store.db"], env=environ)
    time.sleep(seconds)
    process.send_signal(signal.SIGTERM)
    process.wait(10)


def _contents(folder: Path) -> dict[str, str]:
    """A digest of each table that a quiet cycle must not write."""
    with sqlite3.connect(folder / "store.db") as store:
        rows = {
            name: store.execute(f"SELECT * FROM {name} ORDER BY 1").fetchall() for name in TABLES
        }
    return {name: hashlib.sha256(repr(found).encode()).hexdigest() for name, found in rows.items()}


def _report(github: Remote, unchanged: bool) -> None:
    counted = github.counters()
    say(
        f"{CYCLES} intervals in which nothing changes, {COUNT} pull requests, "
        f"{UNFINISHED} unfinished",
        f"{counted['requests']} requests: {counted['operations']}, {counted['rest']}",
        f"{counted['points']} points, statuses {counted['statuses']}",
        f"rows of {', '.join(TABLES)} {'unchanged' if unchanged else 'CHANGED'}",
    )


if __name__ == "__main__":
    main()
