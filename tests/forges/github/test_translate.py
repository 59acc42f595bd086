"""GitHub's facts in the domain's words: what is said, what is missing, what is refused."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from pullstate.domain.classifier import State, classify
from pullstate.domain.pull_request import (
    CheckVerdict,
    MergeVerdict,
    PullRequest,
    Queue,
    ReviewDecision,
    Rules,
)
from pullstate.forges.github import payloads
from pullstate.forges.github.payloads import Context
from pullstate.forges.github.translate import NOTHING_REFUSED, Refusals, lean, merge_verdict, whole
from pullstate.forges.graphql import Refused

FORBIDDEN = "the token may not see this"


def answer(**more: Any) -> payloads.PullRequest:
    """An open pull request of which all was asked: green, clean, nobody reviewed."""
    said = {
        "id": "PR_1",
        "number": 7,
        "url": "https://github.com/acme/rocket/pull/7",
        "title": "Ignite",
        "state": "OPEN",
        "createdAt": "2026-10-01T09:00:00Z",
        "updatedAt": "2026-10-01T10:00:00Z",
        "author": {"login": "ada"},
        "headRefName": "ignite",
        "headRefOid": "a1",
        "headRepositoryOwner": {"login": "ada"},
        "headRepository": {"url": "https://github.com/ada/rocket", "owner": {"login": "ada"}},
        "baseRefName": "main",
        "baseRefOid": "b0",
        "baseRef": {"target": {"oid": "b1"}, "refUpdateRule": None},
        "mergeable": "MERGEABLE",
        "mergeStateStatus": "CLEAN",
        "commits": {
            "nodes": [{"commit": {"oid": "a1", "statusCheckRollup": {"state": "SUCCESS"}}}]
        },
    }
    return payloads.PullRequest.model_validate({**said, **more})


def opinion(login: str | None, state: str, oid: str | None = "a1") -> dict[str, Any]:
    return {
        "state": state,
        "author": {"login": login} if login else None,
        "commit": {"oid": oid} if oid else None,
    }


def opinions(*given: dict[str, Any]) -> dict[str, Any]:
    return {"latestOpinionatedReviews": {"nodes": list(given)}}


def rule(**more: Any) -> dict[str, Any]:
    said = {"requiredStatusCheckContexts": [], "requiresCodeOwnerReviews": False}
    return {"baseRef": {"target": {"oid": "b1"}, "refUpdateRule": {**said, **more}}}


def checked(rollup: str | None, oid: str = "a1", *suites: dict[str, Any]) -> dict[str, Any]:
    state = {"state": rollup} if rollup else None
    found = {"oid": oid, "statusCheckRollup": state, "checkSuites": {"nodes": list(suites)}}
    return {"commits": {"nodes": [{"commit": found}]}}


def read(*contexts: Context, **more: Any) -> PullRequest:
    return whole(answer(**more), NOTHING_REFUSED, contexts or None)


def codes(seen: PullRequest) -> list[str]:
    return [each.code for each in classify(seen).reasons]


def test_details_are_taken_over():
    seen = read()
    assert (seen.provider_id, seen.number, seen.title) == ("PR_1", 7, "Ignite")
    assert (seen.author, seen.draft) == ("ada", False)
    assert seen.opened_at == datetime(2026, 10, 1, 9, 0, tzinfo=UTC)
    assert seen.changed_at == datetime(2026, 10, 1, 10, 0, tzinfo=UTC)
    assert seen.opened_at.tzinfo is UTC
    assert (seen.head.branch, seen.head.sha, seen.head.owner) == ("ignite", "a1", "ada")
    assert seen.head.repository_url == "https://github.com/ada/rocket"


def test_the_base_is_the_branchs_tip_and_the_last_pushs_where_the_branch_is_gone():
    assert read().base.sha == "b1"
    assert read(baseRef=None).base.sha == "b0"
    assert read(baseRef={"target": None}).base.sha == "b0"


def test_a_head_that_is_gone_leaves_its_pull_request():
    seen = read(headRepository=None, headRepositoryOwner=None)
    assert (seen.head.repository_url, seen.head.owner, seen.head.branch) == ("", "", "ignite")


def test_nulls_wherever_they_may_come_are_taken():
    names = set(payloads.PullRequest.model_fields) - {"id", "number", "created_at", "updated_at"}
    aliases = [payloads.PullRequest.model_fields[name].alias or name for name in names]
    seen = whole(answer(**dict.fromkeys(aliases)))
    assert classify(seen).state is State.OPEN
    assert seen.author == "ghost"


def test_fields_of_next_year_are_ignored():
    assert read(somethingNew={"deep": [1]}).number == 7


@pytest.mark.parametrize("login", [None, ""])
def test_a_deleted_author_is_the_ghost(login):
    author = None if login is None else {"login": login}
    assert read(author=author).author == "ghost"


@pytest.mark.parametrize(
    ("mergeable", "state", "verdict"),
    [
        ("MERGEABLE", "CLEAN", MergeVerdict.CLEAN),
        ("MERGEABLE", "HAS_HOOKS", MergeVerdict.CLEAN),
        ("MERGEABLE", "UNSTABLE", MergeVerdict.UNSTABLE),
        ("MERGEABLE", "BEHIND", MergeVerdict.BEHIND),
        ("MERGEABLE", "BLOCKED", MergeVerdict.BLOCKED),
        ("MERGEABLE", "DRAFT", MergeVerdict.BLOCKED),
        ("MERGEABLE", "UNKNOWN", MergeVerdict.UNKNOWN),
        ("MERGEABLE", "A_NEW_WORD", MergeVerdict.UNKNOWN),
        ("MERGEABLE", None, MergeVerdict.UNKNOWN),
        ("MERGEABLE", "DIRTY", MergeVerdict.CONFLICTING),
        ("CONFLICTING", "DIRTY", MergeVerdict.CONFLICTING),
        ("CONFLICTING", "UNKNOWN", MergeVerdict.CONFLICTING),
        ("CONFLICTING", "CLEAN", MergeVerdict.CONFLICTING),
        ("UNKNOWN", "DIRTY", MergeVerdict.UNKNOWN),
        ("UNKNOWN", "CLEAN", MergeVerdict.UNKNOWN),
        ("UNKNOWN", "BLOCKED", MergeVerdict.UNKNOWN),
        (None, None, MergeVerdict.UNKNOWN),
        (None, "BLOCKED", MergeVerdict.UNKNOWN),
        ("A_NEW_WORD", "CLEAN", MergeVerdict.UNKNOWN),
    ],
)
def test_only_a_conflict_is_a_conflict_and_unknown_is_itself(mergeable, state, verdict):
    assert merge_verdict(mergeable, state) is verdict


def test_mergeability_keeps_githubs_words_and_the_commits_it_is_about():
    seen = read(mergeStateStatus="HALF_MERGED").mergeability
    assert (seen.verdict, seen.raw) == (MergeVerdict.UNKNOWN, "MERGEABLE/HALF_MERGED")
    assert (seen.head_sha, seen.base_sha) == ("a1", "b1")


@pytest.mark.parametrize(
    ("word", "given", "decision"),
    [
        ("APPROVED", [], ReviewDecision.APPROVED),
        ("CHANGES_REQUESTED", [], ReviewDecision.CHANGES_REQUESTED),
        ("REVIEW_REQUIRED", [], ReviewDecision.PENDING),
        ("REVIEW_REQUIRED", [opinion("bob", "APPROVED")], ReviewDecision.PENDING),
        (None, [], ReviewDecision.NONE),
        (None, [opinion("bob", "APPROVED")], ReviewDecision.APPROVED),
        (None, [opinion("bob", "DISMISSED")], ReviewDecision.NONE),
        (
            None,
            [opinion("bob", "APPROVED"), opinion("eve", "CHANGES_REQUESTED")],
            ReviewDecision.CHANGES_REQUESTED,
        ),
        ("A_NEW_WORD", [opinion("bob", "APPROVED")], ReviewDecision.APPROVED),
    ],
)
def test_no_decision_is_what_the_writers_think(word, given, decision):
    assert read(reviewDecision=word, **opinions(*given)).review.decision is decision


def test_nobody_objecting_is_no_approval():
    seen = read(**opinions(opinion("bob", "COMMENTED")))
    assert seen.review.decision is ReviewDecision.NONE
    assert classify(seen).state is State.OPEN


def test_who_thinks_what_is_named():
    seen = read(
        **opinions(
            opinion("eve", "APPROVED"),
            opinion("bob", "APPROVED"),
            opinion("zoe", "CHANGES_REQUESTED"),
            opinion(None, "APPROVED"),
        )
    )
    assert seen.review.approved_by == ("bob", "eve", "ghost")
    assert seen.review.changes_requested_by == ("zoe",)


@pytest.mark.parametrize(
    ("oids", "on_head"),
    [([], None), (["a1"], True), (["a0"], False), (["a0", "a1"], True), ([None], False)],
)
def test_an_approval_of_an_older_commit_is_flagged(oids, on_head):
    given = [opinion(f"w{n}", "APPROVED", oid) for n, oid in enumerate(oids)]
    assert read(**opinions(*given)).review.approval_on_head is on_head


def test_requested_reviewers_are_logins_and_teams():
    asked = [{"login": "eve"}, {"__typename": "Team", "slug": "core"}, None, {"login": "bot"}]
    nodes = [{"requestedReviewer": each} for each in asked]
    assert read(reviewRequests={"nodes": nodes}).review.requested == ("@core", "bot", "eve")


def test_rules_are_what_the_base_asks():
    seen = read(
        **rule(
            requiredStatusCheckContexts=["test", "build", None],
            requiredApprovingReviewCount=2,
            requiresCodeOwnerReviews=True,
            requiresConversationResolution=True,
        )
    )
    assert seen.rules == Rules(("build", "test"), 2, True, True)
    assert read().rules == Rules()
    assert read(baseRef=None).rules is None


def test_a_place_in_the_queue_is_not_ready():
    entry = {"position": 2, "state": "AWAITING_CHECKS"}
    seen = read(isInMergeQueue=True, mergeQueueEntry=entry, reviewDecision="APPROVED")
    assert seen.queue == Queue(2, "AWAITING_CHECKS")
    assert classify(seen).state is State.APPROVED_WAITING
    assert read(isInMergeQueue=True).queue == Queue(None, "")
    assert read().queue is None


def test_the_newest_commit_may_lag_behind_the_head():
    seen = read(**checked("SUCCESS", "a0"))
    assert seen.checks.sha == "a0"
    verdict = classify(seen)
    assert verdict.checks is CheckVerdict.PENDING
    assert "checks_on_older_head" in codes(seen)


def test_merged_and_closed_are_kept_apart():
    at = "2026-10-01T11:00:00Z"
    merged = read(state="MERGED", mergedAt=at, closedAt=at, isDraft=True, mergeable="CONFLICTING")
    assert classify(merged).state is State.MERGED
    closed = read(state="CLOSED", closedAt=at, mergeable="CONFLICTING")
    assert classify(closed).state is State.CLOSED
    assert not closed.closed_at_is_estimated


def test_a_finish_without_a_stamp_is_dated_by_the_last_change():
    assert read(state="MERGED").merged_at == read().changed_at
    closed = read(state="CLOSED")
    assert (closed.closed_at, closed.closed_at_is_estimated) == (closed.changed_at, True)


def test_a_row_of_a_list_observes_nothing_while_it_is_open():
    row = lean(answer(reviewDecision="APPROVED", statusCheckRollup={"state": "FAILURE"}))
    assert (row.checks, row.mergeability, row.review, row.rules) == (None, None, None, None)


def test_a_row_of_a_list_says_all_that_it_knows_once_it_is_finished():
    at = "2026-10-01T11:00:00Z"
    rollup = {"state": "FAILURE", "commit": {"oid": "a1"}}
    row = lean(
        answer(mergedAt=at, state="MERGED", statusCheckRollup=rollup, reviewDecision="APPROVED")
    )
    assert (row.checks.sha, row.checks.verdict) == ("a1", CheckVerdict.FAILING)
    assert row.review.decision is ReviewDecision.APPROVED
    assert row.mergeability.verdict is MergeVerdict.CLEAN
    unchecked = lean(answer(mergedAt=at, state="MERGED", statusCheckRollup=None))
    assert unchecked.checks.verdict is CheckVerdict.NONE


def refusals(*fields: str) -> Refusals:
    return Refusals.of(Refused(("commits", "nodes", 0, field), "FORBIDDEN") for field in fields)


def test_refused_checks_are_none_and_said():
    seen = whole(answer(**checked(None)), refusals("statusCheckRollup"))
    assert (seen.checks.verdict, seen.checks.unreadable) == (CheckVerdict.NONE, FORBIDDEN)
    assert seen.checks.sha == seen.head.sha
    assert "checks_unreadable" in codes(seen)
    assert refusals("statusCheckRollup").gaps() == (("checks", FORBIDDEN),)


def test_refused_commits_are_refused_checks():
    seen = whole(answer(commits=None), refusals("commits"))
    assert (seen.checks.verdict, seen.checks.unreadable) == (CheckVerdict.NONE, FORBIDDEN)


def test_refused_suites_leave_the_rollup():
    seen = whole(answer(), refusals("checkSuites"))
    assert seen.checks.verdict is CheckVerdict.PASSING
    assert seen.checks.unreadable == f"check suites: {FORBIDDEN}"


def test_refused_reviews_are_none_and_said():
    seen = whole(answer(), refusals("latestOpinionatedReviews"))
    assert (seen.review.decision, seen.review.unreadable) == (ReviewDecision.NONE, FORBIDDEN)
    decided = whole(answer(reviewDecision="APPROVED"), refusals("latestOpinionatedReviews"))
    assert decided.review.unreadable is None


def test_refused_rules_are_not_seen():
    assert whole(answer(), refusals("refUpdateRule")).rules is None
    seen = whole(answer(**rule(requiredApprovingReviewCount=1)), refusals("refUpdateRule"))
    assert seen.rules == Rules(approvals=1)
    assert refusals("refUpdateRule").gaps() == (("rules", FORBIDDEN),)


def test_more_suites_than_were_read_are_said():
    more = {"nodes": [], "pageInfo": {"hasNextPage": True}}
    found = {"oid": "a1", "statusCheckRollup": {"state": "SUCCESS"}, "checkSuites": more}
    seen = read(commits={"nodes": [{"commit": found}]})
    assert seen.checks.unreadable.startswith("check suites: more than 100")


def test_a_conflict_beats_green_and_approved():
    seen = read(mergeable="CONFLICTING", mergeStateStatus="DIRTY", reviewDecision="APPROVED")
    assert classify(seen).state is State.CONFLICTING


def test_blocked_for_want_of_a_review_is_open_with_that_reason():
    seen = read(
        mergeStateStatus="BLOCKED",
        reviewDecision="REVIEW_REQUIRED",
        **checked(None),
        **rule(requiredApprovingReviewCount=1),
    )
    verdict = classify(seen)
    assert (verdict.state, verdict.mergeability) == (State.OPEN, MergeVerdict.BLOCKED)
    [reason] = verdict.reasons
    assert (reason.code, reason.about, reason.mover.value) == (
        "approvals_missing",
        "1",
        "maintainer",
    )


def test_a_reviewer_who_asked_for_changes_and_is_asked_again_has_the_move():
    asked = {"reviewRequests": {"nodes": [{"requestedReviewer": {"login": "bob"}}]}}
    for given in (opinions(opinion("bob", "CHANGES_REQUESTED")), opinions()):
        seen = read(reviewDecision="CHANGES_REQUESTED", **asked, **given)
        assert classify(seen).state is State.CHANGES_REQUESTED
        [reason] = classify(seen).reasons
        assert (reason.code, reason.mover.value) == ("re_review_requested", "reviewer")


def test_a_required_check_that_never_reported_is_named():
    green = Context.model_validate(
        {"__typename": "CheckRun", "name": "build", "status": "COMPLETED", "conclusion": "SUCCESS"}
    )
    seen = read(
        green,
        mergeStateStatus="BLOCKED",
        reviewDecision="APPROVED",
        **rule(requiredStatusCheckContexts=["build", "ESP32 Sim Compile"]),
    )
    [reason] = classify(seen).reasons
    assert (reason.code, reason.about) == ("required_check_never_reported", "ESP32 Sim Compile")
    assert reason.mover.value == "maintainer"


def test_a_fork_that_waits_for_a_maintainer_waits_for_nobody_else():
    waiting = {
        "status": "COMPLETED",
        "conclusion": "ACTION_REQUIRED",
        "workflowRun": {"event": "pull_request", "workflow": {"name": "CI"}},
    }
    seen = read(mergeStateStatus="BLOCKED", **checked(None, "a1", waiting))
    verdict = classify(seen)
    assert (verdict.state, verdict.checks) == (State.OPEN, CheckVerdict.PENDING)
    assert ("workflow_approval_required", "CI") in [(r.code, r.about) for r in verdict.reasons]
    assert "forge" not in {reason.mover.value for reason in verdict.reasons}


@pytest.mark.parametrize("state", ["BLOCKED", "BEHIND", "UNSTABLE", "DRAFT", "HAS_HOOKS"])
def test_one_that_is_not_ready_always_has_a_reason(state: str):
    seen = read(mergeStateStatus=state, reviewDecision="APPROVED")
    ready = state == "HAS_HOOKS"
    assert (codes(seen) == []) == ready
