"""A cursor goes on where it left off, in the answer to its own question, and nowhere else."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pullstate.forges.demo import Project
from pullstate.server import cursors
from pullstate.server.cursors import BadCursor
from tests.server.office import LIST, ROCKET, THREADS, Office, numbers

QUESTION = ("store", "list_pull_requests", 7, "acme", "枝")
POSITION = [True, "2026-03-01T12:00:00+00:00", 42, 99]

VALUES = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=40)


@given(st.lists(VALUES, max_size=5), st.lists(VALUES, max_size=5))
def test_what_goes_in_comes_out(question: list[Any], position: list[Any]) -> None:
    assert cursors.decode(cursors.encode(question, position), question) == position


@given(st.lists(VALUES, max_size=3), st.lists(VALUES, max_size=3), st.lists(VALUES, max_size=3))
def test_another_question_is_another_cursor(a: list[Any], b: list[Any], position: list[Any]):
    cursor = cursors.encode(a, position)
    if json.dumps(a) != json.dumps(b):
        with pytest.raises(BadCursor):
            cursors.decode(cursor, b)


@pytest.mark.parametrize(
    "other",
    [
        ("another", "list_pull_requests", 7, "acme", "枝"),
        ("store", "list_pull_request_review_threads", 7, "acme", "枝"),
        ("store", "list_pull_requests", 8, "acme", "枝"),
        ("store", "list_pull_requests", 7, None, "枝"),
        ("store", "list_pull_requests", 7, "None", "枝"),
        ("store", "list_pull_requests", 7, "acme", ""),
        ("store", "list_pull_requests", "7", "acme", "枝"),
        ("store", "list_pull_requests", 7, "acme"),
    ],
)
def test_each_part_of_the_question_binds(other: tuple[Any, ...]) -> None:
    with pytest.raises(BadCursor, match="another question"):
        cursors.decode(cursors.encode(QUESTION, POSITION), other)


def test_nobody_and_one_named_none_are_two() -> None:
    with pytest.raises(BadCursor):
        cursors.decode(cursors.encode((None,), [1]), ("None",))


def test_a_cursor_with_any_character_changed_is_damaged() -> None:
    cursor = cursors.encode(QUESTION, POSITION)
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/= \n.é"
    for place in range(len(cursor)):
        for character in alphabet:
            damaged = cursor[:place] + character + cursor[place + 1 :]
            if damaged != cursor:
                with pytest.raises(BadCursor):
                    cursors.decode(damaged, QUESTION)


def test_a_cursor_that_was_cut_or_went_on_is_damaged() -> None:
    cursor = cursors.encode(QUESTION, POSITION)
    for end in range(1, len(cursor)):
        with pytest.raises(BadCursor):
            cursors.decode(cursor[:end], QUESTION)
        with pytest.raises(BadCursor):
            cursors.decode(cursor[end:], QUESTION)
    for more in ("A", "=", "==", cursor, " ", "\n"):
        with pytest.raises(BadCursor):
            cursors.decode(cursor + more, QUESTION)


@given(st.text(max_size=60) | st.binary(max_size=60).map(lambda raw: raw.hex()))
def test_what_is_no_cursor_is_damaged(text: str) -> None:
    with pytest.raises(BadCursor):
        cursors.decode(text, QUESTION)


@pytest.mark.parametrize("version", [0, 2, 3, 255])
def test_a_cursor_of_another_version_is_refused_whatever_follows(version: int) -> None:
    raw = base64.urlsafe_b64decode(cursors.encode(QUESTION, POSITION) + "==")
    other = base64.urlsafe_b64encode(bytes([version]) + raw[1:]).rstrip(b"=").decode()
    with pytest.raises(BadCursor, match="another version"):
        cursors.decode(other, QUESTION)


# --- As tools take them --------------------------------------------------------------------------

REMEDY = (
    "Leave it out to start at the first page, or send the nextPageToken of the last reply to this "
    "same question."
)


def filled(office: Office, path: str = "acme/rocket") -> tuple[int, Project]:
    project = office.project(path)
    for n in range(6):
        office.world.open(project, "Change", f"branch-{n % 2}")
        office.world.open_thread(project, n + 1, "grace", "Why?", "a.py", 1)
        office.world.open_thread(project, n + 1, "grace", "Why?", "a.py", 2)
    id_ = office.keep(project)
    for number in (1, 2):
        office.keep_threads(id_, project, number)
    return id_, project


async def token(office: Office, **arguments: Any) -> str:
    page = await office.list(pagination={"limit": 1}, **arguments)
    return page["nextPageToken"]


async def refusal(office: Office, cursor: str, url: str = ROCKET, **arguments: Any) -> str:
    return await office.refused(LIST, repositoryUrl=url, pagination={"cursor": cursor}, **arguments)


@pytest.mark.anyio
async def test_a_list_refuses_the_cursor_of_another_question_and_never_begins_anew(
    office: Office,
):
    filled(office)
    filled(office, "acme/slingshot")
    every, one = await token(office), await token(office, headBranch="branch-1")
    owners = await token(office, headBranch="acme:branch-1")
    threads = (await office.threads(1, limit=1))["nextPageToken"]
    slingshot = "https://demo.invalid/acme/slingshot"
    for words in (
        await refusal(office, every, slingshot),
        await refusal(office, every, headBranch="branch-1"),
        await refusal(office, one),
        await refusal(office, one, headBranch="branch-0"),
        await refusal(office, one, headBranch="acme:branch-1"),
        await refusal(office, owners, headBranch="branch-1"),
        await refusal(office, threads),
        await refusal(office, every[:-1]),
        await refusal(office, every + "A"),
        await refusal(office, "page2"),
    ):
        assert words.startswith("pagination.cursor cannot be continued: it ")
        assert words.endswith(REMEDY)


@pytest.mark.anyio
async def test_the_same_question_in_other_words_takes_the_same_cursor(office: Office):
    filled(office)
    cursor = await token(office)
    for url in ("git@demo.invalid:Acme/Rocket.git", "https://demo.invalid/acme/rocket/pulls"):
        page = await office.list(url, pagination={"cursor": cursor})
        assert numbers(page) == [5, 4, 3, 2, 1]
    owned = await token(office, headBranch="acme:branch-1")
    page = await office.list(headBranch="ACME:branch-1", pagination={"cursor": owned})
    assert numbers(page) == [4, 2]


@pytest.mark.anyio
async def test_a_cursor_of_another_store_is_refused(office: Office, tmp_path):
    filled(office)
    other = Office.build(tmp_path / "other")
    filled(other)
    assert "another store" in await refusal(other, await token(office))
    other.store.close()


@pytest.mark.anyio
async def test_threads_refuse_the_cursor_of_another_question(office: Office):
    filled(office)
    filled(office, "acme/slingshot")
    cursor = (await office.threads(1, limit=1))["nextPageToken"]
    unresolved = (await office.threads(1, limit=1, is_resolved=False))["nextPageToken"]
    listed = await token(office)
    for arguments in (
        {"pull_number": 2, "cursor": cursor},
        {"repo": "slingshot", "cursor": cursor},
        {"is_resolved": False, "cursor": cursor},
        {"is_resolved": True, "cursor": unresolved},
        {"cursor": unresolved},
        {"cursor": listed},
        {"cursor": cursor[1:]},
    ):
        words = await office.no_threads(arguments.pop("pull_number", 1), **arguments)
        assert words.startswith("cursor cannot be continued: it ")
        assert words.endswith(REMEDY)


@pytest.mark.anyio
async def test_a_cursor_about_a_repository_that_is_not_stored_does_not_take_it_up(office: Office):
    filled(office)
    listed, threads = await token(office), (await office.threads(1, limit=1))["nextPageToken"]
    for cursor in (listed, "page2"):
        words = await refusal(office, cursor, "https://demo.invalid/acme/unknown")
        assert words.startswith("pagination.cursor cannot be continued: it ")
    words = await office.no_threads(1, repo="unknown", cursor=threads)
    assert words.startswith("cursor cannot be continued: it ")
    assert len(office.repositories()) == 1


@pytest.mark.anyio
@pytest.mark.parametrize("cursor", [5, True, ["a"], {"a": 1}, "x" * 2049])
async def test_what_is_no_text_is_no_cursor(office: Office, cursor: Any):
    words = await office.refused(LIST, repositoryUrl=ROCKET, pagination={"cursor": cursor})
    assert words.startswith("pagination.cursor: ")
    assert "2048" in words
    words = await office.refused(THREADS, owner="acme", repo="rocket", pull_number=1, cursor=cursor)
    assert words.startswith("cursor: ")
