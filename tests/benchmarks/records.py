"""Recording a page of 100 readings, beside the bare inserts of as many rows of the same values."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from pullstate.domain.pull_request import PullRequest
from pullstate.forges.demo import World
from pullstate.store import writing
from pullstate.store.columns import text_of_time
from pullstate.store.engine import Store
from pullstate.store.records import Depth
from pullstate.store.rows import values_of
from tests.benchmarks.filled import ADDRESS
from tests.benchmarks.measuring import alternating, ms, say

PAGE, RUNS = 100, 60


def main() -> None:
    """Measure, and say the ratios."""
    now = datetime.now(UTC)
    with TemporaryDirectory() as name:
        store = Store.open(Path(name) / "store.db")
        known = store.write_now(writing.track, ADDRESS, Depth.ALL, by="command", at=now)
        record = partial(store.write_now, writing.record, known.id)
        new, again = _pages(now), _pages(now)
        acts = {
            "floor": _bare(Path(name) / "bare.db", _pages(now)),
            "first seen": lambda: record(next(new), now, backfill=True),
            "unchanged": lambda: record(next(again), now + timedelta(minutes=1)),
        }
        times = alternating(RUNS, **acts)
        store.close()
    floor = times["floor"].median
    say(
        f"a page of {PAGE} readings recorded in one transaction",
        *(
            f"{name:>10}: {ms(t.median)} (p99 {ms(t.p99)}), {t.median / floor:.1f} ×"
            for name, t in times.items()
        ),
    )


def _pages(now: datetime) -> Iterator[list[PullRequest]]:
    """Pages of pull requests, none of them twice; alike whenever they are made at one time."""
    world = World(lambda: now)
    project = world.create_repository(ADDRESS.path)
    world.populate(project, PAGE * RUNS, unfinished=PAGE)
    rows = iter(project.pull_requests.values())
    while page := list(islice(rows, PAGE)):
        yield page


def _bare(path: Path, pages: Iterator[list[PullRequest]]) -> Callable[[], None]:
    """Insert the next page's values, made before, into a table without a key or an index."""
    prepared = [[_values(reading) for reading in page] for page in pages]
    width, left = len(prepared[0][0]), iter(prepared)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL")
    connection.execute(f"CREATE TABLE bare ({', '.join(f'c{n}' for n in range(width))})")
    insert = f"INSERT INTO bare VALUES ({', '.join('?' * width)})"

    def act() -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(insert, next(left))
        connection.execute("COMMIT")

    return act


def _values(reading: PullRequest) -> Sequence[object]:
    values = values_of(reading).values()
    return [text_of_time(each) if isinstance(each, datetime) else each for each in values]


if __name__ == "__main__":
    main()
