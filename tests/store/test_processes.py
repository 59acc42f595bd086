"""Several real processes over one store: they start at once, write at once, and are killed."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pullstate.store import reading
from pullstate.store.engine import Store
from tests.store.listed import listed
from tests.store.worker import ROWS, page

pytestmark = [pytest.mark.processes, pytest.mark.timeout(300)]
ROOT = Path(__file__).parents[2]
Worker = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def worker() -> Iterator[Worker]:
    """Starts processes, none of which outlives the test."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: object) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.store.worker", *map(str, arguments)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def ends(process: subprocess.Popen[str]) -> str:
    """What a process said, once it has ended well."""
    said, complaints = process.communicate(timeout=240)
    assert process.returncode == 0, complaints
    return said


@pytest.fixture
def new_url(url: str, tmp_path: Path) -> str:
    """A place where no store was ever made, of each kind."""
    return url if "://" in url else str(tmp_path / "new" / "pullstate.db")


def test_twenty_processes_that_start_together_all_find_one_store(new_url, worker):
    assert len(start_together(worker, new_url, 20)) == 1


def test_processes_that_start_over_a_damaged_file_all_find_the_one_that_replaced_it(path, worker):
    path.write_bytes(b"This is no database." * 1000)
    assert len(start_together(worker, path, 8)) == 1
    assert len(list(path.parent.glob("pullstate.db.damaged-*"))) == 1


def start_together(worker: Worker, url: object, count: int) -> set[str]:
    """Have processes open a store at the same moment; what they said of it."""
    processes = [worker("start", url) for _ in range(count)]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    return {ends(process) for process in processes}


def test_nothing_is_lost_or_half_written_after_kill_9_at_any_moment(path, worker, open_store):
    """Each page, its cursor, its changes and its dates are there whole, or not at all."""
    chance = random.Random(20260301)
    for _ in range(6):
        process = worker("sweep", path)
        for _ in range(chance.randint(1, 6)):
            assert process.stdout.readline()
        _spin(chance.uniform(0, 0.02))
        process.kill()
        said = process.communicate()[0].split()
        _assert_whole(path, open_store(path), int(said[-1]) if said else 0)


def _spin(seconds: float) -> None:
    """Let a part of the next transaction pass: the kill is to fall anywhere in it."""
    import time

    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def _assert_whole(path: Path, store: Store, last_said: int) -> None:
    (repository,) = store.read_now(reading.repositories)
    pages = int(store.read_now(reading.sweep, repository.id).cursor or 0)
    assert pages > last_said
    rows = listed(store, repository.id)
    assert sorted(rows) == list(range(1, pages * ROWS + 1))
    assert all(row.observed.checks is not None for row in rows.values())
    changes = store.read_now(reading.changes, after=0, limit=10**6)
    assert [change.seq for change in changes] == list(range(1, len(changes) + 1))
    assert sum(change.kind == "opened" for change in changes) == pages * ROWS
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("PRAGMA foreign_key_check").fetchone() is None
    store.close()


def test_two_writers_and_their_readers_never_see_a_locked_store(url, worker, open_store):
    processes = [worker("record", url, path, 12) for path in ("acme/rocket", "acme/lander")]
    assert [ends(process) for process in processes] == ["done\n", "done\n"]
    store = open_store(url)
    for repository in store.read_now(reading.repositories):
        rows = store.read_now(reading.page, repository.id, limit=10**6)
        assert len(rows) == 12 * ROWS
        assert rows[0].pull_request == page(11)[-1]
    changes = store.read_now(reading.changes, after=0, limit=10**6)
    assert [change.seq for change in changes] == list(range(1, len(changes) + 1))


def test_of_many_contenders_only_the_holder_of_the_lease_writes(url, worker, open_store):
    processes = [worker("contend", url, f"p{number}", 10) for number in range(4)]
    assert [ends(process) for process in processes] == ["done\n"] * 4
    store = open_store(url)
    (repository,) = store.read_now(reading.repositories)
    assert store.read_now(reading.sweep, repository.id).failures == 40
