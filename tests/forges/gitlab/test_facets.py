"""What is shown of one merge request beyond its row: whole, or said to be cut."""

from __future__ import annotations

from typing import Any

import pytest

from pullstate.domain.merge_request import Diffs, Facet, FailedJob, FileDiff
from pullstate.forges.errors import Forbidden, NotVisible
from pullstate.forges.forge import Repository, Target
from pullstate.forges.gitlab import GitLab
from pullstate.forges.gitlab.conversation import notes
from pullstate.forges.gitlab.diffs import Totals, counted, diffs
from pullstate.forges.gitlab.facet_payloads import Commit, Discussion
from pullstate.forges.gitlab.facet_payloads import FileDiff as SeenFile
from pullstate.forges.gitlab.facet_translate import commits, conflicts, overview
from pullstate.forges.gitlab.payloads import MergeRequest, Pipeline
from tests.forges.gitlab.conftest import asked, client, target
from tests.forges.gitlab.made import PLACE, row
from tests.forges.gitlab.recorded import records
from tests.simulators.gitlab import Clock, Running, World, position, running
from tests.simulators.gitlab import diffs as made
from tests.simulators.gitlab.model import MergeRequest as Change
from tests.simulators.gitlab.model import Project


@pytest.fixture
def change(world: World, project: Project) -> Change:
    return world.open_merge_request(project, "one")


def by_path(found: Diffs) -> dict[str, FileDiff]:
    return {file.path: file for file in found.files}


@pytest.mark.anyio
async def test_the_overview(gitlab: GitLab, world: World, project: Project, repository: Repository):
    change = world.open_merge_request(
        project, "one", labels=["bug", "api"], reviewers=["bo"], draft=True, description="Because."
    )
    seen = await gitlab.facet(target(repository, change), Facet.OVERVIEW)
    assert (seen.state, seen.description) == ("opened", "Because.")
    assert (seen.labels, seen.reviewers) == (("api", "bug"), ("bo",))
    assert seen.detailed_merge_status == "draft_status"


def test_an_overview_of_an_old_version_and_with_labels_in_detail() -> None:
    seen = MergeRequest.model_validate(
        row(detailed_merge_status=None, description=None, labels=[{"name": "bug"}], state="odd")
    )
    found = overview(seen)
    assert (found.detailed_merge_status, found.description) == ("can_be_merged", "")
    assert (found.labels, found.state) == (("bug",), "opened")


@pytest.mark.anyio
async def test_files_of_every_kind_with_their_lines(
    gitlab: GitLab, world: World, project: Project, repository: Repository
):
    files = [
        made.modified("src/a.py", plus=3, minus=2),
        made.added("src/b.py", lines=4),
        made.deleted("src/c.py", lines=5),
        made.renamed("dist/d.js", "src/d.js"),
        made.renamed("src/e.py", "src/f.py", plus=1, minus=1),
        made.binary("logo.png", new_file=True),
        made.modified("api.pb.go", generated_file=True),
    ]
    change = world.open_merge_request(project, "one", files=files)
    seen = await gitlab.facet(target(repository, change), Facet.DIFFS)
    found = by_path(seen)
    assert [file.status for file in seen.files[:6]] == [
        "modified",
        "added",
        "deleted",
        "renamed",
        "renamed",
        "added",
    ]
    lines = [(file.additions, file.deletions) for file in seen.files]
    assert lines == [(3, 2), (4, 0), (0, 5), (0, 0), (1, 1), (0, 0), (1, 1)]
    assert found["src/d.js"].old_path == "dist/d.js"
    assert found["src/a.py"].old_path is None
    assert found["logo.png"].binary and found["logo.png"].patch is None
    assert found["api.pb.go"].generated
    assert found["src/a.py"].patch.startswith("@@")
    assert not found["src/d.js"].too_large
    assert (seen.total_files, seen.truncated) == (7, False)


