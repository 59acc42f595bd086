"""`list_pull_requests`, a page at a time: nothing twice, nothing left out, whatever moves."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from pullstate.forges.demo import Project
from tests.server.office import LIST, ROCKET, Office, numbers, rows_of

pytestmark = pytest.mark.anyio


def populated(office: Office, count: int, unfinished: int = 0) -> Project:
    project = office.project()
    office.world.populate(project, count, unfinished=unfinished)
    return project


@pytest.mark.parametrize("limit", [1, 7, 20, 100])
@pytest.mark.parametrize("count", [0, 1, 19, 20, 21, 100, 101, 137])
async def test_the_pages_together_are_the_whole_list_in_order(
    office: Office, count: int, limit: int
):
    project = populated(office, count, unfinished=count // 3)
    office.keep(project)
    pages = await office.pages(limit=limit)
    rows = project.pull_requests.values()
    expected = sorted(rows, key=lambda p: (not p.finished, p.opened_at, p.number), reverse=True)
    assert numbers(*pages) == [row.number for row in expected]
    sizes = [len(page["pullRequests"]) for page in pages]
    # A page may end early for its bytes, but not by so many rows and never with none.
    assert all(0 < size <= limit for size in sizes[:-1])
    assert len(pages) == max(1, -(-count // limit)) or limit == 100


@pytest.mark.parametrize(
    ("limit", "shown"),
    [
        (None, 20),
        ("", 20),
        (0, 20),
        ("0", 20),
        (1, 1),
        ("20", 20),
        (20.0, 20),
        (" 7 ", 7),
        (33, 33),
    ],
)
async def test_a_limit_is_taken_as_it_is_meant(office: Office, limit: Any, shown: int):
    office.keep(populated(office, 40))
    page = await office.list(pagination={"limit": limit})
    assert len(page["pullRequests"]) == shown


@pytest.mark.parametrize("limit", [100, 101, 5000, "5000", 2**53 - 1])
async def test_a_limit_above_a_hundred_is_capped_and_not_refused(office: Office, limit: Any):
    office.keep(populated(office, 130))
    pages = await office.pages(limit=limit)
    first = [len(page["pullRequests"]) for page in pages]
    assert max(first) <= 100
    assert len(numbers(*pages)) == 130
    assert len(pages) == len(await office.pages(limit=100))


@pytest.mark.parametrize("limit", [-1, "-1", 20.5, "20.5", True, "true", "twenty", [], {}, 2**53])
async def test_what_is_no_limit_is_refused_by_name(office: Office, limit: Any):
    words = await office.refused(LIST, repositoryUrl=ROCKET, pagination={"limit": limit})
    assert words.startswith("pagination.limit: ")
    assert "send an integer, 0 or more, or leave it out." in words


@pytest.mark.parametrize("spelling", ["pagination", "json", "snake"])
async def test_paging_arguments_have_their_effect_however_they_are_sent(
    office: Office, spelling: str
):
    office.keep(populated(office, 30))
    first = await office.list(pagination={"limit": 3})
    cursor = first["nextPageToken"]
    pagination: Any = {"limit": 4, "cursor": cursor}
    if spelling == "json":
        pagination = f'{{"limit": "4", "cursor": "{cursor}"}}'
    name = "repository_url" if spelling == "snake" else "repositoryUrl"
    second = await office.ask(LIST, **{name: ROCKET, "pagination": pagination})
    assert numbers(first, second) == [30, 29, 28, 27, 26, 25, 24]


async def test_a_cursor_takes_another_limit(office: Office):
    office.keep(populated(office, 30))
    first = await office.list(pagination={"limit": 2})
    rest = await office.list(pagination={"limit": 100, "cursor": first["nextPageToken"]})
    assert numbers(first, rest) == list(range(30, 0, -1))
    assert "nextPageToken" not in rest


async def test_what_is_opened_meanwhile_neither_repeats_nor_displaces_a_row(office: Office):
    project = populated(office, 25, unfinished=25)
    id_ = office.keep(project)
    first = await office.list(pagination={"limit": 10})
    office.advance(minutes=1)
    office.world.open(project, "Newer than all", "newer")
    office.world.retitle(project, 3, "Changed")
    office.see(id_, project)
    rest = await office.list(pagination={"limit": 100, "cursor": first["nextPageToken"]})
    assert numbers(first, rest) == list(range(25, 0, -1))
    assert "movedWhilePaging" not in rest


async def test_the_row_at_which_a_page_ended_may_be_gone(office: Office):
    project = populated(office, 12)
    id_ = office.keep(project)
    first = await office.list(pagination={"limit": 5})
    office.retire(id_, 8)  # the last one that was shown
    office.retire(id_, 7)  # the first one that would have followed
    rest = await office.list(pagination={"limit": 100, "cursor": first["nextPageToken"]})
    assert numbers(first, rest) == [12, 11, 10, 9, 8, 6, 5, 4, 3, 2, 1]


async def test_the_last_page_says_how_many_closed_or_reopened_meanwhile(office: Office):
    project = populated(office, 30, unfinished=20)
    id_ = office.keep(project)
    first = await office.list(pagination={"limit": 5})
    office.advance(minutes=1)
    office.world.close(project, 29)  # shown already: it comes again
    office.world.merge(project, 12)  # not shown yet
    office.see(id_, project)
    office.world.close(project, 13)
    office.see(id_, project)
    office.world.reopen(project, 13)  # there and back counts once
    office.see(id_, project)
    second = await office.list(pagination={"limit": 5, "cursor": first["nextPageToken"]})
    assert "movedWhilePaging" not in second
    cursor = second["nextPageToken"]
    last = await office.list(pagination={"limit": 100, "cursor": cursor})
    assert last["movedWhilePaging"] == 3
    seen = numbers(first, second, last)
    assert set(seen) == set(range(1, 31))
    assert [number for number in seen if seen.count(number) > 1] == [29, 29]


async def test_only_what_moved_on_the_branch_that_is_asked_for_is_counted(office: Office):
    project = office.project()
    for n in range(6):
        office.world.open(project, "Change", "mine" if n < 4 else "other")
    id_ = office.keep(project)
    first = await office.list(headBranch="mine", pagination={"limit": 2})
    office.world.close(project, 6)
    office.see(id_, project)
    cursor = {"limit": 2, "cursor": first["nextPageToken"]}
    assert "movedWhilePaging" not in await office.list(headBranch="mine", pagination=cursor)
    office.world.close(project, 1)
    office.see(id_, project)
    last = await office.list(headBranch="mine", pagination=cursor)
    assert last["movedWhilePaging"] == 1


async def test_what_moved_before_the_first_page_is_not_counted(office: Office):
    project = populated(office, 6, unfinished=6)
    id_ = office.keep(project)
    office.world.close(project, 6)
    office.see(id_, project)
    assert all("movedWhilePaging" not in page for page in await office.pages(limit=2))


@pytest.mark.parametrize("seed", range(8))
async def test_whatever_is_written_between_pages_only_what_moved_may_repeat_or_be_missed(
    office: Office, seed: int
):
    dice = random.Random(seed)
    project = populated(office, 40, unfinished=dice.randrange(41))
    id_ = office.keep(project)
    before = dict(project.pull_requests)
    moved: set[int] = set()
    limit = dice.choice([1, 3, 8])
    pages = [await office.list(pagination={"limit": limit})]
    while "nextPageToken" in pages[-1]:
        for _ in range(dice.randrange(4)):
            moved |= _something_happens(office, project, dice)
        office.see(id_, project)
        page = {"limit": limit, "cursor": pages[-1]["nextPageToken"]}
        pages.append(await office.list(pagination=page))
    seen = numbers(*pages)
    for number in before.keys() - moved:
        assert seen.count(number) == 1, number
    assert pages[-1].get("movedWhilePaging", 0) == len(moved)
    assert all("movedWhilePaging" not in page for page in pages[:-1])


def _something_happens(office: Office, project: Project, dice: random.Random) -> set[int]:
    """One act; the number that moved between the groups, if the act moves one."""
    office.advance(seconds=5)
    number = dice.choice(list(project.pull_requests))
    seen = project.pull_requests[number]
    acts = ["open", "retitle"] + (["close", "merge"] if not seen.finished else [])
    if seen.closed_at and not seen.merged_at:
        acts.append("reopen")
    act = dice.choice(acts)
    if act == "open":
        office.world.open(project, "New", "new")
        return set()
    if act == "retitle":
        office.world.retitle(project, number, f"Title {dice.random()}")
        return set()
    getattr(office.world, act)(project, number)
    return {number}


async def test_a_page_of_huge_titles_ends_early_and_the_token_goes_on(office: Office):
    project = office.project()
    for n in range(100):
        office.world.open(project, "漢字" * 2_000, f"枝-{n}")
    office.keep(project)
    pages = await office.pages(limit=100)
    assert numbers(*pages) == list(range(100, 0, -1))
    assert all(page["pullRequests"] for page in pages)
    assert len(pages) > 5
    assert {len(row["title"]) for row in rows_of(pages)} == {1_000}
    assert all(row["title"].endswith("漢字漢…") for row in rows_of(pages))


async def test_a_row_of_which_every_field_is_huge_still_fits_a_page(office: Office):
    project = office.project()
    long = "😀" * 3_000
    for _ in range(3):
        number = office.world.open(project, long, long, base=long)
        seen = project.pull_requests[number]
        head = replace(seen.head, repository_url=long, sha=long)
        project.pull_requests[number] = replace(seen, url=long, head=head, provider_id=f"{number}")
    office.keep(project)
    assert numbers(*await office.pages(limit=100)) == [3, 2, 1]


async def test_a_full_page_of_ordinary_rows_is_not_cut(office: Office):
    project = office.project()
    for n in range(101):
        office.world.open(project, "Read the sensors before the engines start", f"feature/{n}")
    office.keep(project)
    page = await office.list(pagination={"limit": 50})
    assert len(page["pullRequests"]) == 50
