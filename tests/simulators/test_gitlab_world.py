"""What moves a merge request's `updated_at`, and what it becomes, without a server."""

from datetime import timedelta

import pytest

from tests.simulators.gitlab import Clock, World, diffs, mergeability, position


@pytest.fixture
def world():
    return World(clock=Clock())


@pytest.fixture
def project(world):
    return world.project("group/sub/app")


def test_a_note_within_a_minute_of_the_last_update_leaves_updated_at_alone(world, project):
    mr = world.open_merge_request(project)
    opened = mr.updated_at
    world.clock.advance(60)
    world.note(mr)
    assert mr.updated_at == opened
    world.clock.advance(1)
    world.note(mr)
    assert mr.updated_at == opened + timedelta(seconds=61)


def test_the_minute_counts_from_any_update_and_not_from_the_last_note(world, project):
    mr = world.open_merge_request(project)
    world.clock.advance(300)
    world.edit(mr, title="Other")
    edited = world.now
    world.clock.advance(30)
    world.note(mr)
    assert mr.updated_at == edited


@pytest.mark.parametrize(
    "touch",
    [
        lambda world, mr: world.push(mr),
        lambda world, mr: world.approve(mr, "ann"),
        lambda world, mr: world.unapprove(mr, "ann"),
        lambda world, mr: world.request_changes(mr, "ann"),
        lambda world, mr: world.reply(mr, world.note(mr, thread=True)),
        lambda world, mr: world.resolve(mr, world.note(mr, thread=True)),
    ],
    ids=["push", "approve", "unapprove", "request changes", "reply", "resolve"],
)
def test_what_leaves_a_note_is_throttled_like_one(world, project, touch):
    mr = world.open_merge_request(project)
    opened = mr.updated_at
    world.clock.advance(59)
    touch(world, mr)
    assert mr.updated_at == opened
    world.clock.advance(120)
    touch(world, mr)
    assert mr.updated_at == world.now


@pytest.mark.parametrize(
    "change",
    [
        lambda world, mr: world.edit(mr, title="Other"),
        lambda world, mr: world.retarget(mr, "next"),
        lambda world, mr: world.mark_draft(mr),
        lambda world, mr: world.ask_review(mr, "ann"),
        lambda world, mr: world.close(mr),
        lambda world, mr: world.merge(mr),
        lambda world, mr: world.lock_for_merge(mr),
    ],
    ids=["edit", "retarget", "draft", "reviewer", "close", "merge", "lock"],
)
def test_a_change_of_its_own_columns_moves_updated_at_at_once(world, project, change):
    mr = world.open_merge_request(project)
    world.clock.advance(1)
    change(world, mr)
    assert mr.updated_at == world.now


@pytest.mark.parametrize(
    "silent",
    [
        lambda world, mr: world.set_pipeline(mr, "failed"),
        lambda world, mr: world.set_conflicts(mr, "README.md"),
        lambda world, mr: world.move_target(mr.project),
        lambda world, mr: world.review(mr, "ann"),
        lambda world, mr: world.approve(mr, "ann", leaves_note=False),
    ],
    ids=["pipeline", "merge check", "target", "review", "approval before its note"],
)
def test_pipelines_and_mergeability_never_move_updated_at(world, project, silent):
    mr = world.open_merge_request(project)
    opened = mr.updated_at
    world.clock.advance(hours=2)
    silent(world, mr)
    assert mr.updated_at == opened


def test_a_push_leaves_the_former_heads_pipeline_at_the_head(world, project):
    mr = world.open_merge_request(project)
    world.set_pipeline(mr, "success")
    before = mr.sha
    after = world.push(mr)
    assert mr.sha == after != before
    assert mr.head_pipeline.sha == before
    assert mergeability.pipeline_of_head(mr) is None
    world.set_pipeline(mr, "running")
    assert mergeability.pipeline_of_head(mr).sha == after


def test_a_merged_results_pipeline_belongs_to_the_head_though_its_commit_is_another(world, project):
    mr = world.open_merge_request(project)
    ref = f"refs/merge-requests/{mr.iid}/merge"
    made = world.pipeline(mr, "success", ref=ref, sha=world.sha("merged result"))
    assert made.sha != mr.sha
    assert mergeability.pipeline_of_head(mr) is made


def test_a_push_unchecks_and_the_check_finds_what_is_there(world, project):
    mr = world.open_merge_request(project)
    world.push(mr, conflicting_files=["README.md"])
    assert mr.merge_status == "unchecked"
    world.request_merge_check(mr)
    assert mr.merge_status == "checking"
    world.run_jobs()
    assert mr.merge_status == "cannot_be_merged"
    world.push(mr)
    assert mr.merge_status == "cannot_be_merged_recheck"
    world.request_merge_check(mr)
    assert mergeability.public_merge_status(mr) == "checking"
    world.run_jobs()
    assert mr.merge_status == "can_be_merged"


