"""Discussions → review threads: which count, whether they are resolved and outdated, where."""

from __future__ import annotations

from typing import Any

import pytest

from pullstate.forges.errors import Forbidden, NotVisible, RateLimited
from pullstate.forges.forge import Repository, Target
from pullstate.forges.gitlab import GitLab
from pullstate.forges.gitlab.conversation import is_thread, lines_of, thread
from pullstate.forges.gitlab.facet_payloads import Discussion, Position
from pullstate.forges.gitlab.payloads import DiffRefs
from tests.forges.gitlab.conftest import asked, client, target
from tests.forges.gitlab.recorded import records
from tests.simulators.gitlab import Clock, Running, World, faults, position
from tests.simulators.gitlab.model import Project

REFS = DiffRefs(base_sha="b", head_sha="h", start_sha="s")
PAGE = "https://gitlab.example.com/group/tool/-/merge_requests/7"


def note(number: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "id": number,
        "type": "DiffNote",
        "body": "Looks odd.",
        "author": {"username": "ann"},
        "created_at": f"2025-06-02T09:0{number}:00.000Z",
        "system": False,
        "resolvable": True,
        "resolved": False,
    } | more


def at(**more: Any) -> dict[str, Any]:
    return {
        "base_sha": "b",
        "head_sha": "h",
        "start_sha": "s",
        "old_path": "src/a.py",
        "new_path": "src/a.py",
        "position_type": "text",
        "old_line": None,
        "new_line": 9,
    } | more


def discussion(*notes: dict[str, Any], lone: bool = False) -> Discussion:
    given = {"id": "d1", "individual_note": lone, "notes": list(notes)}
    return Discussion.model_validate(given)


def threads(*notes: dict[str, Any], refs: DiffRefs | None = REFS) -> Any:
    return thread(discussion(*notes), refs, PAGE)


def lines(**more: Any) -> tuple[int | None, int | None, str | None]:
    found = lines_of(Position.model_validate(at(**more)))
    return found.line, found.start, found.side


@pytest.mark.parametrize(
    ("given", "counts"),
    [
        (discussion(note(position=at())), True),
        (discussion(note(type="DiscussionNote")), True),
        (discussion(note(resolvable=False, position=at())), True),
        (discussion(note(resolvable=False, type=None), lone=True), False),
        (discussion(note(system=True, resolvable=False), lone=True), False),
        (discussion(note(system=True, resolvable=False)), False),
        (discussion(note(resolvable=False)), False),
        (discussion(), False),
    ],
)
def test_what_can_be_resolved_or_stands_on_the_diff_is_a_thread(
    given: Discussion, counts: bool
) -> None:
    assert is_thread(given) is counts


def test_a_thread_is_resolved_when_all_that_can_be_is() -> None:
    done = {"resolved": True, "resolved_by": {"username": "bo"}}
    assert not threads(note(1, **done), note(2)).is_resolved
    assert threads(note(1, **done), note(2, resolvable=False)).is_resolved
    assert threads(note(1, **done), note(2, **done)).is_resolved
    assert not threads(note(1, resolvable=False, position=at())).is_resolved


def test_who_resolved_last_has_resolved_it() -> None:
    first = {"resolved_by": {"username": "bo"}, "resolved_at": "2025-06-02T10:00:00Z"}
    last = {"resolved_by": {"username": "cy"}, "resolved_at": "2025-06-02T11:00:00Z"}
    seen = threads(note(1, resolved=True, **last), note(2, resolved=True, **first))
    assert seen.resolved_by == "cy"


def test_nobody_has_resolved_an_open_one_or_one_whose_resolver_is_gone() -> None:
    assert threads(note(resolved_by={"username": "bo"})).resolved_by is None
    assert threads(note(resolved=True, resolved_by=None)).resolved_by is None


@pytest.mark.parametrize("moved", ["head_sha", "start_sha", "base_sha"])
def test_a_thread_on_another_diff_is_outdated_and_has_only_its_original_lines(moved: str) -> None:
    seen = threads(note(position=at(new_line=9, **{moved: "x"})))
    assert seen.is_outdated
    assert (seen.line, seen.start_line) == (None, None)
    assert (seen.original_line, seen.side, seen.path) == (9, "RIGHT", "src/a.py")


def test_a_thread_whose_lines_moved_along_is_at_its_present_lines() -> None:
    seen = threads(note(position=at(new_line=19), original_position=at(new_line=9, head_sha="x")))
    assert not seen.is_outdated
    assert (seen.line, seen.original_line) == (19, 9)


