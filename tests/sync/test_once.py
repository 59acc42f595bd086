"""`sync --once`: everything up to date, then the end, with what was not waited for named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from pullstate.domain.address import RepositoryAddress
from pullstate.domain.freshness import FaultKind
from pullstate.domain.pull_request import CheckVerdict, MergeVerdict
from pullstate.domain.site import ForgeKind, Site
from pullstate.forges.demo import DemoForge, World
from pullstate.forges.errors import NotVisible, RateLimited, Unauthorized
from pullstate.store import lease, reading, writing
from pullstate.store.engine import Store
from pullstate.store.records import Depth
from pullstate.sync.clock import SystemClock
from pullstate.sync.once import Once, Progress
from pullstate.sync.readers import Reader, ReaderName
from tests.sync.home import Sources
from tests.sync.stage import SITE

pytestmark = pytest.mark.anyio


class ShiftedClock(SystemClock):
    """The machine's clock, which tests set forward."""

    shift = timedelta(0)

    def now(self) -> datetime:
        return super().now() + self.shift

    def advance(self, by: timedelta) -> None:
        self.shift += by


@dataclass
class Place:
    """A store and a world for one pass after another."""

    store: Store
    world: World
    clock: ShiftedClock
    sources: Sources
    told: list[Progress] = field(default_factory=list)

    @property
    def forge(self) -> DemoForge:
        return self.sources.forges["token0"]

    def track(self, path: str, depth: Depth = Depth.ALL) -> int:
        address = RepositoryAddress(SITE, path)
        return self.store.write_now(writing.track, address, depth, "command").id

    async def once(self):
        settings = {"clock": self.clock, "tell": self.told.append, "patience": 0.2}
        return await Once(self.store, self.sources, "1.0", **settings).run()

    def stored(self, id_: int, number: int):
        return self.store.read_now(reading.pull_request, id_, number)


@pytest.fixture
def place(tmp_path: Path):
    clock = ShiftedClock()
    world = World(clock.now)
    store = Store.open(tmp_path / "store.db")
    sources = Sources({f"token{n}": DemoForge(SITE, world) for n in range(2)})
    yield Place(store, world, clock, sources)
    store.close()


async def test_everything_is_there_afterwards_with_facts_and_threads(place: Place):
    project = place.world.create_repository("acme/rocket")
    place.world.populate(project, 250, unfinished=30)
    place.world.open_thread(project, 250, "bob", "Why?", "a.py", 3)
    place.world.set_mergeability(project, 249, MergeVerdict.UNKNOWN)
    id_ = place.track("acme/rocket")
    [done] = await place.once()
    assert (done.url, done.swept, done.stored) == (f"{SITE.url}/acme/rocket", True, 250)
    assert done.unsettled == (249,)
    assert done.fault is None
    threads = place.store.read_now(reading.thread_page, place.stored(id_, 250).id, limit=9)
    assert len(threads) == 1
    assert [told.stage for told in place.told] == ["open"] * 2 + ["all"] * 3 + ["threads", "done"]
    assert place.told[4].rows == 250 + 30


async def test_a_second_pass_reads_what_changed(place: Place):
    project = place.world.create_repository("acme/rocket")
    place.world.populate(project, 5, unfinished=3)
    id_ = place.track("acme/rocket")
    await place.once()
    place.clock.advance(timedelta(hours=1))
    place.world.merge(project, 4)
    place.world.set_checks(project, 5, CheckVerdict.FAILING, "build")
    [done] = await place.once()
    assert done.fault is None
    assert place.stored(id_, 4).pull_request.merged_at
    assert place.stored(id_, 5).pull_request.checks.verdict is CheckVerdict.FAILING


async def test_it_leaves_nothing_behind_but_what_it_read(place: Place):
    place.world.create_repository("acme/rocket")
    place.track("acme/rocket")
    await place.once()
    assert place.store.read_now(lease.live, place.clock.now()) == []
    assert not place.store.read_now(lease.leader, f"{SITE.url} token0").held


async def test_one_that_fails_is_named_and_the_others_are_read(place: Place):
    place.world.create_repository("acme/rocket")
    place.track("acme/gone")
    place.track("acme/rocket")
    gone, there = await place.once()
    assert (gone.swept, gone.fault.kind) == (False, FaultKind.NOT_FOUND)
    assert (there.swept, there.fault) == (True, None)


