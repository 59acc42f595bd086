"""The first sweep: two walks, a cursor with each page, restartable, unmoved by updates."""

from __future__ import annotations

import pytest

from pullstate.forges.errors import Overloaded, Unreachable
from pullstate.store.records import Depth
from pullstate.sync import backfill
from pullstate.sync.backfill import walk_of
from tests.sync.stage import Stage

pytestmark = pytest.mark.anyio


async def test_a_first_sweep_reads_open_ones_by_25_and_everything_by_100(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 1000, unfinished=60)
    id_ = stage.track(project)
    while not stage.sweep(id_).swept:
        await stage.lanes.backfill()
    assert len(stage.rows(id_)) == 1000
    assert len(stage.asked("open_page")) == 3
    assert len(stage.asked("lean_page", "newest_change")) == 11
    assert stage.sweep(id_).watermark == max(p.changed_at for p in project.pull_requests.values())


async def test_the_open_ones_are_there_with_all_facts_before_the_long_walk(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 300, unfinished=30)
    id_ = stage.track(project)
    charge = await stage.begun(id_)
    await backfill.run(stage.session, walk_of(charge), lambda leg: leg.after.stage == "open")
    assert len(stage.rows(id_)) == 30
    assert all(row.observed.checks and row.observed.review for row in stage.rows(id_).values())
    assert not stage.sweep(id_).swept
    assert stage.sweep(id_).stage == "all"


@pytest.mark.parametrize("killed_after", range(6))
async def test_a_walk_goes_on_at_the_page_where_it_was_cut_off(stage: Stage, killed_after: int):
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 430, unfinished=30)
    id_ = stage.track(project)
    charge = await stage.begun(id_)
    pages = iter(range(killed_after))
    await backfill.run(stage.session, walk_of(charge), lambda leg: next(pages, None) is not None)
    asked = len(stage.asked("open_page", "lean_page"))
    assert asked == min(killed_after + 1, 7)
    await backfill.run(stage.session, walk_of(stage.charge(id_)))
    assert len(stage.asked("open_page", "lean_page")) == 7
    assert len(stage.rows(id_)) == 430


async def test_a_page_that_fails_loses_nothing_of_those_before_it(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 250)
    id_ = stage.track(project)
    charge = await stage.begun(id_)
    walk = walk_of(charge)
    walk = await backfill.run(stage.session, walk, lambda leg: False)
    stage.forge.fail("lean_page", Unreachable("down"))
    with pytest.raises(Unreachable):
        await backfill.run(stage.session, walk)
    assert stage.sweep(id_).stage == "all"
    await backfill.run(stage.session, walk_of(stage.charge(id_)))
    assert len(stage.rows(id_)) == 250


async def test_a_page_that_is_too_much_is_halved_and_the_size_that_worked_is_kept(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 200)
    id_ = stage.track(project)
    charge = await stage.begun(id_)
    walk = await backfill.run(stage.session, walk_of(charge), lambda leg: False)
    stage.forge.fail("lean_page", Overloaded("502"), Overloaded("502"))
    await backfill.run(stage.session, walk)
    assert len(stage.rows(id_)) == 200
    assert len(stage.asked("lean_page")) == 2 + 8


async def test_one_that_was_only_asked_about_is_swept_with_its_newest_thousand(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 1500, unfinished=5)
    id_ = stage.track(project, Depth.OPEN, "question")
    while not stage.sweep(id_).swept:
        await stage.lanes.backfill()
    assert 1000 <= len(stage.rows(id_)) < 1500
    assert min(stage.rows(id_)) >= 1
    assert max(stage.rows(id_)) == 1500
    while stage.sweep(id_).stage != "done":
        await stage.lanes.backfill()
    assert len(stage.rows(id_)) == 1500


async def test_single_pull_requests_need_no_sweep(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 10)
    id_ = stage.track(project, Depth.ONE, "question")
    await stage.lanes.backfill()
    assert stage.forge.requests == []
    assert walk_of(stage.charge(id_)) is None


async def test_what_is_opened_during_the_walk_is_appended_and_what_changes_is_not_lost(
    stage: Stage,
):
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 250, unfinished=2)
    id_ = stage.track(project)
    charge = await stage.begun(id_)
    walk = await backfill.run(stage.session, walk_of(charge), lambda leg: leg.after.cursor is None)
    stage.clock.advance(stage.session.interval)
    stage.world.retitle(project, 3, "Changed behind the walk")
    new = stage.world.open(project, "New", "new")
    await backfill.run(stage.session, walk)
    assert new in stage.rows(id_)
    await stage.delta(id_)
    assert stage.stored(id_, 3).pull_request.title == "Changed behind the walk"


async def test_an_empty_repository_is_swept_too(stage: Stage):
    project = stage.world.create_repository("acme/empty")
    id_ = await stage.swept(project)
    assert stage.sweep(id_).swept
    stage.clock.advance(stage.session.interval)
    number = stage.world.open(project, "First", "first")
    await stage.delta(id_)
    assert number in stage.rows(id_)


async def test_a_large_repository_holds_up_no_other(stage: Stage):
    large, small = (stage.world.create_repository(f"acme/{name}") for name in ("large", "small"))
    stage.world.populate(large, 5000, unfinished=1)
    stage.world.populate(small, 300, unfinished=300)
    large_id, small_id = stage.track(large), stage.track(small)
    turns = 0
    while not stage.sweep(small_id).swept:
        await stage.lanes.backfill()
        turns += 1
    assert turns <= 6
    assert not stage.sweep(large_id).swept


async def test_the_open_ones_of_every_repository_come_before_the_rest_of_any(stage: Stage):
    ids = []
    for n in range(3):
        project = stage.world.create_repository(f"acme/rocket{n}")
        stage.world.populate(project, 1500, unfinished=20)
        ids.append(stage.track(project))
    for _ in ids:
        await stage.lanes.backfill()
    assert all(len(stage.rows(id_)) >= 20 for id_ in ids)


async def test_an_unforeseen_answer_ends_one_turn_and_is_logged_once(stage: Stage, caplog):
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 30, unfinished=1)
    id_ = stage.track(project)
    stage.forge.fail("lean_page", *[KeyError("what is this")] * 3)
    for _ in range(3):
        await stage.lanes.backfill()
        stage.clock.at = stage.sweep(id_).fault.retry_at
    assert "reference" in stage.sweep(id_).fault.detail
    assert caplog.text.count("reference") == 1
    await stage.lanes.backfill()
    assert stage.sweep(id_).swept
    assert stage.sweep(id_).fault is None
