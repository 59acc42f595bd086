"""The demo's world: it depends on the time alone, and every state is reached in it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import anyio
import pytest

from pullstate.domain.address import ForgeKind, Site
from pullstate.domain.classifier import State, classify
from pullstate.domain.merge_request import Facet
from pullstate.forges.demo import DemoForge, Story, World
from pullstate.forges.errors import NotVisible, Overloaded
from pullstate.forges.forge import Delta, Repository, Target

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
SITE = Site(ForgeKind.DEMO, "https://demo.invalid")


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = EPOCH

    def __call__(self) -> datetime:
        return self.now


def states_at(story: Story) -> dict[int, State]:
    story.advance()
    rows = story.project.pull_requests
    return {number: classify(row).state for number, row in rows.items()}


def test_every_state_of_a_pull_request_is_reached() -> None:
    clock = Clock()
    story = Story(clock, EPOCH)
    reached: set[State] = set()
    while clock.now <= story.ends_at:
        reached |= set(states_at(story).values())
        clock.now += timedelta(seconds=1)
    assert reached == set(State) - {State.UNREAD, State.NONE}


def test_two_stories_of_one_epoch_tell_the_same_however_often_they_are_asked() -> None:
    often, once = Clock(), Clock()
    watched, unwatched = Story(often, EPOCH), Story(once, EPOCH)
    for _ in range(30):
        often.now += timedelta(seconds=1)
        watched.advance()
    once.now = often.now
    unwatched.advance()
    assert watched.project.pull_requests == unwatched.project.pull_requests
    assert watched.project.threads == unwatched.project.threads


def test_checks_and_mergeability_move_without_an_update() -> None:
    clock = Clock()
    story = Story(clock, EPOCH)
    story.advance()
    before = story.project.pull_requests[3]
    clock.now = EPOCH + timedelta(seconds=5)
    story.advance()
    after = story.project.pull_requests[3]
    assert before.checks != after.checks
    assert before.changed_at == after.changed_at


@pytest.fixture
def populated() -> tuple[DemoForge, Repository]:
    world = World(Clock())
    project = world.create_repository("acme/rocket")
    world.populate(project, 250, unfinished=60)
    return DemoForge(SITE, world), project.repository


@pytest.mark.anyio
async def test_walks_are_complete_and_disjoint(populated: tuple[DemoForge, Repository]) -> None:
    forge, repository = populated
    for question, size, expected in [("open_page", 25, 60), ("lean_page", 100, 250)]:
        cursor, seen = None, []
        while True:
            page = await getattr(forge, question)(repository, cursor, size)
            seen += [row.number for row in page.rows]
            assert len(page.rows) <= size
            if (cursor := page.next) is None:
                break
        assert len(seen) == expected == len(set(seen))
        assert seen == sorted(seen)


@pytest.mark.anyio
async def test_a_lean_row_of_an_unfinished_one_says_nothing_of_its_checks(
    populated: tuple[DemoForge, Repository],
) -> None:
    forge, repository = populated
    page = await forge.lean_page(repository, None, 100, newest_first=True)
    unfinished = [row for row in page.rows if not row.finished]
    assert len(unfinished) == 60
    assert all(row.checks is row.mergeability is row.review is None for row in unfinished)


@pytest.mark.anyio
async def test_a_delta_ends_at_its_since_and_counts_the_edge_in(
    populated: tuple[DemoForge, Repository],
) -> None:
    forge, repository = populated
    newest = (await forge.lean_page(repository, None, 3, newest_first=True)).rows
    since = newest[-1].changed_at
    [reading] = await forge.changed([Delta(repository, since)], 100)
    assert reading.page is not None
    assert [row.number for row in reading.page.rows] == [250, 249, 248]
    assert reading.page.next is None


@pytest.mark.anyio
async def test_a_fault_that_was_ordered_comes_once(
    populated: tuple[DemoForge, Repository],
) -> None:
    forge, repository = populated
    forge.fail("open_page", Overloaded("502"))
    with pytest.raises(Overloaded):
        await forge.open_page(repository, None, 25)
    assert len((await forge.open_page(repository, None, 25)).rows) == 25
    assert [question for question, _ in forge.requests] == ["open_page", "open_page"]


@pytest.mark.anyio
async def test_what_does_not_exist_is_not_visible(
    populated: tuple[DemoForge, Repository],
) -> None:
    forge, repository = populated
    with pytest.raises(NotVisible):
        await forge.find_repository("acme/none")
    with pytest.raises(NotVisible):
        await forge.find_number(repository, 251)
    [reading] = await forge.read([Target(repository, 251, "DEMO_1000_251")])
    assert isinstance(reading.fault, NotVisible)


@pytest.mark.anyio
@pytest.mark.parametrize("facet", list(Facet))
async def test_every_facet_of_every_pull_request_of_the_story_can_be_read(facet: Facet) -> None:
    clock = Clock()
    story = Story(clock, EPOCH)
    clock.now = story.ends_at
    forge = DemoForge(SITE, story.world, story.advance)
    story.advance()
    for row in story.project.pull_requests.values():
        target = Target(story.project.repository, row.number, row.provider_id)
        assert await forge.facet(target, facet) is not None


def test_the_world_is_quick_to_fill() -> None:
    world = World(Clock())
    project = world.create_repository("acme/rocket")
    world.populate(project, 1000)
    assert len(project.pull_requests) == 1000
    assert anyio.run(DemoForge(SITE, world).find_repository, "ACME/Rocket") == project.repository
