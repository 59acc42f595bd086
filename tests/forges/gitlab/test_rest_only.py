"""Where GraphQL is absent, refused or older than what is asked: REST alone, and that is said."""

from __future__ import annotations

import pytest

from pullstate.domain.classifier import State, classify
from pullstate.domain.pull_request import CheckVerdict, MergeVerdict, ReviewDecision
from pullstate.forges.errors import Forbidden, NotVisible, RateLimited
from pullstate.forges.forge import Repository, Target
from pullstate.forges.gitlab import GitLab
from pullstate.forges.token_values import Scheme
from tests.forges.gitlab.conftest import asked, client, target
from tests.simulators.gitlab import Clock, Running, World, faults, running
from tests.simulators.gitlab.model import Project

pytestmark = pytest.mark.anyio
MODES = ["absent", "refused", "unauthorized"]


@pytest.fixture(params=MODES)
def silent(request: pytest.FixtureRequest, world: World) -> str:
    world.graphql_mode = request.param
    return request.param


async def test_open_ones_are_read_by_rest_with_their_facts(
    silent: str, gitlab: GitLab, world: World, project: Project, repository: Repository
):
    project.approvals_required = 1
    change = world.open_merge_request(project, "one", reviewers=["bo"])
    world.set_pipeline(change, "failed", jobs=["unit", "lint:success"])
    world.request_changes(change, "bo", blocks=False)
    page = await gitlab.open_page(repository, None, 100)
    [row] = page.rows
    assert row.checks.verdict is CheckVerdict.FAILING
    assert [check.name for check in row.checks.failing] == ["unit"]
    assert row.review.decision is ReviewDecision.CHANGES_REQUESTED
    assert row.review.changes_requested_by == ("bo",)
    assert row.review.approvals_left == 1
    assert [facet for facet, _ in page.gaps] == ["review"]
    assert "GraphQL does not answer here" in page.gaps[0][1]


async def test_finished_ones_have_what_a_list_says_and_the_rest_is_said_to_be_missing(
    silent: str,
    gitlab: GitLab,
    simulator: Running,
    world: World,
    project: Project,
    repository: Repository,
):
    for change in world.fill(project, 120, states=("merged", "closed")):
        world.approve(change, "bo")
    await gitlab.find_repository("group/sub/tool")
    await gitlab.lean_page(repository, None, 100)
    simulator.log.clear()
    page = await gitlab.lean_page(repository, None, 100)
    assert len(page.rows) == 100
    assert {classify(row).state for row in page.rows} == {State.MERGED, State.CLOSED}
    assert [facet for facet, _ in page.gaps] == ["review"]
    assert len(simulator.log) == 1


async def test_pages_and_batches_are_smaller_where_each_one_costs_requests(
    silent: str, gitlab: GitLab, world: World, project: Project, repository: Repository
):
    world.fill(project, 25)
    assert gitlab.limits.open_page == 100
    page = await gitlab.open_page(repository, None, 100)
    assert len(page.rows) == 10
    assert gitlab.limits.open_page == 10
    assert gitlab.limits.read_batch == 5
    numbers = [row.number for row in page.rows]
    while page.next:
        page = await gitlab.open_page(repository, page.next, 10)
        numbers += [row.number for row in page.rows]
    assert numbers == list(range(1, 26))


async def test_a_merge_under_way_counts_as_open(
    silent: str, gitlab: GitLab, world: World, project: Project, repository: Repository
):
    world.lock_for_merge(world.open_merge_request(project, "one"))
    page = await gitlab.open_page(repository, None, 100)
    assert [row.number for row in page.rows] == [1]


async def test_readings_and_look_ups_work(
    silent: str, gitlab: GitLab, world: World, project: Project, repository: Repository
):
    change = world.open_merge_request(project, "one", conflicting_files=("a",))
    world.check_mergeability(change)
    gone = Target(repository, 99, "gid://gitlab/MergeRequest/99")
    [reading, missing] = await gitlab.read([target(repository, change), gone])
    assert reading.pull_request.mergeability.verdict is MergeVerdict.CONFLICTING
    assert isinstance(missing.fault, NotVisible)
    assert (await gitlab.find_number(repository, 1)).number == 1
    assert [row.number for row in await gitlab.find_branch(repository, "one", None)] == [1]


