"""The checks of one commit: which count, what they come to, and what is named."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from pullstate.domain.pull_request import CheckVerdict
from pullstate.forges.github.checks import checks_of_commit, newest_of, rollup_verdict, verdict_of
from pullstate.forges.github.payloads import Commit, Context
from pullstate.forges.github.rest_payloads import CheckRun, Status

NONE, PENDING, PASSING, FAILING = (
    CheckVerdict.NONE,
    CheckVerdict.PENDING,
    CheckVerdict.PASSING,
    CheckVerdict.FAILING,
)


def at(minute: int) -> str:
    return f"2026-10-01T10:{minute:02}:00Z"


def run(
    name: str = "build",
    outcome: str = "SUCCESS",
    *,
    suite: int = 1,
    workflow: str | None = "CI",
    event: str = "pull_request",
    app: str = "github-actions",
    start: int | None = 0,
    end: int | None = 5,
    required: bool = False,
) -> Context:
    """A job of a workflow's run; an outcome that is no conclusion is its status."""
    running = outcome in ("QUEUED", "IN_PROGRESS", "PENDING", "WAITING", "REQUESTED")
    workflow_run = {"event": event, "workflow": {"name": workflow}} if workflow else None
    return Context.model_validate(
        {
            "__typename": "CheckRun",
            "name": name,
            "status": outcome if running else "COMPLETED",
            "conclusion": None if running else outcome,
            "startedAt": None if start is None else at(start),
            "completedAt": None if running or end is None else at(end),
            "detailsUrl": f"https://ci.test/{suite}/{name}",
            "isRequired": required,
            "checkSuite": {"databaseId": suite, "app": {"slug": app}, "workflowRun": workflow_run},
        }
    )


def status(context: str, state: str, minute: int = 0) -> Context:
    return Context.model_validate(
        {
            "__typename": "StatusContext",
            "context": context,
            "state": state,
            "createdAt": at(minute),
            "targetUrl": f"https://jenkins.test/{context}",
        }
    )


def suite(state: str = "QUEUED", conclusion: str | None = None, **more: Any) -> dict[str, Any]:
    workflow = more.get("workflow", "Build")
    workflow_run = {
        "event": more.get("event", "pull_request"),
        "workflow": {"name": workflow},
    }
    return {
        "databaseId": 7,
        "status": state,
        "conclusion": conclusion,
        "workflowRun": workflow_run if workflow else None,
    }


def commit(rollup: str | None, *suites: dict[str, Any], **more: Any) -> Commit:
    return Commit.model_validate(
        {
            "oid": "a1",
            "statusCheckRollup": {"state": rollup} if rollup else None,
            "checkSuites": {"nodes": list(suites)},
            **more,
        }
    )


@pytest.mark.parametrize(
    ("state", "verdict"),
    [
        (None, NONE),
        ("SUCCESS", PASSING),
        ("FAILURE", FAILING),
        ("ERROR", FAILING),
        ("PENDING", PENDING),
        ("EXPECTED", PENDING),
        ("A_NEW_STATE", PENDING),
    ],
)
def test_a_rollup_is_read(state: str | None, verdict: CheckVerdict):
    assert rollup_verdict(state) is verdict
    assert checks_of_commit(commit(state)).verdict is verdict


@pytest.mark.parametrize(
    ("outcome", "verdict"),
    [
        *((each, PASSING) for each in ("SUCCESS", "NEUTRAL", "SKIPPED")),
        *(
            (each, FAILING)
            for each in ("FAILURE", "CANCELLED", "TIMED_OUT", "ACTION_REQUIRED", "STARTUP_FAILURE")
        ),
        *(
            (each, PENDING)
            for each in ("STALE", "QUEUED", "IN_PROGRESS", "WAITING", "PENDING", "REQUESTED", "NEW")
        ),
    ],
)
def test_a_lone_check_run_is_its_outcome(outcome: str, verdict: CheckVerdict):
    assert verdict_of([run(outcome=outcome)]) is verdict


def test_a_run_that_ended_without_a_conclusion_is_pending():
    ended = {"__typename": "CheckRun", "name": "build", "status": "COMPLETED", "conclusion": ""}
    assert verdict_of([Context.model_validate(ended)]) is PENDING


@pytest.mark.parametrize(
    ("state", "verdict"),
    [
        ("SUCCESS", PASSING),
        ("FAILURE", FAILING),
        ("ERROR", FAILING),
        ("PENDING", PENDING),
        ("EXPECTED", PENDING),
        ("A_NEW_STATE", PENDING),
    ],
)
def test_a_lone_status_is_its_state(state: str, verdict: CheckVerdict):
    assert verdict_of([status("jenkins", state)]) is verdict


def test_no_context_at_all_is_no_verdict():
    assert verdict_of([]) is NONE


def test_runs_and_statuses_count_together_even_under_one_name():
    assert verdict_of([run("build"), status("jenkins", "FAILURE")]) is FAILING
    assert verdict_of([run("build", "FAILURE"), status("build", "SUCCESS")]) is FAILING
    assert verdict_of([run("build"), status("build", "SUCCESS")]) is PASSING


