"""Facets of a pull request against a simulated GitHub."""

from __future__ import annotations

import pytest

from pullstate.domain.merge_request import Facet
from pullstate.forges.errors import Forbidden, NotVisible
from pullstate.forges.forge import Repository, Target
from pullstate.forges.github import GitHub
from tests.forges.github.conftest import target
from tests.simulators.github import ChangedFile, ManualClock, World, faults
from tests.simulators.github import GitHub as Simulator
from tests.simulators.github.model import PullRequest
from tests.simulators.github.model import Repository as SimulatedRepository

pytestmark = pytest.mark.anyio


@pytest.fixture
def change(world: World, rocket: SimulatedRepository) -> PullRequest:
    return world.open_pull_request(rocket, author="ada", body="Goes up.")


async def test_the_overview_has_body_labels_and_everybody_who_reviews(
    github: GitHub, world: World, repository: Repository, change: PullRequest
):
    world.set_labels(change, ["fuel", "urgent"])
    world.review(change, "bob", "APPROVED")
    world.request_review(change, "eve")
    seen = await github.facet(target(repository, change), Facet.OVERVIEW)
    assert (seen.state, seen.description) == ("opened", "Goes up.")
    assert seen.labels == ("fuel", "urgent")
    assert seen.reviewers == ("eve", "bob")
    assert seen.detailed_merge_status == "CLEAN"
    world.merge(change)
    assert (await github.facet(target(repository, change), Facet.OVERVIEW)).state == "merged"


async def test_files_have_patches_counts_and_their_old_names(
    github: GitHub, world: World, repository: Repository, change: PullRequest
):
    world.set_files(
        change,
        [
            ChangedFile("a.py", 2, 1, "MODIFIED", patch="@@ -1 +1,2 @@"),
            ChangedFile("b.py", 3, 0, "ADDED", patch="@@ -0,0 +1,3 @@"),
            ChangedFile("c.py", 0, 4, "DELETED", patch="@@ -1,4 +0,0 @@"),
            ChangedFile("new.py", 0, 0, "RENAMED", previous_path="old.py"),
            ChangedFile("logo.png", 0, 0, "MODIFIED"),
            ChangedFile("huge.json", 90_000, 0, "ADDED"),
        ],
    )
    found = await github.facet(target(repository, change), Facet.DIFFS)
    assert [(each.path, each.status) for each in found.files] == [
        ("a.py", "modified"),
        ("b.py", "added"),
        ("c.py", "deleted"),
        ("new.py", "renamed"),
        ("logo.png", "modified"),
        ("huge.json", "added"),
    ]
    by_path = {each.path: each for each in found.files}
    assert by_path["a.py"].patch == "@@ -1 +1,2 @@"
    assert by_path["new.py"].old_path == "old.py"
    assert [path for path, each in by_path.items() if each.binary] == ["logo.png"]
    assert [path for path, each in by_path.items() if each.too_large] == ["huge.json"]
    assert not found.truncated


async def test_files_are_read_through_all_their_pages(
    github: GitHub, world: World, repository: Repository, change: PullRequest
):
    world.set_files(change, [ChangedFile(f"src/{n}.py", patch="@@") for n in range(250)])
    found = await github.facet(target(repository, change), Facet.DIFFS)
    assert len(found.files) == found.total_files == 250


async def test_files_beyond_what_github_lists_are_said(
    github: GitHub,
    simulator: Simulator,
    world: World,
    repository: Repository,
    change: PullRequest,
):
    world.set_files(change, [ChangedFile(f"src/{n}.py", patch="@@") for n in range(3100)])
    found = await github.facet(target(repository, change), Facet.DIFFS)
    assert (len(found.files), found.total_files, found.truncated) == (3000, 3100, True)
    assert len(simulator.log.matching("/files")) == 30


async def test_commits_are_newest_first_through_all_pages(
    github: GitHub, clock: ManualClock, world: World, repository: Repository, change: PullRequest
):
    for _ in range(129):
        clock.advance(60)
        world.push(change)
    found = await github.facet(target(repository, change), Facet.COMMITS)
    assert len(found.items) == 130
    assert found.items[0].sha == change.head.oid
    assert found.items == tuple(sorted(found.items, key=lambda each: each.authored_at)[::-1])


async def test_notes_are_comments_and_reviews_with_a_body_oldest_first(
    github: GitHub, clock: ManualClock, world: World, repository: Repository, change: PullRequest
):
    world.comment(change, "ada", "Please look")
    clock.advance(60)
    world.review(change, "bob", "COMMENTED", body="Outside the diff: fuel")
    clock.advance(60)
    world.review(change, "bob", "APPROVED")
    world.review(change, "octocat", "PENDING", body="not said yet")
    world.open_thread(change, "eve", body="Inline")
    clock.advance(60)
    world.comment(change, "eve", "Thanks")
    found = await github.facet(target(repository, change), Facet.NOTES)
    assert [(each.comment.body, each.review_state) for each in found.items] == [
        ("Please look", None),
        ("Outside the diff: fuel", "COMMENTED"),
        ("Thanks", None),
    ]
    assert all(isinstance(each.comment.id, int) for each in found.items)