async def test_a_manual_pipeline_hides_no_failed_job(
    silent: str, gitlab: GitLab, world: World, project: Project, repository: Repository
):
    change = world.open_merge_request(project, "one")
    world.set_pipeline(change, "manual", jobs=["unit:failed", "deploy:manual"])
    [reading] = await gitlab.read([target(repository, change)])
    assert reading.pull_request.checks.verdict is CheckVerdict.FAILING


async def test_a_pipeline_of_an_older_commit_says_nothing_of_the_head(
    silent: str, gitlab: GitLab, world: World, project: Project, repository: Repository
):
    change = world.open_merge_request(project, "one")
    world.set_pipeline(change, "success")
    world.push(change)
    [reading] = await gitlab.read([target(repository, change)])
    assert reading.pull_request.checks.verdict is CheckVerdict.NONE


@pytest.mark.parametrize("hides", [True, False])
async def test_refused_pipelines_are_unreadable_whether_the_key_is_absent_or_null(
    silent: str,
    simulator: Running,
    world: World,
    clock: Clock,
    project: Project,
    repository: Repository,
    hides: bool,
):
    world.hides_refused_pipelines = hides
    change = world.open_merge_request(project, "one")
    world.set_pipeline(change, "success")
    world.token("glpat-reporter", "reporter", refused=frozenset({"pipelines"}))
    reporter = client(simulator, clock, "glpat-reporter")
    [reading] = await reporter.read([target(repository, change)])
    assert reading.pull_request.checks.unreadable
    assert "checks" in dict(reading.gaps)
    await reporter.aclose()


@pytest.mark.parametrize("refused", ["approvals", "approvals:hidden"])
async def test_refused_approvals_are_unreadable_and_nobody_is_said_to_have_approved(
    silent: str,
    simulator: Running,
    world: World,
    clock: Clock,
    project: Project,
    repository: Repository,
    refused: str,
):
    change = world.open_merge_request(project, "one")
    world.approve(change, "bo")
    world.token("glpat-guest", "guest", refused=frozenset({refused}))
    guest = client(simulator, clock, "glpat-guest")
    [reading] = await guest.read([target(repository, change)])
    assert reading.pull_request.review.unreadable
    assert "review" in dict(reading.gaps)
    await guest.aclose()


async def test_a_limit_on_the_way_leaves_what_was_read_before(
    silent: str,
    gitlab: GitLab,
    simulator: Running,
    world: World,
    project: Project,
    repository: Repository,
):
    changes = world.fill(project, 3)
    await gitlab.read([target(repository, changes[0])])
    simulator.faults.add(faults.too_many_requests(30, request="/merge_requests/2$"))
    readings = await gitlab.read([target(repository, change) for change in changes])
    assert readings[0].pull_request is not None
    assert [type(reading.fault) for reading in readings[1:]] == [RateLimited, RateLimited]


async def test_graphql_is_asked_again_an_hour_later(
    silent: str,
    gitlab: GitLab,
    simulator: Running,
    world: World,
    clock: Clock,
    project: Project,
    repository: Repository,
):
    change = target(repository, world.open_merge_request(project, "one"))
    await gitlab.read([change])
    world.graphql_mode = "on"
    simulator.log.clear()
    await gitlab.read([change])
    assert "POST graphql" not in asked(simulator)
    clock.advance(hours=1)
    [reading] = await gitlab.read([change])
    assert reading.gaps == ()


async def test_graphql_that_is_turned_off_later_is_noticed(
    gitlab: GitLab, world: World, project: Project, repository: Repository
):
    change = target(repository, world.open_merge_request(project, "one"))
    [reading] = await gitlab.read([change])
    assert reading.gaps == ()
    world.graphql_mode = "refused"
    [reading] = await gitlab.read([change])
    assert reading.pull_request is not None
    assert "review" in dict(reading.gaps)


