"""Stores filled for measuring."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from pullstate.domain.address import ForgeKind, RepositoryAddress, Site
from pullstate.forges.demo import World
from pullstate.store import writing
from pullstate.store.engine import Store
from pullstate.store.records import Depth, Repository, Sweep

SITE = Site(ForgeKind.DEMO, "https://demo.invalid")
ADDRESS = RepositoryAddress(SITE, "acme/rocket")
CHUNK = 1_000


def filled(path: Path, count: int, *, unfinished: int) -> tuple[Store, Repository]:
    """A store with one repository of `count` pull requests, swept, the newest ones unfinished."""
    store = Store.open(path)
    now = datetime.now(UTC)
    world = World(lambda: now)
    project = world.create_repository(ADDRESS.path)
    world.populate(project, count, unfinished=unfinished)
    rows = list(project.pull_requests.values())
    known = store.write_now(writing.track, ADDRESS, Depth.ALL, by="command", at=now)
    for start in range(0, count, CHUNK):
        chunk = rows[start : start + CHUNK]
        store.write_now(writing.record, known.id, chunk, now, backfill=True)
    sweep = Sweep(stage="done", swept=True, watermark=now, as_of=now)
    store.write_now(writing.save_sweep, known.id, sweep)
    return store, known
