"""Waiting for a first sweep: for as long as it makes sense, and no longer than was allowed."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import anyio
import pytest

from pullstate.domain.freshness import Fault, FaultKind
from pullstate.store import lease, reading, writing
from pullstate.sync.wishing import Wisher
from tests.sync.home import at_home
from tests.sync.stage import NOW, Stage
from tests.sync.test_wishing import Answering

pytestmark = pytest.mark.anyio


@pytest.fixture
def id_(stage: Stage) -> int:
    """A repository that a live process can read."""
    name = str(stage.session.reader.name)
    stage.store.write_now(lease.enroll, "me", 1, "1", [name], stage.clock.now())
    return stage.track(stage.world.create_repository("acme/rocket"))


def become(there: Stage, id_: int, **fields):
    def act() -> None:
        after = replace(there.store.read_now(reading.sweep, id_), **fields)
        there.store.write_now(writing.save_sweep, id_, after)

    return act


async def test_it_ends_with_the_sweep(stage: Stage, id_: int):
    clock = Answering(stage, become(stage, id_, stage="rest"), become(stage, id_, swept=True))
    granted = await Wisher(stage.store, clock=clock).swept(id_, 5)
    assert (granted.fulfilled, granted.why) == (True, None)
    assert clock.slept == pytest.approx(0.2)


async def test_it_ends_when_the_sweep_fails(stage: Stage, id_: int):
    fault = Fault(FaultKind.NOT_FOUND, NOW, NOW + timedelta(minutes=1))
    clock = Answering(stage, become(stage, id_, fault=fault))
    assert not (await Wisher(stage.store, clock=clock).swept(id_, 5)).fulfilled
    assert clock.slept == pytest.approx(0.1)


async def test_it_is_not_begun_where_the_sweep_has_failed(stage: Stage, id_: int):
    become(stage, id_, fault=Fault(FaultKind.UNREACHABLE, NOW))()
    clock = Answering(stage)
    assert not (await Wisher(stage.store, clock=clock).swept(id_, 5)).fulfilled
    assert clock.slept == 0


async def test_it_is_not_begun_where_only_old_ones_are_missing(stage: Stage, id_: int):
    become(stage, id_, stage="all")()
    clock = Answering(stage)
    assert not (await Wisher(stage.store, clock=clock).swept(id_, 5)).fulfilled
    assert clock.slept == 0


async def test_it_is_not_begun_where_nobody_reads_the_forge(stage: Stage, id_: int):
    stage.store.write_now(lease.leave, "me")
    clock = Answering(stage)
    granted = await Wisher(stage.store, clock=clock).swept(id_, 5)
    assert "no running pullstate" in granted.why
    assert clock.slept == 0


async def test_it_is_bounded_and_says_that_the_sweep_goes_on(stage: Stage, id_: int):
    clock = Answering(stage)
    granted = await Wisher(stage.store, clock=clock).swept(id_, 5)
    assert not granted.fulfilled
    assert "ask again" in granted.why
    assert clock.slept == pytest.approx(5, abs=0.2)


async def test_it_wakes_the_own_loop(tmp_path: Path):
    async with at_home(tmp_path, quiet=3600.0) as home:
        id_ = home.track(home.world.create_repository("acme/rocket"))
        wisher = Wisher(home.store, home.loop.kick, listed=home.loop.listed)
        with anyio.fail_after(30):
            assert (await wisher.swept(id_, 30)).fulfilled
