"""Lists by change and by creation: nothing is skipped while others write, at any size."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from pullstate.forges.errors import Unexpected
from pullstate.forges.forge import Delta, Page, Repository
from pullstate.forges.gitlab import GitLab
from pullstate.forges.gitlab.api import next_query
from pullstate.forges.gitlab.lists import EVERYTHING, Cursor, onward
from pullstate.forges.gitlab.payloads import MergeRequest
from pullstate.forges.http import Answer
from tests.forges.gitlab.conftest import asked
from tests.simulators.gitlab import Clock, Running, World, faults
from tests.simulators.gitlab.model import Project

LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


async def delta(
    gitlab: GitLab, repository: Repository, since: datetime = LONG_AGO, size: int = 100
) -> list[Page]:
    """All pages of a delta."""
    pages: list[Page] = []
    cursor: str | None = None
    while not pages or cursor:
        [reading] = await gitlab.changed([Delta(repository, since, cursor)], size)
        pages.append(reading.page)
        cursor = reading.page.next
    return pages


def numbers(pages: list[Page]) -> list[int]:
    return [row.number for page in pages for row in page.rows]


@pytest.mark.anyio
async def test_what_changed_since_a_moment_comes_oldest_change_first(
    gitlab: GitLab, world: World, clock: Clock, project: Project, repository: Repository
):
    changes = world.fill(project, 5)
    since = clock.advance(hours=1)
    world.edit(changes[3], title="Edited")
    clock.advance(minutes=1)
    world.merge(changes[0])
    [page] = await delta(gitlab, repository, since)
    assert [row.number for row in page.rows] == [4, 1]
    assert page.rows[0].review is None
    assert page.rows[1].finished


@pytest.mark.anyio
async def test_a_change_at_the_very_moment_is_in_the_delta(
    gitlab: GitLab, world: World, clock: Clock, project: Project, repository: Repository
):
    clock.now += timedelta(microseconds=123_456)
    world.open_merge_request(project, "one")
    [page] = await delta(gitlab, repository, clock.now)
    assert [row.number for row in page.rows] == [1]


@pytest.mark.anyio
async def test_a_quiet_delta_is_one_request(
    gitlab: GitLab, simulator: Running, world: World, clock: Clock, repository: Repository
):
    project = world.projects[int(repository.forge_id)]
    world.fill(project, 200)
    await delta(gitlab, repository, clock.advance(minutes=10))
    assert asked(simulator) == [f"GET v4/projects/{repository.forge_id}/merge_requests"]


@pytest.mark.anyio
async def test_two_hundred_changes_are_two_lists(
    gitlab: GitLab, simulator: Running, world: World, project: Project, repository: Repository
):
    world.fill(project, 200)
    pages = await delta(gitlab, repository)
    assert numbers(pages) == list(range(1, 201))
    assert len(simulator.log.matching(r"/merge_requests\?")) == 2


@pytest.mark.anyio
async def test_a_row_that_moves_to_the_end_between_two_pages_hides_none_behind_it(
    gitlab: GitLab, world: World, clock: Clock, project: Project, repository: Repository
):
    """By offset alone number 11 slips from the second page to the first, which was read."""
    changes = world.fill(project, 25)
    [first] = await gitlab.changed([Delta(repository, LONG_AGO)], 10)
    clock.advance(minutes=1)
    world.edit(changes[2], title="Edited")
    seen = [first.page]
    while seen[-1].next:
        [reading] = await gitlab.changed([Delta(repository, LONG_AGO, seen[-1].next)], 10)
        seen.append(reading.page)
    assert set(numbers(seen)) == set(range(1, 26))
    assert "Edited" in [row.title for page in seen for row in page.rows]


@pytest.mark.anyio
async def test_rows_that_move_between_later_pages_hide_none_either(
    gitlab: GitLab, world: World, clock: Clock, project: Project, repository: Repository
):
    changes = world.fill(project, 60)
    seen: list[Page] = []
    cursor: str | None = None
    while not seen or cursor:
        [reading] = await gitlab.changed([Delta(repository, LONG_AGO, cursor)], 10)
        seen.append(reading.page)
        cursor = reading.page.next
        if len(seen) <= 4:
            clock.advance(minutes=1)
            world.edit(changes[len(seen)], title="Edited")
    assert set(numbers(seen)) == set(range(1, 61))


@pytest.mark.anyio
async def test_more_changes_at_one_moment_than_a_page_holds_are_all_seen(
    gitlab: GitLab, world: World, project: Project, repository: Repository
):
    """A bulk edit gives hundreds the same time: asking from that time on would go in circles."""
    world.fill(project, 35, every=timedelta(0))
    pages = await delta(gitlab, repository, size=10)
    assert set(numbers(pages)) == set(range(1, 36))
    assert len(pages) < 8


@pytest.mark.anyio
async def test_a_long_delta_never_meets_the_largest_offset(
    gitlab: GitLab, world: World, project: Project, repository: Repository
):
    world.fill(project, 95)
    world.max_offset = 30
    assert set(numbers(await delta(gitlab, repository, size=10))) == set(range(1, 96))


@pytest.mark.anyio
async def test_several_projects_are_each_asked_and_one_that_fails_spoils_no_other(
    gitlab: GitLab, world: World, project: Project, repository: Repository
):
    world.open_merge_request(project, "one")
    gone = Delta(Repository("999", "group/gone"), LONG_AGO)
    first, second = await gitlab.changed([gone, Delta(repository, LONG_AGO)], 100)
    assert first.page is None and first.fault is not None
    assert [row.number for row in second.page.rows] == [1]


@pytest.mark.anyio
async def test_a_next_link_to_another_spelling_of_the_host_is_followed_on_ours(
    gitlab: GitLab, simulator: Running, world: World, project: Project, repository: Repository
):
    """Behind a proxy that ends TLS an install may write http://, or its internal name."""
    world.fill(project, 3)
    rows = [{"iid": 1, "created_at": "2025-06-01T00:00:00Z"}]
    link = "<http://gitlab.internal/api/v4/projects/101/merge_requests?page=2&per_page=1>"
    odd = faults.Fault(
        "odd link",
        r"/merge_requests\?",
        status=200,
        json=rows,
        headers={"link": f'{link}; rel="next", <http://x>; rel="last"'},
    )
    simulator.faults.add(odd)
    first = await gitlab.lean_page(repository, None, 1)
    second = await gitlab.lean_page(repository, first.next, 1)
    assert [row.number for row in second.rows] == [2]