def test_a_moved_target_unchecks_the_open_ones_into_it_alone(world, project):
    into_main = world.open_merge_request(project)
    into_next = world.open_merge_request(project, target_branch="next")
    merged = world.open_merge_request(project)
    world.merge(merged)
    world.move_target(project, conflicts={into_main.iid: ["a.py"]})
    world.request_merge_check(into_main)
    world.run_jobs()
    assert [mr.merge_status for mr in (into_main, into_next, merged)] == [
        "cannot_be_merged",
        "can_be_merged",
        "can_be_merged",
    ]


NEW = "18.0"


def test_a_draft_hides_its_conflict_in_the_detailed_status(world, project):
    mr = world.open_merge_request(project, draft=True)
    world.set_conflicts(mr, "README.md")
    assert mergeability.detailed(mr, NEW) == "draft_status"
    failed = {c["identifier"] for c in mergeability.checks(mr, NEW) if c["status"] == "FAILED"}
    assert failed == {"DRAFT_STATUS", "CONFLICT"}


def test_the_first_failing_rule_is_named_and_the_pipeline_last(world, project):
    project.pipeline_must_succeed = True
    project.discussions_must_be_resolved = True
    project.approvals_required = 1
    project.merge_method = "ff"
    mr = world.open_merge_request(project)
    mr.behind = 2
    thread = world.note(mr, thread=True)
    world.set_conflicts(mr, "a.py")
    seen = [mergeability.detailed(mr, NEW)]
    world.approve(mr, "ann")
    seen.append(mergeability.detailed(mr, NEW))
    world.resolve(mr, thread)
    seen.append(mergeability.detailed(mr, NEW))
    world.set_conflicts(mr)
    seen.append(mergeability.detailed(mr, NEW))
    mr.behind = 0
    seen.append(mergeability.detailed(mr, NEW))
    world.set_pipeline(mr, "running")
    seen.append(mergeability.detailed(mr, NEW))
    world.set_pipeline(mr, "success")
    seen.append(mergeability.detailed(mr, NEW))
    assert seen == [
        "not_approved",
        "discussions_not_resolved",
        "conflict",
        "need_rebase",
        "ci_must_pass",
        "ci_still_running",
        "mergeable",
    ]


def test_older_versions_spell_the_detailed_status_their_own_way(world, project):
    mr = world.open_merge_request(project, failing_rules={"merge_request_blocked"})
    assert mergeability.detailed(mr, "16.2") == "blocked_status"
    assert mergeability.detailed(mr, NEW) == "merge_request_blocked"
    assert mergeability.detailed_enum(mr, NEW) == "BLOCKED_STATUS"
    mr.failing_rules.clear()
    world.set_conflicts(mr, "a.py")
    assert mergeability.detailed(mr, "16.2") == "broken_status"


def test_a_position_says_what_a_removed_line_a_range_a_file_and_an_image_look_like(world, project):
    mr = world.open_merge_request(project)
    removed = position(mr, "a.py", old_line=5)
    assert (removed["old_line"], removed["new_line"]) == (5, None)
    assert removed["line_range"]["end"]["type"] == "old"
    several = position(mr, "a.py", new_line=9, first=(None, 7))
    assert several["line_range"]["start"]["new_line"] == 7
    assert "line_range" not in position(mr, "a.py", kind="file")
    image = position(mr, "a.png", kind="image", width=10, height=10, x=1, y=2)
    assert (image["position_type"], image["x"]) == ("image", 1)
    assert position(mr, "a.py", new_line=1)["head_sha"] == mr.sha


def test_a_thousand_merge_requests_are_made_at_once_with_their_states_going_round(world, project):
    made = world.fill(project, 1000, states=("opened", "merged", "closed"))
    assert [mr.state for mr in made[:4]] == ["opened", "merged", "closed", "opened"]
    assert made[-1].created_at == world.now
    assert made[1].merged_at == made[1].updated_at > made[1].created_at
    assert len(project.merge_requests) == 1000


def test_deleting_a_fork_leaves_its_merge_requests_without_a_source(world, project):
    fork = world.fork(project, "ann/app")
    mr = world.open_merge_request(project, source_project=fork)
    world.delete_project(fork)
    assert mr.source_project is None
    assert world.find("ann/app") is None


def test_a_diff_of_at_least_so_many_bytes():
    file = diffs.sized("big.txt", 2_000_000)
    assert 2_000_000 <= len(file.diff) < 2_100_000
    assert file.additions == file.diff.count("\n+")