async def test_graphql_that_fails_twice_in_a_row_gives_way_to_rest(
    gitlab: GitLab, simulator: Running, world: World, project: Project, repository: Repository
):
    """One merge request that GitLab cannot resolve must not hide the other forty-nine."""
    changes = [target(repository, each) for each in world.fill(project, 2)]
    await gitlab.read(changes)
    for _ in range(3):
        simulator.faults.add(faults.graphql_null())
    with pytest.raises(Exception, match="did not answer"):
        await gitlab.read(changes)
    simulator.faults.clear()
    simulator.faults.add(
        faults.Fault(
            "null", "graphql", body="MergeRequests", status=200, json=faults.graphql_null().json
        )
    )
    readings = await gitlab.read(changes)
    assert all(reading.pull_request for reading in readings)


async def test_a_jobs_token_reads_by_rest_a_project_that_graphql_does_not_show_it(
    simulator: Running, world: World, clock: Clock, project: Project, repository: Repository
):
    world.token("glcbt-job", "runner", kind="job")
    change = target(repository, world.open_merge_request(project, "one"))
    runner = client(simulator, clock, "glcbt-job", Scheme.JOB_TOKEN)
    [reading] = await runner.read([change])
    assert reading.pull_request.number == 1
    simulator.log.clear()
    await runner.read([change])
    assert "POST graphql" not in asked(simulator)
    await runner.aclose()


@pytest.mark.parametrize("version", ["15.5.0", "15.6.3", "16.4.0", "16.11.1", "17.3.0", "18.4.0"])
@pytest.mark.parametrize("edition", ["ee", "ce"])
async def test_every_version_is_asked_only_for_what_it_has(
    version: str, edition: str, clock: Clock
):
    world = World(version=f"{version}-{edition}", edition=edition, clock=clock)
    project = world.project("group/tool", pipeline_must_succeed=True)
    change = world.open_merge_request(project, "one", draft=True)
    world.set_pipeline(change, "failed", jobs=["unit"])
    conflicting = world.open_merge_request(project, "two", conflicting_files=("a",))
    world.check_mergeability(conflicting)
    with running(world) as simulator:
        gitlab = client(simulator, clock)
        page = await gitlab.open_page(Repository(str(project.id), project.path), None, 100)
        await gitlab.aclose()
    first, second = page.rows
    assert page.gaps == ()
    assert classify(first).state is State.DRAFT
    assert first.checks.failing[0].required
    assert classify(second).state is State.CONFLICTING
    assert second.mergeability.raw


async def test_what_a_version_has_is_asked_once_and_again_after_a_day(
    gitlab: GitLab,
    simulator: Running,
    clock: Clock,
    world: World,
    project: Project,
    repository: Repository,
):
    change = target(repository, world.open_merge_request(project, "one"))
    for _ in range(3):
        await gitlab.read([change])
    assert len(introspections(simulator)) == 1
    clock.advance(days=1)
    await gitlab.read([change])
    assert len(introspections(simulator)) == 2


def introspections(simulator: Running) -> list[object]:
    return [each for each in simulator.log.matching("graphql") if "__type" in each.body]


async def test_an_install_that_was_upgraded_between_is_asked_anew(
    simulator: Running, clock: Clock, world: World, project: Project, repository: Repository
):
    """A field that is gone fails the whole query: the schema is looked at again at once."""
    world.version = "16.11.0-ee"
    change = target(repository, world.open_merge_request(project, "one"))
    gitlab = client(simulator, clock)
    await gitlab.read([change])
    world.version = "15.6.0-ee"
    with pytest.raises(Exception, match="did not answer"):
        await gitlab.read([change])
    [reading] = await gitlab.read([change])
    assert reading.gaps == ()
    await gitlab.aclose()


async def test_a_project_that_is_refused_altogether_is_forbidden_and_not_gone(
    simulator: Running, world: World, clock: Clock, project: Project, repository: Repository
):
    world.graphql_mode = "absent"
    world.token("glpat-guest", "guest", refused=frozenset({"merge_requests"}))
    change = target(repository, world.open_merge_request(project, "one"))
    guest = client(simulator, clock, "glpat-guest")
    [reading] = await guest.read([change])
    assert isinstance(reading.fault, Forbidden)
    await guest.aclose()
