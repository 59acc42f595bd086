"""A loop over a store and a demo world, in real time: waited for by events and deadlines."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio

from pullstate.domain.address import RepositoryAddress
from pullstate.domain.site import ForgeKind, Site
from pullstate.forges.demo import DemoForge, Project, World
from pullstate.store import reading, writing
from pullstate.store.engine import Store
from pullstate.store.records import Depth, StoredPullRequest, Sweep
from pullstate.sync.loop import Loop
from pullstate.sync.readers import Reader, ReaderName
from pullstate.sync.wishing import Wisher

SITE = Site(ForgeKind.DEMO, "https://demo.invalid")


def now() -> datetime:
    return datetime.now(UTC)


@dataclass
class Sources:
    """Credentials as a list: the first is in use, a refused one is passed over."""

    forges: dict[str, DemoForge]
    refused: list[str] = field(default_factory=list)
    reconsidered: anyio.Event = field(default_factory=anyio.Event)

    async def readers(self) -> Sequence[Reader]:
        usable = [name for name in self.forges if name not in self.refused]
        return [Reader(ReaderName(SITE.url, name), self.forges[name]) for name in usable[:1]]

    async def set_aside(self, reader: Reader) -> bool:
        self.refused.append(reader.name.fingerprint)
        return len(self.refused) < len(self.forges)

    async def reconsider(self, site: Site) -> None:
        self.refused.clear()
        self.reconsidered.set()

    async def aclose(self) -> None:
        return None


@dataclass
class Home:
    """A store, a world, and a loop that runs over them."""

    store: Store
    world: World
    sources: Sources
    loop: Loop
    wisher: Wisher

    @property
    def forge(self) -> DemoForge:
        return next(iter(self.sources.forges.values()))

    def track(self, project: Project, depth: Depth = Depth.ALL) -> int:
        address = RepositoryAddress(SITE, project.repository.path)
        return self.store.write_now(writing.track, address, depth, "command").id

    async def until(self, holds: Callable[[], object]) -> None:
        """Wait, bounded, until something holds of the store."""
        with anyio.fail_after(30):
            while not holds():
                version = self.store.version()
                while version == self.store.version():
                    await anyio.sleep(0.005)

    def sweep(self, id_: int) -> Sweep:
        return self.store.read_now(reading.sweep, id_)

    def stored(self, id_: int, number: int) -> StoredPullRequest | None:
        return self.store.read_now(reading.pull_request, id_, number)

    async def swept(self, project: Project) -> int:
        id_ = self.track(project)
        await self.until(lambda: self.sweep(id_).swept)
        return id_


@asynccontextmanager
async def at_home(
    folder: Path, *, tokens: int = 1, first: int = 0, **settings: Any
) -> AsyncIterator[Home]:
    """A process with so many tokens, the first of that number."""
    store = Store.open(folder / "store.db", lease_time=3.0)
    world = World(now)
    names = [f"token{n}" for n in range(first, first + tokens)]
    sources = Sources({name: DemoForge(SITE, world) for name in names})
    loop = Loop(
        store, sources, "1.0", **{"interval": timedelta(seconds=2), "quiet": 0.0} | settings
    )
    home = Home(store, world, sources, loop, Wisher(store, loop.kick))
    async with anyio.create_task_group() as group:
        group.start_soon(loop.run)
        try:
            yield home
        finally:
            group.cancel_scope.cancel()
    store.close()
