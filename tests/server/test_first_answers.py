"""The first question about a repository: answered whole, where somebody can read it in time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pullstate.forges.errors import NotVisible
from tests.server.office import Office, numbers, opening_of, served

pytestmark = pytest.mark.anyio


def hurried(office: Office, patience: float) -> None:
    """Let calls wait no longer than so many seconds."""
    office.context = replace(office.context, patience=patience)
    office.opening = opening_of(office.context)


async def test_the_first_list_is_whole(tmp_path: Path):
    async with served(tmp_path) as (office, _):
        office.world.populate(office.project(), 30, unfinished=3)
        page = await office.list(pagination={"limit": 100})
        assert numbers(page) == list(range(30, 0, -1))
        assert page["sync"]["state"] == "ok"
        assert "refreshed" not in page["sync"]


async def test_a_first_list_that_must_be_fresh_says_that_it_is(tmp_path: Path):
    async with served(tmp_path) as (office, _):
        office.world.populate(office.project(), 3)
        page = await office.list(maxAgeSeconds=0)
        assert numbers(page) == [3, 2, 1]
        assert (page["sync"]["state"], page["sync"]["refreshed"]) == ("ok", True)


async def test_a_repository_without_pull_requests_is_told_from_one_nobody_has_read(tmp_path: Path):
    async with served(tmp_path) as (office, _):
        office.project()
        page = await office.list()
        assert (page["pullRequests"], page["sync"]["state"]) == ([], "ok")


async def test_a_sweep_that_takes_longer_is_not_waited_for_to_its_end(tmp_path: Path):
    async with served(tmp_path) as (office, home):
        office.world.populate(office.project(), 3)
        await home.loop.listed.wait()
        hurried(office, 0)
        page = await office.list(maxAgeSeconds=0)
        assert (page["sync"]["state"], page["sync"]["refreshed"]) == ("unread", False)
        assert "ask again in a few seconds" in page["sync"]["reason"]


async def test_one_that_does_not_exist_is_said_not_to_be_found_at_once(tmp_path: Path):
    async with served(tmp_path) as (office, _):
        hurried(office, 60)
        page = await office.list()
        assert page["sync"]["state"] == "unread"
        assert "not found, or " in page["sync"]["reason"]


async def test_where_it_failed_before_the_answer_comes_at_once(tmp_path: Path):
    async with served(tmp_path) as (office, home):
        office.world.populate(office.project(), 3)
        home.forge.fail("find_repository", *[NotVisible("gone")] * 500)
        await office.list()
        hurried(office, 3600)
        page = await office.list()
        assert "not found, or " in page["sync"]["reason"]


async def test_where_nobody_syncs_the_answer_comes_at_once(office: Office):
    hurried(office, 3600)
    before = office.clock.now()
    page = await office.list()
    assert page["sync"]["state"] == "unread"
    assert "no running pullstate process" in page["sync"]["reason"]
    assert office.clock.now() == before


async def test_a_later_page_is_not_waited_for(office: Office):
    project = office.project()
    office.world.populate(project, 3)
    id_ = office.keep(project)
    token = (await office.list(pagination={"limit": 2}))["nextPageToken"]
    office.sweep(id_, swept=False, stage="open")
    before = office.clock.now()
    assert numbers(await office.list(pagination={"cursor": token})) == [1]
    assert office.clock.now() == before
