"""A limit on one resource closes what it pays for: all else goes on, and that is tried again."""

from __future__ import annotations

import pytest

from pullstate.domain.freshness import FaultKind
from pullstate.domain.merge_request import Facet
from pullstate.forges.errors import RateLimited
from pullstate.forges.forge import Quota
from pullstate.store.records import Depth
from pullstate.sync.budget import Purpose
from pullstate.sync.charges import target
from pullstate.sync.upkeep import Round
from tests.sync.stage import NOW, I, Stage

pytestmark = pytest.mark.anyio

FOR_LONG = NOW + 100 * I


async def upkeep(stage: Stage, id_: int) -> Round:
    """One round over a repository."""
    round_ = Round(stage.session, {id_: stage.charge(id_)}, stage.clock.now())
    await round_.run()
    return round_


async def test_a_roll_call_that_is_closed_is_put_off_and_the_delta_goes_on(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    number = stage.world.open(project, "One", "one")
    id_ = await stage.swept(project)
    stage.clock.advance(11 * I)
    stage.forge.fail("open_page", RateLimited(FOR_LONG, "graphql"))
    await upkeep(stage, id_)
    assert stage.sweep(id_).fault is None
    stage.forge.requests.clear()
    for _ in range(3):
        stage.clock.advance(2 * I)
        stage.world.retitle(project, number, f"Title at {stage.clock.now()}")
        await upkeep(stage, id_)
        assert (await upkeep(stage, id_)).next_at > stage.clock.now()
        assert stage.stored(id_, number).pull_request.title == f"Title at {stage.clock.now()}"
    assert stage.asked("open_page") == []
    stage.clock.at = FOR_LONG + I
    await upkeep(stage, id_)
    assert len(stage.asked("open_page")) == 1


async def test_the_rest_of_a_walk_that_is_closed_is_put_off(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 1300, unfinished=1)
    id_ = await stage.swept(project, Depth.OPEN)
    assert stage.sweep(id_).stage == "rest"
    stage.forge.fail("lean_page", RateLimited(FOR_LONG, "graphql"))
    while not stage.asked("lean_page"):
        await stage.lanes.backfill()
    stage.forge.requests.clear()
    await stage.lanes.backfill()
    assert stage.sweep(id_).fault is None
    assert stage.asked("lean_page") == []
    stage.clock.at = FOR_LONG + I
    await stage.lanes.backfill()
    assert stage.asked("lean_page")


async def test_a_first_sweep_that_is_closed_pauses_in_words(stage: Stage):
    id_ = stage.track(stage.world.create_repository("acme/rocket"))
    stage.forge.fail("open_page", RateLimited(FOR_LONG, "graphql"))
    await stage.lanes.backfill()
    fault = stage.sweep(id_).fault
    assert fault is not None
    assert (fault.kind, fault.retry_at) == (FaultKind.RATE_LIMITED, FOR_LONG)


async def test_a_limit_on_everything_pauses_a_swept_repository_too(stage: Stage):
    id_ = await stage.swept(stage.world.create_repository("acme/rocket"))
    stage.clock.advance(11 * I)
    stage.forge.fail("open_page", RateLimited(FOR_LONG, "*", secondary=True))
    await upkeep(stage, id_)
    fault = stage.sweep(id_).fault
    assert fault is not None and fault.kind is FaultKind.RATE_LIMITED


async def test_a_facet_that_is_closed_closes_no_other(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    number = stage.world.open(project, "One", "one")
    id_ = await stage.swept(project)
    one = target(stage.charge(id_), stage.stored(id_, number))
    stage.forge.fail("facet", RateLimited(FOR_LONG, "graphql"))
    with pytest.raises(RateLimited):
        await stage.session.ask(stage.forge.facet, one, Facet.DISCUSSIONS)
    assert await stage.session.ask(stage.forge.facet, one, Facet.COMMITS)
    stage.forge.requests.clear()
    with pytest.raises(RateLimited):
        await stage.session.ask(stage.forge.facet, one, Facet.DISCUSSIONS)
    assert stage.asked("facet") == []


async def test_a_budget_that_is_used_up_pauses_in_words_and_ends_with_its_window(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    number = stage.world.open(project, "One", "one")
    id_ = await stage.swept(project)
    gone = Quota("graphql", 5000, 0, FOR_LONG)
    stage.session.ledger.settle([gone], Purpose.UPKEEP, stage.clock.now())
    stage.clock.advance(2 * I)
    assert (await upkeep(stage, id_)).next_at >= stage.clock.now()
    fault = stage.sweep(id_).fault
    assert fault is not None
    assert (fault.kind, fault.retry_at) == (FaultKind.RATE_LIMITED, FOR_LONG)
    assert stage.asked("changed", "read", "probe") == []
    stage.world.retitle(project, number, "Later")
    stage.clock.at = FOR_LONG + I
    await upkeep(stage, id_)
    assert stage.sweep(id_).fault is None
    assert stage.stored(id_, number).pull_request.title == "Later"
