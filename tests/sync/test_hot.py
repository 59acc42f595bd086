"""The hot set, the roll-call, and what becomes of a pull request that is not found."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from pullstate.domain.freshness import FaultKind, SyncState, report
from pullstate.domain.pull_request import CheckVerdict, MergeVerdict
from pullstate.domain.site import ForgeKind
from pullstate.forges.errors import Forbidden, NotVisible, Overloaded, RateLimited, Unreachable
from pullstate.forges.forge import Reading
from pullstate.store import reading, writing
from pullstate.store.records import Depth
from tests.sync.stage import NOW, I, Stage

pytestmark = pytest.mark.anyio


async def rounds(stage: Stage, span: timedelta, step: timedelta = timedelta(seconds=1)) -> None:
    """Upkeep as the lane does it, for a span of time."""
    end = stage.clock.now() + span
    while stage.clock.now() < end:
        again = await stage.lanes.upkeep()
        stage.clock.at = max(again, stage.clock.now() + step)


def watch_reads(stage: Stage) -> list[tuple[float, int]]:
    """(seconds since NOW, targets) of every re-reading from now on."""
    seen: list[tuple[float, int]] = []
    answered = stage.forge.read

    async def read(targets):
        seen.append(((stage.clock.now() - NOW).total_seconds(), len(targets)))
        return await answered(targets)

    stage.forge.read = read
    return seen


async def test_a_check_that_turns_without_a_bump_is_seen_in_a_quarter_of_an_interval(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    number = stage.world.open(project, "One", "one")
    stage.world.set_checks(project, number, CheckVerdict.PENDING)
    id_ = await stage.swept(project)
    stage.world.set_checks(project, number, CheckVerdict.FAILING, "build")
    await rounds(stage, I / 4 + timedelta(seconds=2))
    assert stage.stored(id_, number).pull_request.checks.verdict is CheckVerdict.FAILING


async def test_those_that_are_due_are_read_25_at_a_time_across_repositories(stage: Stage):
    for n in range(4):
        project = stage.world.create_repository(f"acme/rocket{n}")
        for k in range(10):
            stage.world.open(project, f"{k}", f"branch-{k}")
        await stage.swept(project)
    stage.forge.requests.clear()
    stage.clock.advance(I)
    reads = watch_reads(stage)
    await rounds(stage, timedelta(seconds=2))
    assert sorted(size for _, size in reads) == [15, 25]
    assert len(stage.asked("changed")) == 1


async def test_unknown_mergeability_is_asked_after_2_4_8_16_32_seconds_and_then_each_interval(
    stage: Stage,
):
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 1, unfinished=1)
    stage.world.set_mergeability(project, 1, MergeVerdict.UNKNOWN)
    stage.clock.advance(2 * timedelta(hours=1))
    await stage.swept(project)
    begun = (stage.clock.now() - NOW).total_seconds()
    reads = watch_reads(stage)
    await rounds(stage, timedelta(seconds=200), timedelta(milliseconds=500))
    waits = [at - begun for at, _ in reads]
    assert waits[:6] == pytest.approx([2, 6, 14, 30, 62, 122], abs=1.5)


async def test_one_at_rest_costs_one_reading_in_five_intervals(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 3, unfinished=3)
    stage.clock.advance(timedelta(hours=2))
    await stage.swept(project)
    reads = watch_reads(stage)
    await rounds(stage, 11 * I)
    assert len(reads) == 2


async def test_a_failed_reading_dates_nothing_and_is_tried_again(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    number = stage.world.open(project, "One", "one")
    id_ = await stage.swept(project)
    before = stage.stored(id_, number)
    stage.clock.advance(2 * I)
    stage.forge.fail("read", Unreachable("down"))
    stage.world.set_checks(project, number, CheckVerdict.FAILING, "build")
    await stage.lanes.upkeep()
    after = stage.stored(id_, number)
    assert after.pull_request == before.pull_request
    assert after.observed.checks == before.observed.checks
    assert after.observed.review == before.observed.review
    gaps = dict(stage.sweep(id_).gaps)
    assert set(gaps) == {"details", "checks", "mergeability", "review"}
    known = stage.store.read_now(reading.freshness, id_, stage.clock.now())
    assert report(known, stage.clock.now()).state is SyncState.PARTIAL
    await rounds(stage, 5 * I)
    assert stage.stored(id_, number).pull_request.checks.verdict is CheckVerdict.FAILING
    assert stage.sweep(id_).gaps == ()


async def test_a_limit_on_rereading_holds_neither_the_delta_nor_the_threads(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    number = stage.world.open(project, "One", "one")
    id_ = await stage.swept(project)
    stage.clock.advance(2 * I)
    stage.forge.fail("read", RateLimited(NOW + 40 * I, "graphql"))
    await rounds(stage, 2 * I)
    stage.world.merge(project, number)
    await rounds(stage, 2 * I)
    assert stage.stored(id_, number).pull_request.merged_at
    assert len(stage.asked("read")) == 1


async def test_missing_twice_is_gone_kept_not_listed_and_back_when_seen_again(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    first, second = (stage.world.open(project, t, t) for t in ("one", "two"))
    id_ = await stage.swept(project)
    kept = project.pull_requests[second], project.threads[second]
    stage.world.delete(project, second)
    stage.clock.advance(6 * I)
    await stage.lanes.upkeep()
    assert stage.stored(id_, second).gone_at is None
    await rounds(stage, 10 * I)
    assert stage.stored(id_, second).gone_at
    assert set(stage.rows(id_)) == {first}
    project.pull_requests[second], project.threads[second] = kept
    stage.clock.advance(I)
    stage.world.retitle(project, second, "Back")
    await rounds(stage, 2 * I)
    assert set(stage.rows(id_)) == {first, second}


async def test_all_missing_at_once_is_a_lost_token_and_no_deletion(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    for title in ("one", "two"):
        stage.world.open(project, title, title)
    id_ = await stage.swept(project)
    del stage.world.projects[project.repository.forge_id]
    for _ in range(4):
        stage.clock.advance(40 * I)
        await stage.lanes.upkeep()
    assert set(stage.rows(id_)) == {1, 2}
    assert stage.sweep(id_).fault.kind is FaultKind.NOT_FOUND


async def test_one_that_is_hidden_is_unreadable_and_not_gone(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    for title in ("one", "two"):
        stage.world.open(project, title, title)
    id_ = await stage.swept(project)
    answered = stage.forge.read

    async def read(targets):
        first, *rest = await answered(targets)
        return [Reading(first.target, fault=Forbidden("no")), *rest]

    stage.forge.read = read
    for _ in range(4):
        stage.clock.advance(10 * I)
        await stage.lanes.upkeep()
    assert set(stage.rows(id_)) == {1, 2}
    assert "not visible" in dict(stage.sweep(id_).gaps)["checks"]


async def test_a_row_that_cannot_be_stored_does_not_hold_up_the_others(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    for title in ("one", "two", "three"):
        stage.world.open(project, title, title)
    id_ = await stage.swept(project)
    answered = stage.forge.read

    async def read(targets):
        first, *rest = await answered(targets)
        assert first.pull_request
        broken = replace(first.pull_request, opened_at=datetime(2026, 1, 1))  # noqa: DTZ001
        return [replace(first, pull_request=broken), *rest]

    stage.forge.read = read
    for number in (1, 2, 3):
        stage.world.set_checks(project, number, CheckVerdict.FAILING, "build")
    stage.clock.advance(6 * I)
    await stage.lanes.upkeep()
    verdicts = [stage.stored(id_, n).pull_request.checks.verdict for n in (1, 2, 3)]
    assert verdicts.count(CheckVerdict.FAILING) == 2
    stage.forge.read = answered
    await rounds(stage, 5 * I)
    verdicts = [stage.stored(id_, n).pull_request.checks.verdict for n in (1, 2, 3)]
    assert verdicts.count(CheckVerdict.FAILING) == 3


async def test_a_single_one_that_was_asked_about_is_hot_for_a_day(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    number = stage.world.open(project, "One", "one")
    id_ = await stage.swept(project, Depth.OPEN)
    stored = stage.stored(id_, number)
    stage.store.write_now(writing.untrack, id_)
    stage.track(project, Depth.ONE, "question")
    stage.store.write_now(writing.asked, stored.id, stage.clock.now())
    stage.forge.requests.clear()
    stage.clock.advance(6 * I)
    await stage.lanes.upkeep()
    assert [question for question, _ in stage.forge.requests if question != "threads"] == ["read"]
    stage.forge.requests.clear()
    stage.clock.advance(timedelta(days=2))
    await stage.lanes.upkeep()
    assert stage.forge.requests == []


async def test_a_merge_brings_the_others_on_its_base_forward(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    numbers = [stage.world.open(project, str(n), str(n)) for n in range(3)]
    stage.clock.advance(timedelta(hours=2))
    id_ = await stage.swept(project)
    stage.clock.advance(I)
    stage.world.merge(project, numbers[0])
    await rounds(stage, timedelta(seconds=2))
    stage.world.set_mergeability(project, numbers[1], MergeVerdict.CONFLICTING)
    await rounds(stage, I + timedelta(seconds=2))
    known = stage.stored(id_, numbers[1]).pull_request
    assert known.mergeability.verdict is MergeVerdict.CONFLICTING


async def test_where_notes_bump_late_a_merge_request_is_read_again_when_it_has_settled(tmp_path):
    stage = Stage.build(str(tmp_path / "store.db"), kind=ForgeKind.GITLAB)
    project = stage.world.create_repository("acme/rocket")
    stage.world.open(project, "One", "one")
    await stage.swept(project)
    reads = watch_reads(stage)
    await rounds(stage, timedelta(seconds=80))
    assert any(75 <= at <= 78 for at, _ in reads)
    stage.store.close()


async def test_a_roll_call_finds_what_neither_delta_nor_hot_set_would(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 60, unfinished=60)
    id_ = await stage.swept(project)
    stage.world.merge(project, 60)
    merged = project.pull_requests[60]
    project.pull_requests[60] = replace(merged, changed_at=NOW - 90 * I)
    stage.clock.advance(10 * I)
    await rounds(stage, timedelta(seconds=10))
    assert len(stage.asked("open_page")) == 3
    assert stage.stored(id_, 60).pull_request.merged_at


async def test_a_roll_call_that_does_not_complete_concludes_nothing(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 60, unfinished=60)
    id_ = await stage.swept(project)
    stage.clock.advance(10 * I)
    await stage.lanes.upkeep()
    assert stage.sweep(id_).roll_call_cursor
    stage.world.delete(project, 60)
    stage.forge.fail("open_page", NotVisible("404"))
    stage.forge.fail("find_repository", NotVisible("404"))
    stage.clock.advance(timedelta(seconds=1))
    await stage.lanes.upkeep()
    assert len(stage.rows(id_)) == 60
    assert stage.sweep(id_).roll_call_cursor


async def test_a_batch_that_is_too_much_is_read_in_halves(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 20, unfinished=20)
    id_ = await stage.swept(project)
    stage.world.set_checks(project, 7, CheckVerdict.FAILING, "build")
    stage.clock.advance(6 * I)
    stage.forge.fail("read", Overloaded("502"))
    await stage.lanes.upkeep()
    assert [len(of.split()) for _, of in stage.asked("read")] == [20, 10, 10]
    assert stage.stored(id_, 7).pull_request.checks.verdict is CheckVerdict.FAILING


async def test_a_batch_that_stays_too_much_waits_for_the_next_cycle(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 20, unfinished=20)
    id_ = await stage.swept(project)
    stage.clock.advance(6 * I)
    stage.forge.fail("read", *[Overloaded("502")] * 99)
    await stage.lanes.upkeep()
    assert len(stage.asked("read")) == 7
    assert dict(stage.sweep(id_).gaps)["checks"].startswith("the forge could not be reached")
    await stage.lanes.upkeep()
    assert len(stage.asked("read")) == 7
