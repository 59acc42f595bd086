"""`show` as a person sees it: made from real replies, in colours where there are any."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from pullstate.cli.pages import merge_request as page
from pullstate.domain.merge_request import Discussion, Facet
from pullstate.store.engine import Store
from tests.domain.readings import NOON
from tests.server.bodies import (
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
from tests.server.desk import Desk, merge_request, overview

pytestmark = pytest.mark.anyio

ALL = "diffs,commits,notes,pipelines,conflicts,discussions"
GREEN, RED, CYAN = "\x1b[32m", "\x1b[31m", "\x1b[36m"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    store = Store.open(tmp_path / "store.db")
    yield Desk(store)
    store.close()


def printed(reply: dict[str, Any], *, colours: bool = False, width: int = 100) -> str:
    """What stands on the screen."""
    out = io.StringIO()
    kind = "standard" if colours else None
    console = Console(
        file=out, width=width, highlight=False, force_terminal=colours, color_system=kind
    )
    console.print(page(reply), crop=False)
    return out.getvalue()


async def test_the_head_of_the_page(desk: Desk):
    desk.filled(seen=merge_request(draft=True))
    lines = printed(await desk.get()).splitlines()
    assert lines == [
        "!7 Change 7",
        "https://github.com/acme/rocket/pull/7",
        "opened, draft, draft",
        "octo: topic → main",
        "opened 2026-02-28T12:00:00Z",
        "labels: space",
        "reviewers: ann",
        "merging: mergeable",
        "",
        "Fly to the moon.",
        "",
        "ok synced 0 s ago",
    ]


async def test_a_merged_one_says_when(desk: Desk):
    desk.filled(seen=merge_request(merged_at=NOON, closed_at=NOON))
    shown = printed(await desk.get())
    assert "merged, merged\n" in shown
    assert "merged 2026-03-01T12:00:00Z" in shown


async def test_what_was_not_read_of_the_base_is_left_out_and_said(desk: Desk):
    desk.fail(desk.record(desk.track()), Facet.OVERVIEW, "the forge could not be reached")
    shown = printed(await desk.get(), width=200)
    assert "None" not in shown
    assert "overview: not read: the forge could not be reached" in shown


async def test_a_patch_is_in_colours_and_never_wrapped(desk: Desk):
    long = "x" * 300
    patch = f"@@ -1,2 +1,2 @@ def f():\n kept\n-old [bold]\n+{long}\n\\ No newline at end of file\n"
    desk.filled(diffs(file("src/a.py", patch=patch)))
    reply = await desk.get(include="diffs", detail="full_patch")
    shown = printed(reply, colours=True)
    assert f"{GREEN}+{long}" in shown
    assert f"{RED}-old [bold]" in shown
    assert f"{CYAN}@@ -1,2 +1,2 @@ def f():" in shown
    assert patch in printed(reply)


async def test_files_and_what_is_left_out(desk: Desk):
    moved = file("src/b.py", old_path="src/a.py", status="renamed", additions=12, deletions=3)
    desk.filled(diffs(moved, file("uv.lock"), truncated=True, total_files=9))
    shown = printed(await desk.get(include="diffs"))
    assert "DIFFS\nat least 9 files, +13 -4\n" in shown
    assert "renamed     +12    -3  src/a.py → src/b.py\n" in shown
    assert "left out (generated/lockfile): uv.lock\n" in shown
    assert "7 more files that are not named here\n" in shown


async def test_commits_newest_first(desk: Desk):
    desk.filled(commits(2))
    shown = printed(await desk.get(include="commits"))
    assert shown.index("Commit 2  (ann") < shown.index("Commit 1  (ann")


async def test_notes_with_their_place_and_the_way_to_the_next_page(desk: Desk):
    said = (
        note(1, "First\nsecond", resolvable=True, resolved=True, position=position(line=9)),
        note(2, "[red]not markup[/red]", review_state="APPROVED"),
        note(3, "moved", system=True),
    )
    desk.filled(notes(3, items=said))
    shown = printed(await desk.get(include="notes", notes_per_page=2))
    assert "bob, 2026-03-01T12:01:00Z, src/a.py:9, resolved:\n  First\n  second\n" in shown
    assert "bob, 2026-03-01T12:02:00Z, APPROVED:\n  [red]not markup[/red]\n" in shown
    assert "more: --notes-page 2\n" in shown
    assert "system:" in printed(await desk.get(include="notes", notes_page=2, notes_per_page=2))


async def test_pipelines_with_the_jobs_that_failed(desk: Desk):
    red = pipeline(2, job("lint"), job("flaky", allow_failure=True))
    desk.filled(pipelines(red, pipeline(1)))
    shown = printed(await desk.get(include="pipelines"))
    assert "failed      topic  aaaaaaaaaaaa  push  https://x/pipelines/2\n" in shown
    assert "  failed: lint  https://x/jobs/lint\n" in shown
    assert "  failed (allowed to): flaky  https://x/jobs/flaky\n" in shown
    assert "success     topic" in shown


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (conflicts("a.py"), "CONFLICTS\nyes\n  a.py\n"),
        (conflicts(), "CONFLICTS\nno\n"),
        (conflicts(has_conflicts=None, reason="not computed"), "not known: not computed\n"),
    ],
)
async def test_conflicts(desk: Desk, body: Any, words: str):
    desk.filled(body)
    assert words in printed(await desk.get(include="conflicts"))


async def test_discussions_with_what_lies_between(desk: Desk):
    long = discussion(2, count=300, body="x" * 3_000)
    plain = Discussion("d3", False, False, (note(9),))
    desk.filled(discussions(discussion(1, resolved=True), long, plain))
    reply = await desk.get(include="discussions")
    shown = printed(reply)
    assert "resolved  d1\n  bob, " in shown
    assert "\n    Why?\n" in shown
    assert f"\n  {reply['discussions']['items'][1]['notes_not_shown']} more notes\n" in shown
    assert "open  d2\n" in shown
    assert "comment  d3\n" in shown


async def test_what_has_no_room_and_what_the_forge_kept_back(desk: Desk):
    desk.filled(commits(2_000), notes(2, truncated=True))
    reply = await desk.get(include="commits,notes")
    shown = printed(reply)
    assert f"{reply['commits']['not_shown']} more without room here\n" in shown
    assert "the forge has more than it gave\n" in shown


async def test_each_facet_that_fails_says_why(desk: Desk):
    stored = desk.filled()
    for facet in ALL.split(","):
        desk.fail(stored, Facet(facet), f"no {facet} today")
    shown = printed(await desk.get(include=ALL))
    for facet in ALL.split(","):
        assert f"{facet.upper()}\nnot read: no {facet} today\n" in shown


async def test_a_whole_page_at_every_width(desk: Desk):
    desk.filled(
        diffs(file()), commits(3), notes(3), pipelines(pipeline(1, job())), conflicts("a.py"),
        discussions(discussion()),
    )  # fmt: skip
    reply = await desk.get(include=ALL, detail="full_patch")
    for width in (20, 40, 80, 200):
        assert "CONFLICTS" in printed(reply, width=width)


async def test_labels_without_room_are_counted(desk: Desk):
    labels = tuple(f"label {n} {'長' * 50}" for n in range(100))
    desk.keep(desk.record(desk.track()), overview(labels=labels))
    reply = await desk.get()
    assert f" and {reply['labels_not_shown']} more" in printed(reply, width=9_000)