def answer(link: str) -> Answer:
    return Answer(200, [], {"link": f'<https://x/y?{link}>; rel="next"'}, "https://x/y")


def row(iid: int, created_at: str) -> MergeRequest:
    return MergeRequest(iid=iid, created_at=created_at)


WALK = {**EVERYTHING, "order_by": "created_at", "sort": "asc"}


def test_a_link_leads_to_the_next_page_with_our_own_parameters() -> None:
    """GitLab's link repeats a time without its fraction: a page later would be another list."""
    query = {**WALK, "created_after": "2025-06-01T00:00:00.123Z", "page": 1, "per_page": 100}
    given = "page=2&per_page=100&created_after=2025-06-01+00%3A00%3A00+UTC&view=simple"
    text, fault = onward(WALK, query, answer(given), [row(1, "2025-06-01T00:00:01Z")])
    after = Cursor.parse(text).query
    assert fault is None
    assert after["created_after"] == "2025-06-01T00:00:00.123Z"
    assert (after["page"], after["view"]) == ("2", "simple")


@pytest.mark.parametrize(
    ("sort", "window", "edge"),
    [
        ("asc", "created_after", "2025-06-01T00:00:01.123Z"),
        ("desc", "created_before", "2025-06-01T00:00:02.457Z"),
    ],
)
def test_before_the_largest_offset_the_window_is_narrowed_to_what_was_reached(
    sort: str, window: str, edge: str
) -> None:
    """Both ends belong to a window, and REST cuts times that the database keeps longer."""
    walk = {**WALK, "sort": sort}
    query = {**walk, "page": 500, "per_page": 100}
    rows = [row(1, "2025-06-01T00:00:01.123Z"), row(2, "2025-06-01T00:00:02.456Z")]
    text, fault = onward(walk, query, answer("page=501&per_page=100"), rows)
    assert fault is None
    assert Cursor.parse(text).query == {**walk, window: edge, "page": 1, "per_page": 100}


def test_the_last_page_within_the_largest_offset_is_still_asked_for() -> None:
    query = {**WALK, "page": 499, "per_page": 100}
    text, _ = onward(WALK, query, answer("page=500&per_page=100"), [row(1, "2025-06-01T00:00:00Z")])
    assert Cursor.parse(text).query["page"] == "500"


def test_a_window_that_cannot_be_narrowed_is_said_and_no_circle() -> None:
    moment = "2025-06-01T00:00:00.000Z"
    query = {**WALK, "created_after": moment, "page": 500, "per_page": 100}
    text, fault = onward(WALK, query, answer("page=501&per_page=100"), [row(1, moment)])
    assert text is None
    assert isinstance(fault, Unexpected)


def test_a_cursor_is_text_that_reads_back() -> None:
    cursor = Cursor({"page": 2}, datetime(2025, 6, 1, tzinfo=UTC), (1, 2))
    assert Cursor.parse(str(cursor)) == cursor


@pytest.mark.parametrize("text", ["", "{}", "[1]", "[1,2,3]", '["a",null,[]]', "null"])
def test_text_that_is_no_cursor_is_an_error_and_never_the_first_page(text: str) -> None:
    with pytest.raises(Unexpected):
        Cursor.parse(text)


def test_what_a_link_repeats_of_a_token_is_not_sent_on() -> None:
    assert next_query(answer("private_token=glpat-x&id=1&page=2")) == {"page": "2"}


@pytest.mark.anyio
async def test_a_finished_one_is_enriched_once_although_every_delta_lists_it_again(
    gitlab: GitLab,
    simulator: Running,
    world: World,
    clock: Clock,
    project: Project,
    repository: Repository,
):
    change = world.open_merge_request(project, "one")
    world.merge(change)
    clock.advance(minutes=2)
    [page] = await delta(gitlab, repository)
    simulator.log.clear()
    [again] = await delta(gitlab, repository)
    assert again.rows == page.rows
    assert len(asked(simulator)) == 1
    world.approve(change, "bo")
    [after] = await delta(gitlab, repository)
    assert after.rows[0].review.approved_by == ("bo",)


@pytest.mark.anyio
async def test_a_finished_one_that_has_not_settled_is_enriched_again(
    gitlab: GitLab, world: World, clock: Clock, project: Project, repository: Repository
):
    change = world.open_merge_request(project, "one")
    world.merge(change)
    await delta(gitlab, repository)
    clock.advance(seconds=30)
    world.approve(change, "bo")
    [page] = await delta(gitlab, repository)
    assert page.rows[0].review.approved_by == ("bo",)
