"""What a reading changes of what is known, sentence by sentence."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.domain.readings import (
    BASE,
    HEAD,
    NEXT_BASE,
    NEXT_HEAD,
    NOON,
    checks,
    full,
    lean,
    mergeability,
    minutes,
)

from pullstate.domain.observing import VANISHED, facets_read, observe
from pullstate.domain.pull_request import (
    Base,
    Check,
    CheckVerdict,
    MergeVerdict,
    Queue,
    Review,
    ReviewDecision,
    Rules,
)

LATER = NOON + minutes(60)
NONE, PENDING = CheckVerdict.NONE, CheckVerdict.PENDING
PASSING, FAILING = CheckVerdict.PASSING, CheckVerdict.FAILING
UNKNOWN, CLEAN = MergeVerdict.UNKNOWN, MergeVerdict.CLEAN
CONFLICTING = MergeVerdict.CONFLICTING


def test_the_first_reading_is_what_is_known():
    assert observe(None, full()) == full()


def test_reading_the_same_again_changes_nothing():
    assert observe(full(), full()) == full()


def test_a_facet_that_a_reading_is_silent_on_keeps_its_last_observation():
    known = full(rules=Rules(("build",)), unresolved_threads=3)
    after = observe(known, lean(title="New title", changed_at=LATER))
    assert after == replace(known, title="New title", changed_at=LATER)


def test_a_list_that_does_not_tell_the_bases_tip_leaves_the_last_known_one():
    known = full(base=BASE)
    assert observe(known, lean(base="")) == known
    assert observe(known, lean(base=Base("release", ""))).base == Base("release", "")


def test_each_facet_is_taken_by_itself():
    seen = lean(checks=checks(FAILING))
    assert observe(full(), seen) == full(checks=checks(FAILING))


# Finished ones


def test_a_merged_one_is_final_and_no_later_read_takes_it_back():
    merged = full(merged_at=NOON + minutes(30), closed_at=NOON + minutes(30), changed_at=LATER)
    after = observe(merged, full(changed_at=LATER + minutes(5), title="Edited after the merge"))
    assert (after.merged_at, after.closed_at) == (merged.merged_at, merged.closed_at)
    assert after.title == "Edited after the merge"


def test_a_merged_one_that_is_read_as_closed_stays_merged():
    merged = full(merged_at=NOON + minutes(30), closed_at=NOON + minutes(30))
    after = observe(merged, full(closed_at=LATER, closed_at_is_estimated=True, changed_at=LATER))
    assert after.merged_at == NOON + minutes(30)
    assert (after.closed_at, after.closed_at_is_estimated) == (NOON + minutes(30), False)


def test_a_closed_one_that_turns_out_merged_is_merged():
    closed = full(closed_at=NOON + minutes(30))
    seen = full(closed_at=NOON + minutes(30), merged_at=NOON + minutes(30), changed_at=LATER)
    assert observe(closed, seen).merged_at == NOON + minutes(30)


def test_a_reopening_clears_the_time_of_closing():
    closed = full(closed_at=NOON + minutes(30), closed_at_is_estimated=True)
    after = observe(closed, full(changed_at=LATER))
    assert after.closed_at is None
    assert not after.closed_at_is_estimated
    assert not after.finished


def test_an_older_reading_that_knows_of_the_merge_is_right_about_it():
    seen = lean(merged_at=NOON + minutes(30), closed_at=NOON + minutes(30))
    after = observe(full(changed_at=LATER, title="Newer"), seen)
    assert after.merged_at == NOON + minutes(30)
    assert after.title == "Newer"


# Older readings


def test_an_older_reading_takes_no_details_back():
    known = full(title="Newer", draft=True, changed_at=LATER, head=NEXT_HEAD)
    assert observe(known, full(title="Older", head=NEXT_HEAD)) == known


def test_an_older_reading_does_not_reopen():
    known = full(closed_at=LATER, changed_at=LATER)
    assert observe(known, full()).closed_at == LATER


def test_an_older_reading_does_not_bring_an_older_head_back():
    known = full(head=NEXT_HEAD, changed_at=LATER)
    after = observe(known, full(checks=checks(FAILING), mergeability=mergeability(CONFLICTING)))
    assert after == known


def test_an_older_reading_still_tells_of_checks_and_mergeability_of_the_known_head_and_base():
    known = full(changed_at=LATER, checks=checks(PENDING), mergeability=mergeability(UNKNOWN))
    after = observe(known, full())
    assert (after.checks, after.mergeability) == (full().checks, full().mergeability)
    assert after.changed_at == LATER


def test_an_older_reading_does_not_take_a_review_back_but_may_bring_the_first():
    asked = Review(ReviewDecision.PENDING)
    assert observe(full(changed_at=LATER), full(review=asked)).review == full().review
    assert observe(lean(changed_at=LATER), full(review=asked)).review == asked


def test_a_reading_of_the_same_second_counts_as_the_later_one():
    assert observe(full(title="A"), full(title="B")).title == "B"


# Mergeability


@pytest.mark.parametrize("verdict", [v for v in MergeVerdict if v is not UNKNOWN])
def test_unknown_on_the_same_head_and_base_keeps_the_verdict_to_be_asked_again(verdict):
    after = observe(
        full(mergeability=mergeability(verdict)), full(mergeability=mergeability(UNKNOWN))
    )
    assert after.mergeability == mergeability(verdict, recheck_due=True)


def test_the_answer_after_a_recheck_counts_and_is_due_no_more():
    kept = full(mergeability=mergeability(CLEAN, recheck_due=True))
    assert observe(kept, full()).mergeability == mergeability(CLEAN)


@pytest.mark.parametrize(
    ("head", "base"), [(NEXT_HEAD, BASE), (HEAD, NEXT_BASE), (NEXT_HEAD, NEXT_BASE)]
)
def test_unknown_on_a_new_head_or_base_is_unknown_and_remembers_what_was(head, base):
    seen = full(head=head, base=base, mergeability=mergeability(UNKNOWN, head, base))
    after = observe(full(mergeability=mergeability(CONFLICTING)), seen)
    assert after.mergeability == mergeability(UNKNOWN, head, base, last_known=CONFLICTING)


def test_a_retarget_resets_mergeability_even_where_both_branches_have_one_tip():
    seen = full(base=Base("release", BASE), mergeability=mergeability(UNKNOWN))
    after = observe(full(), seen)
    assert after.mergeability == mergeability(UNKNOWN, last_known=CLEAN)


def test_a_retarget_that_a_silent_reading_tells_of_resets_it_too():
    after = observe(full(), lean(base=Base("release", BASE)))
    assert after.mergeability is not None
    assert after.mergeability.verdict is UNKNOWN


def test_a_new_head_that_a_silent_reading_tells_of_makes_it_unknown():
    after = observe(full(mergeability=mergeability(CONFLICTING)), lean(head=NEXT_HEAD))
    assert after.mergeability is not None
    assert (after.mergeability.verdict, after.mergeability.head_sha) == (UNKNOWN, NEXT_HEAD)
    assert after.mergeability.last_known is CONFLICTING


def test_unknown_again_and_again_keeps_what_was_known_before_it():
    unknown = full(
        head=NEXT_HEAD, mergeability=mergeability(UNKNOWN, NEXT_HEAD, last_known=CONFLICTING)
    )
    seen = full(head=NEXT_HEAD, mergeability=mergeability(UNKNOWN, NEXT_HEAD))
    assert observe(unknown, seen) == unknown
    third = full(head="c" * 40, mergeability=mergeability(UNKNOWN, "c" * 40))
    after = observe(unknown, third).mergeability
    assert after is not None
    assert after.last_known is CONFLICTING


def test_a_new_verdict_always_counts():
    seen = full(head=NEXT_HEAD, mergeability=mergeability(CONFLICTING, NEXT_HEAD))
    assert observe(full(), seen).mergeability == seen.mergeability


# Checks


@pytest.mark.parametrize("verdict", [PENDING, PASSING, FAILING])
def test_nothing_where_there_were_checks_is_a_failed_read(verdict):
    after = observe(full(checks=checks(verdict)), full(checks=checks(NONE)))
    assert after.checks == checks(verdict, unreadable=VANISHED)


def test_the_next_whole_answer_clears_the_mark():
    marked = full(checks=checks(unreadable=VANISHED))
    assert observe(marked, full()) == full()
    assert observe(marked, full(checks=checks(NONE))) == marked


def test_nothing_on_a_new_head_is_nothing():
    seen = full(head=NEXT_HEAD, checks=checks(NONE, NEXT_HEAD))
    assert observe(full(), seen).checks == checks(NONE, NEXT_HEAD)


def test_nothing_where_there_was_nothing_is_nothing():
    assert observe(full(checks=checks(NONE)), full(checks=checks(NONE))).checks == checks(NONE)


@pytest.mark.parametrize("announced", [{"queued": ("build",)}, {"approval_required": ("build",)}])
def test_a_workflow_that_was_only_announced_may_go_without_a_check(announced):
    known = full(checks=checks(PENDING, **announced))
    assert observe(known, full(checks=checks(NONE))).checks == checks(NONE)


def test_a_pipeline_that_was_skipped_is_an_answer():
    skipped = checks(NONE, counts=(("SKIPPED", 1),))
    assert observe(full(checks=checks(PENDING)), full(checks=skipped)).checks == skipped


def test_unreadable_is_a_fact_of_its_own_and_replaces_what_was_read():
    refused = checks(NONE, unreadable="forbidden")
    assert observe(full(), full(checks=refused)).checks == refused
    nameless = checks(FAILING, unreadable="names forbidden")
    assert observe(full(), full(checks=nameless)).checks == nameless
    unseen = Review(ReviewDecision.NONE, unreadable="forbidden")
    assert observe(full(), full(review=unseen)).review == unseen


def test_checks_of_the_old_head_stay_as_what_they_are():
    after = observe(full(), lean(head=NEXT_HEAD))
    assert after.checks == checks(sha=HEAD)


# Queue, rules, threads


def test_a_silent_reading_does_not_take_it_out_of_the_queue():
    queued = full(queue=Queue(2, "QUEUED"))
    assert observe(queued, lean()).queue == Queue(2, "QUEUED")
    assert observe(queued, full()).queue is None


def test_a_silent_reading_that_says_it_is_queued_is_believed():
    assert observe(full(), lean(queue=Queue(1, "QUEUED"))).queue == Queue(1, "QUEUED")


def test_a_new_head_leaves_the_queue():
    assert observe(full(queue=Queue(2, "QUEUED")), lean(head=NEXT_HEAD)).queue is None


def test_a_finished_one_is_in_no_queue():
    queued = full(queue=Queue(1, "QUEUED"))
    assert observe(queued, lean(merged_at=LATER, closed_at=LATER, changed_at=LATER)).queue is None


def test_rules_belong_to_the_base_branch():
    ruled = full(rules=Rules(("build",), approvals=1))
    assert observe(ruled, full()).rules == Rules(("build",), approvals=1)
    assert observe(ruled, full(base=Base("release", BASE))).rules is None
    assert observe(ruled, full(rules=Rules())).rules == Rules()


def test_the_count_of_unresolved_threads_is_kept_until_it_is_read_again():
    assert observe(full(unresolved_threads=3), full()).unresolved_threads == 3
    assert observe(full(unresolved_threads=3), full(unresolved_threads=0)).unresolved_threads == 0


# Dates


def test_a_full_reading_dates_every_facet_and_a_lean_one_the_details():
    everything = ["details", "checks", "mergeability", "review"]
    assert list(facets_read(None, full())) == everything
    assert list(facets_read(full(), full())) == everything
    assert list(facets_read(full(), lean())) == ["details"]


def test_an_unknown_mergeability_was_read_all_the_same():
    assert "mergeability" in facets_read(full(), full(mergeability=mergeability(UNKNOWN)))


def test_a_failed_or_refused_read_dates_nothing():
    assert "checks" not in facets_read(full(), full(checks=checks(NONE)))
    assert "checks" not in facets_read(None, full(checks=checks(NONE, unreadable="forbidden")))
    unseen = Review(ReviewDecision.NONE, unreadable="forbidden")
    assert "review" not in facets_read(None, full(review=unseen))


def test_a_verdict_whose_names_alone_were_refused_is_dated():
    seen = full(checks=checks(FAILING, unreadable="names forbidden"))
    assert "checks" in facets_read(full(), seen)


def test_an_older_reading_dates_only_what_it_tells_of_the_known_head():
    known = full(changed_at=LATER)
    assert list(facets_read(known, full())) == ["checks", "mergeability"]
    assert list(facets_read(full(changed_at=LATER, head=NEXT_HEAD), full())) == []


# What holds of any two readings

readings = st.builds(
    full,
    head=st.sampled_from([HEAD, NEXT_HEAD]),
    base=st.sampled_from([BASE, NEXT_BASE, Base("release", BASE)]),
    changed_at=st.sampled_from([NOON, LATER]),
    merged_at=st.sampled_from([None, NOON, LATER]),
    closed_at=st.sampled_from([None, NOON, LATER]),
    queue=st.sampled_from([None, Queue(1, "QUEUED")]),
    checks=st.one_of(
        st.none(),
        st.builds(
            checks,
            st.sampled_from(list(CheckVerdict)),
            sha=st.sampled_from([HEAD, NEXT_HEAD]),
            failing=st.sampled_from([(), (Check("build"),)]),
            unreadable=st.sampled_from([None, "forbidden"]),
        ),
    ),
    mergeability=st.one_of(
        st.none(),
        st.builds(
            mergeability,
            st.sampled_from(list(MergeVerdict)),
            head=st.sampled_from([HEAD, NEXT_HEAD]),
            base=st.sampled_from([BASE, NEXT_BASE]),
        ),
    ),
    unresolved_threads=st.sampled_from([None, 0, 2]),
)


@given(known=readings, seen=readings)
def test_reading_the_same_twice_is_reading_it_once(known, seen):
    once = observe(known, seen)
    assert observe(once, seen) == once


@given(known=readings, seen=readings)
def test_nothing_that_was_merged_is_ever_not(known, seen):
    if known.merged_at:
        assert observe(known, seen).merged_at is not None


@given(known=readings, seen=readings)
def test_no_facet_is_ever_lost_and_time_never_goes_back(known, seen):
    after = observe(known, seen)
    assert after.changed_at >= known.changed_at
    for facet in ("checks", "mergeability", "review", "unresolved_threads"):
        if getattr(known, facet) is not None:
            assert getattr(after, facet) is not None
