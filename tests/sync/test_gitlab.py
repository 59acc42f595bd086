"""GitLab kept true: what moves there without a sign is seen all the same, at GitLab's prices."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from pullstate.domain.address import RepositoryAddress
from pullstate.domain.classifier import State, classify
from pullstate.domain.freshness import report
from pullstate.domain.pull_request import CheckVerdict, MergeVerdict
from pullstate.domain.site import ForgeKind, Site
from pullstate.forges.gitlab import GitLab, connected
from pullstate.forges.token_values import Scheme, Secret, Token
from pullstate.store import agenda, lease, reading, writing
from pullstate.store.engine import Store
from pullstate.store.records import Depth, StoredPullRequest, Sweep
from pullstate.sync import delta, hot
from pullstate.sync.lanes import Lanes
from pullstate.sync.readers import Reader, ReaderName
from pullstate.sync.session import Session
from tests.simulators.gitlab import DEFAULT_TOKEN, Running, World, running
from tests.simulators.gitlab.model import MergeRequest, Project
from tests.sync.stage import NOW, HeldClock, I

pytestmark = pytest.mark.anyio


@dataclass(slots=True)
class Kept:
    """A project of a simulated GitLab, and the store that is kept true to it."""

    store: Store
    clock: HeldClock
    world: World
    simulator: Running
    project: Project
    forge: GitLab
    session: Session
    lanes: Lanes

    def track(self) -> int:
        address = RepositoryAddress(self.forge.site, self.project.path)
        wanted = self.store.write_now(
            writing.track, address, Depth.ALL, "command", self.clock.now()
        )
        return wanted.id

    async def swept(self) -> int:
        """Track the project, and sweep it for the first time."""
        id_ = self.track()
        while not self.sweep(id_).swept:
            await self.lanes.backfill()
        return id_

    def sweep(self, id_: int) -> Sweep:
        return self.store.read_now(agenda.charge, id_).sweep

    def stored(self, id_: int, change: MergeRequest) -> StoredPullRequest:
        found = self.store.read_now(reading.pull_request, id_, change.iid)
        assert found is not None
        return found

    def threads(self, id_: int, change: MergeRequest) -> list[str]:
        """The ids of the threads that a reader of the store would see."""
        stored = self.stored(id_, change)
        found = self.store.read_now(reading.thread_page, stored.id, limit=1000)
        return [thread.id for thread in found]

    async def delta(self, id_: int) -> None:
        await delta.run(self.session, [self.store.read_now(agenda.charge, id_)])

    async def reread(self, id_: int) -> None:
        """One batch of what is due."""
        now = self.clock.now()
        scope = agenda.Scope((id_,), (), now - timedelta(days=1))
        due = self.store.read_now(agenda.due, scope, now, self.forge.limits.read_batch)
        await hot.run(self.session, {id_: self.store.read_now(agenda.charge, id_)}, due)

    async def rounds(self, span: timedelta, step: timedelta = timedelta(seconds=1)) -> None:
        """Upkeep as the lane does it, for a span of time."""
        end = self.clock.now() + span
        while self.clock.now() < end:
            again = await self.lanes.upkeep()
            self.clock.at = min(max(again, self.clock.now() + step), end)

    def asked(self, pattern: str = "") -> int:
        """How many requests were sent; of the introspection nobody is charged a second time."""
        seen = self.simulator.log.matching(pattern)
        return sum("__type" not in request.body for request in seen)


@pytest.fixture
def simulated() -> Iterator[tuple[HeldClock, Running]]:
    clock = HeldClock()
    with running(World(clock=clock.now)) as simulator:
        yield clock, simulator


@pytest.fixture
async def kept(simulated: tuple[HeldClock, Running], tmp_path: Path) -> AsyncIterator[Kept]:
    clock, simulator = simulated
    token = Token(Secret(DEFAULT_TOKEN), "environment", Scheme.PRIVATE_TOKEN)

    async def credentials() -> Token:
        return token

    site = Site(ForgeKind.GITLAB, simulator.base)
    forge = GitLab(site, connected(site, credentials, clock.now))
    store = Store.open(tmp_path / "store.db")
    reader = Reader(ReaderName(site.url, "token"), forge)
    fence = store.write_now(lease.take, reader.key, "me", 10**9)
    store.write_now(lease.enroll, "me", 1, "1", [str(reader.name)], NOW + timedelta(days=900))
    session = Session(store, reader, lambda: fence, clock, interval=I, within=timedelta(days=999))
    world = simulator.world
    project = world.project("group/sub/tool")
    yield Kept(store, clock, world, simulator, project, forge, session, Lanes(session))
    await forge.aclose()
    store.close()


async def test_a_first_sweep_keeps_every_merge_request_with_its_state(kept: Kept):
    states = ("opened", "merged", "closed")
    changes = kept.world.fill(kept.project, 250, states=states)
    id_ = await kept.swept()
    seen = [classify(kept.stored(id_, each).pull_request).state for each in changes[:3]]
    assert seen == [State.OPEN, State.MERGED, State.CLOSED]
    assert len(kept.store.read_now(reading.page, id_, limit=1000)) == 250


async def test_a_first_sweep_of_a_thousand_stays_within_its_price(kept: Kept):
    kept.world.fill(kept.project, 1000, states=("opened", "merged", "merged", "merged", "closed"))
    await kept.swept()
    enriching = kept.asked("graphql")
    walks = len(kept.simulator.log.matching(r"/merge_requests\?.*created_at"))
    assert enriching <= 20
    assert walks <= 10 + 2  # of everything, and of the 200 that are open


async def test_an_approval_within_the_minute_after_a_change_is_not_lost(kept: Kept):
    """Its note does not move `updated_at`: no delta tells of it. What was read too soon after a
    change is read again."""
    change = kept.world.open_merge_request(kept.project, "one", reviewers=["bo"])
    kept.clock.advance(timedelta(hours=1))
    id_ = await kept.swept()
    await kept.rounds(timedelta(seconds=5))
    kept.clock.advance(I)
    kept.world.edit(change, title="Edited")
    await kept.rounds(timedelta(seconds=3))
    kept.clock.advance(timedelta(seconds=2))
    kept.world.approve(change, "bo")
    assert kept.stored(id_, change).pull_request.review.approved_by == ()
    await kept.rounds(timedelta(seconds=75))
    assert kept.stored(id_, change).pull_request.review.approved_by == ("bo",)


async def test_an_approval_just_before_a_merge_that_was_read_at_once_is_not_lost(kept: Kept):
    """A finished one is otherwise never read again."""
    change = kept.world.open_merge_request(kept.project, "one", reviewers=["bo"])
    id_ = await kept.swept()
    kept.clock.advance(timedelta(minutes=10))
    kept.world.merge(change)
    await kept.rounds(timedelta(seconds=2))
    assert kept.stored(id_, change).pull_request.merged_at
    kept.world.approve(change, "bo", leaves_note=False)
    await kept.rounds(timedelta(seconds=80))
    assert kept.stored(id_, change).pull_request.review.approved_by == ("bo",)
    asked = kept.asked("graphql")
    await kept.rounds(10 * I)
    assert kept.asked("graphql") - asked <= 1 + 1  # once more in a delta, and a roll-call


async def test_a_thread_within_the_minute_after_a_note_is_not_lost(kept: Kept):
    """Neither a delta nor a re-reading tells of it: threads are read again once it has settled."""
    change = kept.world.open_merge_request(kept.project, "one")
    id_ = await kept.swept()
    await kept.rounds(timedelta(minutes=3))
    first = kept.world.note(change, "One.", thread=True)
    await kept.rounds(I + timedelta(seconds=2))
    assert kept.threads(id_, change) == [first.id]
    kept.clock.advance(timedelta(minutes=3))
    kept.world.resolve(change, first)
    await kept.rounds(timedelta(seconds=3))
    second = kept.world.note(change, "Two.", thread=True)
    await kept.rounds(timedelta(seconds=20))
    assert kept.threads(id_, change) == [first.id]
    await kept.rounds(timedelta(seconds=60))
    assert set(kept.threads(id_, change)) == {first.id, second.id}


async def test_threads_that_settled_are_left_alone(kept: Kept):
    change = kept.world.open_merge_request(kept.project, "one")
    await kept.swept()
    await kept.rounds(timedelta(minutes=3))
    kept.world.note(change, "A remark.")
    await kept.rounds(timedelta(minutes=4))
    kept.simulator.log.clear()
    await kept.rounds(timedelta(minutes=4))
    assert kept.asked("/discussions") == 0


async def test_mergeability_that_never_bumps_is_seen(kept: Kept):
    """Somebody else's commit on the target branch makes it conflict, and nothing moves."""
    change = kept.world.open_merge_request(kept.project, "one")
    id_ = await kept.swept()
    await kept.rounds(timedelta(minutes=5))
    known = kept.stored(id_, change).pull_request
    assert known.mergeability.verdict is MergeVerdict.CLEAN
    kept.world.move_target(kept.project, conflicts={change.iid: ["a.py"]})
    await kept.rounds(6 * I)
    seen = kept.stored(id_, change).pull_request
    assert seen.mergeability.verdict is MergeVerdict.CONFLICTING
    assert seen.changed_at == known.changed_at