def test_a_thread_without_a_position_is_never_outdated() -> None:
    seen = threads(note(type="DiscussionNote"))
    assert (seen.is_outdated, seen.path, seen.line, seen.side) == (False, None, None, None)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"new_line": 9}, (9, None, "RIGHT")),
        ({"new_line": "9", "old_line": "7"}, (9, None, "RIGHT")),
        ({"new_line": None, "old_line": 7}, (7, None, "LEFT")),
        ({"new_line": 9, "line_range": None}, (9, None, "RIGHT")),
        ({"new_line": 9, "line_range": {}}, (9, None, "RIGHT")),
        ({"new_line": None, "old_line": None}, (None, None, None)),
        ({"position_type": "file", "new_line": None}, (None, None, None)),
        ({"position_type": "image", "new_line": None, "x": 3, "y": 4}, (None, None, None)),
        ({"position_type": None, "new_line": 9}, (9, None, "RIGHT")),
    ],
)
def test_the_line_and_its_side(given: dict[str, Any], found: Any) -> None:
    assert lines(**given) == found


def end(old: int | None, new: int | None, kind: str | None = None) -> dict[str, Any]:
    return {"line_code": "f_0_0", "type": kind, "old_line": old, "new_line": new}


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"start": end(None, 5), "end": end(None, 9)}, (9, 5, "RIGHT")),
        ({"start": end(3, 5), "end": end(None, 9)}, (9, 5, "RIGHT")),
        ({"start": end(None, 9), "end": end(None, 9)}, (9, None, "RIGHT")),
        ({"start": end(3, None), "end": end(None, 9)}, (9, 3, "RIGHT")),
        ({"start": None, "end": end(None, 9)}, (9, None, "RIGHT")),
        ({"start": {"line_code": "f_0_5", "type": "new"}, "end": None}, (9, 5, "RIGHT")),
        ({"start": {"line_code": "a_b_4_5"}, "end": None}, (9, 5, "RIGHT")),
        ({"start_line_code": "f_0_5", "end_line_code": "f_0_9"}, (9, 5, "RIGHT")),
        ({"start": {"line_code": "no code"}, "end": None}, (9, None, "RIGHT")),
    ],
)
def test_a_range_gives_the_line_that_a_comment_begins_at(given: dict[str, Any], found: Any) -> None:
    assert lines(line_range=given) == found


def test_a_range_of_removed_lines_is_on_the_left() -> None:
    given = {"start": end(3, None, "old"), "end": end(7, None, "old")}
    assert lines(old_line=7, new_line=None, line_range=given) == (7, 3, "LEFT")


def test_a_position_that_has_only_a_range_is_where_that_ends() -> None:
    given = {"start": end(None, 5), "end": end(None, 9)}
    assert lines(old_line=None, new_line=None, line_range=given) == (9, 5, "RIGHT")


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ("src/old.py", "src/new.py", "src/new.py"),
        ("src/a.py", None, "src/a.py"),
        (None, "src/a.py", "src/a.py"),
        (None, None, None),
    ],
)
def test_the_path_is_the_present_one_where_there_is_one(
    old: str | None, new: str | None, path: str | None
) -> None:
    assert threads(note(position=at(old_path=old, new_path=new))).path == path


@pytest.mark.parametrize(
    ("kind", "subject"),
    [("text", "line"), ("file", "file"), ("image", "image"), ("hologram", "line")],
)
def test_a_thread_may_be_on_a_line_a_file_or_an_image(kind: str, subject: str) -> None:
    assert threads(note(position=at(position_type=kind))).subject == subject


@pytest.mark.parametrize(
    "nowhere", [{}, {"position": None}, {"position": at(old_path=None, new_path=None)}]
)
def test_a_thread_on_the_merge_request_as_a_whole_is_on_no_line(nowhere: dict[str, Any]) -> None:
    seen = threads(note(**nowhere))
    assert (seen.path, seen.subject) == (None, "file")


def test_system_notes_within_a_thread_are_no_comments() -> None:
    changed = note(2, system=True, resolvable=False, body="changed this line")
    seen = threads(note(1, position=at()), changed, note(3))
    assert [comment.id for comment in seen.comments] == [1, 3]
    assert seen.comments[0].url == f"{PAGE}#note_1"


def test_a_deleted_author_is_the_ghost() -> None:
    assert threads(note(author=None)).comments[0].author == "ghost"


@pytest.mark.parametrize("record", records(lambda each: "individual_note" in each))
def test_every_recorded_discussion_is_read_with_every_note(record: dict[str, Any]) -> None:
    seen = Discussion.model_validate(record)
    assert [each.id for each in seen.notes] == [each["id"] for each in record["notes"]]
    assert [each.body for each in seen.notes] == [each.get("body", "") for each in record["notes"]]
    if is_thread(seen):
        assert thread(seen, REFS, PAGE).comments


@pytest.mark.anyio
async def test_threads_come_with_all_comments_in_order(
    gitlab: GitLab, world: World, clock: Clock, project: Project, repository: Repository
):
    change = world.open_merge_request(project, "one")
    first = world.note(change, "On a line.", "ann", on=position(change, "README.md", new_line=1))
    world.note(change, "A remark.", "bo")
    world.system_note(change, "changed the title")
    clock.advance(minutes=2)
    second = world.note(change, "In general.", "bo", thread=True)
    world.reply(change, first, "Done.", "cy")
    world.resolve(change, first, "ann")
    [reading] = await gitlab.threads([target(repository, change)])
    one, two = reading.threads.threads
    assert (one.id, two.id) == (first.id, second.id)
    assert [comment.body for comment in one.comments] == ["On a line.", "Done."]
    assert (one.is_resolved, one.resolved_by, one.line, one.path) == (True, "ann", 1, "README.md")
    assert (two.is_resolved, two.path, two.subject) == (False, None, "file")
    assert reading.threads.gap is None


