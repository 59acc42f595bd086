"""The state of a pull request: the table of all combinations, and each sentence on its own."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from pullstate.domain.classifier import (
    State,
    checks_of,
    classify,
    mergeability_of,
    ready,
    review_of,
)
from pullstate.domain.pull_request import (
    Base,
    Checks,
    CheckVerdict,
    Head,
    Mergeability,
    MergeVerdict,
    PullRequest,
    Queue,
    Review,
    ReviewDecision,
    Rules,
)

TABLE = Path(__file__).parents[1] / "snapshots" / "states.txt"
AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LETTERS = {
    State.MERGED: "M",
    State.CLOSED: "C",
    State.DRAFT: "D",
    State.CONFLICTING: "X",
    State.FAILING: "F",
    State.CHANGES_REQUESTED: "R",
    State.APPROVED: "A",
    State.APPROVED_WAITING: "W",
    State.OPEN: "O",
}


def pull_request(
    checks: CheckVerdict = CheckVerdict.PASSING,
    mergeability: MergeVerdict = MergeVerdict.CLEAN,
    review: ReviewDecision = ReviewDecision.APPROVED,
    **more: object,
) -> PullRequest:
    """An open one, of which everything was read on its head and base."""
    seen = PullRequest(
        provider_id="PR_1",
        number=1,
        url="https://github.com/acme/rocket/pull/1",
        title="Lift off",
        author="ada",
        head=Head("lift", "a1"),
        base=Base("main", "b1"),
        draft=False,
        opened_at=AT,
        changed_at=AT,
        checks=Checks("a1", checks),
        mergeability=Mergeability(mergeability, mergeability.value, "a1", "b1"),
        review=Review(review),
    )
    return replace(seen, **more)


pull_requests = st.builds(
    pull_request,
    checks=st.sampled_from(CheckVerdict),
    mergeability=st.sampled_from(MergeVerdict),
    review=st.sampled_from(ReviewDecision),
    merged_at=st.sampled_from([None, AT]),
    closed_at=st.sampled_from([None, AT]),
    draft=st.booleans(),
    queue=st.sampled_from([None, Queue(2, "QUEUED")]),
    rules=st.sampled_from([None, Rules(), Rules(("build",), 2, True, True)]),
    unresolved_threads=st.sampled_from([None, 0, 3]),
)
open_ones = pull_requests.map(lambda seen: replace(seen, merged_at=None, closed_at=None))
undrafted = open_ones.map(lambda seen: replace(seen, draft=False))


def state_of(seen: PullRequest) -> State:
    return classify(seen).state


def table() -> str:
    """A line for each merged, closed, draft, queue and checks; a word for each mergeability with a
    letter for each review decision."""
    lines = [
        "merged closed draft  queued checks  "
        + "".join(f"{verdict.value:12}" for verdict in MergeVerdict)
        + "each: "
        + ", ".join(decision.value for decision in ReviewDecision)
    ]
    for flags in product((False, True), repeat=4):
        lines += [line(flags, checks) for checks in CheckVerdict]
    return "\n".join(lines) + "\n"


def line(flags: tuple[bool, ...], checks: CheckVerdict) -> str:
    merged, closed, draft, queued = flags
    words = "".join(f"{'yes' if flag else '-':7}" for flag in flags)
    more = {
        "merged_at": AT if merged else None,
        "closed_at": AT if closed else None,
        "draft": draft,
        "queue": Queue(1, "QUEUED") if queued else None,
    }
    cells = [
        "".join(
            LETTERS[state_of(pull_request(checks, verdict, review, **more))]
            for review in ReviewDecision
        )
        for verdict in MergeVerdict
    ]
    return f"{words}{checks.value:8}" + "".join(f"{cell:12}" for cell in cells).rstrip()


def test_every_combination_has_the_state_of_the_table():
    assert table() == TABLE.read_text()


def test_the_table_holds_all_combinations():
    cells = [word for row in TABLE.read_text().splitlines()[1:] for word in row.split()[5:]]
    assert len("".join(cells)) == 2 * 2 * 2 * 2 * 4 * 6 * 4


@given(pull_requests)
def test_one_with_a_merge_time_is_merged_whatever_else_is_said(seen: PullRequest):
    assert (state_of(replace(seen, merged_at=AT))) is State.MERGED


@given(pull_requests)
def test_one_with_a_closing_time_alone_is_closed_and_a_reopening_ends_that(seen: PullRequest):
    closed = replace(seen, merged_at=None, closed_at=AT)
    assert state_of(closed) is State.CLOSED
    assert state_of(replace(closed, closed_at=None)) not in (State.CLOSED, State.MERGED)


@given(open_ones)
def test_an_open_draft_is_a_draft_whatever_the_rest_says(seen: PullRequest):
    assert state_of(replace(seen, draft=True)) is State.DRAFT
    assert state_of(replace(seen, draft=False)) is not State.DRAFT


@given(undrafted)
def test_a_conflict_comes_before_checks_and_reviews(seen: PullRequest):
    assert (state_of(seen) is State.CONFLICTING) == (
        mergeability_of(seen) is MergeVerdict.CONFLICTING
    )


@given(undrafted.filter(lambda seen: mergeability_of(seen) is not MergeVerdict.CONFLICTING))
def test_failing_checks_come_before_reviews(seen: PullRequest):
    assert (state_of(seen) is State.FAILING) == (checks_of(seen) is CheckVerdict.FAILING)


@given(
    undrafted.filter(
        lambda seen: (
            mergeability_of(seen) is not MergeVerdict.CONFLICTING
            and checks_of(seen) is not CheckVerdict.FAILING
        )
    )
)
def test_of_the_others_reviews_decide(seen: PullRequest):
    expected = {
        ReviewDecision.CHANGES_REQUESTED: {State.CHANGES_REQUESTED},
        ReviewDecision.APPROVED: {State.APPROVED, State.APPROVED_WAITING},
        ReviewDecision.PENDING: {State.OPEN},
        ReviewDecision.NONE: {State.OPEN},
    }
    assert state_of(seen) in expected[review_of(seen)]


@given(pull_requests)
def test_approved_is_an_approval_that_merges_cleanly_with_checks_done_outside_a_queue(
    seen: PullRequest,
):
    assert (state_of(seen) is State.APPROVED) == (
        not seen.finished
        and not seen.draft
        and seen.queue is None
        and review_of(seen) is ReviewDecision.APPROVED
        and mergeability_of(seen) is MergeVerdict.CLEAN
        and checks_of(seen) in (CheckVerdict.PASSING, CheckVerdict.NONE)
    )


@given(undrafted)
def test_nobody_approved_clean_and_green_is_open(seen: PullRequest):
    clean = Mergeability(MergeVerdict.CLEAN, "CLEAN", "a1", "b1")
    green = replace(seen, checks=Checks("a1", CheckVerdict.PASSING), mergeability=clean)
    assert state_of(replace(green, review=Review(ReviewDecision.NONE))) is State.OPEN


@given(open_ones)
def test_unknown_mergeability_is_never_approved_and_never_conflicting(seen: PullRequest):
    unknown = Mergeability(MergeVerdict.UNKNOWN, "UNKNOWN", "a1", "b1")
    state = state_of(replace(seen, mergeability=unknown))
    assert state not in (State.APPROVED, State.CONFLICTING)


@given(pull_requests)
def test_unread_and_none_belong_to_a_branch_and_not_to_a_pull_request(seen: PullRequest):
    assert state_of(seen) not in (State.UNREAD, State.NONE)


@given(undrafted)
def test_a_check_fails_a_pull_request_whether_it_is_required_or_not(seen: PullRequest):
    failing = replace(
        seen,
        checks=Checks("a1", CheckVerdict.FAILING),
        mergeability=Mergeability(MergeVerdict.UNSTABLE, "UNSTABLE", "a1", "b1"),
    )
    assert state_of(failing) is State.FAILING


@given(open_ones)
def test_an_open_one_that_is_not_ready_has_a_reason(seen: PullRequest):
    assert ready(seen) or classify(seen).reasons


@given(pull_requests)
def test_a_finished_one_waits_for_nobody(seen: PullRequest):
    assert classify(replace(seen, closed_at=AT)).reasons == ()
    assert not ready(replace(seen, closed_at=AT))


@given(pull_requests)
def test_what_was_read_of_another_head_is_no_verdict_on_this_one(seen: PullRequest):
    pushed = replace(seen, head=Head("lift", "a2"))
    assert checks_of(pushed) is CheckVerdict.PENDING
    assert mergeability_of(pushed) is MergeVerdict.UNKNOWN


@given(pull_requests)
def test_the_verdict_carries_what_the_state_was_decided_from(seen: PullRequest):
    verdict = classify(seen)
    assert verdict.checks is checks_of(seen)
    assert verdict.mergeability is mergeability_of(seen)
    assert verdict.review_decision is review_of(seen)


def test_checks_that_were_never_read_are_pending_while_open_and_none_once_finished():
    unread = pull_request(checks=CheckVerdict.PASSING)
    unread = replace(unread, checks=None)
    assert checks_of(unread) is CheckVerdict.PENDING
    assert checks_of(replace(unread, closed_at=AT)) is CheckVerdict.NONE
    assert state_of(unread) is State.APPROVED_WAITING


def test_a_verdict_that_could_not_be_read_is_none():
    refused = Checks("a1", CheckVerdict.NONE, unreadable="the token may not read checks")
    assert checks_of(replace(pull_request(), checks=refused)) is CheckVerdict.NONE


def test_nothing_read_yet_is_open():
    bare = replace(pull_request(), checks=None, mergeability=None, review=None)
    verdict = classify(bare)
    assert verdict.state is State.OPEN
    assert verdict.mergeability is MergeVerdict.UNKNOWN
    assert verdict.review_decision is ReviewDecision.NONE


def test_ready_needs_no_approval_where_nobody_must_review():
    assert ready(pull_request(review=ReviewDecision.NONE))
    assert ready(pull_request(checks=CheckVerdict.NONE))
    assert not ready(pull_request(review=ReviewDecision.PENDING))
    assert not ready(pull_request(queue=Queue(1, "QUEUED")))
    assert not ready(pull_request(mergeability=MergeVerdict.UNSTABLE))
