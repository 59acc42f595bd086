"""The GitLab client against a simulated GitLab: pages, readings, look-ups, and what they cost."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from pullstate.domain.classifier import State, classify
from pullstate.domain.pull_request import CheckVerdict, MergeVerdict
from pullstate.forges.errors import (
    Forbidden,
    NotTheApi,
    NotVisible,
    PullRequestsDisabled,
    RateLimited,
    Unauthorized,
    Unexpected,
)
from pullstate.forges.forge import Delta, Page, Repository, Target
from pullstate.forges.gitlab import GitLab
from tests.forges.gitlab.conftest import asked, client, target
from tests.forges.gitlab.made import node
from tests.simulators.faults import html_page, server_error
from tests.simulators.gitlab import Clock, Running, World, faults
from tests.simulators.gitlab.model import Project

pytestmark = pytest.mark.anyio
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


async def walk(gitlab: GitLab, repository: Repository, size: int = 100, **how: bool) -> list[Page]:
    pages = [await gitlab.lean_page(repository, None, size, **how)]
    while pages[-1].next:
        pages.append(await gitlab.lean_page(repository, pages[-1].next, size, **how))
    return pages


def numbers(*pages: Page) -> list[int]:
    return [row.number for page in pages for row in page.rows]


async def test_a_project_is_found_by_its_path_and_by_its_number(
    gitlab: GitLab, repository: Repository
):
    assert await gitlab.find_repository("group/sub/tool") == repository
    assert await gitlab.find_repository(repository.forge_id) == repository


async def test_a_moved_project_is_found_by_its_old_path_under_its_new_one(
    gitlab: GitLab, world: World, project: Project
):
    world.move_project(project, "other/place")
    found = await gitlab.find_repository("group/sub/tool")
    assert found == Repository(str(project.id), "other/place")


async def test_no_project_is_not_visible(gitlab: GitLab, project: Project):
    with pytest.raises(NotVisible):
        await gitlab.find_repository("group/nothing")


async def test_a_project_without_merge_requests_says_so(
    gitlab: GitLab, project: Project, repository: Repository
):
    project.merge_requests_enabled = False
    with pytest.raises(PullRequestsDisabled):
        await gitlab.find_repository("group/sub/tool")
    with pytest.raises(PullRequestsDisabled):
        await gitlab.open_page(repository, None, 100)


async def test_a_project_whose_merge_requests_are_refused_is_not_taken_for_one_without(
    simulator: Running, world: World, clock: Clock, repository: Repository
):
    world.token("glpat-guest", "guest", refused=frozenset({"merge_requests"}))
    guest = client(simulator, clock, "glpat-guest")
    with pytest.raises(Forbidden):
        await guest.lean_page(repository, None, 100)
    await guest.aclose()


async def test_open_ones_come_oldest_first_with_all_facts(
    gitlab: GitLab, world: World, project: Project, repository: Repository
):
    first = world.open_merge_request(project, "one", reviewers=["bo", "cy"])
    world.set_pipeline(
        first, "failed", jobs=["unit", world.job("lint", "failed", allow_failure=True)]
    )
    world.approve(first, "bo")
    second = world.open_merge_request(project, "two", conflicting_files=("a.py",), draft=True)
    world.check_mergeability(second)
    world.close(world.open_merge_request(project, "three"))
    page = await gitlab.open_page(repository, None, 100)
    assert numbers(page) == [first.iid, second.iid]
    assert page.next is None
    assert page.gaps == ()
    one, two = page.rows
    assert one.checks.verdict is CheckVerdict.FAILING
    assert [check.name for check in one.checks.failing] == ["unit"]
    assert one.review.approved_by == ("bo",)
    assert one.review.requested == ("cy",)
    assert two.mergeability.verdict is MergeVerdict.CONFLICTING
    assert classify(two).state is State.DRAFT


async def test_a_merge_under_way_counts_as_open(
    gitlab: GitLab, world: World, project: Project, repository: Repository
):
    """No list of opened ones has it, so a roll-call would take it for finished."""
    locked = world.open_merge_request(project, "one")
    world.lock_for_merge(locked)
    page = await gitlab.open_page(repository, None, 100)
    assert numbers(page) == [locked.iid]
    assert not page.rows[0].finished


async def test_many_merges_under_way_all_count(
    gitlab: GitLab, world: World, project: Project, repository: Repository
):
    world.fill(project, 130, states=("locked",))
    page = await gitlab.open_page(repository, None, 100)
    assert len(page.rows) == 130


async def test_the_open_walk_has_gitlab_check_what_it_has_not(
    gitlab: GitLab, world: World, project: Project, repository: Repository
):
    """A list alone says `unchecked` for ever: only this parameter, or a single GET, checks it."""
    change = world.open_merge_request(project, "one")
    world.push(change, conflicting_files=["a.py"])
    await gitlab.open_page(repository, None, 100)
    page = await gitlab.open_page(repository, None, 100)
    assert page.rows[0].mergeability.verdict is MergeVerdict.CONFLICTING


async def test_a_walk_meets_everything_though_all_were_created_at_once_and_one_comes_between(
    gitlab: GitLab, world: World, project: Project, repository: Repository
):
    world.fill(project, 250, every=timedelta(0))
    first = await gitlab.lean_page(repository, None, 100)
    world.open_merge_request(project, "meanwhile")
    second = await gitlab.lean_page(repository, first.next, 100)
    third = await gitlab.lean_page(repository, second.next, 100)
    assert sorted(numbers(first, second, third)) == list(range(1, 252))
    assert third.next is None


async def test_a_walk_is_unmoved_by_updates(
    gitlab: GitLab, world: World, clock: Clock, project: Project, repository: Repository
):
    filled = world.fill(project, 150)
    first = await gitlab.lean_page(repository, None, 100)
    clock.advance(hours=1)
    for change in filled[:40]:
        world.merge(change)
    second = await gitlab.lean_page(repository, first.next, 100)
    assert numbers(first, second) == list(range(1, 151))


async def test_a_walk_newest_first_begins_at_the_end(
    gitlab: GitLab, world: World, project: Project, repository: Repository
):
    world.fill(project, 150)
    pages = await walk(gitlab, repository, newest_first=True)
    assert numbers(*pages) == list(range(150, 0, -1))


async def test_a_walk_goes_on_where_it_was_with_pages_of_another_size(
    gitlab: GitLab, world: World, project: Project, repository: Repository
):
    """A page that was too much for the forge is asked for again in halves."""
    world.fill(project, 230)
    first = await gitlab.lean_page(repository, None, 100)
    seen = numbers(first)
    page = await gitlab.lean_page(repository, first.next, 30)
    while True:
        seen += numbers(page)
        if page.next is None:
            break
        page = await gitlab.lean_page(repository, page.next, 30)
    assert set(seen) == set(range(1, 231))


@pytest.mark.parametrize("newest_first", [False, True])
@pytest.mark.parametrize("status", [400, 405])
async def test_a_walk_past_the_largest_offset_goes_on_in_a_narrower_window(
    gitlab: GitLab,
    simulator: Running,
    world: World,
    project: Project,
    repository: Repository,
    newest_first: bool,
    status: int,
):
    """An administrator may have set it lower than what GitLab.com has."""
    world.fill(project, 95)
    beyond = faults.Fault(
        "offset", r"[?&]page=5\b", times=None, status=status, json={"error": "no"}
    )
    simulator.faults.add(beyond)
    pages = await walk(gitlab, repository, 10, newest_first=newest_first)
    assert set(numbers(*pages)) == set(range(1, 96))


async def test_totals_that_are_not_there_are_not_missed(
    gitlab: GitLab, world: World, project: Project, repository: Repository
):
    world.count_limit = 0
    world.fill(project, 210)
    assert len(numbers(*await walk(gitlab, repository))) == 210


async def test_rows_of_a_list_have_details_and_finished_ones_all_that_is_kept_of_them(
    gitlab: GitLab, world: World, project: Project, repository: Repository
):
    world.open_merge_request(project, "one")
    merged = world.open_merge_request(project, "two")
    world.set_pipeline(merged, "success")
    world.approve(merged, "bo")
    world.merge(merged)
    opened, done = (await gitlab.lean_page(repository, None, 100)).rows
    assert (opened.checks, opened.mergeability, opened.review) == (None, None, None)
    assert done.checks.verdict is CheckVerdict.PASSING
    assert done.review.approved_by == ("bo",)
    assert done.base.sha == merged.start_sha
    assert done.closed_at == done.merged_at


async def test_a_row_of_a_list_and_a_reading_tell_the_same_details(
    gitlab: GitLab, world: World, project: Project, repository: Repository
):
    """Else each delta would write what the next reading takes back."""
    fork = world.fork(project, "ann/tool")
    world.open_merge_request(project, "own")
    world.open_merge_request(project, "forked", source_project=fork, draft=True)
    world.delete_project(world.fork(project, "bo/tool"))
    gone = world.open_merge_request(project, "lost")
    gone.source_project = None
    page = await gitlab.lean_page(repository, None, 100)
    readings = await gitlab.read([target(repository, project.merge_requests[n]) for n in (1, 2, 3)])
    for row, reading in zip(page.rows, readings, strict=True):
        read = reading.pull_request
        bare = replace(read, checks=None, mergeability=None, review=None)
        assert row == replace(bare, base=row.base)
        assert row.base.branch == read.base.branch
    assert [row.head.owner for row in page.rows] == ["group/sub", "ann", ""]
    assert page.rows[1].head.repository_url.endswith("/gitlab/ann/tool")


async def test_readings_of_fifty_take_one_request(
    gitlab: GitLab, simulator: Running, world: World, project: Project, repository: Repository
):
    changes = world.fill(project, 60)
    for change in changes:
        world.set_pipeline(change, "success")
    targets = [target(repository, change) for change in changes]
    await gitlab.read(targets[:1])
    simulator.log.clear()
    readings = await gitlab.read(targets[:50])
    assert asked(simulator) == ["POST graphql"]
    assert all(reading.pull_request for reading in readings)


async def test_targets_of_several_projects_are_read_project_by_project(
    gitlab: GitLab, world: World, project: Project, repository: Repository
):
    other = world.project("group/other")
    elsewhere = Repository(str(other.id), other.path)
    first = target(repository, world.open_merge_request(project, "one"))
    second = target(elsewhere, world.open_merge_request(other, "two"))
    third = target(repository, world.open_merge_request(project, "three"))
    readings = await gitlab.read([first, second, third])
    assert [reading.target for reading in readings] == [first, second, third]
    branches = [reading.pull_request.head.branch for reading in readings]
    assert branches == ["one", "two", "three"]


async def test_a_deleted_one_is_not_visible_and_the_others_are_read(
    gitlab: GitLab, world: World, project: Project, repository: Repository
):
    changes = world.fill(project, 3)
    targets = [target(repository, change) for change in changes]
    world.delete_merge_request(changes[1])
    first, second, third = await gitlab.read(targets)
    assert first.pull_request and third.pull_request
    assert isinstance(second.fault, NotVisible)


async def test_ones_that_may_no_longer_be_seen_are_not_taken_for_deleted(
    simulator: Running, world: World, clock: Clock, project: Project, repository: Repository
):
    """GraphQL answers with an empty list for both: what is stored would be marked as gone."""
    changes = world.fill(project, 3)
    world.token("glpat-guest", "guest", refused=frozenset({"merge_requests"}))
    guest = client(simulator, clock, "glpat-guest")
    readings = await guest.read([target(repository, change) for change in changes])
    assert [type(reading.fault) for reading in readings] == [Forbidden] * 3
    await guest.aclose()


async def test_a_moved_project_is_read_by_the_path_it_has_now(
    gitlab: GitLab, world: World, project: Project, repository: Repository
):
    change = world.open_merge_request(project, "one")
    await gitlab.read([target(repository, change)])
    world.move_project(project, "other/place")
    [reading] = await gitlab.read([target(repository, change)])
    assert reading.pull_request.head.owner == "other"
    page = await gitlab.open_page(repository, None, 100)
    assert page.repository == Repository(repository.forge_id, "other/place")
    [delta] = await gitlab.changed([Delta(repository, LONG_AGO)], 100)
    assert delta.page.repository == Repository(repository.forge_id, "other/place")


async def test_a_path_that_passed_to_another_project_does_not_answer_for_the_old_one(
    gitlab: GitLab, world: World, project: Project, repository: Repository
):
    change = world.open_merge_request(project, "one")
    world.move_project(project, "other/place")
    usurper = world.project("group/sub/tool")
    world.open_merge_request(usurper, "of the usurper")
    [reading] = await gitlab.read([target(repository, change)])
    assert reading.pull_request.head.branch == "one"


async def test_unchecked_ones_are_asked_for_by_themselves_at_most_five_a_minute(
    gitlab: GitLab,
    simulator: Running,
    world: World,
    clock: Clock,
    project: Project,
    repository: Repository,
):
    changes = world.fill(project, 8)
    for change in changes:
        world.push(change)
    targets = [target(repository, change) for change in changes]
    readings = await gitlab.read(targets)
    assert {r.pull_request.mergeability.verdict for r in readings} == {MergeVerdict.UNKNOWN}
    await gitlab.read(targets)
    assert len(simulator.log.matching(r"/merge_requests/\d+$")) == 5
    clock.advance(minutes=1)
    await gitlab.read(targets)
    readings = await gitlab.read(targets)
    assert {r.pull_request.mergeability.verdict for r in readings} == {MergeVerdict.CLEAN}


async def test_one_is_found_by_its_number(
    gitlab: GitLab, world: World, project: Project, repository: Repository
):
    change = world.open_merge_request(project, "one")
    world.set_pipeline(change, "running")
    found = await gitlab.find_number(repository, change.iid)
    assert (found.number, found.checks.verdict) == (change.iid, CheckVerdict.PENDING)
    with pytest.raises(NotVisible):
        await gitlab.find_number(repository, 99)


async def test_everything_from_a_branch_is_found_whatever_its_state_and_source(
    gitlab: GitLab, world: World, project: Project, repository: Repository
):
    fork = world.fork(project, "ann/tool")
    world.merge(world.open_merge_request(project, "topic"))
    world.open_merge_request(project, "topic", source_project=fork)
    world.open_merge_request(project, "topic-2")
    found = await gitlab.find_branch(repository, "topic", None)
    assert [row.number for row in found] == [2, 1]
    assert all(row.review is not None for row in found)
    assert [row.number for row in await gitlab.find_branch(repository, "topic", "Ann")] == [2]
    assert [row.number for row in await gitlab.find_branch(repository, "topic", "group/sub")] == [1]
    assert await gitlab.find_branch(repository, "Topic", None) == ()


async def test_a_token_that_may_not_see_pipelines_makes_checks_unreadable_and_not_none(
    simulator: Running, world: World, clock: Clock, project: Project, repository: Repository
):
    change = world.open_merge_request(project, "one")
    world.set_pipeline(change, "failed")
    world.token("glpat-reporter", "reporter", refused=frozenset({"pipelines"}))
    reporter = client(simulator, clock, "glpat-reporter")
    [reading] = await reporter.read([target(repository, change)])
    why = reading.pull_request.checks.unreadable
    assert why == "the token may not see pipelines"
    assert reading.gaps == (("checks", why),)
    page = await reporter.open_page(repository, None, 100)
    assert page.gaps == (("checks", why),)
    await reporter.aclose()


async def test_a_project_without_pipelines_has_no_checks_and_that_is_readable(
    gitlab: GitLab, world: World, project: Project, repository: Repository
):
    [reading] = await gitlab.read([target(repository, world.open_merge_request(project, "one"))])
    assert reading.pull_request.checks.verdict is CheckVerdict.NONE
    assert reading.pull_request.checks.unreadable is None
    assert reading.gaps == ()


async def test_a_question_that_is_too_much_is_asked_in_halves_and_the_size_remembered(
    gitlab: GitLab, simulator: Running, world: World, project: Project, repository: Repository
):
    targets = [target(repository, change) for change in world.fill(project, 40)]
    await gitlab.read(targets[:1])
    simulator.log.clear()
    simulator.faults.add(server_error(504, request="graphql"))
    readings = await gitlab.read(targets)
    assert all(reading.pull_request for reading in readings)
    assert asked(simulator).count("POST graphql") == 3
    simulator.log.clear()
    await gitlab.read(targets)
    assert asked(simulator).count("POST graphql") == 2


async def test_a_question_that_runs_out_of_time_is_asked_in_halves(
    gitlab: GitLab, simulator: Running, world: World, project: Project, repository: Repository
):
    """GitLab says so in an answer with status 200, in which the project is null."""
    targets = [target(repository, change) for change in world.fill(project, 40)]
    await gitlab.read(targets[:1])
    simulator.faults.add(faults.graphql_timeout())
    readings = await gitlab.read(targets)
    assert all(reading.pull_request for reading in readings)


async def test_a_field_that_is_refused_is_unreadable_and_the_rest_is_read(
    gitlab: GitLab, simulator: Running, world: World, project: Project, repository: Repository
):
    await gitlab.read([target(repository, world.open_merge_request(project, "one"))])
    nodes = [node(iid="1", headPipeline=None, approvedBy=None), node(iid="2")]
    data = {
        "id": f"gid://gitlab/Project/{project.id}",
        "fullPath": project.path,
        "mergeRequests": {"nodes": nodes},
    }
    where = ["project", "mergeRequests", "nodes", 0]
    errors = [
        {"message": "no", "path": [*where, "headPipeline"], "extensions": {"code": "FORBIDDEN"}},
        {"message": "no", "path": [*where, "approvedBy", "nodes"]},
    ]
    answer = {"data": {"project": data}, "errors": errors}
    simulator.faults.add(faults.Fault("refused", "graphql", status=200, json=answer))
    targets = [Target(repository, n, f"gid://gitlab/MergeRequest/{n}") for n in (1, 2)]
    one, two = await gitlab.read(targets)
    assert one.pull_request.checks.unreadable
    assert one.pull_request.review.unreadable
    assert one.pull_request.mergeability.verdict is MergeVerdict.CLEAN
    assert sorted(facet for facet, _ in one.gaps) == ["checks", "review"]
    assert two.gaps == ()


async def test_a_node_that_is_null_is_asked_for_by_rest(
    gitlab: GitLab, simulator: Running, world: World, project: Project, repository: Repository
):
    changes = world.fill(project, 2)
    targets = [target(repository, change) for change in changes]
    await gitlab.read(targets)
    data = {
        "id": f"gid://gitlab/Project/{project.id}",
        "fullPath": project.path,
        "mergeRequests": {"nodes": [None, node(iid="2")]},
    }
    answer = {"data": {"project": data}, "errors": [{"message": "Internal server error"}]}
    simulator.faults.add(faults.Fault("null", "graphql", status=200, json=answer))
    one, two = await gitlab.read(targets)
    assert one.pull_request.head.branch == "filled-0"
    assert two.pull_request.head.branch == "probe"


async def test_a_token_that_is_refused_is_an_error_and_no_reason_to_ask_rest_alone(
    simulator: Running, world: World, clock: Clock, project: Project, repository: Repository
):
    change = world.open_merge_request(project, "one")
    stranger = client(simulator, clock, "glpat-wrong")
    with pytest.raises(Unauthorized):
        await stranger.read([target(repository, change)])
    world.token("glpat-wrong", "late")
    [reading] = await stranger.read([target(repository, change)])
    assert reading.gaps == ()
    await stranger.aclose()


async def test_the_limit_holds_for_all_that_is_asked(
    gitlab: GitLab, simulator: Running, world: World, repository: Repository
):
    """GitLab counts REST and GraphQL together."""
    simulator.faults.add(faults.too_many_requests(30))
    with pytest.raises(RateLimited) as limited:
        await gitlab.find_repository("group/sub/tool")
    assert limited.value.resource == "*"
    world.rate_limit = 100
    await gitlab.find_repository("group/sub/tool")
    await gitlab.read([Target(repository, 1, "gid://gitlab/MergeRequest/1")])
    [quota] = gitlab.quotas()
    assert (quota.limit, quota.remaining) == (100, 96)


async def test_a_row_that_cannot_be_read_is_a_gap_and_no_reason_to_lose_the_others(
    gitlab: GitLab, simulator: Running, world: World, project: Project, repository: Repository
):
    world.fill(project, 2)
    rows = [
        {"iid": "not a number"},
        {"iid": 2, "title": "Two", "updated_at": "2025-06-02T09:00:00Z"},
    ]
    broken = faults.Fault("odd rows", r"/merge_requests\?", status=200, json=rows)
    simulator.faults.add(broken)
    page = await gitlab.lean_page(repository, None, 100)
    assert numbers(page) == [2]
    assert [facet for facet, _ in page.gaps] == ["details"]


async def test_what_is_no_list_is_unexpected(
    gitlab: GitLab, simulator: Running, repository: Repository
):
    simulator.faults.add(faults.Fault("no list", r"/merge_requests\?", status=200, json={"a": 1}))
    with pytest.raises(Unexpected):
        await gitlab.lean_page(repository, None, 100)


async def test_a_proxy_that_decodes_slashes_is_named(
    gitlab: GitLab, world: World, project: Project
):
    world.decodes_slashes = True
    with pytest.raises(NotTheApi, match="AllowEncodedSlashes"):
        await gitlab.find_repository("group/sub/tool")


async def test_a_decoded_slash_that_meets_no_route_is_no_missing_project(
    gitlab: GitLab, simulator: Running
):
    """Where the request gets through to GitLab it says so in JSON, in other words than usual."""
    no_route = faults.Fault("no route", "%2F", status=404, json={"error": "404 Not Found"})
    simulator.faults.add(no_route)
    with pytest.raises(NotTheApi, match="AllowEncodedSlashes"):
        await gitlab.find_repository("group/sub/tool")
    simulator.faults.add(faults.not_found())
    with pytest.raises(NotVisible):
        await gitlab.find_repository("group/sub/tool")


async def test_everything_else_goes_on_behind_a_proxy_that_decodes_slashes(
    gitlab: GitLab, world: World, project: Project, repository: Repository
):
    """Once a project is known it is asked for by its number."""
    world.decodes_slashes = True
    world.open_merge_request(project, "one")
    assert numbers(await gitlab.open_page(repository, None, 100)) == [1]


async def test_a_sign_in_page_is_no_answer(
    gitlab: GitLab, simulator: Running, repository: Repository
):
    simulator.faults.add(html_page(200))
    with pytest.raises(NotTheApi, match="web page instead"):
        await gitlab.find_repository("group/sub/tool")


async def test_the_walk_of_a_thousand_takes_ten_lists_and_as_many_that_enrich(
    gitlab: GitLab, simulator: Running, world: World, project: Project, repository: Repository
):
    world.fill(project, 1000, states=("merged", "closed"))
    await walk(gitlab, repository)
    lists = simulator.log.matching(r"/merge_requests\?")
    enriching = [r for r in simulator.log.matching("graphql") if "mergeRequests" in r.body]
    assert (len(lists), len(enriching)) == (10, 10)


async def test_the_open_walk_of_a_thousand_takes_ten_lists_and_twenty_that_enrich(
    gitlab: GitLab, simulator: Running, world: World, project: Project, repository: Repository
):
    for change in world.fill(project, 1000):
        world.set_pipeline(change, "success")
    page, seen = await gitlab.open_page(repository, None, 100), 0
    while True:
        seen += len(page.rows)
        if page.next is None:
            break
        page = await gitlab.open_page(repository, page.next, 100)
    assert seen == 1000
    lists = simulator.log.matching(r"/merge_requests\?")
    enriching = [r for r in simulator.log.matching("graphql") if "mergeRequests" in r.body]
    assert (len(lists), len(enriching)) == (10, 20)
