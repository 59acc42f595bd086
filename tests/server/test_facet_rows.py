"""Each facet within its room, whatever is in it; and nothing left out without a word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pullstate.domain.diff_exclusion import DiffExclusionPolicy, Reason
from pullstate.domain.merge_request import (
    Commits,
    Conflicts,
    Diffs,
    Discussions,
    FacetBody,
    FileDiff,
    Notes,
    Overview,
    Pipelines,
)
from pullstate.server.facet_rows import Shape, row
from pullstate.server.room import Row, fair, fill, size, together
from tests.server.bodies import (
    commit,
    commits,
    conflicts,
    diffs,
    discussion,
    discussions,
    file,
    job,
    note,
    notes,
    pipeline,
    pipelines,
    position,
)

ROOM = 40_000
LEAST_ROOM = 600  # of a sixth of a reply whose base is as large as one gets, there is more
POLICY = DiffExclusionPolicy()


def shape(detail: str = "stats", **changes: Any) -> Shape:
    return Shape(detail, changes.pop("exclusion", POLICY), **changes)


def shown(body: FacetBody, room: int = ROOM, detail: str = "stats", **changes: Any) -> Row:
    return row(body, shape(detail, **changes), room)


# --- Diffs: what is shown, what is named, what is counted ----------------------------------------


def test_stats_list_each_file_with_its_counts_and_no_patch():
    made = shown(diffs(file("a.py", additions=3, deletions=2), file("b.py", status="added")))
    assert made == {
        "detail": "stats",
        "stats": {"additions": 4, "deletions": 3, "files": 2},
        "files": [
            {"path": "a.py", "status": "modified", "additions": 3, "deletions": 2},
            {"path": "b.py", "status": "added", "additions": 1, "deletions": 1},
        ],
        "excluded_files": [],
        "truncated": False,
    }


def test_none_has_totals_and_the_names_of_what_is_left_out():
    made = shown(diffs(file("a.py"), file("uv.lock", additions=40)), detail="none")
    assert made["stats"] == {"additions": 41, "deletions": 2, "files": 2}
    assert made["files"] == []
    assert made["excluded_files"] == [{"path": "uv.lock", "reason": "generated/lockfile"}]
    assert made["truncated"] is False


def test_full_patch_shows_each_patch_whole():
    patch = '@@ -1 +1 @@\n-<b>\t&\n+"c" 変\n'
    made = shown(diffs(file(patch=patch)), detail="full_patch")
    assert made["files"][0]["patch"] == patch


def test_an_excluded_file_is_counted_named_and_never_listed():
    body = diffs(
        file("src/a.py"),
        file("web/pnpm-lock.yaml", additions=900, deletions=100),
        file("app.min.js", additions=5, deletions=0),
        file("api.pb.go"),
        file("vendor/x/y.go"),
        file("logo.png", patch=None, additions=0, deletions=0, binary=True),
        file("big.sql", patch=None, additions=0, deletions=0, too_large=True),
        file("flagged.go", generated=True),
        file("docs/api.md"),
    )
    policy = DiffExclusionPolicy(matches=lambda path: path.startswith("docs/"))
    made = shown(body, detail="full_patch", exclusion=policy)
    assert [each["path"] for each in made["files"]] == ["src/a.py"]
    assert made["stats"]["files"] == 9
    assert made["stats"]["additions"] == 910
    assert {each["path"]: each["reason"] for each in made["excluded_files"]} == {
        "web/pnpm-lock.yaml": "generated/lockfile",
        "app.min.js": "generated/minified",
        "api.pb.go": "generated",
        "vendor/x/y.go": "vendored",
        "logo.png": "binary",
        "big.sql": "too_large",
        "flagged.go": "generated",
        "docs/api.md": "excluded by policy",
    }
    assert made["truncated"] is False


def test_a_rename_out_of_an_excluded_folder_is_named_by_the_path_that_matched():
    moved = file("src/app.js", old_path="dist/app.js", status="renamed")
    within = file("node_modules/b.js", old_path="dist/b.js", status="renamed")
    made = shown(diffs(moved, within))
    assert made["files"] == []
    assert made["excluded_files"] == [
        {"path": "dist/app.js", "reason": "vendored"},
        {"path": "dist/b.js", "reason": "vendored"},
        {"path": "node_modules/b.js", "reason": "vendored"},
    ]
    assert made["stats"]["files"] == 2


def test_a_rename_keeps_its_old_path_and_an_unmoved_file_has_none():
    renamed = file("new.py", old_path="old.py", status="renamed", additions=0, deletions=0)
    made = shown(diffs(renamed, file("same.py", old_path="same.py")))
    assert made["files"][0]["old_path"] == "old.py"
    assert "old_path" not in made["files"][1]


def test_a_patch_without_room_drops_its_file_whole_and_names_it():
    body = diffs(file("a.py"), file("huge.py", patch="+x\n" * 30_000), file("z.py"))
    made = shown(body, detail="full_patch")
    assert [each["path"] for each in made["files"]] == ["a.py", "z.py"]
    assert made["excluded_files"] == [{"path": "huge.py", "reason": "too_large"}]
    assert made["truncated"] is False
    assert made["stats"] == {"additions": 3, "deletions": 3, "files": 3}


def test_two_files_whose_paths_look_alike_are_dropped_one_by_one():
    zero_width = "a\u200b.py"
    body = diffs(file("a.py"), file(zero_width, patch="+x\n" * 30_000))
    made = shown(body, detail="full_patch")
    assert [each["path"] for each in made["files"]] == ["a.py"]
    assert made["excluded_files"] == [{"path": "a.py", "reason": "too_large", "hidden_chars": 1}]


def test_changed_lines_without_a_patch_are_named_and_never_shown_as_no_change():
    made = shown(diffs(file("a.py", patch=None, additions=5)), detail="full_patch")
    assert made["files"] == []
    assert made["excluded_files"] == [{"path": "a.py", "reason": "too_large"}]


def test_a_file_without_changed_lines_has_no_patch():
    moved = file("b.py", old_path="a.py", status="renamed", patch=None, additions=0, deletions=0)
    [only] = shown(diffs(moved), detail="full_patch")["files"]
    assert "patch" not in only


def test_a_dropped_rename_is_named_by_its_present_path():
    moved = file("b.py", old_path="a.py", status="renamed", patch="+x\n" * 30_000)
    made = shown(diffs(moved), detail="full_patch")
    assert made["excluded_files"] == [{"path": "b.py", "reason": "too_large"}]


def test_totals_of_the_forge_go_before_our_count():
    body = diffs(file(), truncated=True, total_files=5_000, total_additions=9, total_deletions=8)
    made = shown(body)
    assert made["stats"] == {"additions": 9, "deletions": 8, "files": 5_000}
    assert made["truncated"] is True
    assert made["not_named"] == 4_999


@pytest.mark.parametrize(
    ("body", "at_least"),
    [
        (diffs(file(), truncated=True), True),
        (diffs(file(), truncated=True, total_files=9), True),
        (diffs(file(), truncated=True, total_files=9, total_additions=1, total_deletions=1), False),
        (diffs(file(too_large=True, patch=None, additions=0, deletions=0)), True),
        (diffs(file(too_large=True, patch=None, additions=7, deletions=0)), False),
        (diffs(file(binary=True, patch=None, additions=0, deletions=0)), False),
        (diffs(file()), False),
    ],
)
def test_totals_that_the_forge_did_not_count_whole_say_so(body: Diffs, at_least: bool):
    assert shown(body)["stats"].get("at_least", False) is at_least


def test_a_merge_request_that_the_forge_cut_is_truncated_in_every_detail():
    for detail in ("none", "stats", "full_patch"):
        assert shown(diffs(file(), truncated=True), detail=detail)["truncated"] is True


def test_a_status_that_no_schema_knows_is_a_modification():
    assert shown(diffs(file(status="copied")))["files"][0]["status"] == "modified"


def test_hidden_characters_of_path_and_patch_are_counted_together():
    spoofed = file("a\u202e.py", patch="+x\u200b\u200b\n")
    [made] = shown(diffs(spoofed), detail="full_patch")["files"]
    assert (made["path"], made["patch"], made["hidden_chars"]) == ("a.py", "+x\n", 3)
    [listed] = shown(diffs(spoofed))["files"]
    assert listed["hidden_chars"] == 1


def test_all_names_go_before_any_patch():
    small = [file(f"src/{n:04}.py", patch="+" + "x" * 300) for n in range(600)]
    made = shown(diffs(*small), detail="full_patch")
    assert made["truncated"] is False
    assert len(made["files"]) + len(made["excluded_files"]) == 600
    assert made["files"]


def test_where_even_names_do_not_fit_the_rest_is_counted_and_some_patches_are_shown():
    body = diffs(*(file(f"src/module/{n:05}/file.py") for n in range(3_000)))
    made = shown(body, detail="full_patch")
    assert made["truncated"] is True
    assert ROOM / 3 < size(made["files"]) <= ROOM / 2
    assert size(made["excluded_files"]) > ROOM / 3
    assert accounted_for(made) == 3_000


def test_many_excluded_and_many_listed_files_share_the_room():
    listed = [file(f"src/{n:05}.py") for n in range(2_000)]
    locks = [file(f"{n:05}/uv.lock") for n in range(2_000)]
    made = shown(diffs(*listed, *locks))
    assert size(made["files"]) > ROOM / 3
    assert size(made["excluded_files"]) > ROOM / 3
    assert accounted_for(made) == 4_000


def test_few_excluded_files_are_all_named_beside_very_many_listed_ones():
    listed = [file(f"src/{n:05}.py") for n in range(3_000)]
    locks = [file(f"{n}/uv.lock") for n in range(100)]
    made = shown(diffs(*listed, *locks))
    assert len(made["excluded_files"]) == 100
    assert accounted_for(made) == 3_100


def accounted_for(made: Row) -> int:
    """Files that are listed, named or counted; each is named by one path here."""
    return len(made["files"]) + len(made["excluded_files"]) + made.get("not_named", 0)


# --- The other facets ----------------------------------------------------------------------------


def test_commits_are_cut_at_the_oldest_and_counted():
    made = shown(commits(1_000))
    assert made["items"][0]["title"] == "Commit 1000"
    assert made["truncated"] is True
    assert len(made["items"]) + made["not_shown"] == 1_000


def test_a_list_that_the_forge_cut_is_truncated_though_all_of_it_is_shown():
    for body in (commits(2, truncated=True), pipelines(truncated=True), notes(2, truncated=True)):
        made = shown(body)
        assert made["truncated"] is True
        assert "not_shown" not in made


def test_a_page_of_notes_has_its_metadata():
    made = shown(notes(2), notes_page=3, notes_per_page=2, more_notes=True)
    assert made["metadata"] == {"page": 3, "per_page": 2, "has_more": True}
    assert [each["id"] for each in made["items"]] == [1, 2]


def test_a_note_shows_all_that_is_known_of_it():
    said = note(
        5,
        "Fly.",
        author="ann",
        resolvable=True,
        resolved=True,
        position=position("b.py", old_path="a.py", line=9, start_line=7),
        review_state="APPROVED",
    )
    [made] = shown(Notes((said,)))["items"]
    assert made == {
        "id": 5,
        "body": "Fly.",
        "author": "ann",
        "created_at": "2026-03-01T12:05:00Z",
        "system": False,
        "resolvable": True,
        "resolved": True,
        "discussion_id": "d5",
        "position": {
            "path": "b.py",
            "old_path": "a.py",
            "line": 9,
            "old_line": None,
            "start_line": 7,
        },
        "review_state": "APPROVED",
    }


def test_bodies_are_cut_shorter_before_a_note_is_left_out():
    made = shown(notes(100, "長" * 4_000))
    assert len(made["items"]) == 100
    assert made["truncated"] is False
    assert all(each["body_truncated"] for each in made["items"])


def test_short_notes_are_not_cut():
    made = shown(notes(100, "Fine."))
    assert {each["body"] for each in made["items"]} == {"Fine."}
    assert "body_truncated" not in made["items"][0]


def test_a_long_discussion_keeps_its_first_note_and_its_newest():
    made = shown(discussions(discussion(1, count=300, body="x" * 4_000)))
    [only] = made["items"]
    ids = [each["id"] for each in only["notes"]]
    assert ids[0] == 1000
    assert ids[1:] == list(range(1300 - len(ids) + 1, 1300))
    assert len(ids) + only["notes_not_shown"] == 300
    assert made["truncated"] is False


def test_a_reply_says_where_it_stands_only_if_that_is_elsewhere():
    here, there = position("a.py"), position("b.py")
    said = tuple(note(n, position=where) for n, where in enumerate([here, here, there, None]))
    [only] = shown(discussions(discussion(notes=said)))["items"]
    assert [each.get("position", {}).get("path") for each in only["notes"]] == [
        "a.py",
        None,
        "b.py",
        None,
    ]
    assert all("position" in each for each in shown(Notes(said[:3]))["items"])


def test_45_discussions_are_all_there_however_much_was_said():
    made = shown(discussions(*(discussion(n, count=3, body="長" * 4_000) for n in range(1, 46))))
    assert [each["id"] for each in made["items"]] == [f"d{n}" for n in range(1, 46)]
    assert made["truncated"] is False


def test_resolved_discussions_are_left_out_before_unresolved_ones_and_the_order_stays():
    every = [discussion(n, resolved=n % 2 == 0) for n in range(1, 801)]
    made = shown(discussions(*every))
    ids = [int(each["id"][1:]) for each in made["items"]]
    assert made["truncated"] is True
    assert len(ids) + made["not_shown"] == 800
    assert ids == sorted(ids)
    assert all(not each["resolved"] for each in made["items"])


def test_a_pipeline_lists_its_failed_jobs():
    made = shown(pipelines(pipeline(2, job("lint", allow_failure=True)), pipeline(1)))
    [newest, oldest] = made["items"]
    assert newest["failed_jobs"] == [
        {"name": "lint", "web_url": "https://x/jobs/lint", "allow_failure": True}
    ]
    assert "failed_jobs_not_shown" not in newest
    assert oldest["failed_jobs"] == []


def test_a_thousand_failed_jobs_are_counted_where_they_are_not_shown():
    many = [job(f"job-{n}") for n in range(1_000)]
    made = shown(pipelines(pipeline(2, *many), pipeline(1, *many)))
    newest, oldest = made["items"]
    assert newest["failed_jobs"][0]["name"] == "job-0"
    assert len(newest["failed_jobs"]) + newest["failed_jobs_not_shown"] == 1_000
    assert len(oldest["failed_jobs"]) + oldest.get("failed_jobs_not_shown", 0) == 1_000


def test_many_pipelines_leave_room_for_the_failed_jobs_of_the_newest():
    made = shown(pipelines(*(pipeline(n, job("a"), job("b")) for n in range(1_000, 0, -1))))
    assert made["items"][0]["id"] == "1000"
    assert len(made["items"][0]["failed_jobs"]) == 2
    assert len(made["items"]) + made["not_shown"] == 1_000


def test_what_failed_jobs_leave_goes_back_to_older_pipelines():
    green = [pipeline(n) for n in range(300, 0, -1)]
    red = pipeline(0, *(job(f"job-{n}") for n in range(1_000)))
    made = shown(pipelines(*green, red))
    assert size(made) > ROOM * 0.9
    assert all("failed_jobs_not_shown" not in each for each in made["items"] if each["id"] != "0")


def test_conflicts_name_the_files_and_say_when_nobody_knows():
    made = shown(conflicts("a.py", "b.py"))
    assert made == {
        "has_conflicts": True,
        "files": [{"path": "a.py"}, {"path": "b.py"}],
        "reason": None,
    }
    unknown = shown(conflicts(has_conflicts=None, reason="not computed yet"))
    assert (unknown["has_conflicts"], unknown["reason"]) == (None, "not computed yet")


def test_conflicting_files_without_room_are_counted():
    made = shown(conflicts(*(f"src/{n}.py" for n in range(9_000))))
    assert len(made["files"]) + made["not_shown"] == 9_000


def test_the_overview_is_no_facet_of_its_own():
    with pytest.raises(TypeError):
        shown(Overview("opened", "", (), (), ""))


# --- The bound, whatever there is ----------------------------------------------------------------

LETTERS = st.sampled_from(["x", "長", "😀", '"', "\\", "\n", "\u200b", "&"])
COUNTS = st.integers(0, 120)
LENGTHS = st.integers(0, 6_000)
ROOMS = st.integers(LEAST_ROOM, 47_000)
DETAILS = st.sampled_from(["none", "stats", "full_patch"])


@st.composite
def changed_files(draw: st.DrawFn) -> FileDiff:
    letter = draw(LETTERS)
    folder = draw(st.sampled_from(["", "src/", "vendor/", "長/", "dist/"]))
    name = f"{folder}{letter * draw(st.integers(0, 300))}{draw(st.integers(0, 10**6))}.py"
    patch = draw(st.one_of(st.none(), LENGTHS.map(lambda length: letter * length)))
    return file(
        name,
        old_path=draw(st.sampled_from([None, name, f"vendor/{name}", f"old/{name}"])),
        patch=patch,
        additions=draw(st.integers(0, 10**7)),
        too_large=draw(st.booleans()),
    )


@st.composite
def all_diffs(draw: st.DrawFn) -> Diffs:
    few = draw(st.lists(changed_files(), max_size=12))
    times = draw(st.sampled_from([1, 1, 3, 60]))
    many = [file(f"{n}/{each.path}", patch=each.patch) for n in range(times) for each in few]
    total = draw(st.one_of(st.none(), st.integers(0, 10_000)))
    return diffs(*many, truncated=draw(st.booleans()), total_files=total)


def words(letter: str, length: int) -> str:
    return letter * length


@st.composite
def other_facets(draw: st.DrawFn) -> FacetBody:
    text = words(draw(LETTERS), draw(LENGTHS))
    count, jobs = draw(COUNTS), draw(COUNTS)
    where = position(text[:900], line=3)
    made: Sequence[FacetBody] = [
        Commits(tuple(commit(n, title=text, author=text[:50]) for n in range(count))),
        Conflicts(True, tuple(f"{n}{text[:200]}" for n in range(count))),
        Notes(tuple(note(n, text, position=where) for n in range(count))),
        Discussions(tuple(discussion(n, jobs, text[: 6_000 // (jobs + 1)]) for n in range(count))),
        Pipelines(tuple(pipeline(n, *[job(text[:90])] * jobs, ref=text) for n in range(count))),
    ]
    return draw(st.sampled_from(made))


@settings(max_examples=60, deadline=None)
@given(body=all_diffs(), detail=DETAILS, room=ROOMS)
def test_diffs_keep_to_their_room_and_account_for_every_file(body: Diffs, detail: str, room: int):
    made = shown(body, room, detail)
    assert size(made) <= room
    excluded = [each for each in body.files if POLICY.decide(each)]
    if detail != "none":
        named = len(made["files"]) + files_named(made, excluded)
        total = max(len(body.files), body.total_files or 0)
        assert named + made.get("not_named", 0) == total
    assert made["truncated"] == (body.truncated or "not_named" in made)
    assert made["stats"]["additions"] == sum(each.additions for each in body.files)


def files_named(made: Row, excluded: Sequence[FileDiff]) -> int:
    """How many files the names stand for: those of one file are together or not at all."""
    names = list(made["excluded_files"])
    count = 0
    for each in excluded:
        paths = POLICY.decide(each).paths
        if len(names) >= len(paths) and [n["reason"] for n in names[: len(paths)]] == [
            path.reason for path in paths
        ]:
            names = names[len(paths) :]
            count += 1
        else:
            break
    assert all(name["reason"] == Reason.TOO_LARGE for name in names)
    return count + len(names)


@settings(max_examples=60, deadline=None)
@given(body=other_facets(), room=ROOMS)
def test_every_other_facet_keeps_to_its_room_and_counts_what_is_not_shown(
    body: FacetBody, room: int
):
    made = shown(body, room)
    assert size(made) <= room
    rows, all_of_them = (
        (made["files"], body.files) if isinstance(body, Conflicts) else (made["items"], body.items)
    )
    assert len(rows) + made.get("not_shown", 0) == len(all_of_them)
    for pipeline_row in made["items"] if isinstance(body, Pipelines) else ():
        jobs = len(pipeline_row["failed_jobs"]) + pipeline_row.get("failed_jobs_not_shown", 0)
        assert jobs == len(body.items[0].failed_jobs)
    for discussion_row in made["items"] if isinstance(body, Discussions) else ():
        said = len(discussion_row["notes"]) + discussion_row.get("notes_not_shown", 0)
        assert said == len(body.items[0].notes)


# --- Room ----------------------------------------------------------------------------------------


def test_fill_takes_the_first_that_fit_and_maybe_none():
    assert fill(["aaaa", "b"], 7) == ["aaaa"]
    assert fill(["aaaa", "b"], 6) == []
    assert fill([], 0) == []


def test_fair_gives_half_and_what_the_other_leaves():
    assert fair(100, 30, 500) == 30
    assert fair(100, 300, 500) == 50
    assert fair(100, 300, 20) == 80


@given(
    sizes=st.lists(st.integers(0, 3_000), max_size=6),
    room=st.integers(1_000, 6_000),
)
def test_parts_together_keep_to_the_room(sizes: list[int], room: int):
    def part(wanted: int) -> Any:
        return lambda given: {"x": "y" * max(0, min(wanted, given - 8))}

    made = together({f"part{n}": part(each) for n, each in enumerate(sizes)}, room)
    assert list(made) == [f"part{n}" for n in range(len(sizes))]
    assert size(made) <= room + 2


def test_what_a_small_part_leaves_goes_to_a_large_one():
    def large(room: int) -> Row:
        return {"x": "y" * (room - 8)}

    made = together({"large": large, "small": lambda room: {"x": "y"}}, 1_000)
    assert size(made) > 980
