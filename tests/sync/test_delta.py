"""Deltas: nothing is lost between two of them, and nothing is concluded from half of one."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import Connection, text

from pullstate.domain.freshness import FaultKind, SyncState, report
from pullstate.domain.pull_request import CheckVerdict
from pullstate.forges.errors import (
    Forbidden,
    NotVisible,
    Overloaded,
    PullRequestsDisabled,
    RateLimited,
    Unexpected,
    Unreachable,
)
from pullstate.forges.forge import DeltaReading
from pullstate.store import reading
from tests.sync.stage import NOW, I, Stage

pytestmark = pytest.mark.anyio


async def test_what_was_opened_retitled_and_merged_since_is_there(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 20, unfinished=5)
    id_ = await stage.swept(project)
    stage.clock.advance(I)
    new = stage.world.open(project, "New", "new")
    stage.world.retitle(project, 18, "Other")
    stage.world.merge(project, 19)
    await stage.delta(id_)
    assert stage.stored(id_, new).pull_request.title == "New"
    assert stage.stored(id_, 18).pull_request.title == "Other"
    assert stage.stored(id_, 19).pull_request.merged_at == stage.clock.now()
    assert stage.sweep(id_).watermark == stage.clock.now()
    assert stage.sweep(id_).as_of == stage.clock.now()


async def test_two_changes_in_one_second_on_both_sides_of_a_delta_are_both_seen(stage: Stage):
    stage.cannot_probe()
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 3, unfinished=3)
    id_ = await stage.swept(project)
    stage.clock.advance(I)
    stage.world.retitle(project, 1, "First")
    await stage.delta(id_)
    stage.world.retitle(project, 2, "Second")
    await stage.delta(id_)
    titles = {n: row.pull_request.title for n, row in stage.rows(id_).items()}
    assert (titles[1], titles[2]) == ("First", "Second")


async def test_a_change_that_shows_up_late_is_still_within_the_overlap(stage: Stage):
    stage.cannot_probe()
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 3, unfinished=3)
    id_ = await stage.swept(project)
    stage.clock.advance(10 * I)
    stage.world.retitle(project, 1, "In time")
    await stage.delta(id_)
    late = replace(project.pull_requests[2], title="Late", changed_at=NOW + 5 * I)
    project.pull_requests[2] = late
    await stage.delta(id_)
    assert stage.stored(id_, 2).pull_request.title == "Late"


async def test_a_page_that_fails_leaves_the_watermark_where_it_was(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 250, unfinished=250)
    id_ = await stage.swept(project)
    before = stage.sweep(id_)
    stage.clock.advance(I)
    for number in range(1, 251):
        stage.world.retitle(project, number, f"Round two {number}")
    answered = stage.forge.changed

    async def second_page_fails(deltas, size):
        if deltas[0].cursor:
            raise Unexpected("cut short")
        return await answered(deltas, size)

    second_page_fails.__name__ = "changed"
    stage.forge.changed = second_page_fails
    await stage.delta(id_)
    after = stage.sweep(id_)
    assert (after.watermark, after.as_of) == (before.watermark, before.as_of)
    assert after.fault.kind is FaultKind.UNEXPECTED
    stage.forge.changed = answered
    await stage.delta(id_)
    assert all(r.pull_request.title.startswith("Round two") for r in stage.rows(id_).values())
    assert stage.sweep(id_).fault is None


async def test_a_forge_whose_clock_is_days_behind_ours_loses_nothing(stage: Stage):
    stage.world.clock = lambda: stage.clock.now() - timedelta(days=3)
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 5, unfinished=5)
    id_ = await stage.swept(project)
    for number in range(1, 6):
        stage.clock.advance(I)
        stage.world.retitle(project, number, "Changed")
        await stage.delta(id_)
    assert {r.pull_request.title for r in stage.rows(id_).values()} == {"Changed"}


async def test_ten_repositories_are_asked_in_one_request(stage: Stage):
    ids = []
    for n in range(10):
        project = stage.world.create_repository(f"acme/rocket{n}")
        stage.world.populate(project, 4, unfinished=1)
        ids.append(await stage.swept(project))
    stage.clock.advance(I)
    await stage.delta(*ids)
    assert [question for question, _ in stage.forge.requests] == ["changed"]
    assert all(stage.sweep(id_).as_of == stage.clock.now() for id_ in ids)


async def test_a_repository_that_the_answer_leaves_out_is_not_empty(stage: Stage):
    ids = []
    for n in range(3):
        project = stage.world.create_repository(f"acme/rocket{n}")
        stage.world.populate(project, 4, unfinished=1)
        ids.append(await stage.swept(project))
    answered = stage.forge.changed

    async def one_alias_missing(deltas, size):
        return (await answered(deltas, size))[1:]

    one_alias_missing.__name__ = "changed"
    stage.forge.changed = one_alias_missing
    stage.clock.advance(I)
    await stage.delta(*ids)
    assert stage.sweep(ids[0]).fault.kind is FaultKind.UNEXPECTED
    assert stage.sweep(ids[0]).as_of == NOW
    assert stage.sweep(ids[1]).as_of == stage.clock.now()
    assert len(stage.rows(ids[0])) == 4


async def test_all_aliases_null_with_an_error_each_fail_each_by_itself(stage: Stage):
    ids = []
    for n in range(3):
        project = stage.world.create_repository(f"acme/rocket{n}")
        stage.world.populate(project, 4, unfinished=1)
        ids.append(await stage.swept(project))

    async def all_null(deltas, size):
        return [DeltaReading(delta, fault=Forbidden("no")) for delta in deltas]

    all_null.__name__ = "changed"
    stage.forge.changed = all_null
    await stage.delta(*ids)
    for id_ in ids:
        known = stage.store.read_now(reading.freshness, id_, stage.clock.now())
        assert report(known, stage.clock.now()).state is SyncState.FAILING
        assert len(stage.rows(id_)) == 4


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (Forbidden("403"), FaultKind.FORBIDDEN),
        (NotVisible("404"), FaultKind.NOT_FOUND),
        (Unreachable("dns"), FaultKind.UNREACHABLE),
        (Unexpected("what"), FaultKind.UNEXPECTED),
        (PullRequestsDisabled("off"), FaultKind.PULL_REQUESTS_DISABLED),
        (RateLimited(NOW + 20 * I, "graphql"), FaultKind.RATE_LIMITED),
        (ValueError("a bug of ours"), FaultKind.UNEXPECTED),
    ],
)
async def test_a_refusal_is_stored_backs_off_and_keeps_the_rows(stage: Stage, error, kind):
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 4, unfinished=2)
    id_ = await stage.swept(project)
    stage.clock.advance(I)
    stage.forge.fail("changed", error)
    try:
        await stage.delta(id_)
    except ValueError:
        pytest.fail("an exception of one repository left its turn")
    fault = stage.sweep(id_).fault
    assert (fault.kind, fault.since) == (kind, stage.clock.now())
    assert fault.retry_at > stage.clock.now()
    assert len(stage.rows(id_)) == 4
    stage.clock.at = fault.retry_at
    await stage.delta(id_)
    assert stage.sweep(id_).fault is None
    assert stage.sweep(id_).as_of == stage.clock.now()


async def test_disabled_pull_requests_are_asked_for_again_once_a_day(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    id_ = await stage.swept(project)
    stage.forge.fail("changed", PullRequestsDisabled("off"))
    await stage.delta(id_)
    assert stage.sweep(id_).fault.retry_at == stage.clock.now() + timedelta(days=1)


async def test_a_rate_limit_holds_the_question_without_asking_until_it_ends(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    id_ = await stage.swept(project)
    stage.forge.fail("changed", RateLimited(NOW + 20 * I, "graphql"))
    await stage.delta(id_)
    await stage.delta(id_)
    assert len(stage.asked("changed")) == 1
    [limit] = stage.store.read_now(reading.limits, stage.session.key).values()
    assert (limit.resource, limit.not_before) == ("graphql", NOW + 20 * I)


async def test_an_overloaded_forge_is_asked_for_half_twice_then_in_the_next_cycle(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    id_ = await stage.swept(project)
    stage.forge.fail("changed", *[Overloaded("502")] * 3)
    await stage.delta(id_)
    assert len(stage.asked("changed")) == 3
    assert stage.sweep(id_).fault.kind is FaultKind.UNREACHABLE
    await stage.delta(id_)
    assert stage.sweep(id_).fault is None


async def test_a_304_saves_at_most_ten_deltas_in_a_row(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 4, unfinished=1)
    id_ = await stage.swept(project)
    for _ in range(24):
        stage.clock.advance(I)
        await stage.delta(id_)
        assert stage.sweep(id_).as_of == stage.clock.now()
    assert len(stage.asked("probe")) == 24
    assert len(stage.asked("changed")) == 1 + 2  # the first, and after every ten


async def test_anything_but_a_304_means_run_the_delta(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 4, unfinished=1)
    id_ = await stage.swept(project)
    await stage.delta(id_)
    stage.clock.advance(I)
    stage.forge.fail("probe", Unreachable("REST is down"))
    await stage.delta(id_)
    assert len(stage.asked("changed")) == 2
    assert stage.sweep(id_).fault is None


async def test_an_etag_is_kept_only_with_the_complete_delta_it_vouches_for(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 4, unfinished=1)
    id_ = await stage.swept(project)
    stage.clock.advance(I)
    stage.world.retitle(project, 4, "Other")
    stage.forge.fail("changed", Unreachable("down"))
    await stage.delta(id_)
    stage.clock.advance(I)
    await stage.delta(id_)
    assert stage.stored(id_, 4).pull_request.title == "Other"


async def test_a_change_between_probe_and_delta_is_not_vouched_for(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 4, unfinished=1)
    id_ = await stage.swept(project)
    answered = stage.forge.changed

    async def changes_after_the_answer(deltas, size):
        answers = await answered(deltas, size)
        stage.clock.advance(timedelta(seconds=1))
        stage.world.retitle(project, 4, "Just missed")
        return answers

    changes_after_the_answer.__name__ = "changed"
    stage.forge.changed = changes_after_the_answer
    await stage.delta(id_)
    stage.forge.changed = answered
    stage.clock.advance(I)
    await stage.delta(id_)
    assert stage.stored(id_, 4).pull_request.title == "Just missed"


async def test_an_unfinished_one_that_changed_is_due_at_once_with_all_facts(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 4, unfinished=2)
    id_ = await stage.swept(project)
    stage.clock.advance(I)
    stage.world.push(project, 4)
    stage.world.set_checks(project, 4, CheckVerdict.PENDING)
    await stage.lanes.upkeep()  # the delta
    await stage.lanes.upkeep()  # what it found
    assert stage.stored(id_, 4).pull_request.checks.verdict is CheckVerdict.PENDING
    assert stage.stored(id_, 4).pull_request.checks.sha == project.pull_requests[4].head.sha


async def test_a_quiet_delta_writes_the_sweep_and_nothing_else(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 40, unfinished=10)
    id_ = await stage.swept(project)
    await stage.delta(id_)
    before = stage.store.read_now(_contents)
    stage.clock.advance(I)
    await stage.delta(id_)
    assert stage.store.read_now(_contents) == before
    assert stage.sweep(id_).as_of == stage.clock.now()


async def test_a_quiet_cycle_is_one_transaction(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 40, unfinished=10)
    stage.clock.advance(timedelta(hours=2))
    await stage.swept(project)
    for _ in range(9):
        await stage.lanes.upkeep()
    stage.clock.advance(I)
    await stage.lanes.upkeep()  # learns the ETag
    stage.forge.requests.clear()
    stage.clock.advance(I)
    writes, write = [], stage.store.write

    async def counting(*args, **kwargs):
        writes.append(args)
        return await write(*args, **kwargs)

    stage.store.write = counting
    for _ in range(60):
        await stage.lanes.upkeep()
        await stage.lanes.backfill()
        await stage.lanes.wishes(lambda work: None)
    assert [question for question, _ in stage.forge.requests] == ["probe"]
    assert len(writes) == 1


def _contents(conn: Connection) -> dict[str, list[tuple]]:
    """Every row that a quiet cycle must leave alone."""
    tables = ("pull_request", "thread", "change", "freshness", "facet", "note")
    return {t: sorted(map(tuple, conn.execute(text(f"SELECT * FROM {t}")))) for t in tables}


async def test_a_reopened_one_loses_its_closing_time_and_a_merged_one_stays_merged(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 2, unfinished=2)
    id_ = await stage.swept(project)
    stage.clock.advance(I)
    stage.world.close(project, 1)
    stage.world.merge(project, 2)
    await stage.delta(id_)
    assert stage.stored(id_, 1).pull_request.closed_at
    stage.clock.advance(I)
    stage.world.reopen(project, 1)
    stage.world.retitle(project, 2, "Merged long ago")
    await stage.delta(id_)
    assert stage.stored(id_, 1).pull_request.closed_at is None
    assert stage.stored(id_, 2).pull_request.merged_at


async def test_a_rename_moves_the_address(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 3, unfinished=3)
    id_ = await stage.swept(project)
    stage.world.rename_repository(project, "acme/starship")
    stage.clock.advance(I)
    await stage.delta(id_)
    assert stage.charge(id_).repository.path == "acme/starship"
    assert len(stage.rows(id_)) == 3


async def test_rows_of_a_deleted_repository_never_appear_under_another_of_its_name(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 3, unfinished=3)
    old = await stage.swept(project)
    other = stage.world.create_repository("acme/rocket")
    del stage.world.projects[project.repository.forge_id]
    stage.world.populate(other, 7, unfinished=1)
    stage.clock.advance(I)
    await stage.delta(old)
    new = await stage.swept(other)
    assert new != old
    assert len(stage.rows(new)) == 7
    assert len(stage.rows(old)) == 3
    assert not stage.store.read_now(reading.repository_by_id, old).listed


async def test_rows_of_a_renamed_repository_never_appear_under_another_of_its_old_name(
    stage: Stage,
):
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 3, unfinished=3)
    old = await stage.swept(project)
    stage.world.rename_repository(project, "acme/starship")
    stage.clock.advance(I)
    await stage.delta(old)
    other = stage.world.create_repository("acme/rocket")
    stage.world.populate(other, 7, unfinished=1)
    stage.clock.advance(10 * I)
    await stage.lanes.upkeep()
    new = await stage.swept(other)
    assert new != old
    assert len(stage.rows(new)) == 7