async def test_checks_that_never_bump_are_seen_in_a_quarter_of_an_interval(kept: Kept):
    change = kept.world.open_merge_request(kept.project, "one")
    kept.world.set_pipeline(change, "running")
    kept.clock.advance(timedelta(hours=1))
    id_ = await kept.swept()
    kept.world.set_pipeline(change, "failed")
    await kept.rounds(I / 4 + timedelta(seconds=2))
    assert kept.stored(id_, change).pull_request.checks.verdict is CheckVerdict.FAILING


async def test_a_merge_that_was_missed_by_every_delta_is_found_by_the_roll_call(kept: Kept):
    change = kept.world.open_merge_request(kept.project, "one")
    id_ = await kept.swept()
    kept.clock.advance(I)
    change.state, change.merged_at = "merged", kept.clock.now()  # without a bump
    await kept.rounds(11 * I, I / 6)
    assert kept.stored(id_, change).pull_request.merged_at


async def test_a_proxy_that_decodes_slashes_is_named_where_an_agent_reads_it(kept: Kept):
    kept.world.decodes_slashes = True
    id_ = kept.track()
    await kept.lanes.backfill()
    known = kept.store.read_now(reading.freshness, id_, kept.clock.now())
    assert "AllowEncodedSlashes" in report(known, kept.clock.now()).reason


