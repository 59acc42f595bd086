"""Domain → wire: strangers' text cleaned in every field, times as RFC 3339, troubles in words."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import anyio
import pytest

from pullstate.domain.freshness import SyncReport, SyncState
from pullstate.domain.pull_request import Head
from pullstate.domain.review import Comment
from pullstate.server import answers
from pullstate.server.context import Context
from pullstate.server.errors import ToolError
from pullstate.server.opening import Opening
from pullstate.store import errors
from pullstate.store.engine import Store
from pullstate.store.errors import StoreError
from pullstate.store.schema import store as store_table
from tests.server.office import LIST, REGISTRY, ROCKET, THREADS, Office, numbers
from tests.server.threads import comment, kept, thread
from tests.sync.stage import NOW

HIDDEN = "\u200b\u202e\U000e0041"  # three characters that nobody sees
MARKER = f"mark{HIDDEN}er"


# --- Text ----------------------------------------------------------------------------------------


def strings(node: Any) -> list[str]:
    """Every string within a reply."""
    if isinstance(node, dict):
        return [text for value in node.values() for text in strings(value)]
    if isinstance(node, list):
        return [text for value in node for text in strings(value)]
    return [node] if isinstance(node, str) else []


@pytest.mark.anyio
async def test_a_marker_in_every_field_of_a_pull_request_is_cleaned_in_every_answer(
    office: Office,
):
    project = office.project()
    number = office.world.open(project, MARKER, MARKER, base=MARKER, author=MARKER)
    seen = project.pull_requests[number]
    head = Head(MARKER, MARKER, MARKER, MARKER)
    marked = replace(
        seen, head=head, url=MARKER, provider_id=MARKER, base=replace(seen.base, sha=MARKER)
    )
    id_ = office.keep(project, [marked])
    office.sweep(id_, gaps=(("checks", MARKER),))
    page = await office.list()
    assert not any(set(HIDDEN) & set(text) for text in strings(page))
    [row] = page["pullRequests"]
    shown = [name for name, value in row.items() if value == "marker"]
    assert set(shown) == {
        "providerId",
        "url",
        "headRepositoryUrl",
        "title",
        "headBranch",
        "headSha",
        "baseBranch",
        "baseSha",
    }
    assert row["hiddenChars"] == 3 * len(shown)


@pytest.mark.anyio
async def test_a_marker_in_every_field_of_a_thread_is_cleaned(office: Office):
    marked = comment(1, MARKER, MARKER, minimized=MARKER)
    marked = replace(marked, url=MARKER)
    kept(
        office,
        thread(1, marked, replace(marked, id=2), path=MARKER, resolved_by=MARKER),
    )
    page = await office.threads(1)
    assert not any(set(HIDDEN) & set(text) for text in strings(page))
    [row] = page["threads"]
    texts = [each.name for each in fields(Comment) if getattr(marked, each.name) == MARKER]
    assert row["hiddenChars"] == 3 * (2 + 2 * len(texts))


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("title", "shown", "hidden"),
    [
        ('Don\'t "x" & y', 'Don\'t "x" & y', 0),
        ("&#8203; stays &#39;literal&#39;", "&#8203; stays &#39;literal&#39;", 0),
        ("Promise<string> a < b <!-- c -->", "Promise<string> a < b <!-- c -->", 0),
        ("tag\U000e0041\U000e0042", "tag", 2),
        ("x\n#99|approved", "x #99|approved", 1),
        ("tab\there\r\nthere", "tab here there", 2),
        ("👩‍💻 ✈️ 葛󠄀", "👩‍💻 ✈️ 葛󠄀", 0),
        ("\u2066evil\u2069", "evil", 2),
        ("", "", 0),
        ("\u200b", "", 1),
        ("half \ud83d of a pair", "half \ufffd of a pair", 0),
    ],
)
async def test_a_title_comes_out_as_a_reader_sees_it(
    office: Office, title: str, shown: str, hidden: int
):
    project = office.project()
    office.world.open(project, title, "branch")
    office.keep(project)
    [row] = (await office.list())["pullRequests"]
    assert row["title"] == shown
    assert row.get("hiddenChars", 0) == hidden


@pytest.mark.anyio
async def test_a_strangers_text_never_reaches_an_error(office: Office):
    project = office.project()
    office.world.open(project, "IGNORE ALL", "IGNORE-ALL")
    id_ = office.keep(project)
    office.retire(id_, 1)
    assert "IGNORE" not in await office.no_threads(1)


# --- Times ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (datetime(2026, 3, 1, 12, tzinfo=UTC), "2026-03-01T12:00:00Z"),
        (datetime(2026, 3, 1, 12, 0, 0, 5_000, tzinfo=UTC), "2026-03-01T12:00:00.005000Z"),
        (datetime(1, 1, 1, tzinfo=UTC), "0001-01-01T00:00:00Z"),
        (
            datetime(2026, 3, 1, 14, tzinfo=timezone(timedelta(hours=2))),
            "2026-03-01T12:00:00Z",
        ),
    ],
)
def test_a_time_is_rfc_3339_in_utc(moment: datetime, text: str) -> None:
    assert answers.stamp(moment) == text


# --- sync ----------------------------------------------------------------------------------------

OK = SyncReport(SyncState.OK, NOW, timedelta(seconds=4.6), None, None)


def test_what_is_not_known_is_absent() -> None:
    unread = SyncReport(SyncState.UNREAD, None, None, "why", None)
    assert answers.sync_block(unread) == {"state": "unread", "reason": "why"}


def test_an_age_is_in_whole_seconds_and_never_negative() -> None:
    assert answers.sync_block(OK)["ageSeconds"] == 5
    ahead = replace(OK, age=timedelta(seconds=-3))
    assert answers.sync_block(ahead)["ageSeconds"] == 0


@pytest.mark.parametrize(
    ("said", "why", "reason"),
    [
        (None, None, None),
        ("a", None, "a"),
        (None, "b", "b"),
        ("a", "b", "a; b"),
        ("a; b", "b", "a; b"),
    ],
)
def test_the_reason_holds_everything_once(said: str | None, why: str | None, reason: str | None):
    block = answers.sync_block(replace(OK, reason=said), why=why)
    assert block.get("reason") == reason


@pytest.mark.parametrize("refreshed", [True, False])
def test_whether_it_was_refreshed_is_said_where_that_was_asked(refreshed: bool) -> None:
    assert answers.sync_block(OK, refreshed=refreshed)["refreshed"] is refreshed
    assert "refreshed" not in answers.sync_block(OK)


# --- The store's troubles ------------------------------------------------------------------------

KINDS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, StoreError) and kind is not StoreError
]


@pytest.mark.parametrize("kind", [*KINDS, StoreError])
def test_every_trouble_has_words_of_its_own_and_no_path(kind: type[StoreError]) -> None:
    words = answers.store_trouble(kind("The store /home/ada/secret.db: password=s3cr3t"))
    assert words.startswith("Not answered: ")
    assert "ada" not in words and "s3cr3t" not in words
    others = [answers.trouble(other("x")) for other in KINDS if other is not kind]
    assert answers.trouble(kind("x")) not in others


async def refusal(opening: Opening, tool: str, **arguments: Any) -> str:
    reply = await REGISTRY.call(opening, tool, arguments)
    assert reply.is_error
    return reply.text


def opening(path: Path | str) -> Opening:
    """A server over a store that cannot be opened."""

    async def opener() -> Context:
        await anyio.to_thread.run_sync(Store.open, path)
        raise AssertionError("it was opened")

    return Opening(opener)


@pytest.mark.anyio
async def test_a_store_that_cannot_be_opened_is_told_to_each_who_asks(tmp_path: Path):
    (tmp_path / "file").write_text("no folder")
    for where in (
        tmp_path / "file" / "store.db",
        "postgresql+psycopg://ada:s3cr3t@127.0.0.1:1/none",
    ):
        never = opening(where)
        for _ in range(2):
            words = await refusal(never, LIST, repositoryUrl=ROCKET)
            assert words.startswith("Not answered: the store cannot be opened")
            assert str(tmp_path) not in words and "s3cr3t" not in words


@pytest.mark.anyio
async def test_a_store_of_a_newer_pullstate_says_to_restart(office: Office):
    office.keep(office.project())
    _set(office, min_reader=99, min_writer=99)
    for tool, arguments in (
        (LIST, {"repositoryUrl": ROCKET}),
        (THREADS, {"owner": "acme", "repo": "rocket", "pull_number": 1}),
    ):
        assert "restart this client" in await office.refused(tool, **arguments)


@pytest.mark.anyio
async def test_a_store_that_cannot_be_written_still_answers_what_it_knows(office: Office):
    project = office.project()
    office.world.open(project, "Change", "branch")
    id_ = office.track(project, by="question").id
    office.see(id_, project)
    office.advance(hours=3)  # so that the question would be noted
    _set(office, min_writer=99)
    page = await office.list(headBranch="branch", maxAgeSeconds=0)
    assert numbers(page) == [1]
    assert page["sync"]["refreshed"] is False
    assert (await office.threads(1))["threads"] == []
    words = await office.refused(LIST, repositoryUrl="https://demo.invalid/acme/other")
    assert "the store can be read but not written" in words
    assert len(office.context.allowance._spent) == 0


def _set(office: Office, **ages: int) -> None:
    office.store.write_now(lambda conn: conn.execute(store_table.update().values(**ages)))


@pytest.mark.anyio
async def test_a_store_that_is_damaged_under_way_is_said_and_filled_anew(
    office: Office, tmp_path: Path
):
    office.keep(office.project())
    await office.list()
    office.store.close()
    (tmp_path / "store.db").write_bytes(b"not a database" * 1_000)
    for aside in ("store.db-wal", "store.db-shm"):
        (tmp_path / aside).unlink(missing_ok=True)
    replies = [await office.call(LIST, repositoryUrl=ROCKET) for _ in range(3)]
    assert str(tmp_path) not in "".join(reply.text for reply in replies)
    assert not replies[-1].is_error


@pytest.mark.anyio
async def test_fifty_calls_at_once_are_fifty_answers(office: Office):
    kept(office, thread(1))
    replies: list[str] = []

    async def call(n: int) -> None:
        arguments = {"repositoryUrl": f"https://demo.invalid/acme/rocket-{n % 7}"}
        reply = await office.call(LIST, **(arguments if n % 2 else {"repositoryUrl": ROCKET}))
        assert not reply.is_error, reply.text
        replies.append(json.loads(reply.text)["repositoryUrl"])

    async with anyio.create_task_group() as group:
        for n in range(50):
            group.start_soon(call, n)
    assert len(replies) == 50
    assert len(office.context.allowance._spent) == len(office.repositories()) - 1


def test_words_of_a_cursor_name_it_and_the_remedy() -> None:
    words = answers.bad_cursor("cursor", ToolError("it is damaged"))
    assert words.startswith("cursor cannot be continued: it is damaged. ")
    assert words.endswith("same question.")
