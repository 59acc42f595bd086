"""Events: a change of what is known, told once."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from tests.domain.readings import (
    BASE,
    HEAD,
    NEXT_HEAD,
    NOON,
    checks,
    full,
    lean,
    mergeability,
    minutes,
)
from tests.domain.test_observing import readings

from pullstate.domain.changes import Change, ChangeKind, events, known_first
from pullstate.domain.observing import observe
from pullstate.domain.pull_request import (
    Base,
    Check,
    CheckVerdict,
    MergeVerdict,
    PullRequest,
    Queue,
    Review,
    ReviewDecision,
)

LATER = NOON + minutes(60)
NONE, PENDING = CheckVerdict.NONE, CheckVerdict.PENDING
PASSING, FAILING = CheckVerdict.PASSING, CheckVerdict.FAILING
UNKNOWN, CLEAN = MergeVerdict.UNKNOWN, MergeVerdict.CLEAN
CONFLICTING, BLOCKED = MergeVerdict.CONFLICTING, MergeVerdict.BLOCKED


def kinds(before: PullRequest | None, after: PullRequest) -> list[str]:
    return [event.kind.value for event in events(before, after)]


def told(first: PullRequest, *seen: PullRequest) -> list[str]:
    """The kinds of all events of a series of readings after the first one."""
    known = [first]
    for reading in seen:
        known.append(observe(known[-1], reading))
    return [kind for before, after in pairwise(known) for kind in kinds(before, after)]


def with_checks(verdict: CheckVerdict, **more: object) -> PullRequest:
    return full(checks=checks(verdict, **more))


# Life


def test_a_new_one_is_opened_at_its_head():
    assert events(None, lean()) == (Change(ChangeKind.OPENED, None, HEAD),)


def test_a_new_one_that_was_read_whole_also_says_how_its_checks_and_reviews_stand():
    failing = full(checks=checks(FAILING, failing=(Check("build"),)))
    assert kinds(None, failing) == ["opened", "checks_failing", "review_approved"]


def test_one_that_was_merged_before_it_was_first_seen_says_both():
    merged = full(merged_at=LATER, closed_at=LATER)
    assert kinds(None, merged) == ["opened", "merged"]


def test_a_merge_is_one_event_and_a_closing_another():
    assert kinds(full(), full(merged_at=LATER, closed_at=LATER)) == ["merged"]
    assert kinds(full(), full(closed_at=LATER)) == ["closed"]
    assert kinds(full(closed_at=LATER), full(closed_at=LATER, merged_at=LATER)) == ["merged"]


def test_a_reopening_is_an_event_though_its_checks_are_not():
    assert kinds(replace(full(), closed_at=LATER), with_checks(FAILING))[0] == "reopened"


def test_a_merge_out_of_the_queue_is_told_as_merged_alone():
    queued = full(queue=Queue(1, "QUEUED"))
    assert kinds(queued, full(merged_at=LATER, closed_at=LATER)) == ["merged"]


def test_nothing_more_is_told_of_the_checks_of_a_finished_one():
    merged = full(merged_at=LATER, closed_at=LATER)
    failing = replace(merged, checks=checks(FAILING), mergeability=mergeability(CONFLICTING))
    assert kinds(merged, failing) == []


def test_a_retarget_names_both_branches():
    (event,) = events(full(draft=True), full(draft=True, base=Base("release", BASE)))
    assert event == Change(ChangeKind.RETARGETED, "main", "release")


# Checks


def test_red_to_running_to_red_is_two():
    assert told(with_checks(FAILING), with_checks(PENDING), with_checks(FAILING)) == [
        "checks_pending",
        "checks_failing",
    ]


def test_reading_red_again_is_none():
    red = full(checks=checks(FAILING, failing=(Check("build"),)))
    assert told(red, red, red, red) == []


def test_two_checks_that_turn_red_in_one_reading_are_one_event_that_names_both():
    red = full(checks=checks(FAILING, failing=(Check("build", required=True), Check("lint"))))
    (event,) = events(with_checks(PENDING), red)
    assert event == Change(ChangeKind.CHECKS_FAILING, "PENDING", "FAILING", ("build", "lint"))


def test_a_push_onto_red_is_a_new_head_with_pending_checks_and_not_red_again():
    seen = [
        lean(head=NEXT_HEAD, changed_at=LATER),
        full(head=NEXT_HEAD, changed_at=LATER, checks=checks(PENDING, NEXT_HEAD)),
    ]
    series = told(with_checks(FAILING), *seen)
    assert series == ["head_moved", "checks_pending"]


def test_checks_that_vanish_for_one_reading_make_no_event():
    assert told(with_checks(PASSING), with_checks(NONE), with_checks(PASSING)) == []


def test_the_first_verdict_on_a_row_of_a_list_is_an_event():
    assert kinds(lean(), replace(lean(), checks=checks(FAILING))) == ["checks_failing"]
    assert kinds(lean(), replace(lean(), checks=checks(PENDING))) == ["checks_pending"]


def test_what_was_there_before_the_store_began_is_no_event_when_it_is_first_read():
    before = known_first(lean(), with_checks(FAILING))
    assert events(before, with_checks(FAILING)) == ()


# Reviews


def reviewed(decision: ReviewDecision, **more: object) -> PullRequest:
    return full(draft=True, review=Review(decision, **more))  # type: ignore[arg-type]


def test_an_approval_is_an_event_with_who_gave_it():
    before = reviewed(ReviewDecision.PENDING)
    after = reviewed(ReviewDecision.APPROVED, approved_by=("ann",))
    assert events(before, after) == (
        Change(ChangeKind.REVIEW_APPROVED, "PENDING", "APPROVED", ("ann",)),
    )


def test_an_approval_counts_though_another_is_still_wanted():
    before = reviewed(ReviewDecision.PENDING)
    after = reviewed(ReviewDecision.PENDING, approved_by=("ann",))
    assert events(before, after) == (
        Change(ChangeKind.REVIEW_APPROVED, "PENDING", "PENDING", ("ann",)),
    )


def test_a_second_approval_is_a_second_event_and_reading_it_again_none():
    one = reviewed(ReviewDecision.APPROVED, approved_by=("ann",))
    two = reviewed(ReviewDecision.APPROVED, approved_by=("ann", "bob"))
    assert told(one, two, two) == ["review_approved"]
    assert events(one, two)[0].names == ("bob",)


def test_changes_requested_and_their_withdrawal():
    pending = reviewed(ReviewDecision.PENDING)
    refused = reviewed(ReviewDecision.CHANGES_REQUESTED, changes_requested_by=("ann",))
    assert told(pending, refused, pending) == ["review_changes_requested", "review_reset"]


def test_a_dismissed_approval_is_a_reset():
    approved = reviewed(ReviewDecision.APPROVED, approved_by=("ann",))
    assert kinds(approved, reviewed(ReviewDecision.NONE)) == ["review_reset"]


def test_approval_after_changes_requested_is_no_reset():
    refused = reviewed(ReviewDecision.CHANGES_REQUESTED, changes_requested_by=("ann",))
    approved = reviewed(ReviewDecision.APPROVED, approved_by=("ann",))
    assert kinds(refused, approved) == ["review_approved"]


def test_a_review_that_can_no_longer_be_read_is_no_reset():
    approved = reviewed(ReviewDecision.APPROVED, approved_by=("ann",))
    assert kinds(approved, reviewed(ReviewDecision.NONE, unreadable="forbidden")) == []


# Conflicts


def merging(verdict: MergeVerdict, head: str = HEAD) -> PullRequest:
    return full(head=head, draft=True, mergeability=mergeability(verdict, head))


def test_a_conflict_comes_and_goes():
    assert told(merging(CLEAN), merging(CONFLICTING), merging(BLOCKED)) == [
        "became_conflicting",
        "conflict_cleared",
    ]


def test_a_verdict_that_is_being_computed_is_neither():
    assert told(merging(CONFLICTING), merging(UNKNOWN), merging(CONFLICTING)) == []
    assert told(merging(CLEAN), merging(UNKNOWN), merging(CLEAN)) == []


def test_a_push_that_solves_the_conflict_clears_it_once_the_forge_says_so():
    series = told(merging(CONFLICTING), merging(UNKNOWN, NEXT_HEAD), merging(CLEAN, NEXT_HEAD))
    assert series == ["head_moved", "conflict_cleared"]


def test_a_push_that_leaves_the_conflict_says_nothing_of_it():
    series = told(
        merging(CONFLICTING), merging(UNKNOWN, NEXT_HEAD), merging(CONFLICTING, NEXT_HEAD)
    )
    assert [kind for kind in series if "conflict" in kind] == []


def test_a_conflict_that_a_silent_reading_hid_is_cleared_too():
    series = told(merging(CONFLICTING), lean(head=NEXT_HEAD, draft=True), merging(CLEAN, NEXT_HEAD))
    assert "conflict_cleared" in series
    assert "became_conflicting" not in series


# Queue and readiness


def test_queued_and_dequeued_and_a_move_in_the_queue_is_nothing():
    out, second, first = full(), full(queue=Queue(2, "QUEUED")), full(queue=Queue(1, "QUEUED"))
    assert kinds(out, second) == ["queued"]
    assert kinds(second, first) == []
    assert kinds(first, full(draft=True)) == ["dequeued"]


def test_a_dequeued_one_says_how_it_stood_in_the_queue():
    (event,) = events(full(queue=Queue(1, "UNMERGEABLE")), full(draft=True))
    assert event == Change(ChangeKind.DEQUEUED, "UNMERGEABLE", None)


def test_ready_is_told_when_the_last_thing_in_the_way_goes():
    assert kinds(full(draft=True), full()) == ["ready"]
    assert kinds(with_checks(PENDING), full()) == ["checks_passing", "ready"]
    assert kinds(merging(BLOCKED), full()) == ["ready"]
    assert kinds(full(), full(title="Edited")) == []


def test_ready_is_told_again_after_it_was_not():
    assert told(full(), full(draft=True), full()) == ["ready"]


def test_ready_is_not_told_where_it_was_announced_before():
    assert events(full(draft=True), full(), was_ready=True) == ()
    assert [event.kind for event in events(full(), full(), was_ready=False)] == [ChangeKind.READY]


# What holds of any two


@given(known=readings)
def test_what_did_not_change_makes_no_event(known):
    assert events(known, known) == ()


@given(known=readings, seen=readings)
def test_every_event_of_a_reading_is_told_once(known, seen):
    after = observe(known, seen)
    first = events(known, after)
    assert len({event.kind for event in first}) == len(first)
    assert events(after, observe(after, seen)) == ()


@pytest.mark.parametrize("kind", list(ChangeKind))
def test_kinds_are_spelled_as_the_feed_has_them(kind):
    assert kind.value == kind.name.lower()
