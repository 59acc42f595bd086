"""Threads are read when the pull request changed, and again while some are unresolved."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from pullstate.domain.merge_request import Facet
from pullstate.domain.review import Threads
from pullstate.domain.site import ForgeKind
from pullstate.forges.demo import Project
from pullstate.forges.errors import Overloaded, RateLimited, Unreachable
from pullstate.forges.forge import Target, ThreadsReading
from pullstate.store import reading, writing
from tests.sync.stage import NOW, I, Stage
from tests.sync.test_hot import rounds

pytestmark = pytest.mark.anyio


def threads(stage: Stage, id_: int, number: int) -> list:
    stored = stage.stored(id_, number)
    return stage.store.read_now(reading.thread_page, stored.id, limit=1000)


def state(stage: Stage, id_: int, number: int):
    return stage.store.read_now(reading.thread_state, stage.stored(id_, number).id)


async def test_threads_of_open_ones_are_read_ten_at_a_time_after_the_sweep(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 40, unfinished=23)
    thread = stage.world.open_thread(project, 40, "bob", "Why?", "a.py", 3)
    id_ = await stage.swept(project)
    await rounds(stage, timedelta(seconds=5))
    assert [len(of.split()) for _, of in stage.asked("threads")] == [10, 10, 3]
    assert [t.id for t in threads(stage, id_, 40)] == [thread]
    assert stage.stored(id_, 40).pull_request.unresolved_threads == 1


async def test_one_that_changed_has_its_threads_read_again_and_no_other(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 12, unfinished=12)
    id_ = await stage.swept(project)
    await rounds(stage, timedelta(seconds=3))
    stage.forge.requests.clear()
    stage.clock.advance(I)
    stage.world.open_thread(project, 7, "bob", "Why?", "a.py", 3)
    await rounds(stage, timedelta(seconds=3))
    assert [of for _, of in stage.asked("threads")] == ["DEMO_1000_7"]
    assert len(threads(stage, id_, 7)) == 1


async def test_unresolved_threads_are_looked_at_every_five_intervals_without_a_bump(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    number = stage.world.open(project, "One", "one")
    thread = stage.world.open_thread(project, number, "bob", "Why?", "a.py", 3)
    id_ = await stage.swept(project)
    await rounds(stage, timedelta(seconds=3))
    stage.world.resolve(project, number, thread, "ada")
    await rounds(stage, 4 * I)
    assert not threads(stage, id_, number)[0].is_resolved
    await rounds(stage, I + timedelta(seconds=3))
    assert threads(stage, id_, number)[0].is_resolved
    stage.forge.requests.clear()
    await rounds(stage, 12 * I)
    assert stage.asked("threads") == []


async def test_finished_ones_are_read_on_demand_and_then_when_they_change(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 3)
    id_ = await stage.swept(project)
    await rounds(stage, 12 * I)
    assert stage.asked("threads") == []
    stage.store.write_now(writing.record_threads, stage.stored(id_, 2).id, Threads(()), NOW)
    stage.world.open_thread(project, 2, "bob", "Afterwards", "a.py", 1)
    await rounds(stage, 12 * I)
    assert len(threads(stage, id_, 2)) == 1
    assert len(stage.asked("threads")) == 1


@pytest.mark.parametrize(
    "answer",
    [
        lambda target: ThreadsReading(target, Threads((), gap="a page failed")),
        lambda target: ThreadsReading(target, fault=Unreachable("down")),
    ],
)
async def test_a_gap_or_a_fault_dates_nothing_deletes_nothing_and_is_said(stage: Stage, answer):
    project = stage.world.create_repository("acme/rocket")
    number = stage.world.open(project, "One", "one")
    stage.world.open_thread(project, number, "bob", "Why?", "a.py", 3)
    id_ = await stage.swept(project)
    await rounds(stage, timedelta(seconds=3))
    before = state(stage, id_, number)
    answered = stage.forge.threads

    async def broken(targets):
        return [answer(target) for target in targets]

    stage.forge.threads = broken
    stage.clock.advance(I)
    stage.world.open_thread(project, number, "eve", "And this?", "b.py", 9)
    await rounds(stage, timedelta(seconds=3))
    after = state(stage, id_, number)
    assert after.observed_at == before.observed_at
    assert after.gap
    assert len(threads(stage, id_, number)) == 1
    assert "threads" in dict(stage.sweep(id_).gaps)
    stage.forge.threads = answered
    await rounds(stage, 6 * I)
    assert len(threads(stage, id_, number)) == 2
    assert stage.sweep(id_).gaps == ()


async def test_too_much_at_once_is_asked_for_in_halves(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 10, unfinished=10)
    id_ = await stage.swept(project)
    stage.forge.fail("threads", Overloaded("502"))
    await rounds(stage, timedelta(seconds=3))
    assert [len(of.split()) for _, of in stage.asked("threads")] == [10, 5, 5]
    assert state(stage, id_, 1).observed_at


async def test_a_limit_on_threads_holds_neither_deltas_nor_the_hot_set(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    number = stage.world.open(project, "One", "one")
    id_ = await stage.swept(project)
    stage.forge.fail("threads", RateLimited(NOW + 40 * I, "graphql"))
    await rounds(stage, 3 * I)
    assert "rate limit" in dict(stage.sweep(id_).gaps)["threads"]
    stage.world.merge(project, number)
    await rounds(stage, 3 * I)
    assert stage.stored(id_, number).pull_request.merged_at
    assert len(stage.asked("threads")) == 1
    assert stage.sweep(id_).gaps == ()  # a finished one's threads are read on demand


async def test_a_facet_that_was_asked_for_is_kept_up_for_a_day_while_it_is_open(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    number = stage.world.open(project, "One", "one")
    id_ = await stage.swept(project)
    await rounds(stage, timedelta(seconds=3))
    stored = stage.stored(id_, number)
    body = await stage.forge.facet(_target(project, number), Facet.COMMITS)
    sha = stored.pull_request.head.sha
    stage.store.write_now(writing.record_facet, stored.id, Facet.COMMITS, body, NOW, sha)
    stage.store.write_now(writing.asked, stored.id, NOW)
    stage.forge.requests.clear()
    await rounds(stage, 2 * I)
    assert stage.asked("facet") == []
    new = stage.world.push(project, number)
    await rounds(stage, 2 * I)
    assert len(stage.asked("facet")) == 1
    kept = stage.store.read_now(reading.facet, stored.id, Facet.COMMITS)
    assert kept.head_sha == new
    stage.clock.advance(timedelta(days=2))
    stage.world.push(project, number)
    await rounds(stage, 2 * I)
    assert len(stage.asked("facet")) == 1


def _target(project: Project, number: int) -> Target:
    return Target(project.repository, number, project.pull_requests[number].provider_id)


async def test_on_github_what_is_said_within_the_second_of_a_change_is_read_after_it(
    tmp_path: Path,
):
    stage = Stage.build(str(tmp_path / "store.db"), kind=ForgeKind.GITHUB)
    project = stage.world.create_repository("acme/rocket")
    number = stage.world.open(project, "One", "one")
    id_ = await stage.swept(project)
    await rounds(stage, timedelta(seconds=1))
    assert len(stage.asked("threads")) == 1
    changed_at = project.pull_requests[number].changed_at
    stage.world.open_thread(project, number, "bob", "Why?", "a.py", 3)
    after = project.pull_requests[number]
    project.pull_requests[number] = replace(after, changed_at=changed_at)  # in the same second
    await rounds(stage, timedelta(seconds=3))
    assert len(stage.asked("threads")) == 2
    assert len(threads(stage, id_, number)) == 1
    await rounds(stage, timedelta(seconds=9))
    assert len(stage.asked("threads")) == 2
    stage.store.close()