@pytest.mark.parametrize("version", ["15.5.0-ee", "16.0.0-ee", "18.0.0-ee", "18.4.0-ee"])
@pytest.mark.anyio
async def test_what_is_not_shown_is_too_large_and_its_lines_are_counted_all_the_same(
    version: str, clock: Clock
):
    """Versions before 18.4 do not say why a text is missing: it looks like no change."""
    world = World(version=version, clock=clock)
    files = [
        made.modified("src/a.py"),
        made.collapsed("big.json", plus=3000),
        made.too_large("huge.json", plus=50_000),
        made.renamed("dist/d.js", "src/d.js"),
    ]
    project = world.project("group/tool")
    change = world.open_merge_request(project, "one", files=files)
    with running(world) as simulator:
        gitlab = client(simulator, clock)
        seen = await gitlab.facet(
            target(Repository(str(project.id), project.path), change), Facet.DIFFS
        )
        await gitlab.aclose()
    found = by_path(seen)
    assert found["huge.json"].too_large
    assert found["huge.json"].additions == 50_000
    assert found["big.json"].additions == 3000
    assert not found["src/d.js"].too_large
    assert (seen.total_additions, seen.total_deletions) == (53_001, 1)
    assert len(seen.files) == 4


@pytest.mark.anyio
async def test_more_files_than_gitlab_counts_are_said_to_be_more(
    gitlab: GitLab, world: World, project: Project, repository: Repository
):
    files = [made.modified(f"src/{number}.py") for number in range(230)]
    change = world.open_merge_request(project, "one", files=files, changes_count="230+")
    seen = await gitlab.facet(target(repository, change), Facet.DIFFS)
    assert len(seen.files) == 230
    assert seen.truncated


@pytest.mark.anyio
async def test_fewer_files_than_gitlab_counts_are_truncated(
    gitlab: GitLab, world: World, project: Project, repository: Repository
):
    change = world.open_merge_request(project, "one", changes_count="7")
    seen = await gitlab.facet(target(repository, change), Facet.DIFFS)
    assert (len(seen.files), seen.total_files, seen.truncated) == (1, 7, True)


def test_a_count_that_gitlab_capped_is_exact_where_it_counted_apart() -> None:
    files = [SeenFile(new_path=f"{n}", old_path=f"{n}", diff="@@\n+x") for n in range(3)]
    assert diffs(files, Totals("2+", files=3)).truncated is False
    assert diffs(files, Totals("3+", files=3)).truncated is True
    assert diffs(files, Totals("3+", files=9)).total_files == 9
    assert diffs(files, Totals("3", overflow=True)).truncated is True
    assert diffs([], Totals("")).total_files is None


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", (0, 0)),
        ("@@ -1,2 +1,2 @@\n-a\n+b\n c\n", (1, 1)),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", (1, 1)),
        ("@@ -1 +1 @@\n--- a comment of SQL\n+++ more\n", (1, 1)),
        ("@@ -1 +1 @@ def f():\n-a\n\\ No newline at end of file\n+b", (1, 1)),
        ("@@ -1 +1 @@\n+a\x0cb\u2028c\r\n", (1, 0)),
        ("@@ -1 +1 @@\n+a\n@@ -9 +9 @@\n+b\n-c\n", (2, 1)),
        ("Binary files a/x and b/x differ\n", (0, 0)),
    ],
)
def test_lines_are_counted_within_hunks(text: str, lines: tuple[int, int]) -> None:
    assert counted(text) == lines


@pytest.mark.anyio
async def test_commits_come_newest_first_through_all_pages(
    gitlab: GitLab, world: World, project: Project, repository: Repository
):
    change = world.open_merge_request(project, "one", commits=130)
    seen = await gitlab.facet(target(repository, change), Facet.COMMITS)
    assert [each.sha for each in seen.items] == [each.id for each in change.commits]
    assert seen.items[0].sha == change.sha
    assert seen.items[0].web_url.endswith(f"/group/sub/tool/-/commit/{change.sha}")
    assert not seen.truncated


def test_a_commit_of_an_old_version_has_neither_page_nor_title() -> None:
    seen = Commit(id="c1", message="Fix it\n\nBecause.", created_at="2020-01-01T00:00:00Z")
    [made_of] = commits([seen], PLACE, truncated=False).items
    assert (made_of.title, made_of.author) == ("Fix it", "ghost")
    assert made_of.web_url == f"{PLACE.url}/-/commit/c1"


def test_a_commit_without_a_time_is_left_out_and_that_is_said() -> None:
    assert commits([Commit(id="c1")], PLACE, truncated=False).truncated


