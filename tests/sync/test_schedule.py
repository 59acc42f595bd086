"""When what is due, sentence by sentence."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pullstate.domain.pull_request import (
    Base,
    Checks,
    CheckVerdict,
    Head,
    Mergeability,
    MergeVerdict,
    PullRequest,
    Queue,
)
from pullstate.sync import schedule
from pullstate.sync.schedule import Motion, read_again_at
from tests.sync.stage import NOW, I

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def pull_request(
    *,
    checks: CheckVerdict | None = CheckVerdict.PASSING,
    merges: MergeVerdict | None = MergeVerdict.CLEAN,
    recheck: bool = False,
    queued: bool = False,
    changed: timedelta = DAY,
    merged: bool = False,
    closed: bool = False,
) -> PullRequest:
    """One at rest, unless told otherwise; `changed` so long ago."""
    return PullRequest(
        "P_1", 1, "https://demo.invalid/a/b/pull/1", "One", "ada", Head("one", "h"),
        Base("main", "b"), False, NOW - 30 * DAY, NOW - changed,
        merged_at=NOW - changed if merged else None,
        closed_at=NOW - changed if merged or closed else None,
        queue=Queue(1, "QUEUED") if queued else None,
        checks=checks and Checks("h", checks),
        mergeability=merges and Mergeability(merges, merges.value, "h", "b", recheck),
    )  # fmt: skip


AT_REST = Motion(head_since=NOW - DAY)


@pytest.mark.parametrize(
    ("facts", "motion", "intervals"),
    [
        ({"checks": CheckVerdict.PENDING}, AT_REST, 1 / 4),
        ({"checks": CheckVerdict.PENDING, "changed": 8 * DAY}, AT_REST, 1 / 4),
        ({"checks": CheckVerdict.PENDING, "queued": True}, AT_REST, 1 / 4),
        ({"merges": MergeVerdict.UNKNOWN}, AT_REST, 1),
        ({"recheck": True}, AT_REST, 1),
        ({"queued": True}, AT_REST, 1),
        ({}, Motion(head_since=NOW - HOUR / 2), 1),
        ({}, Motion(head_since=NOW - DAY, base_moved=True), 1),
        ({"merges": MergeVerdict.UNKNOWN, "changed": 8 * DAY}, AT_REST, 1),
        ({}, Motion(head_since=NOW - 2 * HOUR), 5),
        ({}, Motion(), 5),
        ({"checks": CheckVerdict.FAILING}, AT_REST, 5),
        ({"checks": None, "merges": None}, AT_REST, 5),
        ({"changed": 8 * DAY}, AT_REST, 30),
        ({"changed": 6.9 * DAY}, AT_REST, 5),
    ],
)
def test_the_more_its_facts_move_the_sooner_it_is_read_again(facts, motion, intervals):
    assert read_again_at(pull_request(**facts), NOW, I, motion) == NOW + I * intervals


@pytest.mark.parametrize("facts", [{"merged": True}, {"closed": True}])
def test_a_finished_one_is_never_due(facts):
    running = pull_request(checks=CheckVerdict.PENDING, merges=MergeVerdict.UNKNOWN, **facts)
    assert read_again_at(running, NOW, I, Motion(unknowns=1)) is None


def test_unknown_mergeability_is_asked_again_after_2_4_8_16_32_seconds_then_as_the_rest():
    unknown = pull_request(merges=MergeVerdict.UNKNOWN)
    due = [read_again_at(unknown, NOW, I, replace(AT_REST, unknowns=n)) for n in range(1, 8)]
    assert [(at - NOW).total_seconds() for at in due] == [2, 4, 8, 16, 32, 60, 60]


def test_a_verdict_that_is_being_computed_anew_is_asked_for_like_an_unknown_one():
    recheck = pull_request(recheck=True)
    assert read_again_at(recheck, NOW, I, replace(AT_REST, unknowns=1)) == NOW + timedelta(
        seconds=2
    )


def test_running_checks_are_looked_at_even_while_unknown_waits_longer():
    both = pull_request(checks=CheckVerdict.PENDING, merges=MergeVerdict.UNKNOWN)
    assert read_again_at(both, NOW, I, replace(AT_REST, unknowns=5)) == NOW + I / 4


@pytest.mark.parametrize("facts", [{}, {"merged": True}, {"closed": True}])
def test_where_notes_bump_late_one_read_soon_after_its_change_is_read_again(facts):
    late = replace(AT_REST, settles_late=True)
    fresh = pull_request(changed=timedelta(seconds=10), **facts)
    assert read_again_at(fresh, NOW, I, late) == fresh.changed_at + timedelta(seconds=75)
    settled = pull_request(changed=timedelta(seconds=75), **facts)
    assert read_again_at(settled, NOW, I, late) == read_again_at(settled, NOW, I, AT_REST)


def test_what_is_in_motion_is_not_put_off_until_it_settles():
    late = replace(AT_REST, settles_late=True, unknowns=1)
    running = pull_request(changed=timedelta(seconds=5), checks=CheckVerdict.PENDING)
    assert read_again_at(running, NOW, I, late) == NOW + I / 4
    unknown = pull_request(changed=timedelta(seconds=5), merges=MergeVerdict.UNKNOWN)
    assert read_again_at(unknown, NOW, I, late) == NOW + timedelta(seconds=2)


@given(
    checks=st.sampled_from([None, *CheckVerdict]),
    merges=st.sampled_from([None, *MergeVerdict]),
    queued=st.booleans(),
    changed=st.timedeltas(timedelta(0), 400 * DAY),
    pushed=st.one_of(st.none(), st.timedeltas(timedelta(0), 2 * DAY)),
    base_moved=st.booleans(),
    unknowns=st.integers(0, 9),
    interval=st.timedeltas(timedelta(seconds=1), HOUR),
)
def test_an_unfinished_one_is_always_due_again_within_thirty_intervals(
    checks, merges, queued, changed, pushed, base_moved, unknowns, interval
):
    seen = pull_request(checks=checks, merges=merges, queued=queued, changed=changed)
    motion = Motion(None if pushed is None else NOW - pushed, base_moved, unknowns)
    due = read_again_at(seen, NOW, interval, motion)
    assert NOW < due <= NOW + 30 * interval
    if checks is CheckVerdict.PENDING:
        assert due <= NOW + interval / 4
    if schedule.in_motion(seen, NOW, motion):
        assert due <= NOW + interval


@pytest.mark.parametrize(
    ("unfinished", "quiet", "intervals"),
    [(True, 0, 1), (True, 500, 1), (False, 0, 1), (False, 9, 1), (False, 10, 2), (False, 500, 5)],
)
def test_a_delta_is_due_every_interval_and_up_to_five_with_nothing_unfinished(
    unfinished, quiet, intervals
):
    due = schedule.delta_again_at(NOW, I, unfinished=unfinished, quiet=quiet)
    assert due == NOW + I * intervals


def test_a_roll_call_is_due_every_ten_intervals():
    assert schedule.roll_call_again_at(NOW, I) == NOW + 10 * I


def test_what_fails_is_tried_again_after_one_interval_doubling_to_half_an_hour():
    now, waits = NOW, []
    for _ in range(8):
        again = schedule.retry_at(NOW, now, I)
        waits.append((again - now).total_seconds() / 60)
        now = again
    assert waits == [1, 1, 2, 4, 8, 16, 30, 30]


@given(st.timedeltas(timedelta(0), 10 * DAY), st.timedeltas(timedelta(seconds=1), 2 * HOUR))
def test_a_retry_never_waits_less_than_an_interval_nor_longer_than_half_an_hour_or_one(
    failing, interval
):
    wait = schedule.retry_at(NOW - failing, NOW, interval) - NOW
    assert interval <= wait <= max(interval, timedelta(minutes=30))
