"""The GitHub client against a simulated GitHub: pages, deltas, readings, look-ups."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pullstate.domain.classifier import State, classify
from pullstate.domain.pull_request import CheckVerdict, MergeVerdict, Queue, ReviewDecision, Rules
from pullstate.forges.errors import (
    Forbidden,
    NotVisible,
    Overloaded,
    PullRequestsDisabled,
    Unauthorized,
)
from pullstate.forges.forge import Delta, Repository
from pullstate.forges.github import GitHub
from tests.forges.github.conftest import client, target
from tests.simulators.github import TOKEN, ManualClock, World, faults, running
from tests.simulators.github import GitHub as Simulator
from tests.simulators.github.model import Repository as SimulatedRepository

pytestmark = pytest.mark.anyio


async def test_a_repository_is_found_by_its_address(github: GitHub, repository: Repository):
    assert await github.find_repository("acme/rocket") == repository


async def test_a_renamed_repository_is_found_by_its_old_address_under_its_new_name(
    github: GitHub, world: World, rocket: SimulatedRepository
):
    world.rename_repository(rocket, "acme/shuttle")
    assert await github.find_repository("acme/rocket") == Repository(rocket.id, "acme/shuttle")


async def test_no_repository_is_not_visible(github: GitHub, rocket: SimulatedRepository):
    with pytest.raises(NotVisible):
        await github.find_repository("acme/missile")


async def test_a_repository_without_pull_requests_says_so(
    github: GitHub, world: World, rocket: SimulatedRepository
):
    world.set_pull_requests_enabled(rocket, False)
    with pytest.raises(PullRequestsDisabled):
        await github.find_repository("acme/rocket")


async def test_open_ones_come_oldest_first_with_all_facts(
    github: GitHub, world: World, rocket: SimulatedRepository, repository: Repository
):
    changes = world.open_pull_requests(rocket, 5)
    world.close(changes[1])
    world.set_checks(changes[0], build="SUCCESS")
    first = await github.open_page(repository, None, 3)
    second = await github.open_page(repository, first.next, 3)
    rows = [*first.rows, *second.rows]
    assert [row.number for row in rows] == [1, 3, 4, 5]
    assert second.next is None
    assert rows[0].checks.verdict is CheckVerdict.PASSING
    assert all(row.checks and row.mergeability and row.review and row.rules for row in rows)
    assert first.repository == repository


async def test_a_page_of_open_ones_costs_one_point(
    github: GitHub,
    simulator: Simulator,
    world: World,
    rocket: SimulatedRepository,
    repository: Repository,
):
    world.open_pull_requests(rocket, 30)
    await github.open_page(repository, None, 25)
    assert simulator.points - probe_points(simulator) == 1


async def test_a_lean_page_of_a_hundred_costs_one_point_and_observes_nothing_unfinished(
    github: GitHub,
    simulator: Simulator,
    world: World,
    rocket: SimulatedRepository,
    repository: Repository,
):
    world.open_pull_requests(rocket, 120, unfinished=10)
    page = await github.lean_page(repository, None, 100)
    assert simulator.points - probe_points(simulator) == 1
    assert [row.number for row in page.rows] == list(range(1, 101))
    rest = await github.lean_page(repository, page.next, 100)
    unfinished = [row for row in rest.rows if not row.finished]
    assert len(unfinished) == 10
    assert not any(row.checks or row.mergeability or row.review for row in unfinished)
    assert all(row.checks and row.mergeability and row.review for row in page.rows)


async def test_lean_pages_walk_from_either_end(
    github: GitHub, world: World, rocket: SimulatedRepository, repository: Repository
):
    world.open_pull_requests(rocket, 5)
    newest = await github.lean_page(repository, None, 2, newest_first=True)
    assert [row.number for row in newest.rows] == [5, 4]
    more = await github.lean_page(repository, newest.next, 2, newest_first=True)
    assert [row.number for row in more.rows] == [3, 2]


async def test_a_finished_row_keeps_the_checks_of_its_head(
    github: GitHub, world: World, rocket: SimulatedRepository, repository: Repository
):
    change = world.open_pull_request(rocket)
    world.set_checks(change, build="FAILURE")
    world.merge(change)
    [row] = (await github.lean_page(repository, None, 100)).rows
    assert classify(row).state is State.MERGED
    assert (row.checks.sha, row.checks.verdict) == (row.head.sha, CheckVerdict.FAILING)


async def test_a_delta_of_several_repositories_is_one_request_for_one_point(
    github: GitHub, simulator: Simulator, world: World, clock: ManualClock
):
    made = [world.create_repository(f"acme/part-{n}") for n in range(10)]
    for each in made:
        world.open_pull_requests(each, 3)
    deltas = [
        Delta(Repository(each.id, each.name_with_owner), clock() - timedelta(days=1))
        for each in made
    ]
    readings = await github.changed(deltas, 100)
    assert len(simulator.operations("Delta")) == 1
    assert simulator.points - probe_points(simulator) == 1
    assert [len(each.page.rows) for each in readings] == [3] * 10
    assert [each.delta for each in readings] == deltas


async def test_a_delta_ends_where_nothing_newer_is_left(
    github: GitHub,
    world: World,
    rocket: SimulatedRepository,
    repository: Repository,
    clock: ManualClock,
):
    changes = world.open_pull_requests(rocket, 6)
    since = changes[2].updated_at
    [first] = await github.changed([Delta(repository, since)], 2)
    assert [row.number for row in first.page.rows] == [6, 5]
    [second] = await github.changed([Delta(repository, since, first.page.next)], 3)
    assert [row.number for row in second.page.rows] == [4, 3]
    assert second.page.next is None


async def test_a_repository_that_a_delta_does_not_answer_for_is_no_empty_one(
    github: GitHub, simulator: Simulator, world: World, clock: ManualClock
):
    names = ("acme/a", "acme/b", "acme/c")
    made = [world.create_repository(name) for name in names]
    world.open_pull_request(made[2])
    simulator.faults.add(
        faults.partial({"r0": "FORBIDDEN", "r1": "NOT_FOUND"}, body="query Delta", times=1)
    )
    deltas = [Delta(Repository(each.id, each.name_with_owner), clock()) for each in made]
    first, second, third = await github.changed(deltas, 100)
    assert (first.page, type(first.fault)) == (None, Forbidden)
    assert (second.page, type(second.fault)) == (None, NotVisible)
    assert [row.number for row in third.page.rows] == [1]


async def test_all_repositories_refused_is_a_fault_for_each(
    github: GitHub, simulator: Simulator, world: World, clock: ManualClock
):
    made = [world.create_repository(name) for name in ("acme/a", "acme/b")]
    simulator.faults.add(faults.partial({"r0": "FORBIDDEN", "r1": "FORBIDDEN"}, body="query Delta"))
    deltas = [Delta(Repository(each.id, each.name_with_owner), clock()) for each in made]
    readings = await github.changed(deltas, 100)
    assert [type(each.fault) for each in readings] == [Forbidden, Forbidden]


async def test_twenty_five_are_read_for_one_point(
    github: GitHub,
    simulator: Simulator,
    world: World,
    rocket: SimulatedRepository,
    repository: Repository,
):
    changes = world.open_pull_requests(rocket, 25)
    readings = await github.read([target(repository, each) for each in changes])
    assert simulator.points - probe_points(simulator) == 1
    assert [each.pull_request.number for each in readings] == [each.number for each in changes]
    assert not any(each.fault or each.gaps for each in readings)


async def test_what_failed_is_named_required_ones_first(
    github: GitHub, world: World, rocket: SimulatedRepository, repository: Repository
):
    world.set_rules(rocket, required_status_check_contexts=["build"])
    change = world.open_pull_request(rocket)
    world.set_checks(change, alpha="FAILURE", build="FAILURE", lint="SUCCESS")
    world.set_status(change, "jenkins", "ERROR")
    [reading] = await github.read([target(repository, change)])
    checks = reading.pull_request.checks
    assert [(each.name, each.required) for each in checks.failing] == [
        ("build", True),
        ("alpha", False),
        ("jenkins", False),
    ]
    assert checks.names == ("alpha", "build", "jenkins", "lint")
    assert dict(checks.counts) == {"FAILURE": 2, "SUCCESS": 1, "ERROR": 1}
    assert reading.pull_request.rules == Rules(("build",))


async def test_a_failure_behind_a_hundred_checks_is_found(
    github: GitHub, world: World, rocket: SimulatedRepository, repository: Repository
):
    change = world.open_pull_request(rocket)
    checks = {f"job {n:03}": "SUCCESS" for n in range(129)}
    world.set_checks(change, {**checks, "job 129": "FAILURE"})
    [reading] = await github.read([target(repository, change)])
    checks = reading.pull_request.checks
    assert [each.name for each in checks.failing] == ["job 129"]
    assert len(checks.names) == 130


async def test_a_workflow_without_jobs_keeps_a_green_rollup_pending(
    github: GitHub, world: World, rocket: SimulatedRepository, repository: Repository
):
    change = world.open_pull_request(rocket)
    world.set_checks(change, lint="SUCCESS")
    world.add_suite(change, workflow="Build")
    [reading] = await github.read([target(repository, change)])
    checks = reading.pull_request.checks
    assert (checks.verdict, checks.queued) == (CheckVerdict.PENDING, ("Build",))


async def test_one_that_is_gone_is_not_visible_and_the_others_are_read(
    github: GitHub, world: World, rocket: SimulatedRepository, repository: Repository
):
    here, gone = world.open_pull_requests(rocket, 2)
    asked = [target(repository, gone), target(repository, here)]
    del world.nodes[gone.id]
    first, second = await github.read(asked)
    assert isinstance(first.fault, NotVisible)
    assert second.pull_request.number == here.number


async def test_one_that_is_refused_is_not_gone(
    github: GitHub,
    simulator: Simulator,
    world: World,
    rocket: SimulatedRepository,
    repository: Repository,
):
    changes = world.open_pull_requests(rocket, 2)
    simulator.faults.add(faults.partial({"nodes.0": "FORBIDDEN"}, body="query Read"))
    first, second = await github.read([target(repository, each) for each in changes])
    assert isinstance(first.fault, Forbidden)
    assert second.pull_request is not None


async def test_checks_that_may_not_be_read_are_none_and_said(
    simulator: Simulator,
    clock: ManualClock,
    world: World,
    rocket: SimulatedRepository,
    repository: Repository,
):
    world.add_token("ghp_noChecks", forbids=["Commit.statusCheckRollup"])
    change = world.open_pull_request(rocket)
    world.set_checks(change, build="FAILURE")
    github = client(simulator, clock, "ghp_noChecks")
    [reading] = await github.read([target(repository, change)])
    await github.aclose()
    checks = reading.pull_request.checks
    assert checks.verdict is CheckVerdict.NONE
    assert checks.unreadable == "the token may not see this"
    assert reading.gaps == (("checks", "the token may not see this"),)


async def test_with_only_the_names_refused_the_rollup_is_the_verdict(
    simulator: Simulator,
    clock: ManualClock,
    world: World,
    rocket: SimulatedRepository,
    repository: Repository,
):
    world.add_token("ghp_noNames", forbids=["StatusCheckRollup.contexts"])
    change = world.open_pull_request(rocket)
    world.set_checks(change, build="FAILURE")
    github = client(simulator, clock, "ghp_noNames")
    [reading] = await github.read([target(repository, change)])
    await github.aclose()
    checks = reading.pull_request.checks
    assert (checks.verdict, checks.failing) == (CheckVerdict.FAILING, ())
    assert checks.unreadable.startswith("names of checks")


async def test_reviews_rules_and_the_queue_are_read(
    github: GitHub, world: World, rocket: SimulatedRepository, repository: Repository
):
    world.set_rules(rocket, required_approving_review_count=2, requires_code_owner_reviews=True)
    change = world.open_pull_request(rocket)
    world.review(change, "bob", "APPROVED")
    world.push(change)
    world.request_review(change, "eve")
    world.request_review(change, "acme/core")
    [reading] = await github.read([target(repository, change)])
    seen = reading.pull_request
    assert seen.review.decision is ReviewDecision.PENDING
    assert seen.review.approved_by == ("bob",)
    assert seen.review.approval_on_head is False
    assert seen.review.requested == ("@core", "eve")
    assert seen.rules == Rules(approvals=2, code_owners=True)
    assert seen.queue is None


async def test_of_two_forks_with_one_head_only_the_one_that_waits_awaits_approval(
    github: GitHub,
    simulator: Simulator,
    world: World,
    rocket: SimulatedRepository,
    repository: Repository,
):
    waits = world.open_pull_request(rocket, fork="ada", head="fix")
    other = world.open_pull_request(rocket, fork="bob", head="fix", oid=waits.head.oid)
    world.add_suite(waits, workflow="CI", status="COMPLETED", conclusion="ACTION_REQUIRED")
    for _ in range(3):
        first, second = await github.read([target(repository, each) for each in (waits, other)])
        assert first.pull_request.checks.approval_required == ("CI",)
        assert second.pull_request.checks.approval_required == ()
    assert len(simulator.log.matching("/actions/runs")) == 1


async def test_what_only_a_ruleset_requires_is_asked_once_an_hour_and_only_of_a_blocked_one(
    simulator: Simulator,
    clock: ManualClock,
    world: World,
    rocket: SimulatedRepository,
    repository: Repository,
):
    world.add_token("ghp_noRules", forbids=["Ref.refUpdateRule"])
    blocked, free = world.open_pull_requests(rocket, 2)
    world.commit(rocket, branch="free")
    world.retarget(free, "free")
    world.set_rules(
        rocket, required_status_check_contexts=["sim"], required_approving_review_count=1
    )
    for change in (blocked, free):
        world.set_checks(change, build="SUCCESS")
    github = client(simulator, clock, "ghp_noRules")
    for minutes in (0, 59, 2):
        clock.advance(60 * minutes)
        first, _ = await github.read([target(repository, each) for each in (blocked, free)])
    await github.aclose()
    asked = [each.path for each in simulator.log.matching("/rules/branches")]
    assert asked == ["/api/v3/repos/acme/rocket/rules/branches/main"] * 2
    assert first.gaps == (("rules", "the token may not see this"),)
    assert first.pull_request.rules == Rules(("sim",), 1)


async def test_a_ruleset_names_the_cause_of_a_block(clock: ManualClock):
    with running(World(clock=clock, without=["Ref.refUpdateRule"])) as simulator:
        world = simulator.world
        made = world.create_repository("acme/rocket")
        world.set_rules(made, required_status_check_contexts=["build", "sim"])
        change = world.open_pull_request(made)
        world.set_checks(change, build="SUCCESS")
        github = client(simulator, clock)
        seen = await github.find_number(Repository(made.id, "acme/rocket"), 1)
        await github.aclose()
    assert seen.rules == Rules(("build", "sim"))
    reasons = [(each.code, each.about) for each in classify(seen).reasons]
    assert ("required_check_never_reported", "sim") in reasons


async def test_a_queued_one_has_its_place(
    github: GitHub, world: World, rocket: SimulatedRepository, repository: Repository
):
    change = world.open_pull_request(rocket)
    world.enqueue(change)
    [reading] = await github.read([target(repository, change)])
    assert reading.pull_request.queue == Queue(1, "QUEUED")


async def test_a_number_is_found_with_all_facts(
    github: GitHub, world: World, rocket: SimulatedRepository, repository: Repository
):
    change = world.open_pull_request(rocket, title="Ignite")
    world.set_checks(change, build="FAILURE")
    seen = await github.find_number(repository, 1)
    assert (seen.title, [each.name for each in seen.checks.failing]) == ("Ignite", ["build"])


async def test_an_issues_number_is_no_pull_requests(
    github: GitHub, world: World, rocket: SimulatedRepository, repository: Repository
):
    number = world.open_issue(rocket)
    with pytest.raises(NotVisible):
        await github.find_number(repository, number)


async def test_a_branch_gives_what_was_opened_from_it_forks_of_its_name_too(
    github: GitHub, world: World, rocket: SimulatedRepository, repository: Repository
):
    old = world.open_pull_request(rocket, head="fix")
    world.merge(old)
    world.open_pull_request(rocket, head="fix")
    world.open_pull_request(rocket, head="fix", fork="eve")
    world.open_pull_request(rocket, head="Fix")
    found = await github.find_branch(repository, "fix", None)
    assert [(each.number, each.finished) for each in found] == [(3, False), (2, False), (1, True)]
    assert all(each.checks for each in found)
    assert [e.number for e in await github.find_branch(repository, "fix", "EVE")] == [3]
    assert await github.find_branch(repository, "nope", None) == ()


async def test_the_probe_is_free_while_nothing_changed(
    github: GitHub,
    simulator: Simulator,
    world: World,
    rocket: SimulatedRepository,
    repository: Repository,
):
    change = world.open_pull_request(rocket)
    first = await github.probe(repository, None)
    assert not first.unchanged
    again = await github.probe(repository, first.etag)
    assert again.unchanged
    assert [each.notes["cost"] for each in simulator.log.matching("/pulls")] == [1, 0]
    world.edit(change, title="Other")
    assert not (await github.probe(repository, again.etag)).unchanged


async def test_a_head_repository_that_is_gone_leaves_its_pull_request(
    github: GitHub, world: World, rocket: SimulatedRepository, repository: Repository
):
    change = world.open_pull_request(rocket, fork="eve")
    world.delete_repository(change.head_repository)
    world.delete_account("eve")
    seen = await github.find_number(repository, change.number)
    assert (seen.head.repository_url, seen.head.owner) == ("", "")
    assert seen.head.branch == change.head_ref_name


async def test_a_deleted_author_is_the_ghost(
    github: GitHub, world: World, rocket: SimulatedRepository, repository: Repository
):
    world.open_pull_request(rocket, author="eve")
    world.delete_account("eve")
    assert (await github.find_number(repository, 1)).author == "ghost"


async def test_a_moved_base_shows_in_the_base_commit(
    github: GitHub, world: World, rocket: SimulatedRepository, repository: Repository
):
    world.open_pull_request(rocket)
    tip = world.move_base(rocket)
    seen = await github.find_number(repository, 1)
    assert seen.base.sha == tip.oid == seen.mergeability.base_sha


async def test_a_revoked_token_is_unauthorized(
    github: GitHub, world: World, repository: Repository
):
    world.revoke_token(TOKEN)
    with pytest.raises(Unauthorized):
        await github.lean_page(repository, None, 10)


@pytest.mark.parametrize(
    "fault",
    [
        faults.server_error(502),
        faults.server_error(504),
        faults.html_page(200),
        faults.html_page(404),
        faults.cut_json(),
        faults.broken_off(),
        faults.resource_limits(),
        faults.something_went_wrong(),
        faults.something_went_wrong(status=200),
    ],
    ids=lambda fault: f"{fault.name} {fault.status}",
)
async def test_what_a_smaller_page_may_mend_is_overloaded(
    github: GitHub, simulator: Simulator, world: World, repository: Repository, fault
):
    await github.lean_page(repository, None, 10)
    simulator.faults.add(fault)
    with pytest.raises(Overloaded):
        await github.lean_page(repository, None, 10)


async def test_an_older_server_is_asked_only_what_it_knows(clock: ManualClock):
    without = ["PullRequest.mergeQueueEntry", "PullRequest.isInMergeQueue", "Ref.refUpdateRule"]
    with running(World(clock=clock, without=without)) as simulator:
        made = simulator.world.create_repository("acme/rocket")
        simulator.world.open_pull_request(made)
        github = client(simulator, clock)
        repository = Repository(made.id, "acme/rocket")
        first = await github.find_number(repository, 1)
        await github.open_page(repository, None, 25)
        await github.aclose()
    assert first.queue is None
    assert first.mergeability.verdict is MergeVerdict.CLEAN
    assert len(simulator.operations("Fields")) == 1


async def test_quotas_are_those_of_the_last_answers(
    github: GitHub, world: World, rocket: SimulatedRepository, repository: Repository
):
    await github.find_repository("acme/rocket")
    await github.lean_page(repository, None, 10)
    left = {each.resource: each.remaining for each in github.quotas()}
    assert left.keys() == {"core", "graphql"}
    assert left["core"] == 4999


def probe_points(simulator: Simulator) -> int:
    """What finding out which fields there are has cost."""
    return sum(each.notes.get("cost", 0) for each in simulator.operations("Fields"))