@pytest.mark.anyio
async def test_notes_come_oldest_first_with_their_discussion_and_position(
    gitlab: GitLab,
    world: World,
    clock: Clock,
    change: Change,
    repository: Repository,
):
    first = world.note(change, "On a line.", on=position(change, "README.md", new_line=3))
    clock.advance(minutes=2)
    world.note(change, "A remark.")
    clock.advance(minutes=2)
    world.reply(change, first, "Done.")
    clock.advance(minutes=2)
    world.system_note(change, "changed the title")
    seen = await gitlab.facet(target(repository, change), Facet.NOTES)
    assert [each.comment.body for each in seen.items] == [
        "On a line.",
        "A remark.",
        "Done.",
        "changed the title",
    ]
    one, remark, done, system = seen.items
    assert one.discussion_id == done.discussion_id == first.id != remark.discussion_id
    assert (one.position.path, one.position.line, one.position.old_line) == ("README.md", 3, None)
    assert remark.position is None
    assert (one.resolvable, remark.resolvable, system.system) == (True, False, True)
    assert not seen.truncated


@pytest.mark.anyio
async def test_a_hundred_and_twenty_notes_are_all_there(
    gitlab: GitLab, world: World, clock: Clock, change: Change, repository: Repository
):
    world.count_limit = 0
    for number in range(120):
        clock.advance(seconds=1)
        world.note(change, f"Note {number}.")
    seen = await gitlab.facet(target(repository, change), Facet.NOTES)
    assert [each.comment.body for each in seen.items] == [f"Note {n}." for n in range(120)]


@pytest.mark.parametrize(
    "given",
    [
        None,
        {"old_path": None, "new_path": "a"},
        {"old_path": None, "new_path": None},
        {"new_path": "a", "new_line": 1},
        {"new_path": "a", "new_line": 1, "line_range": None},
        "a text",
    ],
)
def test_a_note_with_half_a_position_is_kept(given: Any) -> None:
    note = {"id": 1, "body": "x", "created_at": "2025-06-02T09:00:00Z", "position": given}
    seen = Discussion.model_validate({"id": "d", "notes": [note]})
    assert len(notes([seen], "https://x")) == 1


@pytest.mark.anyio
async def test_discussions_come_with_all_their_notes(
    gitlab: GitLab, world: World, change: Change, repository: Repository
):
    threads = [world.note(change, f"Point {number}.", thread=True) for number in range(44)]
    world.reply(change, threads[0])
    world.resolve(change, threads[1])
    world.note(change, "A remark.")
    seen = await gitlab.facet(target(repository, change), Facet.DISCUSSIONS)
    assert len(seen.items) == 45
    found = {each.id: each for each in seen.items}
    assert len(found[threads[0].id].notes) == 2
    assert found[threads[1].id].resolved
    assert [each.resolvable for each in seen.items].count(True) == 44


@pytest.mark.anyio
async def test_pipelines_come_newest_first_with_the_jobs_that_failed(
    gitlab: GitLab,
    simulator: Running,
    world: World,
    clock: Clock,
    change: Change,
    repository: Repository,
):
    old = world.pipeline(change, "failed", jobs=["unit", "build:success"])
    clock.advance(minutes=5)
    lint = world.job("lint", "failed", allow_failure=True)
    new = world.pipeline(change, "success", jobs=[lint, "unit:success"])
    seen = await gitlab.facet(target(repository, change), Facet.PIPELINES)
    assert [each.id for each in seen.items] == [str(new.id), str(old.id)]
    one, two = seen.items
    assert [(job.name, job.allow_failure) for job in one.failed_jobs] == [("lint", True)]
    assert [(job.name, job.allow_failure) for job in two.failed_jobs] == [("unit", False)]
    page = f"{simulator.base}/group/sub/tool/-/jobs/{old.jobs[0].id}"
    assert [job.web_url for job in two.failed_jobs] == [page]
    assert (two.status, two.source, two.sha) == ("failed", "merge_request_event", change.sha)
    assert two.created_at == old.created_at


@pytest.mark.anyio
async def test_pipelines_by_rest_alone_have_the_same_jobs(
    gitlab: GitLab, simulator: Running, world: World, change: Change, repository: Repository
):
    world.graphql_mode = "absent"
    world.pipeline(change, "skipped")
    failed = world.pipeline(change, "failed", jobs=["unit"])
    seen = await gitlab.facet(target(repository, change), Facet.PIPELINES)
    job = failed.jobs[0]
    assert seen.items[0].failed_jobs == (
        FailedJob("unit", f"{simulator.base}/group/sub/tool/-/jobs/{job.id}", False),
    )
    assert sum("jobs" in each for each in asked(simulator)) == 1


