"""What happens in the simulated GitHub, and what of it bumps a pull request's `updatedAt`."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from tests.simulators.github import ManualClock, World
from tests.simulators.github.identifiers import node_id
from tests.simulators.github.model import PullRequest
from tests.simulators.github.populating import populate
from tests.simulators.github.verdicts import latest_reviews, merge_state, review_decision

Change = Callable[[World, PullRequest], object]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def world(clock: ManualClock) -> World:
    return World(clock=clock)


@pytest.fixture
def pull_request(world: World) -> PullRequest:
    made = world.open_pull_request(world.create_repository("acme/rocket"))
    world.open_thread(made, "alice")
    world.comment(made, "alice")
    return made


BUMPING: dict[str, Change] = {
    "push": lambda world, pr: world.push(pr),
    "title": lambda world, pr: world.edit(pr, title="Another"),
    "body": lambda world, pr: world.edit(pr, body="Another"),
    "draft": lambda world, pr: world.set_draft(pr),
    "labels": lambda world, pr: world.set_labels(pr, ["bug"]),
    "retarget": lambda world, pr: world.retarget(pr, "next"),
    "review": lambda world, pr: world.review(pr, "bob", "APPROVED"),
    "request": lambda world, pr: world.request_review(pr, "bob"),
    "thread": lambda world, pr: world.open_thread(pr, "bob"),
    "reply": lambda world, pr: world.reply(pr.threads[0], "bob"),
    "comment": lambda world, pr: world.comment(pr, "bob"),
    "edited comment": lambda world, pr: world.edit_comment(pr.comments[0], "Better said"),
    "deleted comment": lambda world, pr: world.delete_comment(pr.comments[0]),
    "queue": lambda world, pr: world.enqueue(pr),
    "merge": lambda world, pr: world.merge(pr),
    "close": lambda world, pr: world.close(pr),
}
SILENT: dict[str, Change] = {
    "checks": lambda world, pr: world.set_checks(pr, build="FAILURE"),
    "status": lambda world, pr: world.set_status(pr, "jenkins", "FAILURE"),
    "suite": lambda world, pr: world.add_suite(pr),
    "mergeability": lambda world, pr: world.set_mergeable(pr, "CONFLICTING"),
    "move of the base": lambda world, pr: world.move_base(pr.repository),
    "rules": lambda world, pr: world.set_rules(pr.repository, strict=True),
    "resolution": lambda world, pr: world.resolve(pr.threads[0]),
    "pending review": lambda world, pr: world.review(pr, "bob", "PENDING"),
    "minimising": lambda world, pr: world.minimize(pr.comments[0]),
    "rename": lambda world, pr: world.rename_repository(pr.repository, "acme/missile"),
}


@pytest.mark.parametrize("what", BUMPING)
def test_what_people_do_bumps_it(
    world: World, pull_request: PullRequest, clock: ManualClock, what: str
) -> None:
    clock.advance(60)
    BUMPING[what](world, pull_request)
    assert pull_request.updated_at == clock.time


@pytest.mark.parametrize("what", SILENT)
def test_what_happens_around_it_does_not(
    world: World, pull_request: PullRequest, clock: ManualClock, what: str
) -> None:
    before = pull_request.updated_at
    clock.advance(60)
    SILENT[what](world, pull_request)
    assert pull_request.updated_at == before


def test_a_merged_one_is_closed_in_the_same_second_and_leaves_the_queue(
    world: World, pull_request: PullRequest
) -> None:
    base = pull_request.repository.branches["main"].oid
    world.enqueue(pull_request)
    world.merge(pull_request)
    assert pull_request.state == "MERGED"
    assert pull_request.merged_at == pull_request.closed_at
    assert pull_request.merge_queue_entry is None
    assert pull_request.repository.branches["main"].oid != base


def test_reopening_clears_the_time_of_closing(world: World, pull_request: PullRequest) -> None:
    world.close(pull_request)
    world.reopen(pull_request)
    assert (pull_request.state, pull_request.closed_at) == ("OPEN", None)


def test_the_base_moves_under_every_open_pull_request(
    world: World, pull_request: PullRequest
) -> None:
    world.mergeability_lag = 3
    merged = world.open_pull_request(pull_request.repository)
    world.merge(merged)
    assert pull_request.unknown_for == 3


@pytest.mark.parametrize(
    ("outcomes", "rollup"),
    [
        ({}, None),
        ({"a": "SUCCESS", "b": "SKIPPED", "c": "NEUTRAL"}, "SUCCESS"),
        ({"a": "SUCCESS", "b": "QUEUED"}, "PENDING"),
        ({"a": "IN_PROGRESS", "b": "FAILURE"}, "FAILURE"),
        ({"a": "SUCCESS", "b": "CANCELLED"}, "FAILURE"),
        ({"a": "STALE"}, "PENDING"),
    ],
)
def test_runs_roll_up(
    world: World, pull_request: PullRequest, outcomes: dict[str, str], rollup: str | None
) -> None:
    world.set_checks(pull_request, outcomes)
    assert pull_request.head.rollup_state == rollup


def test_statuses_count_beside_runs(world: World, pull_request: PullRequest) -> None:
    world.set_checks(pull_request, build="SUCCESS")
    world.set_status(pull_request, "jenkins", "ERROR")
    assert pull_request.head.rollup_state == "ERROR"
    world.set_status(pull_request, "jenkins", "SUCCESS")
    assert pull_request.head.rollup_state == "SUCCESS"


def test_a_workflow_without_jobs_is_in_no_rollup(world: World, pull_request: PullRequest) -> None:
    world.set_checks(pull_request, build="SUCCESS")
    suite = world.add_suite(pull_request, workflow="Deploy")
    assert pull_request.head.rollup_state == "SUCCESS"
    assert (suite.status, suite.runs) == ("QUEUED", [])


def test_two_jobs_that_share_a_name_both_count_and_one_run_again_replaces_the_first(
    world: World, pull_request: PullRequest
) -> None:
    suite = world.set_checks(pull_request, test="SUCCESS")
    failed = world.add_check_run(suite, "test", "FAILURE")
    assert pull_request.head.rollup_state == "FAILURE"
    again = world.run_again(failed)
    assert pull_request.head.rollup_state == "PENDING"
    world.finish_check_run(again, "SUCCESS")
    assert pull_request.head.rollup_state == "SUCCESS"
    assert (suite.status, suite.conclusion) == ("COMPLETED", "SUCCESS")
    assert pull_request.head.contexts == [suite.runs[0], again]
    assert suite.runs[1:] == [failed, again]


def test_a_push_leaves_the_checks_with_the_old_head(
    world: World, pull_request: PullRequest
) -> None:
    world.set_checks(pull_request, build="SUCCESS")
    world.push(pull_request)
    assert pull_request.head.rollup_state is None


def test_two_pull_requests_may_share_a_head(world: World, pull_request: PullRequest) -> None:
    other = world.open_pull_request(
        pull_request.repository, fork="alice", oid=pull_request.head.oid
    )
    world.set_checks(other, build="FAILURE")
    assert pull_request.head is other.head


@pytest.mark.parametrize(
    ("prepare", "expected"),
    [
        (lambda world, pr: None, "CLEAN"),
        (lambda world, pr: world.set_checks(pr, build="FAILURE"), "UNSTABLE"),
        (lambda world, pr: world.set_mergeable(pr, "CONFLICTING"), "DIRTY"),
        (lambda world, pr: world.set_mergeable(pr, "MERGEABLE", unknown_for=1), "UNKNOWN"),
        (lambda world, pr: world.set_draft(pr), "DRAFT"),
        (lambda world, pr: world.set_merge_state(pr, "HAS_HOOKS"), "HAS_HOOKS"),
        (lambda world, pr: world.merge(pr), "UNKNOWN"),
    ],
)
def test_the_merge_state_follows_from_the_rest(
    world: World, pull_request: PullRequest, prepare: Change, expected: str
) -> None:
    prepare(world, pull_request)
    assert merge_state(pull_request) == expected


@pytest.mark.parametrize(
    ("rules", "fulfil"),
    [
        (
            {"required_status_check_contexts": ["build"]},
            lambda world, pr: world.set_checks(pr, build="SUCCESS"),
        ),
        (
            {"required_status_check_contexts": ["jenkins"]},
            lambda world, pr: world.set_status(pr, "jenkins", "SUCCESS"),
        ),
        (
            {"required_approving_review_count": 1},
            lambda world, pr: world.review(pr, "bob", "APPROVED"),
        ),
        (
            {"requires_conversation_resolution": True},
            lambda world, pr: world.resolve(pr.threads[0]),
        ),
    ],
)
def test_a_rule_blocks_until_it_is_fulfilled(
    world: World, pull_request: PullRequest, rules: dict[str, object], fulfil: Change
) -> None:
    world.set_rules(pull_request.repository, **rules)
    assert merge_state(pull_request) == "BLOCKED"
    fulfil(world, pull_request)
    assert merge_state(pull_request) == "CLEAN"


def test_a_strict_branch_leaves_behind_until_the_next_push(
    world: World, pull_request: PullRequest
) -> None:
    world.set_rules(pull_request.repository, strict=True)
    world.move_base(pull_request.repository)
    assert merge_state(pull_request) == "BEHIND"
    world.push(pull_request)
    assert merge_state(pull_request) == "CLEAN"


def test_without_rules_no_opinion_decides(world: World, pull_request: PullRequest) -> None:
    world.review(pull_request, "bob", "CHANGES_REQUESTED")
    assert review_decision(pull_request) is None


def test_the_latest_opinion_of_each_writer_decides(world: World, pull_request: PullRequest) -> None:
    world.set_rules(pull_request.repository, required_approving_review_count=1)
    assert review_decision(pull_request) == "REVIEW_REQUIRED"
    world.review(pull_request, "passer-by", "APPROVED", writer=False)
    assert review_decision(pull_request) == "REVIEW_REQUIRED"
    refusal = world.review(pull_request, "bob", "CHANGES_REQUESTED")
    world.review(pull_request, "carol", "APPROVED")
    world.review(pull_request, "bob", "COMMENTED")
    assert review_decision(pull_request) == "CHANGES_REQUESTED"
    world.dismiss(refusal)
    assert review_decision(pull_request) == "APPROVED"


def test_a_reviewer_who_is_asked_again_is_not_among_the_latest(
    world: World, pull_request: PullRequest
) -> None:
    world.review(pull_request, "bob", "CHANGES_REQUESTED")
    assert [each.author.login for each in latest_reviews(pull_request)] == ["alice", "bob"]
    world.request_review(pull_request, "bob")
    assert [each.author.login for each in latest_reviews(pull_request)] == ["alice"]
    world.review(pull_request, "bob", "APPROVED")
    assert pull_request.review_requests == []


def test_an_outdated_thread_keeps_its_original_lines(
    world: World, pull_request: PullRequest
) -> None:
    thread = world.open_thread(pull_request, "bob", line=9, start_line=7, side="LEFT")
    world.outdate(thread)
    assert (thread.line, thread.start_line) == (None, None)
    assert (thread.original_line, thread.original_start_line) == (9, 7)


def test_a_thread_goes_with_its_last_comment(world: World, pull_request: PullRequest) -> None:
    (thread,) = pull_request.threads
    world.reply(thread, "bob")
    world.delete_comment(thread.comments[0])
    assert thread in pull_request.threads
    world.delete_comment(thread.comments[0])
    assert thread not in pull_request.threads


def test_ten_thousand_pull_requests_are_numbered_and_dated_in_order(world: World) -> None:
    repository = populate(world, "acme/fleet", 10_000, unfinished=16, threads=197)
    made = list(repository.pull_requests.values())
    assert [each.number for each in made] == list(range(1, 10_001))
    assert all(a.created_at < b.created_at for a, b in pairwise(made))
    assert sum(each.state == "OPEN" for each in made) == 16
    unresolved = [not thread.is_resolved for thread in made[-1].threads]
    assert unresolved == [False] * 104 + [True] * 93


def test_node_ids_have_the_shape_of_githubs() -> None:
    assert node_id("PR", 1, 2) == "PR_kwDOAAAAAc4AAAAC"
    assert node_id("R", 1) == "R_kgDOAAAAAQ"
    assert node_id("PR", 1, 2**40) != node_id("PR", 1, 0)
