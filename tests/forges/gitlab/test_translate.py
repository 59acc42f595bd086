"""GitLab's facts → the domain, from REST and from GraphQL alike."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pullstate.domain.classifier import classify
from pullstate.domain.pull_request import Base, Check, CheckVerdict, Head, MergeVerdict, Queue
from pullstate.forges.errors import Unexpected
from pullstate.forges.gitlab.checks import Pipeline, rest_pipeline
from pullstate.forges.gitlab.payloads import MergeRequest
from pullstate.forges.gitlab.translate import Extra, details
from pullstate.forges.gitlab.verdicts import BLOCKED
from tests.forges.gitlab.made import (
    HEAD,
    PLACE,
    START,
    by_graphql,
    by_rest,
    job,
    node,
    pipeline,
    reviewer,
    row,
    users,
)

CASES = Path(__file__).parents[4] / "shared" / "cases" / "gitlab_states.json"


def cases() -> list[Any]:
    if not CASES.exists():
        return [pytest.param(None, marks=pytest.mark.skip(reason="no ../shared/cases here"))]
    return [pytest.param(case, id=case["title"]) for case in json.loads(CASES.read_text())]


def as_graphql(facts: dict[str, Any]) -> dict[str, Any]:
    status = facts.get("pipeline")
    failed = [job("unit")] if facts.get("failed_job") else []
    states = facts.get("reviewers", [])
    state = facts.get("state", "opened")
    return {
        "state": state,
        "mergedAt": "2025-06-02T09:30:00Z" if state == "merged" else None,
        "closedAt": "2025-06-02T09:30:00Z" if state == "closed" else None,
        "draft": facts.get("draft", False),
        "detailedMergeStatus": facts["dms"].upper() if facts.get("dms") else None,
        "mergeStatusEnum": (facts.get("merge_status") or "").upper() or None,
        "approvalsLeft": facts.get("approvals_left"),
        "approvedBy": users(*facts.get("approved_by", [])),
        "changeRequesters": users(*facts.get("change_requesters", [])),
        "reviewers": {"nodes": [reviewer(f"r{n}", each) for n, each in enumerate(states)]},
        "mergeableDiscussionsState": facts.get("blocking_discussions_resolved"),
        "headPipeline": pipeline(status.upper(), *failed) if status else None,
    }


def as_rest(facts: dict[str, Any]) -> tuple[dict[str, Any], Extra]:
    status, state = facts.get("pipeline"), facts.get("state", "opened")
    failed = (Check("unit"),) if facts.get("failed_job") else ()
    own = {
        "state": state,
        "merged_at": "2025-06-02T09:30:00Z" if state == "merged" else None,
        "closed_at": "2025-06-02T09:30:00Z" if state == "closed" else None,
        "draft": facts.get("draft", False),
        "detailed_merge_status": facts["dms"].lower() if facts.get("dms") else None,
        "merge_status": facts.get("merge_status"),
        "blocking_discussions_resolved": facts.get("blocking_discussions_resolved"),
    }
    extra = Extra(
        pipeline=Pipeline(status, failed) if status else None,
        pipeline_required=facts.get("pipeline_required", False),
        approvals_left=facts.get("approvals_left"),
        approved_by=tuple(facts.get("approved_by", [])),
        change_requesters=tuple(facts.get("change_requesters", [])),
        reviewers=tuple((f"r{n}", each) for n, each in enumerate(facts.get("reviewers", []))),
    )
    return own, extra


@pytest.mark.parametrize("case", cases())
def test_the_published_cases_come_out_as_they_say_by_graphql(case: dict[str, Any]) -> None:
    required = case["facts"].get("pipeline_required", False)
    verdict = classify(by_graphql(required=required, **as_graphql(case["facts"])))
    assert verdict.state == case["state"]
    assert verdict.checks == case["checks"]
    assert verdict.mergeability == case["mergeability"]
    assert verdict.review_decision == case["reviewDecision"]


@pytest.mark.parametrize("case", cases())
def test_the_published_cases_come_out_as_they_say_by_rest(case: dict[str, Any]) -> None:
    own, extra = as_rest(case["facts"])
    verdict = classify(by_rest(extra, **own))
    assert verdict.state == case["state"]
    assert verdict.checks == case["checks"]
    assert verdict.mergeability == case["mergeability"]
    assert verdict.review_decision == case["reviewDecision"]


def test_both_apis_tell_the_same_details_of_the_same_one() -> None:
    """REST's fractions of a second would make every reading by GraphQL look older."""
    rest = details(MergeRequest.model_validate(row()), PLACE, PLACE.path)
    graphql = by_graphql()
    for name in ("provider_id", "number", "url", "title", "author", "head", "base", "draft"):
        assert getattr(rest, name) == getattr(graphql, name)
    assert rest.opened_at == graphql.opened_at == datetime(2025, 6, 2, 9, tzinfo=UTC)
    assert rest.changed_at == graphql.changed_at == datetime(2025, 6, 2, 9, 30, tzinfo=UTC)