def test_a_failure_counts_before_what_still_runs():
    assert verdict_of([run("a", "IN_PROGRESS"), run("b", "FAILURE"), run("c")]) is FAILING


def test_skipped_and_neutral_do_not_block_and_are_counted():
    contexts = [run("a"), run("b", "SKIPPED"), run("c", "NEUTRAL")]
    checks = checks_of_commit(commit("SUCCESS"), contexts)
    assert checks.verdict is PASSING
    assert dict(checks.counts) == {"SUCCESS": 1, "SKIPPED": 1, "NEUTRAL": 1}


def test_skipped_and_neutral_alone_do_not_fail():
    checks = checks_of_commit(commit("SUCCESS"), [run("a", "SKIPPED"), run("b", "NEUTRAL")])
    assert checks.verdict is PASSING
    assert dict(checks.counts) == {"SKIPPED": 1, "NEUTRAL": 1}


def test_two_jobs_of_one_run_that_share_a_name_both_count():
    for order in permutations([run(outcome="FAILURE"), run(outcome="SKIPPED", start=6, end=6)]):
        assert verdict_of(order) is FAILING
    for order in permutations([run(outcome="FAILURE"), run(outcome="SUCCESS", start=1, end=9)]):
        assert verdict_of(order) is FAILING


def test_the_same_name_in_two_workflows_is_two_checks():
    other = run(suite=2, workflow="Nightly", start=9, end=10)
    assert verdict_of([run(outcome="FAILURE"), other]) is FAILING


def test_the_same_job_for_two_events_is_two_checks():
    other = run(suite=2, event="push", start=9, end=10)
    assert verdict_of([run(outcome="FAILURE"), other]) is FAILING


def test_the_same_name_from_two_apps_is_two_checks():
    other = run(suite=2, workflow=None, app="circleci", start=9, end=10)
    assert verdict_of([run(outcome="FAILURE", workflow=None), other]) is FAILING


def test_of_two_runs_of_one_workflow_the_newer_counts():
    again = [run(outcome="FAILURE"), run(outcome="SUCCESS", suite=2, start=9, end=10)]
    for order in permutations(again):
        assert verdict_of(order) is PASSING
    worse = [run(outcome="SUCCESS"), run(outcome="FAILURE", suite=2, start=9, end=10)]
    for order in permutations(worse):
        assert verdict_of(order) is FAILING


def test_a_rollup_that_remembers_an_earlier_failure_is_not_believed():
    contexts = [run(outcome="FAILURE"), run(outcome="SUCCESS", suite=2, start=9, end=10)]
    checks = checks_of_commit(commit("FAILURE"), contexts)
    assert (checks.verdict, checks.failing) == (PASSING, ())


def test_a_job_run_again_within_its_run_replaces_the_one_that_had_ended():
    again = [run(outcome="FAILURE"), run(outcome="SUCCESS", start=6, end=7)]
    for order in permutations(again):
        assert verdict_of(order) is PASSING


def test_a_queued_replacement_without_a_start_is_the_newest():
    for suite_of_the_new in (1, 2):
        queued = run(outcome="QUEUED", suite=suite_of_the_new, start=None)
        for order in permutations([run(outcome="CANCELLED"), queued]):
            assert verdict_of(order) is PENDING


def test_a_lone_cancelled_one_is_not_passing():
    assert verdict_of([run(outcome="CANCELLED")]) is FAILING
    assert verdict_of([run(outcome="CANCELLED", start=None)]) is FAILING


@pytest.mark.parametrize(("start", "end"), [(0, 1), (1, 2), (4, 5), (5, 5), (None, 3)], ids=str)
def test_a_duplicate_that_was_cancelled_for_the_live_run_does_not_count(start, end):
    duplicate = run(outcome="CANCELLED", suite=2, start=start, end=end)
    for order in permutations([run(outcome="SUCCESS"), duplicate]):
        assert verdict_of(order) is PASSING
    live = run(outcome="IN_PROGRESS", end=None)
    for order in permutations([live, duplicate]):
        assert verdict_of(order) is PENDING


def test_a_run_that_was_cancelled_after_the_other_had_ended_counts():
    later = run(outcome="CANCELLED", suite=2, start=8, end=9)
    for order in permutations([run(outcome="SUCCESS"), later]):
        assert verdict_of(order) is FAILING


def test_of_statuses_of_one_name_the_newest_counts():
    for order in permutations([status("ci", "FAILURE", 1), status("ci", "SUCCESS", 2)]):
        assert verdict_of(order) is PASSING


def test_contexts_without_a_name_all_count():
    nameless = [
        Context.model_validate({"status": "IN_PROGRESS", "conclusion": ""}),
        Context.model_validate({"status": "COMPLETED", "conclusion": "FAILURE"}),
        Context.model_validate({"state": "SUCCESS"}),
    ]
    assert len(newest_of(nameless)) == 3
    assert verdict_of(nameless) is FAILING


