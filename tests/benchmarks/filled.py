"""Stores filled for measuring."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from pullstate.domain.address import ForgeKind, RepositoryAddress, Site
from pullstate.domain.merge_request import Diffs, Facet, FileDiff, Overview
from pullstate.domain.review import Comment, ReviewThread, Threads
from pullstate.forges.demo import World
from pullstate.store import reading, writing
from pullstate.store.engine import Store
from pullstate.store.records import Depth, Repository, Sweep

SITE = Site(ForgeKind.DEMO, "https://demo.invalid")
ADDRESS = RepositoryAddress(SITE, "acme/rocket")
CHUNK = 1_000
COMMENT = "This ignites the second stage before the first has let go: is that meant? " * 2
PATCH = "@@ -1,2 +1,3 @@\n def launch():\n-    pass\n+    ignite()\n+    lift_off()\n" * 20


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


def add_threads(store: Store, known: Repository, number: int, count: int) -> None:
    """Give a pull request review threads of one comment each, every third one resolved."""
    stored = store.read_now(reading.pull_request, known.id, number)
    assert stored is not None
    opened_at = stored.pull_request.opened_at
    threads = Threads(tuple(_thread(n, opened_at) for n in range(count)))
    store.write_now(writing.record_threads, stored.id, threads, datetime.now(UTC))


def _thread(number: int, at: datetime) -> ReviewThread:
    url = f"{ADDRESS.url}/pull/1#discussion_r{number}"
    said = Comment(number, "ada", COMMENT, at + timedelta(seconds=number), url=url)
    resolved_by = None if number % 3 else "grace"
    lines = (number, None, number, None)
    where = ("src/rocket/engine.py", *lines, "RIGHT", "line")
    return ReviewThread(
        f"PRRT_{number:010}", resolved_by is not None, False, *where, resolved_by, (said,)
    )


def add_diffs(store: Store, known: Repository, number: int, count: int) -> None:
    """Give a pull request an overview and diffs of `count` files, each with its patch."""
    stored = store.read_now(reading.pull_request, known.id, number)
    assert stored is not None
    names = [f"src/rocket/stage_{n}/engine.py" for n in range(count - 1)]
    files = [FileDiff(name, None, "modified", 40, 20, PATCH) for name in (*names, "web/uv.lock")]
    overview = Overview("opened", COMMENT, ("engine",), ("grace",), "MERGEABLE")
    for facet, body in ((Facet.OVERVIEW, overview), (Facet.DIFFS, Diffs(tuple(files)))):
        sha = stored.pull_request.head.sha
        store.write_now(writing.record_facet, stored.id, facet, body, datetime.now(UTC), sha)
