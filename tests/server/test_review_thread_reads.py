"""When `list_pull_request_review_threads` has threads read, and what it says where it cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from pullstate.forges.errors import Forbidden, ForgeError, Unreachable
from pullstate.store import reading
from pullstate.store.records import Depth
from pullstate.store.wishes import WishKind
from tests.server.leader import leading
from tests.server.office import Office, served, thread_ids
from tests.server.threads import kept, thread
from tests.sync.home import Home

pytestmark = pytest.mark.anyio


async def test_what_was_never_read_is_unread_where_nobody_syncs(office: Office):
    project = office.project()
    office.world.open(project, "Change", "branch")
    id_ = office.keep(project)
    office.sweep(id_, gaps=(("threads", "of another"),))
    page = await office.threads(1)
    assert page["threads"] == []
    assert (page["totalCount"], page["unresolvedCount"], page["truncated"]) == (0, 0, True)
    assert page["sync"] == {
        "state": "unread",
        "reason": "the threads of this pull request have not been read yet; no running pullstate "
        "process reads https://demo.invalid",
    }


async def test_a_pull_request_that_is_not_stored_is_unread_where_nobody_syncs(office: Office):
    page = await office.threads(7)
    assert page["truncated"] is True
    assert page["sync"]["state"] == "unread"
    assert "no running pullstate process" in page["sync"]["reason"]


async def test_threads_that_are_current_are_not_wished_for(office: Office):
    kept(office, thread())
    leader = leading(office)
    await office.threads(1)
    assert leader.wishes == []


async def test_threads_from_before_the_last_update_are_wished_for(office: Office):
    id_, project = kept(office, thread(1))
    office.advance(seconds=5)
    office.world.retitle(project, 1, "Changed")
    office.see(id_, project)
    project.threads[1] = [thread(1), thread(2)]
    leader = leading(office, ("read",), act=lambda: office.keep_threads(id_, project, 1))
    page = await office.threads(1)
    assert leader.wishes == [(WishKind.THREADS, "1")]
    assert thread_ids(page) == ["PRRT_0001", "PRRT_0002"]
    assert "reason" not in page["sync"]
    await office.threads(1)
    assert len(leader.wishes) == 1


async def test_where_only_questions_have_it_read_it_is_read_again_after_a_while(office: Office):
    project = office.project()
    office.world.open(project, "Change", "branch")
    id_ = office.track(project, depth=Depth.ONE, by="question").id
    office.see(id_, project)
    office.keep_threads(id_, project, 1)
    leader = leading(office, ("read",), act=lambda: office.keep_threads(id_, project, 1))
    await office.threads(1)
    assert leader.wishes == []
    office.advance(minutes=6)
    leader = leading(office, ("read",), act=lambda: office.keep_threads(id_, project, 1))
    page = await office.threads(1)
    assert leader.wishes == [(WishKind.THREADS, "1")]
    assert page["sync"]["ageSeconds"] == 0


async def test_a_wish_that_failed_says_why_and_what_is_known_is_shown(office: Office):
    id_, project = kept(office, thread(1))
    office.advance(seconds=5)
    office.world.retitle(project, 1, "Changed")
    office.see(id_, project)
    leading(office, ("failed", "the forge could not be reached"))
    page = await office.threads(1)
    assert thread_ids(page) == ["PRRT_0001"]
    assert page["sync"]["reason"] == "the forge could not be reached"


async def test_a_number_that_the_forge_does_not_know_is_an_error_that_says_how_that_was_learned(
    office: Office,
):
    office.keep(office.project())
    leading(office, ("not_found",))
    words = await office.no_threads(7)
    assert words.startswith("pull_number: https://demo.invalid/acme/rocket has no pull request 7 ")
    assert "the forge was asked just now" in words
    assert "an issue's number is none" in words


async def test_one_that_was_missing_once_is_shown_with_a_word_of_warning(office: Office):
    id_, project = kept(office, thread(1))
    office.world.retitle(project, 1, "Changed")
    office.advance(seconds=5)
    office.world.retitle(project, 1, "Changed again")
    office.see(id_, project)
    leading(office, ("not_found",), act=lambda: office.retire(id_, 1, times=1))
    page = await office.threads(1)
    assert thread_ids(page) == ["PRRT_0001"]
    assert "no such pull request" in page["sync"]["reason"]


async def test_one_that_is_gone_is_an_error_with_that_fact(office: Office):
    id_, _ = kept(office, thread(1))
    office.advance(minutes=1)
    office.retire(id_, 1)
    words = await office.no_threads(1)
    assert "had a pull request 1 once" in words
    assert "since 2026-03-01T12:01:00Z" in words


async def test_that_it_was_asked_about_is_noted_once_an_hour(office: Office):
    id_, _ = kept(office, thread(1))
    noted = []
    for _ in range(4):
        await office.threads(1)
        noted.append(office.stored(id_, 1).asked_at)
        office.advance(minutes=25)
    assert noted[0] is not None
    assert noted[0] == noted[2] != noted[3]


# --- A loop at work ------------------------------------------------------------------------------


async def test_the_threads_of_a_pull_request_nobody_tracks_are_read_on_the_question(
    tmp_path: Path,
):
    async with served(tmp_path) as (office, home):
        project = office.project()
        office.world.open(project, "Change", "branch")
        office.world.open(project, "Another", "other")
        for n in range(120):
            office.world.open_thread(project, 1, "grace", f"Why {n}?", "a.py", n + 1)
        pages = await office.thread_pages(1)
        assert len(thread_ids(*pages)) == 120
        assert pages[0]["totalCount"] == 120
        assert pages[0]["sync"]["state"] == "ok"
        [repository] = office.repositories()
        assert repository.depth is Depth.ONE
        assert home.stored(repository.id, 2) is None


async def test_a_reply_and_a_resolution_are_seen_once_the_pull_request_has_changed(tmp_path: Path):
    async with served(tmp_path) as (office, home):
        project = office.project()
        office.world.open(project, "Change", "branch")
        thread_id = office.world.open_thread(project, 1, "grace", "Why?", "a.py", 1)
        id_ = await home.swept(project)
        await home.until(lambda: _read(home, id_))
        office.world.resolve(project, 1, thread_id, "grace")
        office.world.reply(project, 1, thread_id, "ada", "Because.")
        changed_at = project.pull_requests[1].changed_at
        await home.until(
            lambda: home.stored(id_, 1).pull_request.changed_at == changed_at  # type: ignore[union-attr]
        )
        [row] = (await office.threads(1))["threads"]
        assert row["isResolved"] is True
        assert row["lastComment"]["body"] == "Because."


def _read(home: Home, id_: int) -> bool:
    stored = home.stored(id_, 1)
    if stored is None:
        return False
    return home.store.read_now(reading.thread_state, stored.id).complete


async def test_a_number_that_does_not_exist_is_learned_from_the_forge(tmp_path: Path):
    async with served(tmp_path) as (office, home):
        office.world.open(office.project(), "Change", "branch")
        assert "the forge was asked just now" in await office.no_threads(99)
        assert ("find_number", "acme/rocket 99") in home.forge.requests


async def test_a_repository_that_is_not_there_is_no_pull_request_that_is_not_there(
    tmp_path: Path,
):
    async with served(tmp_path) as (office, _):
        page = await office.threads(1)
        assert page["sync"]["state"] == "unread"
        assert "not found, or not visible to the configured token" in page["sync"]["reason"]


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Unreachable("cable"), "could not be reached"),
        (Forbidden("no"), "not found, or not visible"),
    ],
)
async def test_a_refused_read_of_threads_is_said_and_not_taken_for_none(
    tmp_path: Path, fault: ForgeError, words: str
):
    async with served(tmp_path) as (office, home):
        project = office.project()
        office.world.open(project, "Change", "branch")
        office.world.open_thread(project, 1, "grace", "Why?", "a.py", 1)
        home.forge.fail("threads", *[fault] * 50)
        page = await office.threads(1)
        assert page["threads"] == []
        assert page["truncated"] is True
        assert words in page["sync"]["reason"]
        assert words in page["sync"]["facets"]["threads"]
