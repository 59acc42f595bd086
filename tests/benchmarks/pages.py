"""A page of 20 from a store of 10,000, 100,000 and (with --large) 1,000,000 pull requests."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from pullstate.store import reading
from pullstate.store.engine import Store
from pullstate.store.records import PageKey, key_of
from tests.benchmarks.filled import filled
from tests.benchmarks.measuring import Times, alternating, ms, say

SIZES = (10_000, 100_000)
LARGE = 1_000_000
RUNS = 2_000


def main() -> None:
    """Measure, and say how flat it is."""
    sizes = (*SIZES, LARGE) if "--large" in sys.argv else SIZES
    with TemporaryDirectory() as folder:
        acts = {}
        for size in sizes:
            store, known = filled(Path(folder) / f"{size}.db", size, unfinished=size // 50)
            deep = _key_at(store, known.id, size // 2)
            acts[f"{size} first"] = partial(_page, store, known.id, None)
            acts[f"{size} deep"] = partial(_page, store, known.id, deep)
        times = alternating(RUNS, **acts)
    say("page of 20 from the store", *(_line(times, name) for name in times))


def _page(store: Store, repository: int, after: PageKey | None) -> object:
    return store.read_now(reading.page, repository, after=after, limit=20)


def _key_at(store: Store, repository: int, depth: int) -> PageKey:
    key = None
    for _ in range(depth // 1000):
        rows = store.read_now(reading.page, repository, after=key, limit=1000)
        key = key_of(rows[-1].pull_request)
    assert key is not None
    return key


def _line(times: dict[str, Times], name: str) -> str:
    floor = times[f"{SIZES[0]} {name.split()[1]}"].median
    here = times[name]
    return f"{name:>14}: {ms(here.median)} (p99 {ms(here.p99)}), {here.median / floor:.2f} ×"


if __name__ == "__main__":
    main()