async def test_a_project_that_moved_is_followed(kept: Kept):
    change = kept.world.open_merge_request(kept.project, "one")
    id_ = await kept.swept()
    kept.world.move_project(kept.project, "other/place")
    kept.clock.advance(timedelta(minutes=2))
    kept.world.edit(change, title="Edited")
    await kept.rounds(timedelta(seconds=3))
    assert kept.stored(id_, change).pull_request.title == "Edited"
    assert kept.store.read_now(agenda.charge, id_).repository.path == "other/place"


async def test_a_bulk_edit_of_more_than_a_page_does_not_hold_the_watermark_for_ever(kept: Kept):
    """Two hundred rows of one moment fill the overlap: the first page never gets past them."""
    changes = kept.world.fill(kept.project, 250)
    id_ = await kept.swept()
    kept.clock.advance(timedelta(minutes=20))
    for change in changes[:220]:
        kept.world.edit(change, labels=["bulk"])
    await kept.delta(id_)
    kept.clock.advance(timedelta(minutes=20))
    kept.world.edit(changes[230], title="Edited")
    await kept.delta(id_)
    assert kept.sweep(id_).watermark == kept.clock.now()
    kept.simulator.log.clear()
    kept.clock.advance(timedelta(minutes=1))
    await kept.delta(id_)
    assert len(kept.simulator.log.matching("updated_after")) == 1


async def test_quiet_cycles_of_two_hundred_open_ones_are_about_two_requests_each(kept: Kept):
    """One for the delta; every five intervals four more, every ten a roll-call."""
    for change in kept.world.fill(kept.project, 200):
        kept.world.set_pipeline(change, "success")
    kept.clock.advance(timedelta(days=1))
    await kept.swept()
    await kept.rounds(7 * I)
    kept.simulator.log.clear()
    costs = []
    for _ in range(30):
        before = kept.asked()
        await kept.rounds(I)
        costs.append(kept.asked() - before)
    assert sorted(costs)[len(costs) // 2] == 1
    assert sum(costs) / len(costs) < 2.2


async def test_a_busy_cycle_of_two_hundred_open_ones_is_eleven_requests(kept: Kept):
    """Everything was pushed to: lists, readings, and a few single ones to have them checked."""
    changes = kept.world.fill(kept.project, 200)
    kept.clock.advance(timedelta(days=1))
    id_ = await kept.swept()
    await kept.rounds(8 * I)
    for change in changes:
        kept.world.push(change)
    kept.simulator.log.clear()
    await kept.delta(id_)
    for _ in range(4):
        await kept.reread(id_)
    assert kept.asked("updated_after") == 2
    assert kept.asked("graphql") == 4
    assert kept.asked(r"/merge_requests/\d+$") == 5
    assert kept.asked(r"updated_after|graphql|/merge_requests/\d+$") == 11