def test_the_head_is_in_the_source_project_and_the_base_is_the_targets_tip() -> None:
    seen = by_graphql(sourceProjectId=900, source="ann/tool")
    assert seen.head == Head("probe", HEAD, "ann", "https://gitlab.example.com/git/ann/tool")
    assert seen.base == Base("main", START)


def test_a_deleted_fork_has_neither_owner_nor_address() -> None:
    seen = by_rest(source="", source_project_id=None)
    assert (seen.head.owner, seen.head.repository_url) == ("", "")


def test_a_new_one_without_a_diff_has_no_base_yet() -> None:
    seen = by_graphql(diffRefs=None, diffHeadSha=None, detailedMergeStatus="PREPARING")
    assert (seen.head.sha, seen.base.sha) == ("", "")
    assert seen.mergeability.verdict is MergeVerdict.UNKNOWN


def test_a_merged_one_was_closed_when_it_was_merged() -> None:
    seen = by_rest(state="merged", merged_at="2025-06-02T09:29:59.5Z", closed_at=None)
    assert seen.merged_at == seen.closed_at == datetime(2025, 6, 2, 9, 29, 59, tzinfo=UTC)
    assert not seen.closed_at_is_estimated


def test_a_closed_one_without_a_time_was_closed_when_it_last_changed_and_says_so() -> None:
    for seen in (by_rest(state="closed"), by_graphql(state="closed")):
        assert seen.closed_at == datetime(2025, 6, 2, 9, 30, tzinfo=UTC)
        assert seen.closed_at_is_estimated


def test_a_merged_one_without_a_time_is_merged_all_the_same() -> None:
    seen = by_rest(state="merged")
    assert seen.merged_at == seen.closed_at == datetime(2025, 6, 2, 9, 30, tzinfo=UTC)
    assert seen.closed_at_is_estimated


def test_a_reopened_one_that_still_says_when_it_was_closed_is_open() -> None:
    assert by_rest(state="opened", closed_at="2025-06-02T09:10:00Z").closed_at is None


@pytest.mark.parametrize("state", ["locked", "merging_soon"])
def test_a_merge_under_way_and_a_new_state_are_open(state: str) -> None:
    assert not by_graphql(state=state).finished


def test_one_without_any_time_cannot_be_read() -> None:
    with pytest.raises(Unexpected):
        by_rest(created_at=None, updated_at="not a time")


@pytest.mark.parametrize(
    ("given", "draft"),
    [
        ({"draft": True}, True),
        ({"draft": None, "work_in_progress": True}, True),
        ({"draft": False, "work_in_progress": True}, False),
        ({"draft": None, "title": "Draft: Add a probe"}, True),
        ({"draft": None, "title": "[WIP] Add a probe"}, True),
        ({"draft": None, "title": "Drafting board"}, False),
    ],
)
def test_the_draft_flag_by_either_name_and_the_title_where_there_is_none(
    given: dict[str, Any], draft: bool
) -> None:
    assert by_rest(**given).draft is draft


def test_the_failed_jobs_are_named_without_those_that_may_fail() -> None:
    found = pipeline("FAILED", job("unit"), job("lint", allow_failure=True))
    seen = by_graphql(required=True, headPipeline=found)
    url = "https://gitlab.example.com/git/group/sub/tool/-/jobs/unit"
    assert seen.checks.failing == (Check("unit", url, required=True),)


def test_a_manual_pipeline_with_a_failed_job_fails() -> None:
    found = pipeline("MANUAL", job("unit"))
    assert by_graphql(headPipeline=found).checks.verdict is CheckVerdict.FAILING


def test_a_manual_pipeline_of_which_a_job_failed_that_may_waits_for_a_person() -> None:
    found = pipeline("MANUAL", job("lint", allow_failure=True))
    seen = by_graphql(headPipeline=found, detailedMergeStatus="CI_MUST_PASS")
    assert seen.checks.verdict is CheckVerdict.PENDING
    reasons = [(each.code, each.mover) for each in classify(seen).reasons]
    assert ("workflow_approval_required", "maintainer") in reasons
    assert "checks_pending" not in [code for code, _ in reasons]


def test_a_pipeline_that_ran_into_warnings_passes() -> None:
    found = pipeline("SUCCESS", job("lint", allow_failure=True))
    seen = by_graphql(headPipeline=found)
    assert seen.checks.verdict is CheckVerdict.PASSING
    assert seen.checks.failing == ()


@pytest.mark.parametrize(
    ("sha", "ref", "verdict"),
    [
        (HEAD, "probe", CheckVerdict.PASSING),
        ("d" * 40, "probe", CheckVerdict.NONE),
        ("d" * 40, "refs/merge-requests/7/head", CheckVerdict.NONE),
        ("d" * 40, "refs/merge-requests/7/merge", CheckVerdict.PASSING),
        ("d" * 40, "refs/merge-requests/7/train", CheckVerdict.PASSING),
        ("d" * 40, "refs/merge-requests/70/merge", CheckVerdict.NONE),
        ("", "probe", CheckVerdict.NONE),
    ],
)
def test_rests_head_pipeline_counts_only_for_this_head(
    sha: str, ref: str, verdict: CheckVerdict
) -> None:
    found = {"id": 9, "sha": sha, "ref": ref, "status": "success"}
    seen = MergeRequest.model_validate(row(head_pipeline=found))
    assert by_rest(Extra(pipeline=rest_pipeline(seen))).checks.verdict is verdict


