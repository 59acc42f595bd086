"""Strangers' text in `get_merge_request`: a marker in every field that the store holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from pullstate.domain.diff_exclusion import DiffExclusionPolicy
from pullstate.domain.merge_request import Diffs, Discussion, FacetBody, Notes
from pullstate.domain.review import Comment
from pullstate.store.engine import Store
from tests.domain.readings import NOON
from tests.server.bodies import (
    commits,
    conflicts,
    diffs,
    discussions,
    file,
    job,
    note,
    pipeline,
    pipelines,
    position,
)
from tests.server.desk import Desk, merge_request, overview

pytestmark = pytest.mark.anyio

ALL = "diffs,commits,notes,pipelines,conflicts,discussions"
SEEN = "⟦seen⟧"
HIDDEN = "\u202e\u200b\U000e0041"  # turned around, of no width, a tag
MARKER = f"{HIDDEN}{SEEN}"
SEVERAL_LINES = {"body", "description", "patch"}


def planted(value: Any) -> Any:
    """The same with a marker at the end of every text."""
    if is_dataclass(value):
        return replace(value, **{f.name: planted(getattr(value, f.name)) for f in fields(value)})
    if isinstance(value, tuple):
        return tuple(map(planted, value))
    return value + MARKER if isinstance(value, str) and not isinstance(value, Enum) else value


def every_facet() -> tuple[FacetBody, ...]:
    """A facet of each kind in which every field has a value."""
    comment = Comment(1, "bob", "Why?", NOON, NOON, "https://x/1", "OUTDATED")
    said = replace(
        note(position=position(), review_state="APPROVED", discussion_id="d1"), comment=comment
    )
    listed = file("src/a.py", old_path="src/b.py", status="renamed")
    named = file("vendor/a.py", old_path="dist/b.py")
    return (
        diffs(listed, named),
        commits(2),
        pipelines(pipeline(1, job("lint"))),
        conflicts("a.py", reason="a reason"),
        discussions(Discussion("d1", True, False, (said,))),
        Notes((said,)),
    )


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    store = Store.open(tmp_path / "store.db")
    yield Desk(store)
    store.close()


@pytest.fixture
def marked(desk: Desk) -> Desk:
    """A desk with one merge request, marked in every field of it and of its facets."""
    stored = desk.record(desk.track(), planted(merge_request()))
    desk.keep(stored, planted(overview()), *map(planted, every_facet()))
    return desk


def texts(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Every text of a reply, with the name of its field."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from texts(inner, key)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item, name)
    elif isinstance(value, str):
        yield name, value


def hidden_in(value: Any) -> int:
    if isinstance(value, list):
        return sum(map(hidden_in, value))
    if not isinstance(value, dict):
        return 0
    return value.get("hidden_chars", 0) + sum(map(hidden_in, value.values()))


@pytest.mark.parametrize("detail", ["none", "stats", "full_patch"])
async def test_no_hidden_character_gets_through_and_each_is_counted(marked: Desk, detail: str):
    reply = await marked.get(include=ALL, detail=detail)
    found = list(texts(reply))
    for name, text in found:
        assert not set(HIDDEN) & set(text), name
    shown = sum(text.count(SEEN) for _, text in found)
    assert shown > 40
    assert hidden_in(reply) == shown * len(HIDDEN)


async def test_every_field_of_every_facet_is_shown_with_its_marker(marked: Desk):
    reply = await marked.get(include=ALL, detail="full_patch")
    marked_fields = {name for name, text in texts(reply) if SEEN in text}
    assert marked_fields >= {
        *("title", "author", "source_branch", "target_branch", "web_url", "sha", "description"),
        *("labels", "reviewers", "detailed_merge_status", "path", "old_path", "patch", "body"),
        *("discussion_id", "review_state", "minimized", "status", "ref", "source", "id", "name"),
        "reason",
    }


async def test_a_line_never_breaks_and_a_body_keeps_its_breaks(desk: Desk):
    def broken(value: Any) -> Any:
        return replace_in(value, MARKER, "\r\nb\tc\u2028d")

    stored = desk.record(desk.track(), broken(planted(merge_request())))
    desk.keep(stored, *(broken(planted(body)) for body in (overview(), *every_facet())))
    reply = await desk.get(include=ALL, detail="full_patch")
    for name, text in texts(reply):
        assert "\r" not in text
        assert "\u2028" not in text
        assert ("\n" in text) <= (name in SEVERAL_LINES), name
    assert reply["description"].endswith("\nb\tc\nd")


def replace_in(value: Any, old: str, new: str) -> Any:
    if is_dataclass(value):
        changed = {f.name: replace_in(getattr(value, f.name), old, new) for f in fields(value)}
        return replace(value, **changed)
    if isinstance(value, tuple):
        return tuple(replace_in(item, old, new) for item in value)
    if isinstance(value, str) and not isinstance(value, Enum):
        return value.replace(old, new)
    return value


@pytest.mark.parametrize(
    "text", ['Don\'t "x" & y', "Promise<string> a < b", "&#8203;", "👩‍💻 ✈️", "<b>no</b>", "葛󠄀"]
)
async def test_what_a_person_sees_comes_out_as_it_went_in(desk: Desk, text: str):
    body = diffs(file(f"src/{text}.py", patch=f"+{text}\n"))
    desk.keep(
        desk.record(desk.track(), merge_request(title=text)), overview(description=text), body
    )
    reply = await desk.get(include="diffs", detail="full_patch")
    assert (reply["title"], reply["description"]) == (text, text)
    assert reply["diffs"]["files"][0]["path"] == f"src/{text}.py"
    assert reply["diffs"]["files"][0]["patch"] == f"+{text}\n"
    assert hidden_in(reply) == 0


async def test_a_comment_of_html_is_said_in_a_body_and_stays_in_a_patch(desk: Desk):
    comment = "<!-- hidden -->"
    desk.keep(
        desk.record(desk.track()),
        overview(description=f"a{comment}b"),
        diffs(file("a.html", patch=f"+{comment}\n")),
    )
    reply = await desk.get(include="diffs", detail="full_patch")
    assert reply["description"] == "a[html comment, 15 characters]b"
    assert reply["diffs"]["files"][0]["patch"] == f"+{comment}\n"


async def test_the_policy_sees_the_path_as_the_forge_has_it(desk: Desk):
    """A path that only looks like one of the project's own is not excluded, nor the other way."""
    desk.exclusion = DiffExclusionPolicy(matches=lambda path: path == "docs/a\u200b.md")
    desk.keep(
        desk.record(desk.track()),
        overview(),
        Diffs((file("docs/a\u200b.md"), file("docs/a.md"))),
    )
    made = (await desk.get(include="diffs"))["diffs"]
    assert [each["path"] for each in made["files"]] == ["docs/a.md"]
    assert made["excluded_files"] == [
        {"path": "docs/a.md", "reason": "excluded by policy", "hidden_chars": 1}
    ]
