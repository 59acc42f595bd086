"""GitLab's words, each for itself, and the published cases where they are at hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pullstate.domain.pull_request import CheckVerdict, MergeVerdict, ReviewDecision
from pullstate.forges.gitlab.verdicts import (
    MergeFacts,
    checks_verdict,
    merge_verdict,
    review_decision,
)

CASES = Path(__file__).parents[4] / "shared" / "cases" / "gitlab_states.json"


def cases() -> list[Any]:
    if not CASES.exists():
        return [pytest.param(None, marks=pytest.mark.skip(reason="no ../shared/cases here"))]
    return [pytest.param(case, id=case["title"]) for case in json.loads(CASES.read_text())]


@pytest.mark.parametrize("case", cases())
def test_the_published_cases_come_out_as_they_say(case: dict[str, Any]) -> None:
    facts = case["facts"]
    checks = checks_verdict(facts.get("pipeline"), failed_job=facts.get("failed_job", False))
    merging = MergeFacts(
        facts.get("dms"),
        facts.get("merge_status"),
        approvals_left=facts.get("approvals_left"),
        discussions_resolved=facts.get("blocking_discussions_resolved"),
        pipeline_required=facts.get("pipeline_required", False),
    )
    decision = review_decision(
        reviewer_states=facts.get("reviewers", []),
        change_requesters=facts.get("change_requesters", []),
        approved_by=facts.get("approved_by", []),
        approvals_left=facts.get("approvals_left"),
        detailed_status=facts.get("dms"),
    )
    assert checks == case["checks"]
    assert merge_verdict(merging, checks) == case["mergeability"]
    assert decision == case["reviewDecision"]


@pytest.mark.parametrize(
    ("status", "failed_job", "verdict"),
    [
        (None, False, "NONE"),
        ("SUCCESS", False, "PASSING"),
        ("failed", False, "FAILING"),
        ("CANCELED", False, "FAILING"),
        ("skipped", False, "NONE"),
        ("manual", False, "PENDING"),
        ("MANUAL", True, "FAILING"),
        ("running", True, "PENDING"),
        ("canceling", False, "PENDING"),
        ("waiting_for_callback", False, "PENDING"),
        ("a word of next year", False, "PENDING"),
    ],
)
def test_a_pipeline_is_green_only_when_it_says_success(
    status: str | None, failed_job: bool, verdict: str
) -> None:
    assert checks_verdict(status, failed_job=failed_job) == verdict


@pytest.mark.parametrize("detailed", ["draft_status", "NOT_APPROVED", "discussions_not_resolved"])
def test_a_conflict_shows_behind_the_first_rule_that_fails(detailed: str) -> None:
    hidden = MergeFacts(detailed, "can_be_merged", (("CONFLICT", "FAILED"), ("DRAFT", "FAILED")))
    assert merge_verdict(hidden, CheckVerdict.PASSING) is MergeVerdict.CONFLICTING
    assert (
        merge_verdict(MergeFacts(detailed, "cannot_be_merged"), CheckVerdict.PASSING)
        is MergeVerdict.CONFLICTING
    )


@pytest.mark.parametrize("status", ["cannot_be_merged_recheck", "checking", "unchecked", None])
def test_a_merge_status_that_is_being_computed_is_no_conflict(status: str | None) -> None:
    facts = MergeFacts("not_approved", status)
    assert merge_verdict(facts, CheckVerdict.PASSING) is MergeVerdict.BLOCKED


@pytest.mark.parametrize(
    ("checks", "verdict"),
    [
        ((("NEED_REBASE", "FAILED"), ("CI_MUST_PASS", "FAILED")), MergeVerdict.BEHIND),
        ((("CI_MUST_PASS", "FAILED"), ("CONFLICT", "CHECKING")), MergeVerdict.BLOCKED),
        ((("CONFLICT", "CHECKING"), ("NOT_OPEN", "SUCCESS")), MergeVerdict.UNKNOWN),
        ((("CONFLICT", "SUCCESS"), ("LOCKED_PATHS", "INACTIVE")), MergeVerdict.CLEAN),
        ((), MergeVerdict.CLEAN),
    ],
)
def test_the_single_checks_refine_the_word(
    checks: tuple[tuple[str, str], ...], verdict: MergeVerdict
) -> None:
    facts = MergeFacts("mergeable", "can_be_merged", checks)
    assert merge_verdict(facts, CheckVerdict.PASSING) is verdict


@pytest.mark.parametrize("detailed", ["unchecked", "CHECKING", "preparing", "not_open", "new_word"])
def test_what_gitlab_has_not_computed_is_unknown(detailed: str) -> None:
    assert merge_verdict(MergeFacts(detailed, None), CheckVerdict.PASSING) is MergeVerdict.UNKNOWN


@pytest.mark.parametrize(
    ("facts", "verdict"),
    [
        (MergeFacts(None, "can_be_merged", approvals_left=1), MergeVerdict.BLOCKED),
        (MergeFacts(None, "can_be_merged", discussions_resolved=False), MergeVerdict.BLOCKED),
        (MergeFacts(None, "can_be_merged", pipeline_required=True), MergeVerdict.BLOCKED),
        (MergeFacts(None, "can_be_merged"), MergeVerdict.CLEAN),
        (MergeFacts(None, "cannot_be_merged"), MergeVerdict.CONFLICTING),
        (MergeFacts(None, None), MergeVerdict.UNKNOWN),
    ],
)
def test_before_15_6_the_rules_are_weighed_here(facts: MergeFacts, verdict: MergeVerdict) -> None:
    assert merge_verdict(facts, CheckVerdict.NONE) is verdict


def test_nobody_having_approved_is_no_approval_whatever_is_left() -> None:
    decision = review_decision(
        reviewer_states=["REVIEWED", "UNREVIEWED"],
        change_requesters=[],
        approved_by=[],
        approvals_left=0,
        detailed_status="MERGEABLE",
    )
    assert decision is ReviewDecision.NONE
