"""`get_merge_request` beside a real loop: what is not stored is read, once, and then kept."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest

from pullstate.domain.address import GITHUB_COM, RepositoryAddress
from pullstate.domain.merge_request import Facet, FacetBody
from pullstate.forges.demo import Project
from pullstate.forges.errors import Forbidden, NotVisible, RateLimited, Unreachable
from pullstate.forges.forge import Target
from pullstate.store import reading, writing
from pullstate.store.records import Depth
from tests.server.desk import PATH, Desk, asked, desk_with_loop, now

pytestmark = pytest.mark.anyio

ALL = "diffs,commits,notes,pipelines,conflicts,discussions"
REFUSED = "not found, or not visible to the configured token"


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with desk_with_loop(tmp_path) as built:
        yield built


def created(desk: Desk, path: str = PATH, count: int = 1) -> Project:
    """A project of the world with merge requests, the first of which is !1."""
    assert desk.world is not None
    project = desk.world.create_repository(path)
    for n in range(count):
        desk.world.open(project, f"Change {n + 1}", f"branch-{n + 1}")
    return project


def url(path: str = PATH, number: int = 1) -> str:
    return f"https://gitlab.com/{path}/-/merge_requests/{number}"


def paths(desk: Desk) -> list[str]:
    return [known.path for known in desk.store.read_now(reading.repositories)]


async def until(desk: Desk, holds: Callable[[], object]) -> None:
    """Wait, bounded, until something holds of the store."""
    with anyio.fail_after(20):
        while not holds():
            version = desk.store.version()
            while version == desk.store.version():
                await anyio.sleep(0.005)


# --- Read when asked for -------------------------------------------------------------------------


async def test_what_is_not_stored_is_read_once_and_then_answered_from_the_store(desk: Desk):
    created(desk)
    first = await desk.get(url=url(), include=ALL)
    assert first["sync"]["state"] == "ok"
    assert [name for name in ALL.split(",") if "error" in first[name]] == []
    assert sorted(question for question, _ in desk.forge.requests) == [
        *["facet"] * 7,
        "find_number",
        "find_repository",
    ]
    desk.forge.requests.clear()
    again = await desk.get(url=url(), include=ALL)
    assert asked(desk, "facet", "find_number", "find_repository") == []
    assert {**again, "sync": None} == {**first, "sync": None}


async def test_nothing_beyond_the_base_is_read_unless_it_is_asked_for(desk: Desk):
    created(desk)
    await desk.get(url=url())
    assert asked(desk, "facet") == [("facet", "DEMO_1000_1 overview")]
    await desk.get(url=url(), include="commits")
    assert asked(desk, "facet")[1:] == [("facet", "DEMO_1000_1 commits")]


async def test_a_question_about_one_does_not_sweep_its_repository(desk: Desk):
    created(desk, count=3)
    await desk.get(url=url())
    assert asked(desk, "open_page", "lean_page", "changed") == []


async def test_a_new_head_is_read_anew_and_what_is_said_is_not(desk: Desk):
    project = created(desk)
    old = await desk.get(url=url(), include=ALL)
    desk.world.push(project, 1)
    [known] = desk.store.read_now(reading.repositories)
    before = desk.stored(known.id, 1)
    desk.clock = lambda: now() + timedelta(minutes=7)
    desk.forge.requests.clear()
    new = await desk.get(url=url(), include="commits,diffs")
    assert before.pull_request.head.sha == old["sha"] != new["sha"]
    assert new["commits"]["items"][0]["sha"] == new["sha"]
    assert "error" not in new["commits"]
    assert "find_number" in [question for question, _ in asked(desk)]


async def test_one_that_nobody_keeps_up_is_read_again_after_a_while(desk: Desk):
    project = created(desk)
    desk.world.close(project, 1)
    await desk.get(url=url())
    desk.world.reopen(project, 1)
    assert (await desk.get(url=url()))["state"] == "closed"
    desk.clock = lambda: now() + timedelta(minutes=7)
    assert (await desk.get(url=url()))["state"] == "opened"


async def test_one_of_a_repository_that_is_swept_is_not_read_again(desk: Desk):
    project = created(desk)
    address = RepositoryAddress(desk.site, project.repository.path)
    id_ = desk.store.write_now(writing.track, address, Depth.ALL, "command").id
    desk.wisher.kick()
    await until(desk, lambda: desk.store.read_now(reading.sweep, id_).swept)
    await desk.get(url=url())
    desk.clock = lambda: now() + timedelta(minutes=30)
    await desk.get(url=url())
    assert asked(desk, "find_number") == []


async def test_what_was_asked_about_is_kept_hot_by_the_upkeep(desk: Desk):
    project = created(desk)
    await desk.get(url=url(), include="commits")
    desk.world.push(project, 1)
    [known] = desk.store.read_now(reading.repositories)
    stored = desk.stored(known.id, 1)
    desk.store.write_now(writing.schedule, [(stored.id, now())])
    desk.wisher.kick()
    head = desk.world.projects[project.repository.forge_id].pull_requests[1].head.sha
    await until(
        desk,
        lambda: desk.store.read_now(reading.facet, stored.id, Facet.COMMITS).head_sha == head,
    )


async def test_a_github_pull_request_is_read_the_same_way(tmp_path: Path):
    async with desk_with_loop(tmp_path, GITHUB_COM) as desk:
        project = created(desk, "acme/rocket")
        desk.world.open_thread(project, 1, "bob", "Why?", "a.py", 3)
        reply = await desk.get(url="https://github.com/acme/rocket/pull/1/files", include=ALL)
        assert reply["iid"] == 1
        assert reply["discussions"]["items"][0]["notes"][0]["body"] == "Why?"


# --- By the numeric id ---------------------------------------------------------------------------


@pytest.mark.parametrize("project_id", [1000, "1000"])
async def test_a_project_of_which_only_the_id_is_known_gets_its_path_from_the_forge(
    desk: Desk, project_id: object
):
    created(desk)
    reply = await desk.get(project_id=project_id, merge_request_iid=1, include="diffs")
    assert reply["title"] == "Change 1"
    assert paths(desk) == [PATH]
    assert len(asked(desk, "find_repository")) == 1
    assert len(asked(desk, "find_number")) == 1
    await desk.get(project_id=project_id, merge_request_iid=1)
    await desk.get(url=url())
    assert len(asked(desk, "find_repository", "find_number")) == 2


async def test_a_project_that_is_stored_under_its_path_stays_one_when_asked_by_id(desk: Desk):
    created(desk)
    await desk.get(url=url())
    await desk.get(project_id=1000, merge_request_iid=1)
    assert paths(desk) == [PATH]


async def test_a_project_that_is_tracked_but_was_never_read_is_found_by_its_id_too(desk: Desk):
    project = created(desk)
    address = RepositoryAddress(desk.site, project.repository.path)
    desk.store.write_now(writing.track, address, Depth.ONE, "command")
    reply = await desk.get(project_id=1000, merge_request_iid=1)
    assert reply["iid"] == 1
    assert paths(desk) == [PATH]


async def test_an_id_that_is_no_projects_leaves_nothing_behind(desk: Desk):
    created(desk)
    words = await desk.refused(project_id=4711, merge_request_iid=1)
    assert words.startswith("Merge request 1 of project 4711 on gitlab.com: ")
    assert REFUSED in words
    assert paths(desk) == []


async def test_an_id_and_a_url_of_another_project_are_refused_once_the_forge_has_told(desk: Desk):
    created(desk)
    created(desk, "other/project")
    words = await desk.refused(url=url(), project_id=1001, merge_request_iid=1)
    assert "name different projects" in words
    assert (await desk.get(url=url(), project_id=1000, merge_request_iid=1))["iid"] == 1


async def test_many_questions_by_id_at_once_are_one_project(desk: Desk):
    created(desk, count=4)
    replies: list[dict[str, Any]] = []

    async def ask(number: int) -> None:
        replies.append(await desk.get(project_id=1000, merge_request_iid=number))

    async with anyio.create_task_group() as group:
        for number in (1, 2, 3, 4):
            group.start_soon(ask, number)
    assert sorted(reply["iid"] for reply in replies) == [1, 2, 3, 4]
    assert paths(desk) == [PATH]


# --- What is not there, or may not be seen -------------------------------------------------------


async def test_missing_and_forbidden_get_the_same_words(desk: Desk):
    created(desk)
    missing = await desk.refused(url=url(number=9))
    nowhere = await desk.refused(url=url("no/where", number=9))
    desk.forge.fail("find_number", Forbidden("403"))
    forbidden = await desk.refused(url=url(number=9))
    assert missing == forbidden == nowhere.replace("no/where", PATH)
    assert REFUSED in missing


async def test_a_project_that_moved_is_found_under_its_old_path(desk: Desk):
    project = created(desk)
    await desk.get(url=url())
    desk.world.rename_repository(project, "new/place")
    assert (await desk.get(url=url("new/place"), include="notes"))["iid"] == 1
    assert paths(desk) == ["new/place"]
    pair = {"project_id": "new/place", "merge_request_iid": 1}
    assert (await desk.get(url=url(), **pair))["iid"] == 1


async def test_one_that_was_deleted_is_shown_until_the_forge_has_said_so_twice(desk: Desk):
    project = created(desk)
    await desk.get(url=url())
    desk.world.delete(project, 1)
    desk.clock = lambda: now() + timedelta(minutes=7)
    reply = await desk.get(url=url())
    assert "the forge did not find it just now" in reply["sync"]["reason"]
    assert REFUSED in await desk.refused(url=url())


@pytest.mark.parametrize("fault", [Forbidden("403"), NotVisible("404"), Unreachable("down")])
async def test_a_facet_that_may_not_be_read_fails_alone_and_no_repository_with_it(
    desk: Desk, fault: Exception
):
    created(desk)
    await desk.get(url=url())
    desk.forge.fail("facet", fault)
    reply = await desk.get(url=url(), include="pipelines")
    assert reply["pipelines"]["error"].startswith("not read: ")
    assert reply["sync"]["state"] == "partial"
    assert "pipelines" in reply["sync"]["facets"]
    [known] = desk.store.read_now(reading.repositories)
    assert desk.store.read_now(reading.sweep, known.id).fault is None
    assert "error" not in (await desk.get(url=url(), include="pipelines"))["pipelines"]


async def test_one_that_could_not_be_read_again_is_shown_as_it_was_and_said_to_be_stale(desk: Desk):
    created(desk)
    first = await desk.get(url=url(), include="commits")
    desk.clock = lambda: now() + timedelta(minutes=7)
    desk.forge.fail("find_number", Unreachable("down"))
    reply = await desk.get(url=url(), include="commits")
    assert reply["commits"] == first["commits"]
    assert reply["sync"]["state"] == "stale"
    assert "the forge could not be reached" in reply["sync"]["reason"]


async def test_one_that_was_never_read_and_cannot_be_says_why(desk: Desk):
    created(desk)
    desk.forge.fail("find_number", Unreachable("down"))
    words = await desk.refused(url=url())
    assert words == (
        f"Merge request 1 of https://gitlab.com/{PATH} could not be read: the forge could not be "
        "reached, or gave no usable answer."
    )
    assert (await desk.get(url=url()))["iid"] == 1


async def test_a_limit_is_told_with_its_end_and_not_waited_for(desk: Desk):
    created(desk)
    await desk.get(url=url())
    desk.forge.fail("facet", RateLimited(now() + timedelta(hours=1), "graphql"))
    reply = await desk.get(url=url(), include="notes,diffs")
    errors = [reply[name].get("error", "") for name in ("notes", "diffs")]
    assert any("rate limit is used up until" in error for error in errors)


async def test_a_facet_that_takes_too_long_is_on_its_way_and_there_the_next_time(desk: Desk):
    created(desk)
    await desk.get(url=url())
    may_answer, answer = anyio.Event(), desk.forge.facet

    async def slow(target: Target, facet: Facet) -> FacetBody:
        await may_answer.wait()
        return await answer(target, facet)

    desk.forge.facet = slow
    desk.patience = 0.3
    reply = await desk.get(url=url(), include="diffs")
    assert "was not read within 0.3 seconds" in reply["diffs"]["error"]
    may_answer.set()
    [known] = desk.store.read_now(reading.repositories)
    stored = desk.stored(known.id, 1)
    await until(desk, lambda: desk.store.read_now(reading.facet, stored.id, Facet.DIFFS))
    assert "error" not in (await desk.get(url=url(), include="diffs"))["diffs"]


async def test_an_id_that_the_forge_is_slow_about_is_found_the_next_time(desk: Desk):
    created(desk)
    may_answer, answer = anyio.Event(), desk.forge.find_repository

    async def slow(path: str):
        await may_answer.wait()
        return await answer(path)

    desk.forge.find_repository = slow
    desk.patience = 0.3
    words = await desk.refused(project_id=1000, merge_request_iid=1)
    assert "ask again" in words
    may_answer.set()
    await until(desk, lambda: paths(desk) == [PATH])
    desk.patience = 20.0
    assert (await desk.get(project_id=1000, merge_request_iid=1))["iid"] == 1
