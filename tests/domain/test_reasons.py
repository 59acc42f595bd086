"""Why a pull request is not merged yet, and whose move it is."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.domain.test_classifier import pull_request

from pullstate.domain.classifier import Mover, Reason, State, classify
from pullstate.domain.pull_request import (
    Check,
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

BLOCKED, CLEAN, UNSTABLE = MergeVerdict.BLOCKED, MergeVerdict.CLEAN, MergeVerdict.UNSTABLE
PASSING, PENDING, FAILING = CheckVerdict.PASSING, CheckVerdict.PENDING, CheckVerdict.FAILING
APPROVED, ASKED = ReviewDecision.APPROVED, ReviewDecision.CHANGES_REQUESTED


def reasons(seen: PullRequest) -> list[tuple[str, str, str]]:
    return [(each.code, each.about, each.mover.value) for each in classify(seen).reasons]


def codes(seen: PullRequest) -> list[str]:
    return [each.code for each in classify(seen).reasons]


def test_approved_clean_and_green_has_nothing_to_say():
    assert reasons(pull_request()) == []


def test_every_condition_is_named_and_not_only_the_one_that_wins():
    seen = pull_request(FAILING, MergeVerdict.CONFLICTING, ASKED, draft=True)
    assert classify(seen).state is State.DRAFT
    assert codes(seen) == ["draft", "conflict", "checks_failing", "changes_requested"]


def test_failing_checks_are_named_the_required_ones_first():
    failing = (Check("lint"), Check("build", required=True), Check("docs"))
    seen = pull_request(mergeability=UNSTABLE, checks=FAILING)
    seen = replace(seen, checks=Checks("a1", FAILING, failing), rules=Rules(("docs",)))
    assert reasons(seen) == [
        ("required_check_failing", "build", "author"),
        ("required_check_failing", "docs", "author"),
        ("checks_failing", "lint", "author"),
    ]


def test_a_workflow_that_has_no_jobs_yet_is_named():
    seen = replace(pull_request(), checks=Checks("a1", PENDING, queued=("Build",)))
    assert reasons(seen) == [("checks_pending", "Build", "forge")]


def test_a_workflow_that_waits_for_approval_is_a_maintainers_move_and_nothing_else():
    waiting = Checks("a1", PENDING, approval_required=("Build",))
    seen = pull_request(mergeability=BLOCKED, review=ReviewDecision.NONE)
    seen = replace(seen, checks=waiting)
    assert ("workflow_approval_required", "Build", "maintainer") in reasons(seen)
    assert "forge" not in {mover for _, _, mover in reasons(seen)}


def test_a_workflow_that_waits_for_approval_beside_running_checks_is_both():
    both = Checks("a1", PENDING, approval_required=("Build",), counts=(("IN_PROGRESS", 1),))
    assert codes(replace(pull_request(), checks=both)) == [
        "workflow_approval_required",
        "checks_pending",
    ]


def test_a_required_check_that_never_reported_is_named_once_all_else_is_settled():
    seen = pull_request(mergeability=BLOCKED)
    settled = Checks("a1", PASSING, names=("build",))
    rules = Rules(("build", "ESP32 Sim Compile"))
    assert reasons(replace(seen, checks=settled, rules=rules)) == [
        ("required_check_never_reported", "ESP32 Sim Compile", "maintainer")
    ]


def test_a_required_check_that_is_only_expected_is_not_waited_for():
    seen = pull_request(mergeability=BLOCKED)
    expected = Checks("a1", PENDING, names=("build",), counts=(("EXPECTED", 1), ("SUCCESS", 1)))
    found = reasons(replace(seen, checks=expected, rules=Rules(("build", "sim"))))
    assert found == [("required_check_never_reported", "sim", "maintainer")]


def test_a_required_check_may_still_report_while_others_run():
    seen = pull_request(mergeability=BLOCKED)
    running = Checks("a1", PENDING, names=("build",), counts=(("IN_PROGRESS", 1),))
    assert codes(replace(seen, checks=running, rules=Rules(("sim",)))) == [
        "required_check_missing",
        "checks_pending",
    ]


def test_a_required_check_may_still_report_while_none_has():
    seen = pull_request(mergeability=BLOCKED)
    bare = Checks("a1", CheckVerdict.NONE, names=())
    found = reasons(replace(seen, checks=bare, rules=Rules(("sim",))))
    assert found == [("required_check_missing", "sim", "forge")]


def test_a_required_check_whose_workflow_waits_for_approval_is_a_maintainers_move():
    seen = pull_request(mergeability=BLOCKED)
    waiting = Checks("a1", PENDING, names=(), approval_required=("CI",))
    assert reasons(replace(seen, checks=waiting, rules=Rules(("sim",)))) == [
        ("workflow_approval_required", "CI", "maintainer"),
        ("required_check_missing", "sim", "maintainer"),
    ]


def test_no_check_is_called_missing_where_the_names_were_not_read():
    seen = replace(pull_request(mergeability=BLOCKED), rules=Rules(("build",)))
    assert codes(seen) == ["cause_unknown"]


def test_what_the_forge_calls_clean_misses_nothing():
    seen = replace(
        pull_request(),
        checks=Checks("a1", PASSING, names=("build",)),
        rules=Rules(("sim",), 2, True, True),
        unresolved_threads=4,
    )
    assert reasons(seen) == []


def test_unresolved_conversations_block_where_they_must_be_resolved():
    seen = pull_request(mergeability=BLOCKED, unresolved_threads=1)
    assert reasons(replace(seen, rules=Rules(conversations_resolved=True))) == [
        ("unresolved_conversations", "1", "author")
    ]
    assert codes(replace(seen, rules=Rules())) == ["cause_unknown"]


@pytest.mark.parametrize(
    ("review", "rules", "expected"),
    [
        (Review(ReviewDecision.PENDING), None, ("approvals_missing", "", "maintainer")),
        (
            Review(ReviewDecision.PENDING, requested=("bob",)),
            Rules(approvals=2),
            ("approvals_missing", "2", "reviewer"),
        ),
        (
            Review(ReviewDecision.PENDING, approved_by=("bob",), requested=("eve",)),
            Rules(approvals=2),
            ("approvals_missing", "1", "reviewer"),
        ),
        (
            Review(ReviewDecision.PENDING, approvals_left=3),
            None,
            ("approvals_missing", "3", "maintainer"),
        ),
        (
            Review(ReviewDecision.PENDING, approved_by=("bob",)),
            Rules(approvals=1, code_owners=True),
            ("code_owner_review", "", "reviewer"),
        ),
    ],
)
def test_missing_approvals_are_counted_and_somebody_must_give_them(review, rules, expected):
    seen = replace(pull_request(mergeability=BLOCKED), review=review, rules=rules)
    assert reasons(seen) == [expected]


def test_a_code_owner_still_to_speak_is_the_cause_where_there_is_no_decision():
    seen = pull_request(mergeability=BLOCKED, review=ReviewDecision.NONE)
    assert codes(replace(seen, rules=Rules(code_owners=True))) == ["code_owner_review", "no_review"]


def test_whoever_asked_for_changes_and_is_asked_again_has_the_move():
    review = Review(ASKED, changes_requested_by=("bob", "eve"), requested=("bob",))
    seen = replace(pull_request(), review=review)
    assert classify(seen).state is State.CHANGES_REQUESTED
    assert reasons(seen) == [
        ("re_review_requested", "bob", "reviewer"),
        ("changes_requested", "eve", "author"),
    ]


def test_a_requested_reviewer_has_the_move_where_the_forge_forgets_who_asked_for_changes():
    seen = replace(pull_request(), review=Review(ASKED, requested=("bob",)))
    assert reasons(seen) == [("re_review_requested", "bob", "reviewer")]


def test_an_approval_of_an_older_commit_is_said():
    review = Review(APPROVED, approved_by=("bob",), approval_on_head=False)
    seen = replace(pull_request(), review=review)
    assert classify(seen).state is State.APPROVED
    assert reasons(seen) == [("approval_not_on_head", "", "reviewer")]


@pytest.mark.parametrize(("position", "about"), [(2, "2"), (0, "0"), (None, "")])
def test_a_queued_one_waits_for_the_forge(position, about):
    seen = pull_request(queue=Queue(position, "QUEUED"))
    assert classify(seen).state is State.APPROVED_WAITING
    assert reasons(seen) == [("in_merge_queue", about, "forge")]


@pytest.mark.parametrize("verdict", [BLOCKED, MergeVerdict.BEHIND, UNSTABLE])
def test_one_that_is_not_ready_has_a_reason_even_where_no_cause_is_found(verdict):
    expected = "behind" if verdict is MergeVerdict.BEHIND else "cause_unknown"
    assert codes(pull_request(mergeability=verdict)) == [expected]


def test_an_optional_failing_check_does_not_explain_a_block():
    seen = pull_request(FAILING, BLOCKED, rules=Rules(("build",)))
    seen = replace(seen, checks=Checks("a1", FAILING, (Check("lint"),), names=("build", "lint")))
    assert codes(seen) == ["checks_failing", "cause_unknown"]


def test_no_review_does_not_explain_an_unstable_one():
    seen = pull_request(mergeability=UNSTABLE, review=ReviewDecision.NONE)
    assert codes(seen) == ["no_review", "cause_unknown"]


def test_a_draft_asks_for_no_review():
    assert codes(pull_request(review=ReviewDecision.NONE, draft=True)) == ["draft"]


def test_what_was_not_read_is_said():
    bare = replace(pull_request(), checks=None, mergeability=None, review=None)
    assert codes(bare) == ["checks_unread", "review_unread", "mergeability_unknown"]
    refused = Checks("a1", CheckVerdict.NONE, unreadable="the token may not read checks")
    unreadable = Review(ReviewDecision.NONE, unreadable="the token may not read reviews")
    seen = replace(pull_request(mergeability=BLOCKED), checks=refused, review=unreadable)
    assert reasons(seen) == [
        ("checks_unreadable", "the token may not read checks", "maintainer"),
        ("review_unreadable", "the token may not read reviews", "maintainer"),
        ("cause_unknown", "", "maintainer"),
    ]


def test_checks_of_an_older_head_are_the_forges_move():
    pushed = replace(pull_request(FAILING), head=Head("lift", "a2"))
    assert codes(pushed) == ["checks_on_older_head", "mergeability_unknown"]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("discussions_not_resolved", ("unresolved_conversations", "2", "author")),
        ("DISCUSSIONS_NOT_RESOLVED", ("unresolved_conversations", "2", "author")),
        ("ci_must_pass", ("required_check_missing", "", "author")),
        ("blocked_status", ("blocked_by_another", "", "author")),
        ("merge_time", ("merge_time", "", "forge")),
        ("jira_association_missing", ("jira_association", "", "author")),
        ("a_word_of_next_year", ("cause_unknown", "", "maintainer")),
    ],
)
def test_gitlabs_own_word_names_the_cause(raw, expected):
    blocked = Mergeability(BLOCKED, raw, "a1", "b1")
    seen = replace(pull_request(), mergeability=blocked, unresolved_threads=2)
    assert reasons(seen) == [expected]


def test_gitlabs_word_is_not_repeated_where_a_condition_says_more():
    blocked = Mergeability(BLOCKED, "ci_must_pass", "a1", "b1")
    failing = Checks("a1", FAILING, (Check("rspec"),))
    seen = replace(pull_request(), mergeability=blocked, checks=failing, rules=Rules())
    assert reasons(seen)[0] == ("checks_failing", "rspec", "author")
    assert "required_check_missing" not in codes(seen)


def test_a_reason_names_one_of_four_movers():
    assert {mover.value for mover in Mover} == {"author", "reviewer", "maintainer", "forge"}
    assert classify(pull_request(draft=True)).reasons == (Reason("draft", "", Mover.AUTHOR),)
