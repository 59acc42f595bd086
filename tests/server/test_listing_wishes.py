"""`list_pull_requests` with a loop at work: what is asked for is read, in one turn."""

from __future__ import annotations

from pathlib import Path

import pytest

from pullstate.domain.pull_request import CheckVerdict
from pullstate.forges.errors import RateLimited, Unreachable
from pullstate.server.context import Context
from tests.server.office import ROCKET, numbers, served
from tests.sync.home import now

pytestmark = pytest.mark.anyio


async def test_a_question_about_a_repository_nobody_tracks_starts_tracking_it(tmp_path: Path):
    async with served(tmp_path) as (office, home):
        project = office.project()
        office.world.populate(project, 30, unfinished=3)
        page = await office.list()
        assert page["repositoryUrl"] == ROCKET
        [repository] = office.repositories()
        assert not repository.tracked and repository.asked_at is not None
        await home.until(lambda: home.sweep(repository.id).swept)
        page = await office.list(pagination={"limit": 100})
        assert numbers(page) == list(range(30, 0, -1))
        assert page["sync"]["state"] == "ok"


async def test_a_branch_is_found_before_the_first_sweep_has_ended(tmp_path: Path):
    async with served(tmp_path) as (office, home):
        project = office.project()
        office.world.open(project, "Change", "branch")
        home.forge.fail("open_page", *[Unreachable("cable")] * 500)
        page = await office.list(headBranch="branch")
        assert numbers(page) == [1]
        assert page["branchState"] == "PULL_REQUEST_STATE_OPEN"
        assert page["sync"]["state"] == "unread"
        nope = await office.list(headBranch="nope")
        assert nope["branchState"] == "PULL_REQUEST_STATE_NONE"


async def test_the_first_question_waits_for_a_loop_that_is_only_starting(tmp_path: Path):
    async with served(tmp_path) as (office, home):
        office.world.open(office.project(), "Change", "branch")
        assert not home.loop.listed.is_set()
        page = await office.list(headBranch="branch")
        assert numbers(page) == [1]
        assert "no running" not in page["sync"].get("reason", "")


async def test_a_refresh_brings_what_moved_without_an_update(tmp_path: Path):
    async with served(tmp_path) as (office, home):
        project = office.project()
        office.world.open(project, "Change", "branch")
        await home.swept(project)
        office.world.set_checks(project, 1, CheckVerdict.FAILING, "test")
        for arguments in ({}, {"headBranch": "branch"}):
            page = await office.list(maxAgeSeconds=0, **arguments)
            assert page["pullRequests"][0]["checks"] == "CHECKS_FAILING"
            assert page["sync"]["refreshed"] is True


async def test_a_new_pull_request_of_a_branch_is_found_by_a_refresh(tmp_path: Path):
    async with served(tmp_path) as (office, home):
        project = office.project()
        office.world.open(project, "Old", "branch")
        office.world.merge(project, 1)
        await home.swept(project)
        office.world.open(project, "New", "branch")
        page = await office.list(headBranch="branch", maxAgeSeconds=0)
        assert numbers(page) == [2, 1]
        assert page["branchState"] == "PULL_REQUEST_STATE_OPEN"


async def test_a_read_that_fails_is_said_and_the_rows_come_anyway(tmp_path: Path):
    async with served(tmp_path) as (office, home):
        project = office.project()
        office.world.open(project, "Change", "branch")
        await home.swept(project)
        home.forge.fail("find_branch", Unreachable("cable"))
        page = await office.list(headBranch="branch", maxAgeSeconds=0)
        assert numbers(page) == [1]
        assert page["sync"]["refreshed"] is False
        assert "the forge could not be reached" in page["sync"]["reason"]
        assert "cable" not in page["sync"]["reason"]


async def test_a_forge_that_is_closed_beyond_the_patience_is_not_waited_for(tmp_path: Path):
    async with served(tmp_path) as (office, home):
        project = office.project()
        office.world.open(project, "Change", "branch")
        await home.swept(project)
        until = now().replace(year=now().year + 1)
        home.forge.fail("find_branch", RateLimited(until, "core"))
        page = await office.list(headBranch="branch", maxAgeSeconds=0)
        assert page["sync"]["refreshed"] is False
        assert f"{until.year}-" in page["sync"]["reason"]


async def test_a_repository_that_is_not_there_is_said_not_to_be_found(tmp_path: Path):
    async with served(tmp_path) as (office, _):
        page = await office.list(headBranch="branch")
        assert page["branchState"] == "PULL_REQUEST_STATE_UNREAD"
        assert "not found, or " in page["sync"]["reason"]


async def test_a_renamed_repository_answers_to_its_old_address_with_the_new_one(tmp_path: Path):
    async with served(tmp_path) as (office, home):
        project = office.project()
        office.world.populate(project, 4)
        await home.swept(project)
        first = await office.list(pagination={"limit": 2})
        office.world.rename_repository(project, "acme/starship")
        office.world.retitle(project, 1, "Renamed")
        await home.until(lambda: office.repositories()[0].path == "acme/starship")
        page = await office.list(pagination={"cursor": first["nextPageToken"]})
        starship = "https://demo.invalid/acme/starship"
        assert page["repositoryUrl"] == starship
        assert numbers(first, page) == [4, 3, 2, 1]
        assert numbers(await office.list(starship)) == [4, 3, 2, 1]
        assert len(office.repositories()) == 1


async def test_a_rename_that_the_wish_itself_finds_out_is_in_the_answer(tmp_path: Path):
    async with served(tmp_path) as (office, home):
        project = office.project()
        office.world.open(project, "Change", "branch")
        await home.swept(project)
        office.world.rename_repository(project, "acme/starship")
        page = await office.list("https://demo.invalid/acme/starship", headBranch="branch")
        assert page["repositoryUrl"] == "https://demo.invalid/acme/starship"
        assert numbers(page) == [1]
        assert (await office.list())["repositoryUrl"] == "https://demo.invalid/acme/starship"
        assert len(office.repositories()) == 1


def test_a_call_waits_for_five_seconds_at_most() -> None:
    assert Context.__dataclass_fields__["patience"].default == 5.0
