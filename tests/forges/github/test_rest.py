"""GitHub over REST: without a token, and while GraphQL's quota is used up."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pullstate.domain.classifier import State, classify
from pullstate.domain.merge_request import Facet
from pullstate.domain.pull_request import CheckVerdict, MergeVerdict, ReviewDecision
from pullstate.forges.errors import Forbidden, NotVisible, RateLimited, Unexpected
from pullstate.forges.forge import Delta, Repository, Target
from pullstate.forges.github import GitHub
from tests.forges.github.conftest import client, target
from tests.simulators.github import ChangedFile, ManualClock, World, faults
from tests.simulators.github import GitHub as Simulator
from tests.simulators.github.model import Repository as SimulatedRepository

pytestmark = pytest.mark.anyio
PASSING, PENDING, FAILING = CheckVerdict.PASSING, CheckVerdict.PENDING, CheckVerdict.FAILING


@pytest.fixture
async def limited(github: GitHub, world: World, repository: Repository) -> GitHub:
    """A client whose GraphQL quota is used up for forty minutes."""
    await github.lean_page(repository, None, 1)
    world.set_budget("graphql", 0, reset_in=2400)
    return github


async def read(github: GitHub, repository: Repository, change):
    [reading] = await github.read([target(repository, change)])
    assert reading.fault is None
    return reading.pull_request


async def test_a_change_is_seen_while_graphql_is_used_up(
    limited: GitHub, world: World, rocket: SimulatedRepository, repository: Repository
):
    merged, red = world.open_pull_requests(rocket, 2)
    world.merge(merged)
    world.set_checks(red, build="FAILURE", lint="SUCCESS")
    since = merged.created_at - timedelta(days=1)
    [delta] = await limited.changed([Delta(repository, since)], 100)
    assert delta.page.repository == repository
    states = {row.number: row.finished for row in delta.page.rows}
    assert states == {1: True, 2: False}
    [reading] = await limited.read([target(repository, red)])
    assert reading.pull_request.checks.verdict is FAILING
    assert [each.name for each in reading.pull_request.checks.failing] == ["build"]
    assert reading.pull_request.mergeability.verdict is MergeVerdict.UNSTABLE
    assert reading.pull_request.review is None
    assert dict(reading.gaps)["review"] == dict(delta.page.gaps)["threads"]
    assert "2026-10-01T10:40:00Z" in dict(reading.gaps)["review"]


async def test_graphql_is_not_asked_again_before_its_quota_is_back(
    limited: GitHub,
    simulator: Simulator,
    clock: ManualClock,
    world: World,
    rocket: SimulatedRepository,
    repository: Repository,
):
    change = world.open_pull_request(rocket)
    await read(limited, repository, change)
    asked = len(simulator.log.matching("graphql"))
    await read(limited, repository, change)
    with pytest.raises(RateLimited):
        await limited.threads([target(repository, change)])
    assert len(simulator.log.matching("graphql")) == asked
    clock.advance(2401)
    assert (await read(limited, repository, change)).review is not None


async def test_a_walk_waits_for_graphql(limited: GitHub, repository: Repository):
    for walk in (limited.lean_page, limited.open_page):
        with pytest.raises(RateLimited):
            await walk(repository, None, 25)


async def test_a_secondary_limit_is_no_reason_to_ask_rest(
    github: GitHub,
    simulator: Simulator,
    world: World,
    rocket: SimulatedRepository,
    repository: Repository,
):
    change = world.open_pull_request(rocket)
    simulator.faults.add(faults.secondary_limit(30, request="graphql", times=None))
    with pytest.raises(RateLimited) as limit:
        await github.read([target(repository, change)])
    assert limit.value.resource == "*"
    assert simulator.log.matching("/repos/") == []


async def test_both_used_up_is_said_with_the_end(
    limited: GitHub, world: World, rocket: SimulatedRepository, repository: Repository
):
    change = world.open_pull_request(rocket)
    world.set_budget("core", 0, reset_in=600)
    [reading] = await limited.read([target(repository, change)])
    assert isinstance(reading.fault, RateLimited)
    assert reading.fault.resource == "core"


async def test_the_base_is_its_tip_over_rest_too(
    limited: GitHub,
    simulator: Simulator,
    world: World,
    rocket: SimulatedRepository,
    repository: Repository,
):
    changes = world.open_pull_requests(rocket, 3)
    tip = world.move_base(rocket)
    readings = await limited.read([target(repository, each) for each in changes])
    assert {each.pull_request.base.sha for each in readings} == {tip.oid}
    assert len(simulator.log.matching("/branches/main")) == 1


async def test_a_base_that_is_gone_keeps_its_last_commit(
    limited: GitHub, world: World, rocket: SimulatedRepository, repository: Repository
):
    world.commit(rocket, branch="side/way")
    change = world.open_pull_request(rocket, base="side/way")
    del rocket.branches["side/way"]
    assert (await read(limited, repository, change)).base.sha == change.base_ref_oid


async def test_legacy_statuses_count_and_an_empty_combined_status_does_not(
    limited: GitHub, world: World, rocket: SimulatedRepository, repository: Repository
):
    green, red, bare = world.open_pull_requests(rocket, 3)
    world.set_checks(green, build="SUCCESS")
    world.set_checks(red, build="SUCCESS")
    world.set_status(red, "jenkins", "FAILURE")
    verdicts = [(await read(limited, repository, each)).checks.verdict for each in (green, red)]
    assert verdicts == [PASSING, FAILING]
    assert (await read(limited, repository, bare)).checks.verdict is CheckVerdict.NONE


async def test_a_workflow_without_jobs_is_pending_over_rest_too(
    limited: GitHub, world: World, rocket: SimulatedRepository, repository: Repository
):
    change = world.open_pull_request(rocket)
    world.set_checks(change, lint="SUCCESS")
    world.add_suite(change, workflow="Build")
    checks = (await read(limited, repository, change)).checks
    assert (checks.verdict, checks.queued) == (PENDING, ("Build",))


async def test_of_two_forks_with_one_head_only_the_one_that_waits_awaits_approval(
    limited: GitHub, world: World, rocket: SimulatedRepository, repository: Repository
):
    waits = world.open_pull_request(rocket, fork="ada", head="fix")
    other = world.open_pull_request(rocket, fork="bob", head="fix", oid=waits.head.oid)
    world.add_suite(waits, workflow="CI", status="COMPLETED", conclusion="ACTION_REQUIRED")
    first, second = [await read(limited, repository, each) for each in (waits, other)]
    assert (first.checks.verdict, first.checks.approval_required) == (PENDING, ("CI",))
    assert second.checks.approval_required == ()


async def test_checks_that_rest_may_not_read_are_none_and_said(
    simulator: Simulator,
    clock: ManualClock,
    world: World,
    rocket: SimulatedRepository,
    repository: Repository,
):
    world.add_token("ghp_noRuns", forbids=["check-runs"])
    change = world.open_pull_request(rocket)
    world.set_checks(change, build="SUCCESS")
    github = client(simulator, clock, "ghp_noRuns")
    await github.lean_page(repository, None, 1)
    world.set_budget("graphql", 0)
    [reading] = await github.read([target(repository, change)])
    await github.aclose()
    assert reading.pull_request.checks.verdict is CheckVerdict.NONE
    assert reading.gaps[0] == ("checks", "the token may not see this (403)")


async def test_a_number_that_is_none_is_not_visible(limited: GitHub, repository: Repository):
    [reading] = await limited.read([Target(repository, 9, "PR_none")])
    assert isinstance(reading.fault, NotVisible)


async def test_a_number_that_passed_to_another_is_not_mistaken(
    limited: GitHub, world: World, rocket: SimulatedRepository, repository: Repository
):
    change = world.open_pull_request(rocket)
    [reading] = await limited.read([Target(repository, change.number, "PR_former")])
    assert isinstance(reading.fault, Unexpected)


async def test_bots_have_one_name_whichever_api_tells_it(
    github: GitHub, world: World, rocket: SimulatedRepository, repository: Repository
):
    change = world.open_pull_request(rocket, author="renovate[bot]")
    over_graphql = await read(github, repository, change)
    world.set_budget("graphql", 0)
    over_rest = await read(github, repository, change)
    assert over_graphql.author == over_rest.author == "renovate"


async def test_details_are_the_same_whichever_api_tells_them(
    github: GitHub, world: World, rocket: SimulatedRepository, repository: Repository
):
    change = world.open_pull_request(rocket, fork="eve", title="<b> & co", draft=True)
    world.set_checks(change, build="FAILURE")
    world.move_base(rocket)
    over_graphql = await read(github, repository, change)
    world.set_budget("graphql", 0)
    over_rest = await read(github, repository, change)
    for field in ("provider_id", "number", "url", "title", "author", "head", "base", "draft"):
        assert getattr(over_rest, field) == getattr(over_graphql, field), field
    assert over_rest.opened_at == over_graphql.opened_at
    assert over_rest.changed_at == over_graphql.changed_at
    assert over_rest.mergeability == over_graphql.mergeability
    assert over_rest.checks.verdict == over_graphql.checks.verdict


async def test_a_stranger_walks_public_repositories(
    stranger: GitHub, world: World, rocket: SimulatedRepository, repository: Repository
):
    world.open_pull_requests(rocket, 5, unfinished=3)
    first = await stranger.lean_page(repository, None, 3)
    second = await stranger.lean_page(repository, first.next, 3)
    assert [row.number for row in (*first.rows, *second.rows)] == [1, 2, 3, 4, 5]
    assert second.next is None
    open_ones = await stranger.open_page(repository, None, 25)
    assert [row.number for row in open_ones.rows] == [3, 4, 5]
    assert {facet for facet, _ in open_ones.gaps} == {"review", "threads"}


async def test_a_stranger_is_told_that_reviews_are_unreadable_and_not_that_there_are_none(
    stranger: GitHub, world: World, rocket: SimulatedRepository, repository: Repository
):
    change = world.open_pull_request(rocket)
    world.review(change, "bob", "APPROVED")
    world.request_review(change, "eve")
    seen = await read(stranger, repository, change)
    assert seen.review.decision is ReviewDecision.NONE
    assert seen.review.unreadable == "GitHub tells this to a token only"
    assert seen.review.requested == ("eve",)
    assert classify(seen).state is State.OPEN
    [threads] = await stranger.threads([target(repository, change)])
    assert isinstance(threads.fault, Forbidden)


async def test_a_stranger_sees_no_private_repository_and_has_no_free_probe(
    stranger: GitHub, world: World, rocket: SimulatedRepository, repository: Repository
):
    assert await stranger.probe(repository, None) is None
    assert await stranger.find_repository("acme/rocket") == repository
    world.set_private(rocket)
    with pytest.raises(NotVisible):
        await stranger.find_repository("acme/rocket")


async def test_a_stranger_never_asks_graphql(
    stranger: GitHub,
    simulator: Simulator,
    world: World,
    rocket: SimulatedRepository,
    repository: Repository,
    clock: ManualClock,
):
    change = world.open_pull_request(rocket)
    await stranger.changed([Delta(repository, clock())], 100)
    await stranger.find_number(repository, 1)
    await stranger.find_branch(repository, change.head_ref_name, None)
    for facet in Facet:
        if facet is not Facet.DISCUSSIONS:
            await stranger.facet(target(repository, change), facet)
    assert simulator.log.matching("graphql") == []


async def test_a_branch_is_found_over_rest_by_name_and_owner(
    stranger: GitHub, world: World, rocket: SimulatedRepository, repository: Repository
):
    world.merge(world.open_pull_request(rocket, head="fix"))
    world.open_pull_request(rocket, head="fix")
    world.open_pull_request(rocket, head="fix", fork="eve")
    world.open_pull_request(rocket, head="other")
    found = await stranger.find_branch(repository, "fix", None)
    assert [each.number for each in found] == [3, 2, 1]
    assert [e.number for e in await stranger.find_branch(repository, "fix", "eve")] == [3]
    assert await stranger.find_branch(repository, "nope", None) == ()


async def test_a_walk_that_changes_over_begins_anew(
    github: GitHub, stranger: GitHub, world: World, rocket: SimulatedRepository, repository
):
    world.open_pull_requests(rocket, 4)
    begun = await stranger.lean_page(repository, None, 2)
    assert [row.number for row in (await github.lean_page(repository, begun.next, 2)).rows] == [
        1,
        2,
    ]
    begun = await github.lean_page(repository, None, 2)
    again = await stranger.lean_page(repository, begun.next, 2)
    assert [row.number for row in again.rows] == [1, 2]


async def test_facets_are_the_same_over_rest(
    github: GitHub,
    stranger: GitHub,
    clock: ManualClock,
    world: World,
    rocket: SimulatedRepository,
    repository: Repository,
):
    change = world.open_pull_request(rocket, body="Goes up.")
    world.set_labels(change, ["fuel"])
    world.request_review(change, "eve")
    world.set_files(change, [ChangedFile("a.py", 2, 1, patch="@@"), ChangedFile("b.png", 0, 0)])
    clock.advance(60)
    world.comment(change, "ada", "Please look")
    world.push(change)
    clock.advance(60)
    world.set_checks(change, build="SUCCESS", test="FAILURE")
    world.set_status(change, "jenkins", "ERROR")
    for facet in Facet:
        if facet is Facet.DISCUSSIONS:
            continue
        over_graphql = await github.facet(target(repository, change), facet)
        over_rest = await stranger.facet(target(repository, change), facet)
        assert over_rest == over_graphql, facet


async def test_a_submitted_review_is_a_note_over_rest_and_a_pending_one_is_not(
    stranger: GitHub, clock: ManualClock, world: World, rocket: SimulatedRepository, repository
):
    change = world.open_pull_request(rocket)
    world.review(change, "bob", "CHANGES_REQUESTED", body="No")
    found = await stranger.facet(target(repository, change), Facet.NOTES)
    assert [(each.comment.body, each.review_state) for each in found.items] == [
        ("No", "CHANGES_REQUESTED")
    ]


async def test_an_app_without_workflows_is_a_pipeline_too(
    stranger: GitHub, world: World, rocket: SimulatedRepository, repository: Repository
):
    change = world.open_pull_request(rocket)
    suite = world.add_suite(change, workflow=None, app="circleci")
    world.add_check_run(suite, "one", "SUCCESS")
    world.add_check_run(suite, "two", "FAILURE")
    [found] = (await stranger.facet(target(repository, change), Facet.PIPELINES)).items
    assert (found.source, found.status) == ("Circleci", "failure")
    assert [job.name for job in found.failed_jobs] == ["two"]