async def test_a_paused_one_is_named_and_not_waited_for(place: Place):
    project = place.world.create_repository("acme/rocket")
    place.world.populate(project, 150)
    place.track("acme/rocket")
    until = place.clock.now() + timedelta(hours=1)
    place.forge.fail("lean_page", RateLimited(until, "graphql"))
    [done] = await place.once()
    assert (done.swept, done.fault.kind, done.fault.retry_at) == (
        False,
        FaultKind.RATE_LIMITED,
        until,
    )
    assert place.clock.now() < until


async def test_a_refused_credential_gives_way_to_the_next(place: Place):
    place.world.create_repository("acme/rocket")
    place.track("acme/rocket")
    place.forge.fail("find_repository", Unauthorized("401"))
    [done] = await place.once()
    assert done.swept
    assert place.sources.refused == ["token0"]


async def test_with_every_credential_refused_each_repository_is_named(place: Place):
    place.world.create_repository("acme/rocket")
    place.track("acme/rocket")
    for forge in place.sources.forges.values():
        forge.fail("find_repository", Unauthorized("401"))
    [done] = await place.once()
    assert (done.swept, done.fault.kind) == (False, FaultKind.UNAUTHORIZED)


async def test_a_repository_that_no_credential_reads_is_named(place: Place):
    elsewhere = Site(SITE.kind, "https://other.invalid")
    address = RepositoryAddress(elsewhere, "acme/rocket")
    place.store.write_now(writing.track, address, Depth.ALL, "command")
    [done] = await place.once()
    assert not done.swept
    assert done.elsewhere


async def test_where_another_process_leads_it_is_asked_and_answers(place: Place):
    project = place.world.create_repository("acme/rocket")
    place.world.populate(project, 5, unfinished=1)
    place.track("acme/rocket")
    fence = place.store.write_now(lease.take, f"{SITE.url} token0", "other", 15.0)
    assert fence
    name = str(ReaderName(SITE.url, "token0"))
    place.store.write_now(lease.enroll, "other", 1, "1.0", [name], place.clock.now())
    [done] = await place.once()
    assert place.forge.requests == []
    assert "was not read within" in done.elsewhere


class Two:
    """Two credentials at once, each of one owner."""

    def __init__(self, world: World) -> None:
        self.forges = {owner: DemoForge(SITE, world) for owner in ("acme", "umbrella")}

    async def readers(self) -> Sequence[Reader]:
        return [Reader(ReaderName(SITE.url, f"of-{o}", o), f) for o, f in self.forges.items()]

    async def set_aside(self, reader: Reader) -> bool:
        return True

    async def reconsider(self, site: Site) -> None:
        return None

    async def aclose(self) -> None:
        return None


async def test_each_owner_is_read_with_its_own_credential_and_a_404_under_one_retires_nothing(
    place: Place,
):
    for path in ("acme/rocket", "umbrella/virus"):
        project = place.world.create_repository(path)
        place.world.populate(project, 3, unfinished=3)
        place.track(path)
    place.sources = Two(place.world)
    await place.once()
    acme, umbrella = place.sources.forges.values()
    assert {of for q, of in acme.requests if q == "find_repository"} == {"acme/rocket"}
    assert {of for q, of in umbrella.requests if q == "find_repository"} == {"umbrella/virus"}
    place.clock.advance(timedelta(hours=1))
    acme.fail("changed", *[NotVisible("404")] * 3)
    rocket, virus = await place.once()
    assert (rocket.stored, virus.stored) == (3, 3)
    assert rocket.fault.kind is FaultKind.NOT_FOUND
    assert virus.fault is None


async def test_threads_that_may_still_move_without_a_sign_are_read_once(place: Place):
    place.forge.site = Site(ForgeKind.GITLAB, SITE.url)
    project = place.world.create_repository("acme/rocket")
    place.world.open(project, "One", "one")
    id_ = place.track("acme/rocket")
    [synced] = await place.once()
    assert synced.swept
    assert [q for q, _ in place.forge.requests].count("threads") == 1
    assert place.stored(id_, 1).observed.details