def test_a_checks_verdict_that_may_not_be_seen_says_so() -> None:
    seen = by_rest(Extra(checks_unreadable="the token may not see pipelines"))
    assert seen.checks.verdict is CheckVerdict.NONE
    assert "checks_unreadable" in [each.code for each in classify(seen).reasons]


def test_every_failing_rule_is_a_reason_and_not_only_the_one_that_gitlab_names() -> None:
    """The detailed status names the first; an agent that mends that alone asks in vain again."""
    failing = ["DRAFT_STATUS", "DISCUSSIONS_NOT_RESOLVED", "LOCKED_PATHS"]
    checks = [{"identifier": each, "status": "FAILED"} for each in failing]
    checks.append({"identifier": "CI_MUST_PASS", "status": "SUCCESS"})
    seen = by_graphql(detailedMergeStatus="LOCKED_PATHS", mergeabilityChecks=checks)
    codes = [each.code for each in classify(seen).reasons]
    assert {"unresolved_conversations", "locked_paths"} <= set(codes)
    assert "required_check_missing" not in codes
    assert "cause_unknown" not in codes


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"approvalsLeft": 2}, "approvals_missing"),
        ({"mergeableDiscussionsState": False}, "unresolved_conversations"),
    ],
)
def test_before_15_6_the_cause_of_a_block_is_read_from_the_other_fields(
    more: dict[str, Any], code: str
) -> None:
    seen = by_graphql(detailedMergeStatus=None, **more)
    assert seen.mergeability.verdict is MergeVerdict.BLOCKED
    assert code in [each.code for each in classify(seen).reasons]


def test_before_15_6_a_required_pipeline_that_is_missing_blocks() -> None:
    seen = by_graphql(required=True, detailedMergeStatus=None)
    assert seen.mergeability.verdict is MergeVerdict.BLOCKED
    assert "required_check_missing" in [each.code for each in classify(seen).reasons]


@pytest.mark.parametrize("word", sorted(BLOCKED))
def test_every_word_for_blocked_explains_itself(word: str) -> None:
    seen = by_graphql(
        detailedMergeStatus=word.upper(), draft=word == "draft_status", approvedBy=users("ann")
    )
    assert seen.mergeability.verdict is MergeVerdict.BLOCKED
    assert "cause_unknown" not in [each.code for each in classify(seen).reasons]


def test_reviewers_who_have_not_looked_are_asked_and_those_who_objected_are_named() -> None:
    reviewers = [
        reviewer("ann", "APPROVED"),
        reviewer("bo", "REQUESTED_CHANGES"),
        reviewer("cy", "UNREVIEWED"),
        reviewer("di", "REVIEWED"),
        reviewer("ed", "REVIEW_STARTED"),
        reviewer("fay", None),
    ]
    seen = by_graphql(
        approvedBy=users("ann"), changeRequesters=users("gus"), reviewers={"nodes": reviewers}
    )
    assert seen.review.approved_by == ("ann",)
    assert seen.review.changes_requested_by == ("bo", "gus")
    assert seen.review.requested == ("cy", "ed", "fay")


def test_nobody_has_approved_what_counts_as_approved_because_nothing_is_required() -> None:
    assert by_graphql(approved=True).review.decision == "NONE"
    assert by_rest(approved=True).review.decision == "NONE"


def test_a_place_in_the_merge_train_is_a_place_in_a_queue() -> None:
    seen = by_graphql(mergeTrainCar={"index": 0, "status": "FRESH"}, approvedBy=users("ann"))
    assert seen.queue == Queue(1, "FRESH")
    assert classify(seen).state == "APPROVED_WAITING"


def test_a_car_whose_merge_is_done_is_no_place() -> None:
    assert by_graphql(mergeTrainCar={"index": None, "status": "MERGED"}).queue is None


def test_a_deleted_author_is_the_ghost() -> None:
    assert by_rest(author=None).author == "ghost"
    assert by_graphql(author={"username": None}).author == "ghost"


def test_words_of_another_version_are_kept_raw() -> None:
    seen = by_graphql(detailedMergeStatus="AI_MUST_NOD", mergeStatusEnum="PONDERING")
    assert seen.mergeability.verdict is MergeVerdict.UNKNOWN
    assert seen.mergeability.raw == "AI_MUST_NOD/PONDERING"


def test_a_node_with_only_what_every_version_has_is_read() -> None:
    bare = {key: node()[key] for key in ("id", "iid", "title", "createdAt", "updatedAt", "state")}
    assert by_graphql(**{key: None for key in node() if key not in bare}).number == 7
