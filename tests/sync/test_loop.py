"""The loop over a demo forge, in real time: leads, serves wishes, survives what goes wrong."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import pytest

from pullstate.domain.address import RepositoryAddress
from pullstate.domain.pull_request import CheckVerdict
from pullstate.domain.site import ForgeKind, Site
from pullstate.forges.demo import DemoForge, Project, World
from pullstate.store import reading, writing
from pullstate.store.engine import Store
from pullstate.store.records import Depth
from pullstate.sync.loop import Loop
from pullstate.sync.readers import Reader, ReaderName
from pullstate.sync.wishing import Wisher

pytestmark = pytest.mark.anyio

SITE = Site(ForgeKind.DEMO, "https://demo.invalid")


def now() -> datetime:
    return datetime.now(UTC)


@dataclass
class Sources:
    """Credentials as a list: the first is in use, a refused one is taken off."""

    forges: list[DemoForge]
    refused: list[str] = field(default_factory=list)

    async def readers(self) -> Sequence[Reader]:
        return [
            Reader(ReaderName(SITE.url, f"token{len(self.refused)}"), forge)
            for forge in self.forges[:1]
        ]

    async def set_aside(self, reader: Reader) -> bool:
        self.refused.append(reader.key)
        self.forges.pop(0)
        return bool(self.forges)

    async def aclose(self) -> None:
        return None


@dataclass
class Home:
    """A store, a world, and a loop that runs over them."""

    store: Store
    world: World
    forge: DemoForge
    sources: Sources
    loop: Loop
    wisher: Wisher

    def track(self, project: Project, depth: Depth = Depth.ALL) -> int:
        address = RepositoryAddress(SITE, project.repository.path)
        return self.store.write_now(writing.track, address, depth, "command").id

    async def until(self, holds: Callable[[], object]) -> None:
        """Wait, bounded, until something holds of the store."""
        with anyio.fail_after(20):
            while not holds():
                version = self.store.version()
                while version == self.store.version():
                    await anyio.sleep(0.005)

    def swept(self, id_: int) -> bool:
        return self.store.read_now(reading.sweep, id_).swept

    def stored(self, id_: int, number: int):
        return self.store.read_now(reading.pull_request, id_, number)


@asynccontextmanager
async def at_home(folder: Path, *, forges: int = 1, **settings: object) -> AsyncIterator[Home]:
    store = Store.open(folder / "store.db", lease_time=3.0)
    world = World(now)
    sources = Sources([DemoForge(SITE, world) for _ in range(forges)])
    given = {"interval": timedelta(seconds=2), "quiet": 0.0, **settings}
    loop = Loop(store, sources, "1.0", **given)
    home = Home(store, world, sources.forges[0], sources, loop, Wisher(store, loop.kick))
    async with anyio.create_task_group() as group:
        group.start_soon(loop.run)
        yield home
        group.cancel_scope.cancel()
    store.close()


async def test_what_is_tracked_is_swept_and_then_kept_up(tmp_path: Path):
    async with at_home(tmp_path) as home:
        project = home.world.create_repository("acme/rocket")
        home.world.populate(project, 150, unfinished=10)
        id_ = home.track(project)
        await home.until(lambda: home.swept(id_))
        home.world.set_checks(project, 150, CheckVerdict.FAILING, "build")
        new = home.world.open(project, "New", "new")
        await home.until(lambda: home.stored(id_, new))
        await home.until(lambda: home.stored(id_, new).observed.checks)
        home.world.merge(project, new)
        await home.until(lambda: home.stored(id_, new).pull_request.merged_at)
