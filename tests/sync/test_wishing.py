"""The asker's side: at once where nobody can serve, else an answer or the deadline."""

from __future__ import annotations

from datetime import datetime, timedelta

import anyio
import pytest

from pullstate.store import lease, wishes, writing
from pullstate.store.errors import StoreFull
from pullstate.store.wishes import WishKind
from pullstate.sync.wishing import Wisher
from tests.sync.stage import I, Stage

pytestmark = pytest.mark.anyio


class Answering:
    """A clock whose every sleep gives somebody else the time to do something."""

    def __init__(self, stage: Stage, *acts) -> None:
        self.stage, self.acts, self.slept = stage, list(acts), 0.0

    def now(self) -> datetime:
        return self.stage.clock.now()

    async def sleep(self, seconds: float) -> None:
        self.slept += seconds
        await self.stage.clock.sleep(seconds)
        if self.acts:
            self.acts.pop(0)()


@pytest.fixture
def served(stage: Stage) -> Stage:
    """One whose process gave a sign of life just now."""
    name = str(stage.session.reader.name)
    stage.store.write_now(lease.enroll, "me", 1, "1", [name], stage.clock.now())
    return stage


def answer(stage: Stage, id_: int, outcome: str, detail: str = ""):
    def act() -> None:
        began_at = stage.clock.now() + timedelta(seconds=1)
        stage.store.write_now(
            wishes.fulfil, WishKind.BRANCH, id_, "feature", began_at, outcome, detail
        )

    return act


@pytest.mark.parametrize("outcome", ["read", "nothing", "not_found"])
async def test_a_wish_ends_with_its_outcome_within_a_look(served: Stage, outcome: str):
    id_ = served.track(served.world.create_repository("acme/rocket"))
    clock = Answering(served, answer(served, id_, outcome))
    granted = await Wisher(served.store, clock=clock).wish(WishKind.BRANCH, id_, "feature", 5)
    assert (granted.fulfilled, granted.outcome, granted.why) == (True, outcome, None)
    assert clock.slept == pytest.approx(0.1)


async def test_a_failed_read_says_why(served: Stage):
    id_ = served.track(served.world.create_repository("acme/rocket"))
    clock = Answering(served, answer(served, id_, "failed", "the forge could not be reached"))
    granted = await Wisher(served.store, clock=clock).wish(WishKind.BRANCH, id_, "feature", 5)
    assert not granted.fulfilled
    assert granted.why == "the forge could not be reached"


async def test_the_wait_is_bounded(served: Stage):
    id_ = served.track(served.world.create_repository("acme/rocket"))
    clock = Answering(served)
    granted = await Wisher(served.store, clock=clock).wish(WishKind.BRANCH, id_, "feature", 5)
    assert not granted.fulfilled
    assert "5 seconds" in granted.why
    assert clock.slept == pytest.approx(5, abs=0.2)


async def test_where_nobody_syncs_the_answer_comes_at_once_and_leaves_no_wish(stage: Stage):
    stage.store.write_now(lease.leave, "me")
    id_ = stage.track(stage.world.create_repository("acme/rocket"))
    clock = Answering(stage)
    granted = await Wisher(stage.store, clock=clock).wish(WishKind.BRANCH, id_, "feature", 5)
    assert not granted.fulfilled
    assert "no running pullstate" in granted.why
    assert clock.slept == 0
    assert stage.store.read_now(wishes.open_wishes, stage.forge.site.url, clock.now()) == []


async def test_a_process_that_died_serves_nobody(stage: Stage):
    stage.store.write_now(
        lease.enroll, "me", 1, "1", [str(stage.session.reader.name)], stage.clock.now()
    )
    stage.clock.advance(2 * I)
    id_ = stage.track(stage.world.create_repository("acme/rocket"))
    granted = await Wisher(stage.store, clock=stage.clock).wish(WishKind.REFRESH, id_, "", 5)
    assert "no running pullstate" in granted.why


async def test_where_the_forge_is_closed_beyond_the_deadline_the_answer_comes_at_once(
    served: Stage,
):
    id_ = served.track(served.world.create_repository("acme/rocket"))
    until = served.clock.now() + timedelta(minutes=5)
    limit = (served.session.key, "*", None, None, None, until)
    served.store.write_now(writing.set_limit, *limit)
    clock = Answering(served)
    granted = await Wisher(served.store, clock=clock).wish(WishKind.BRANCH, id_, "feature", 5)
    assert "rate limit" in granted.why
    assert clock.slept == 0


async def test_where_the_forge_opens_before_the_deadline_it_waits(served: Stage):
    id_ = served.track(served.world.create_repository("acme/rocket"))
    until = served.clock.now() + timedelta(seconds=2)
    served.store.write_now(writing.set_limit, served.session.key, "*", None, None, None, until)
    clock = Answering(served, answer(served, id_, "read"))
    granted = await Wisher(served.store, clock=clock).wish(WishKind.BRANCH, id_, "feature", 5)
    assert granted.fulfilled


async def test_the_own_loop_is_woken_before_and_after_the_wish_is_left(served: Stage):
    id_ = served.track(served.world.create_repository("acme/rocket"))
    seen: list[int] = []

    def kick() -> None:
        now = served.clock.now()
        seen.append(len(served.store.read_now(wishes.open_wishes, served.forge.site.url, now)))

    await Wisher(served.store, kick, served.clock).wish(WishKind.BRANCH, id_, "feature", 0)
    assert seen == [0, 1]


async def test_a_store_that_cannot_be_written_is_for_the_asker_to_word(served: Stage):
    id_ = served.track(served.world.create_repository("acme/rocket"))

    async def write(*args, **kwargs):
        raise StoreFull("The disk is full.")

    served.store.write = write
    with pytest.raises(StoreFull):
        await Wisher(served.store, clock=served.clock).wish(WishKind.BRANCH, id_, "feature", 5)


async def test_a_loop_that_is_on_its_way_is_waited_for(stage: Stage):
    stage.store.write_now(lease.leave, "me")
    id_ = stage.track(stage.world.create_repository("acme/rocket"))
    listed = anyio.Event()
    clock = Answering(stage, answer(stage, id_, "read"))
    wisher = Wisher(stage.store, clock=clock, listed=listed)

    async def arrive() -> None:
        name = str(stage.session.reader.name)
        await stage.store.write(lease.enroll, "me", 1, "1", [name], stage.clock.now())
        listed.set()

    async with anyio.create_task_group() as group:
        group.start_soon(arrive)
        granted = await wisher.wish(WishKind.BRANCH, id_, "feature", 5)
    assert granted.fulfilled


async def test_a_loop_that_arrived_without_a_credential_is_not_waited_for(stage: Stage):
    stage.store.write_now(lease.leave, "me")
    id_ = stage.track(stage.world.create_repository("acme/rocket"))
    listed = anyio.Event()
    listed.set()
    wisher = Wisher(stage.store, clock=stage.clock, listed=listed)
    assert not (await wisher.wish(WishKind.BRANCH, id_, "feature", 5)).fulfilled


async def test_a_loop_that_never_arrives_is_waited_for_within_the_patience(stage: Stage):
    stage.store.write_now(lease.leave, "me")
    id_ = stage.track(stage.world.create_repository("acme/rocket"))
    wisher = Wisher(stage.store, clock=stage.clock, listed=anyio.Event())
    granted = await wisher.wish(WishKind.BRANCH, id_, "feature", 0.01)
    assert "no running pullstate" in granted.why