@pytest.mark.anyio
async def test_refused_pipelines_are_an_error_of_that_facet_alone(
    simulator: Running, world: World, clock: Clock, change: Change, repository: Repository
):
    world.token("glpat-guest", "guest", refused=frozenset({"pipelines"}))
    guest = client(simulator, clock, "glpat-guest")
    with pytest.raises(Forbidden):
        await guest.facet(target(repository, change), Facet.PIPELINES)
    assert await guest.facet(target(repository, change), Facet.COMMITS)
    await guest.aclose()


@pytest.mark.anyio
async def test_conflicts_are_told_with_their_files_where_the_api_names_them(
    gitlab: GitLab, world: World, change: Change, repository: Repository
):
    of_change = target(repository, change)
    assert (await gitlab.facet(of_change, Facet.CONFLICTS)).has_conflicts is False
    world.push(change, conflicting_files=["a.py", "b.py"])
    world.check_mergeability(change)
    seen = await gitlab.facet(of_change, Facet.CONFLICTS)
    assert (seen.has_conflicts, seen.files) == (True, ())
    assert "which files" in seen.reason
    world.conflicts_endpoint = True
    seen = await gitlab.facet(of_change, Facet.CONFLICTS)
    assert (seen.has_conflicts, seen.files, seen.reason) == (True, ("a.py", "b.py"), None)


@pytest.mark.parametrize(
    ("given", "has_conflicts"),
    [
        ({"merge_status": "can_be_merged"}, False),
        ({"merge_status": "cannot_be_merged"}, True),
        ({"merge_status": "cannot_be_merged_recheck", "detailed_merge_status": "conflict"}, True),
        ({"merge_status": "unchecked", "has_conflicts": False}, None),
        ({"merge_status": "checking", "has_conflicts": False}, None),
        ({"merge_status": "cannot_be_merged_recheck", "has_conflicts": True}, None),
        ({"merge_status": "preparing"}, None),
        ({"merge_status": "can_be_merged", "state": "merged"}, None),
        ({"merge_status": "cannot_be_merged", "state": "closed"}, None),
        ({"merge_status": None, "has_conflicts": True}, True),
        ({"merge_status": None, "has_conflicts": None}, None),
    ],
)
def test_conflicts_are_unknown_while_gitlab_is_looking_and_says_no(
    given: dict[str, Any], has_conflicts: bool | None
) -> None:
    found = conflicts(MergeRequest.model_validate(row(**given)))
    assert found.has_conflicts is has_conflicts
    assert (found.reason is None) is (has_conflicts is False)


@pytest.mark.anyio
async def test_a_facet_of_one_that_is_gone_is_not_visible(gitlab: GitLab, repository: Repository):
    gone = Target(repository, 99, "gid://gitlab/MergeRequest/99")
    for facet in Facet:
        with pytest.raises(NotVisible):
            await gitlab.facet(gone, facet)


@pytest.mark.anyio
async def test_facets_of_a_moved_project_are_read(
    gitlab: GitLab, world: World, project: Project, change: Change, repository: Repository
):
    world.pipeline(change, "failed", jobs=["unit"])
    world.move_project(project, "other/place")
    seen = await gitlab.facet(target(repository, change), Facet.PIPELINES)
    assert seen.items[0].failed_jobs


@pytest.mark.parametrize("record", records(lambda each: {"new_path", "diff"} <= each.keys()))
def test_every_recorded_file_is_read(record: dict[str, Any]) -> None:
    [file] = diffs([SeenFile.model_validate(record)], Totals()).files
    assert file.path == record["new_path"]
    assert file.status in ("added", "deleted", "renamed", "modified")
    assert (file.patch or "") == ("" if file.binary else record["diff"])
    if "\n+" in record["diff"].partition("@@")[2]:  # some were written down without line breaks
        assert file.additions + file.deletions > 0


@pytest.mark.parametrize(
    "record", records(lambda each: {"author_email", "title", "id", "created_at"} <= each.keys())
)
def test_every_recorded_commit_is_read(record: dict[str, Any]) -> None:
    [seen] = commits([Commit.model_validate(record)], PLACE, truncated=False).items
    assert (seen.sha, seen.title) == (record["id"], record["title"])


@pytest.mark.parametrize(
    "record", records(lambda each: {"ref", "sha", "status", "web_url"} <= each.keys())
)
def test_every_recorded_pipeline_is_read(record: dict[str, Any]) -> None:
    seen = Pipeline.model_validate(record)
    assert (seen.sha, seen.ref, seen.status) == (record["sha"], record["ref"], record["status"])