async def test_notes_are_read_through_all_pages(
    github: GitHub, world: World, repository: Repository, change: PullRequest
):
    for n in range(150):
        world.comment(change, "ada", f"comment {n}")
    found = await github.facet(target(repository, change), Facet.NOTES)
    assert len(found.items) == 150
    assert not found.truncated


async def test_pipelines_are_workflows_with_their_failed_jobs(
    github: GitHub, clock: ManualClock, world: World, repository: Repository, change: PullRequest
):
    world.set_checks(change, build="SUCCESS", test="FAILURE", workflow="CI")
    clock.advance(60)
    world.add_suite(change, workflow="Deploy")
    world.add_suite(change, workflow=None, app="silent")
    found = await github.facet(target(repository, change), Facet.PIPELINES)
    assert [(each.source, each.status) for each in found.items] == [
        ("Deploy: pull_request", "queued"),
        ("CI: pull_request", "failure"),
    ]
    assert [job.name for job in found.items[1].failed_jobs] == ["test"]
    assert found.items[1].sha == change.head.oid
    assert found.items[1].ref == change.head_ref_name


async def test_legacy_statuses_are_a_pipeline_of_their_own(
    github: GitHub, world: World, repository: Repository, change: PullRequest
):
    world.set_status(change, "jenkins", "FAILURE")
    world.set_status(change, "coverage", "SUCCESS")
    [found] = (await github.facet(target(repository, change), Facet.PIPELINES)).items
    assert (found.id, found.status) == ("statuses", "failure")
    assert [job.name for job in found.failed_jobs] == ["jenkins"]


async def test_a_head_without_checks_has_no_pipelines(
    github: GitHub, repository: Repository, change: PullRequest
):
    assert (await github.facet(target(repository, change), Facet.PIPELINES)).items == ()


async def test_discussions_are_the_review_threads(
    github: GitHub, world: World, repository: Repository, change: PullRequest
):
    thread = world.open_thread(change, "bob", "a.py", 7, side="LEFT")
    world.reply(thread, "ada", "Done")
    world.resolve(thread, "ada")
    [found] = (await github.facet(target(repository, change), Facet.DISCUSSIONS)).items
    assert (found.id, found.resolvable, found.resolved) == (thread.id, True, True)
    assert [each.comment.author for each in found.notes] == ["bob", "ada"]
    assert (found.notes[0].position.old_line, found.notes[0].position.line) == (7, None)


@pytest.mark.parametrize(
    ("mergeability", "expected"), [("MERGEABLE", False), ("CONFLICTING", True), ("UNKNOWN", None)]
)
async def test_conflicts_are_known_or_the_reason_is_said(
    github: GitHub,
    world: World,
    repository: Repository,
    change: PullRequest,
    mergeability: str,
    expected: bool | None,
):
    change.mergeability = mergeability
    found = await github.facet(target(repository, change), Facet.CONFLICTS)
    assert found.has_conflicts is expected
    assert found.files == ()
    assert (found.reason is None) == (expected is False)


async def test_a_merged_one_has_no_conflicts_to_compute(
    github: GitHub, world: World, repository: Repository, change: PullRequest
):
    world.merge(change)
    found = await github.facet(target(repository, change), Facet.CONFLICTS)
    assert (found.has_conflicts, found.reason) == (None, "the pull request is merged")


@pytest.mark.parametrize("facet", list(Facet))
async def test_a_facet_of_what_is_gone_is_not_visible(
    github: GitHub, repository: Repository, facet: Facet
):
    with pytest.raises(NotVisible):
        await github.facet(Target(repository, 99, "PR_gone"), facet)


async def test_a_refused_facet_is_no_empty_one(
    github: GitHub, simulator: Simulator, world: World, repository: Repository, change: PullRequest
):
    world.comment(change, "ada")
    simulator.faults.add(faults.partial({"node.comments": "FORBIDDEN"}, body="query Conversation"))
    with pytest.raises(Forbidden):
        await github.facet(target(repository, change), Facet.NOTES)


async def test_a_team_that_may_not_be_named_does_not_cost_the_overview(
    github: GitHub, simulator: Simulator, world: World, repository: Repository, change: PullRequest
):
    world.request_review(change, "acme/core")
    path = "node.reviewRequests.nodes.0.requestedReviewer"
    simulator.faults.add(faults.partial({path: "INSUFFICIENT_SCOPES"}, body="query Overview"))
    seen = await github.facet(target(repository, change), Facet.OVERVIEW)
    assert seen.reviewers == ()
