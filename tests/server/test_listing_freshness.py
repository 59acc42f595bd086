"""When `list_pull_requests` asks for a read, and what it says of how that ended."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from pullstate.domain.pull_request import Checks, CheckVerdict, Review, ReviewDecision
from pullstate.store.schema import store
from pullstate.store.wishes import WishKind
from tests.server.leader import leading
from tests.server.office import LIST, ROCKET, Office, kept
from tests.sync.stage import NOW

pytestmark = pytest.mark.anyio


READ = ("read",)
NOTHING = ("nothing",)


# --- maxAgeSeconds -------------------------------------------------------------------------------


async def test_nothing_is_wished_for_unless_an_age_is_named(office: Office):
    kept(office)
    office.advance(days=3)
    leader = leading(office)
    page = await office.list()
    assert leader.wishes == []
    assert "refreshed" not in page["sync"]


@pytest.mark.parametrize("age", [60, "60", 61, 2**53 - 1])
async def test_what_is_fresh_enough_is_refreshed_without_a_wish(office: Office, age: Any):
    kept(office)
    office.advance(seconds=60)
    leader = leading(office)
    assert (await office.list(maxAgeSeconds=age))["sync"]["refreshed"] is True
    assert leader.wishes == []


@pytest.mark.parametrize("age", [0, 1, 59, "59", 59.0])
async def test_what_is_older_is_wished_for_once(office: Office, age: Any):
    kept(office)
    office.advance(seconds=60)
    leader = leading(office, READ)
    assert (await office.list(maxAgeSeconds=age))["sync"]["refreshed"] is True
    assert leader.wishes == [(WishKind.REFRESH, "")]


@pytest.mark.parametrize("age", [-1, "-1", 0.5, True, "soon", [1], {}, 2**53])
async def test_what_is_no_age_is_refused_by_name(office: Office, age: Any):
    words = await office.refused(LIST, repositoryUrl=ROCKET, maxAgeSeconds=age)
    assert words.startswith("maxAgeSeconds: ")
    assert "send an integer, 0 or more, or leave it out." in words
    assert office.repositories() == []


async def test_the_age_is_that_of_the_oldest_fact_that_the_page_shows(office: Office):
    id_ = kept(office)
    office.advance(seconds=100)
    office.sweep(id_, as_of=office.clock.now())  # a delta saw no update; checks move without one
    leader = leading(office, READ)
    await office.list(maxAgeSeconds=100)
    assert leader.wishes == []
    await office.list(maxAgeSeconds=99)
    assert len(leader.wishes) == 1


async def test_a_finished_one_is_as_old_as_the_repositorys_picture(office: Office):
    project = office.project()
    office.world.open(project, "Change", "branch")
    office.world.merge(project, 1)
    id_ = office.keep(project)
    office.advance(days=9)
    office.sweep(id_, as_of=office.clock.now())
    leader = leading(office)
    await office.list(maxAgeSeconds=0)
    assert leader.wishes == []


async def test_what_was_never_read_is_older_than_any_age(office: Office):
    project = office.project()
    number = office.world.open(project, "Just listed", "branch")
    seen = project.pull_requests[number]
    office.keep(project, [replace(seen, checks=None, mergeability=None, review=None)])
    leader = leading(office, READ)
    await office.list(maxAgeSeconds=2**53 - 1)
    assert len(leader.wishes) == 1


async def test_what_cannot_be_read_is_not_asked_for_again_and_again(office: Office):
    project = office.project()
    number = office.world.open(project, "Change", "branch")
    seen = project.pull_requests[number]
    checks = Checks(seen.head.sha, CheckVerdict.NONE, unreadable="the credential may not see it")
    review = Review(ReviewDecision.NONE, unreadable="it takes a token")
    office.keep(project, [replace(seen, checks=checks, review=review)])
    leader = leading(office)
    page = await office.list(maxAgeSeconds=60)
    assert leader.wishes == []
    assert page["sync"]["state"] == "partial"
    assert page["sync"]["facets"] == {
        "checks": "the credential may not see it",
        "review": "it takes a token",
    }


async def test_an_unswept_repository_is_older_than_any_age(office: Office):
    office.sweep(office.track(office.project()).id, stage="all")
    leader = leading(office, READ)
    page = await office.list(maxAgeSeconds=10**9)
    assert leader.wishes == [(WishKind.REFRESH, "")]
    assert page["sync"]["state"] == "unread"
    assert page["sync"]["refreshed"] is True


async def test_a_refresh_that_did_not_come_in_time_is_said_and_the_answer_comes_anyway(
    office: Office,
):
    kept(office)
    office.advance(seconds=60)
    leading(office)
    page = await office.list(maxAgeSeconds=0)
    assert len(page["pullRequests"]) == 1
    assert page["sync"]["refreshed"] is False
    assert page["sync"]["reason"] == "the forge was not read within 5 seconds"
    assert page["sync"]["state"] == "ok"


async def test_the_answer_is_what_is_stored_after_the_refresh(office: Office):
    project = office.project()
    office.world.open(project, "Before", "branch")
    id_ = office.keep(project)
    office.advance(seconds=60)
    office.world.retitle(project, 1, "After")
    leading(office, READ, act=lambda: office.see(id_, project))
    page = await office.list(maxAgeSeconds=0)
    assert [row["title"] for row in page["pullRequests"]] == ["After"]


async def test_where_nobody_syncs_the_answer_comes_at_once_and_says_why(office: Office):
    kept(office)
    office.advance(seconds=60)
    page = await office.list(maxAgeSeconds=0)
    assert office.clock.now() == NOW + timedelta(seconds=60)  # nobody slept
    assert page["sync"]["refreshed"] is False
    assert "no running pullstate process reads https://demo.invalid" in page["sync"]["reason"]


async def test_a_store_that_takes_no_wish_is_said_without_its_path(office: Office, tmp_path):
    kept(office)
    office.advance(seconds=60)
    leading(office)
    office.store.write_now(lambda conn: conn.execute(store.update().values(min_writer=99)))
    page = await office.list(maxAgeSeconds=0)
    assert page["sync"]["refreshed"] is False
    assert page["sync"]["reason"].startswith("the store can be read but not written")
    assert str(tmp_path) not in page["sync"]["reason"]


# --- A named branch ------------------------------------------------------------------------------


async def test_a_branch_that_is_not_stored_is_wished_for(office: Office):
    kept(office)
    leader = leading(office, NOTHING, NOTHING)
    page = await office.list(headBranch="nope")
    assert leader.wishes == [(WishKind.BRANCH, "nope")]
    assert page["branchState"] == "PULL_REQUEST_STATE_NONE"
    assert "refreshed" not in page["sync"]
    await office.list(headBranch="Acme:nope")
    assert leader.wishes[1] == (WishKind.BRANCH, "acme:nope")


async def test_a_branch_that_is_stored_is_not_wished_for(office: Office):
    kept(office)
    leader = leading(office)
    await office.list(headBranch="branch")
    assert leader.wishes == []


async def test_a_read_that_found_nothing_is_none_even_before_the_sweep_ends(office: Office):
    leading(office, NOTHING)
    page = await office.list(headBranch="nope")
    assert page["branchState"] == "PULL_REQUEST_STATE_NONE"
    assert page["sync"]["state"] == "unread"


@pytest.mark.parametrize(
    ("outcomes", "why"),
    [
        ([], "the forge was not read within 5 seconds"),
        ([("failed", "the forge could not be reached")], "the forge could not be reached"),
    ],
)
async def test_a_read_that_failed_is_unread_and_says_why(
    office: Office, outcomes: list[tuple[str, ...]], why: str
):
    leading(office, *outcomes)
    page = await office.list(headBranch="nope")
    assert page["branchState"] == "PULL_REQUEST_STATE_UNREAD"
    assert why in page["sync"]["reason"]


async def test_a_branch_that_the_read_found_is_listed(office: Office):
    project = office.project()
    id_ = office.keep(project)
    office.world.open(project, "New", "new")
    leading(office, READ, act=lambda: office.see(id_, project))
    page = await office.list(headBranch="new")
    assert page["branchState"] == "PULL_REQUEST_STATE_OPEN"


async def test_one_wish_is_enough_for_a_branch_that_is_neither_stored_nor_fresh(office: Office):
    kept(office)
    office.advance(seconds=60)
    leader = leading(office, NOTHING)
    page = await office.list(headBranch="nope", maxAgeSeconds=0)
    assert leader.wishes == [(WishKind.BRANCH, "nope")]
    assert page["sync"]["refreshed"] is True


async def test_a_branch_is_refreshed_by_itself_and_as_the_forge_has_it(office: Office):
    project = office.project()
    office.world.open(project, "Change", "ma\u200bin")
    office.keep(project)
    office.advance(seconds=60)
    leader = leading(office, READ, READ)
    await office.list(headBranch="main", maxAgeSeconds=0)
    await office.list(headBranch="ACME:main", maxAgeSeconds=0)
    assert leader.wishes == [
        (WishKind.BRANCH, "ma\u200bin"),
        (WishKind.BRANCH, "acme:ma\u200bin"),
    ]