@pytest.mark.anyio
async def test_all_pages_of_discussions_are_read(
    gitlab: GitLab, world: World, project: Project, repository: Repository
):
    world.count_limit = 0
    change = world.open_merge_request(project, "one")
    for number in range(250):
        world.note(change, f"Point {number}.", thread=True)
    [reading] = await gitlab.threads([target(repository, change)])
    assert len(reading.threads.threads) == 250


@pytest.mark.anyio
async def test_a_push_makes_threads_outdated(
    gitlab: GitLab, world: World, clock: Clock, project: Project, repository: Repository
):
    change = world.open_merge_request(project, "one")
    world.note(change, on=position(change, "README.md", new_line=1))
    clock.advance(minutes=1)
    world.push(change)
    world.note(change, on=position(change, "README.md", new_line=2))
    [reading] = await gitlab.threads([target(repository, change)])
    assert [each.is_outdated for each in reading.threads.threads] == [True, False]


@pytest.mark.anyio
async def test_a_push_between_two_requests_makes_nothing_look_outdated(
    gitlab: GitLab, simulator: Running, world: World, project: Project, repository: Repository
):
    """The discussions were read before the push, the diff after it."""
    change = world.open_merge_request(project, "one")
    world.note(change, on=position(change, "README.md", new_line=1))
    await gitlab.threads([target(repository, change)])
    stale = {"iid": str(change.iid), "diffRefs": {"headSha": "f", "startSha": "f", "baseSha": "f"}}
    data = {"id": f"gid://gitlab/Project/{project.id}", "mergeRequests": {"nodes": [stale]}}
    once = faults.Fault("stale", "graphql", status=200, json={"data": {"project": data}})
    simulator.faults.add(once)
    [reading] = await gitlab.threads([target(repository, change)])
    assert [each.is_outdated for each in reading.threads.threads] == [False]


@pytest.mark.anyio
async def test_five_merge_requests_take_one_request_each_and_one_for_their_diffs(
    gitlab: GitLab, simulator: Running, world: World, project: Project, repository: Repository
):
    changes = world.fill(project, 5)
    for change in changes:
        world.note(change, on=position(change, "README.md", new_line=1))
    targets = [target(repository, change) for change in changes]
    await gitlab.threads(targets)
    simulator.log.clear()
    readings = await gitlab.threads(targets)
    assert all(len(reading.threads.threads) == 1 for reading in readings)
    assert len(asked(simulator)) == 6


@pytest.mark.anyio
async def test_without_threads_on_the_diff_nobody_asks_for_the_diff(
    gitlab: GitLab, simulator: Running, world: World, project: Project, repository: Repository
):
    change = world.open_merge_request(project, "one")
    world.note(change, "A remark.")
    await gitlab.threads([target(repository, change)])
    assert len(asked(simulator)) == 1


@pytest.mark.anyio
async def test_by_rest_alone_threads_are_as_outdated(
    gitlab: GitLab, world: World, project: Project, repository: Repository
):
    world.graphql_mode = "absent"
    change = world.open_merge_request(project, "one")
    world.note(change, on=position(change, "README.md", new_line=1))
    world.push(change)
    [reading] = await gitlab.threads([target(repository, change)])
    assert reading.threads.threads[0].is_outdated


@pytest.mark.anyio
async def test_one_that_is_gone_or_refused_is_a_fault_of_its_own(
    gitlab: GitLab, simulator: Running, world: World, project: Project, repository: Repository
):
    change = world.open_merge_request(project, "one")
    gone = Target(repository, 99, "gid://gitlab/MergeRequest/99")
    first, second = await gitlab.threads([gone, target(repository, change)])
    assert isinstance(first.fault, NotVisible)
    assert second.threads.threads == ()
    simulator.faults.add(faults.forbidden(request="discussions"))
    [reading] = await gitlab.threads([target(repository, change)])
    assert isinstance(reading.fault, Forbidden)


@pytest.mark.anyio
async def test_a_limit_is_raised(
    gitlab: GitLab, simulator: Running, world: World, project: Project, repository: Repository
):
    change = world.open_merge_request(project, "one")
    simulator.faults.add(faults.too_many_requests())
    with pytest.raises(RateLimited):
        await gitlab.threads([target(repository, change)])


@pytest.mark.anyio
async def test_the_ghost_writes_where_the_account_is_gone(
    simulator: Running, world: World, clock: Clock, project: Project, repository: Repository
):
    change = world.open_merge_request(project, "one")
    discussion = world.note(change, thread=True)
    discussion.notes[0].author = None
    made = client(simulator, clock)
    [reading] = await made.threads([target(repository, change)])
    assert reading.threads.threads[0].comments[0].author == "ghost"
    await made.aclose()