def test_runs_of_one_name_without_suites_are_attempts():
    later = {"name": "a", "status": "completed", "conclusion": "success", "started_at": at(9)}
    earlier = {"name": "a", "status": "completed", "conclusion": "failure", "started_at": at(0)}
    contexts = [CheckRun.model_validate(each).as_graphql({}) for each in (later, earlier)]
    assert verdict_of(contexts) is PASSING


def test_rests_words_are_read_as_graphqls():
    failed = {"name": "a", "status": "completed", "conclusion": "timed_out"}
    assert verdict_of([CheckRun.model_validate(failed).as_graphql({})]) is FAILING
    assert verdict_of([Status.model_validate({"context": "a", "state": "error"}).as_graphql()]) is (
        FAILING
    )


def test_what_failed_is_named_required_ones_first():
    contexts = [run("lint", "FAILURE"), run("build", "TIMED_OUT", required=True), run("docs")]
    failing = checks_of_commit(commit("FAILURE"), contexts).failing
    assert [(each.name, each.required, each.url) for each in failing] == [
        ("build", True, "https://ci.test/1/build"),
        ("lint", False, "https://ci.test/1/lint"),
    ]


def test_names_are_those_that_reported():
    contexts = [run("b"), status("a", "SUCCESS"), status("sim", "EXPECTED")]
    assert checks_of_commit(commit("EXPECTED"), contexts).names == ("a", "b")
    assert checks_of_commit(commit("SUCCESS")).names is None
    assert checks_of_commit(commit(None)).names == ()


def test_a_workflow_without_jobs_makes_a_green_rollup_pending_and_is_named():
    checks = checks_of_commit(commit("SUCCESS", suite()))
    assert (checks.verdict, checks.queued) == (PENDING, ("Build",))


@pytest.mark.parametrize("state", ["QUEUED", "IN_PROGRESS", "REQUESTED", "PENDING", "WAITING"])
def test_a_workflow_counts_until_it_is_completed(state: str):
    assert checks_of_commit(commit("SUCCESS", suite(state))).verdict is PENDING
    assert checks_of_commit(commit(None, suite(state))).verdict is PENDING


def test_a_workflow_under_way_does_not_hide_a_failure():
    checks = checks_of_commit(commit("FAILURE", suite("IN_PROGRESS")))
    assert (checks.verdict, checks.queued) == (FAILING, ("Build",))


def test_a_suite_of_an_app_that_never_reports_does_not_count():
    assert checks_of_commit(commit("SUCCESS", suite(workflow=None))).verdict is PASSING
    assert checks_of_commit(commit(None, suite(workflow=None))).verdict is NONE


@pytest.mark.parametrize("event", ["schedule", "workflow_dispatch"])
def test_a_run_that_no_push_started_does_not_count(event: str):
    assert checks_of_commit(commit("SUCCESS", suite(event=event))).verdict is PASSING


@pytest.mark.parametrize("event", ["pull_request", "push", "pull_request_target", "merge_group"])
def test_a_run_for_what_was_pushed_counts(event: str):
    assert checks_of_commit(commit("SUCCESS", suite(event=event))).verdict is PENDING


@pytest.mark.parametrize("rollup", [None, "SUCCESS", "PENDING"])
def test_a_workflow_that_waits_for_approval_neither_fails_nor_passes(rollup: str | None):
    waiting = suite("COMPLETED", "ACTION_REQUIRED")
    checks = checks_of_commit(commit(rollup, waiting))
    assert (checks.verdict, checks.approval_required) == (PENDING, ("Build",))
    assert checks.queued == ()


def test_a_completed_workflow_is_the_rollups_to_tell():
    assert checks_of_commit(commit("SUCCESS", suite("COMPLETED", "SUCCESS"))).verdict is PASSING
    assert checks_of_commit(commit("SUCCESS", suite("COMPLETED", "SKIPPED"))).verdict is PASSING


def test_a_required_check_that_is_only_expected_keeps_it_pending():
    assert checks_of_commit(commit("EXPECTED"), [run()]).verdict is PENDING
    assert checks_of_commit(commit("EXPECTED"), [run(outcome="FAILURE")]).verdict is FAILING


def test_contexts_that_came_back_empty_do_not_undo_the_rollup():
    assert checks_of_commit(commit("FAILURE"), []).verdict is FAILING


def test_counts_are_githubs_own_where_contexts_were_not_read():
    counted = {
        "contexts": {
            "checkRunCountsByState": [
                {"state": "SUCCESS", "count": 2},
                {"state": "SKIPPED", "count": 1},
                {"state": "FAILURE", "count": 0},
            ],
            "statusContextCountsByState": [{"state": "SUCCESS", "count": 1}],
        }
    }
    checks = checks_of_commit(commit("SUCCESS", counted=counted))
    assert dict(checks.counts) == {"SUCCESS": 3, "SKIPPED": 1}


def test_the_verdict_is_the_same_in_whatever_order_checks_come():
    contexts = [
        run("a", "CANCELLED"),
        run("a", "QUEUED", suite=2, start=None),
        run("b", "SUCCESS"),
        status("c", "SUCCESS"),
    ]
    assert {verdict_of(order) for order in permutations(contexts)} == {PENDING}
