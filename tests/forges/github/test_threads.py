"""Review threads against a simulated GitHub: every page of them and of their comments."""

from __future__ import annotations

import pytest

from pullstate.domain.review import ReviewThread
from pullstate.forges.errors import Forbidden, NotVisible, Overloaded, RateLimited
from pullstate.forges.forge import Repository
from pullstate.forges.github import GitHub
from tests.forges.github.conftest import client, target
from tests.simulators.github import GitHub as Simulator
from tests.simulators.github import ManualClock, World, faults, running
from tests.simulators.github.model import PullRequest
from tests.simulators.github.model import Repository as SimulatedRepository

pytestmark = pytest.mark.anyio


@pytest.fixture
def change(world: World, rocket: SimulatedRepository) -> PullRequest:
    return world.open_pull_request(rocket, author="ada")


async def threads_of(github: GitHub, repository: Repository, change) -> tuple[ReviewThread, ...]:
    [reading] = await github.threads([target(repository, change)])
    assert reading.fault is None
    assert reading.threads.gap is None
    return reading.threads.threads


async def test_every_thread_is_read_and_not_the_first_hundred(
    github: GitHub, simulator: Simulator, world: World, repository: Repository, change: PullRequest
):
    made = [world.open_thread(change, "bob", line=n + 1) for n in range(197)]
    for each in made[:104]:
        world.resolve(each)
    found = await threads_of(github, repository, change)
    assert len({each.id for each in found}) == 197
    assert all(each.id.startswith("PRRT_") for each in found)
    assert sum(not each.is_resolved for each in found) == 93
    assert len(simulator.operations("Threads")) == 4


async def test_a_thousand_threads_cost_twenty_requests(
    github: GitHub, simulator: Simulator, world: World, repository: Repository, change: PullRequest
):
    for n in range(1000):
        world.open_thread(change, "bob", line=n + 1)
    assert len(await threads_of(github, repository, change)) == 1000
    assert len(simulator.operations("Threads|Comments")) == 20


async def test_every_comment_is_read(
    github: GitHub, world: World, repository: Repository, change: PullRequest
):
    thread = world.open_thread(change, "bob", body="first")
    for n in range(120):
        world.reply(thread, "ada", f"reply {n}")
    [found] = await threads_of(github, repository, change)
    assert len(found.comments) == 121
    assert (found.comments[0].body, found.comments[-1].body) == ("first", "reply 119")


async def test_the_price_is_one_point_for_one_and_five_for_ten(
    github: GitHub,
    simulator: Simulator,
    world: World,
    rocket: SimulatedRepository,
    repository: Repository,
):
    changes = world.open_pull_requests(rocket, 10)
    for each in changes:
        world.open_thread(each, "bob")
    await github.threads([target(repository, changes[0])])
    [one] = simulator.operations("Threads")
    readings = await github.threads([target(repository, each) for each in changes])
    [_, ten] = simulator.operations("Threads")
    assert (one.notes["cost"], ten.notes["cost"]) == (1, 5)
    assert [len(each.threads.threads) for each in readings] == [1] * 10
    assert [each.target.number for each in readings] == list(range(1, 11))


async def test_a_thread_says_where_it_stands(
    github: GitHub, clock: ManualClock, world: World, repository: Repository, change: PullRequest
):
    world.open_thread(change, "bob", "a.py", 9, start_line=4)
    clock.advance(1)
    removed = world.open_thread(change, "bob", "b.py", 3, side="LEFT")
    clock.advance(1)
    world.open_thread(change, "bob", "c.py", subject="FILE")
    clock.advance(1)
    outdated = world.open_thread(change, "bob", "d.py", 7, start_line=6)
    world.outdate(outdated)
    lines, left, whole_file, old = await threads_of(github, repository, change)
    assert (lines.path, lines.line, lines.start_line) == ("a.py", 9, 4)
    assert (lines.side, lines.subject) == ("RIGHT", "line")
    assert (left.id, left.side, left.line) == (removed.id, "LEFT", 3)
    assert (whole_file.subject, whole_file.line) == ("file", None)
    assert (old.is_outdated, old.line, old.start_line) == (True, None, None)
    assert (old.original_line, old.original_start_line) == (7, 6)


async def test_who_resolved_it_is_null_where_a_bot_did(
    github: GitHub, clock: ManualClock, world: World, repository: Repository, change: PullRequest
):
    by_ada = world.open_thread(change, "bob")
    clock.advance(1)
    by_bot = world.open_thread(change, "bob")
    world.resolve(by_ada, "ada")
    world.resolve(by_bot, None)
    first, second = await threads_of(github, repository, change)
    assert (first.is_resolved, first.resolved_by) == (True, "ada")
    assert (second.is_resolved, second.resolved_by) == (True, None)


async def test_comments_have_the_ids_that_a_reply_takes(
    github: GitHub, world: World, repository: Repository, change: PullRequest
):
    said = world.open_thread(change, "bob", body="Why?").comments[0]
    [found] = await threads_of(github, repository, change)
    assert found.comments[0].id == said.database_id
    assert found.comments[0].url.startswith(change.url)


async def test_ids_beyond_32_bits_are_read(clock: ManualClock):
    with running(World(clock=clock, first_id=3_000_000_000)) as simulator:
        world = simulator.world
        made = world.create_repository("acme/rocket")
        change = world.open_pull_request(made)
        said = world.open_thread(change, "bob").comments[0]
        github = client(simulator, clock)
        found = await threads_of(github, Repository(made.id, "acme/rocket"), change)
        await github.aclose()
    assert found[0].comments[0].id == said.database_id > 2**31


async def test_a_deleted_author_is_the_ghost(
    github: GitHub, world: World, repository: Repository, change: PullRequest
):
    world.open_thread(change, "eve")
    world.delete_account("eve")
    [found] = await threads_of(github, repository, change)
    assert found.comments[0].author == "ghost"


async def test_a_minimised_comment_is_marked(
    github: GitHub, world: World, repository: Repository, change: PullRequest
):
    thread = world.open_thread(change, "bob")
    world.minimize(thread.comments[0], "outdated")
    world.reply(thread, "ada")
    [found] = await threads_of(github, repository, change)
    assert [each.minimized for each in found.comments] == ["OUTDATED", None]


async def test_an_edited_comment_says_when(
    github: GitHub, clock: ManualClock, world: World, repository: Repository, change: PullRequest
):
    said = world.open_thread(change, "bob").comments[0]
    clock.advance(86)
    world.edit_comment(said, "Now with findings")
    [found] = await threads_of(github, repository, change)
    assert found.comments[0].body == "Now with findings"
    assert found.comments[0].edited_at == clock()


async def test_pending_comments_and_threads_of_them_alone_are_left_out(
    github: GitHub, world: World, repository: Repository, change: PullRequest
):
    draft = world.review(change, "octocat", "PENDING")
    world.open_thread(change, "octocat", review=draft)
    shown = world.open_thread(change, "bob")
    world.reply(shown, "octocat", "not yet", review=draft)
    [found] = await threads_of(github, repository, change)
    assert found.id == shown.id
    assert len(found.comments) == 1


async def test_a_page_that_fails_leaves_a_gap(
    github: GitHub, simulator: Simulator, world: World, repository: Repository, change: PullRequest
):
    for n in range(120):
        world.open_thread(change, "bob", line=n + 1)
    simulator.faults.add(faults.Fault("late", body="query Threads", skip=1, status=502, text="x"))
    [reading] = await github.threads([target(repository, change)])
    assert len(reading.threads.threads) == 50
    assert reading.threads.gap


async def test_a_page_of_comments_that_fails_leaves_a_gap(
    github: GitHub, simulator: Simulator, world: World, repository: Repository, change: PullRequest
):
    thread = world.open_thread(change, "bob")
    for _ in range(30):
        world.reply(thread, "ada")
    simulator.faults.add(faults.Fault("late", body="query Comments", status=502, text="x"))
    [reading] = await github.threads([target(repository, change)])
    assert len(reading.threads.threads[0].comments) == 20
    assert reading.threads.gap


async def test_a_first_page_that_fails_is_raised(
    github: GitHub, simulator: Simulator, repository: Repository, change: PullRequest
):
    simulator.faults.add(faults.server_error(502, request="graphql", times=None))
    with pytest.raises(Overloaded):
        await github.threads([target(repository, change)])


async def test_a_rate_limit_is_raised_with_its_end(
    github: GitHub, clock: ManualClock, world: World, repository: Repository, change: PullRequest
):
    await github.threads([target(repository, change)])
    world.set_budget("graphql", 0, reset_in=1200)
    with pytest.raises(RateLimited) as limited:
        await github.threads([target(repository, change)])
    assert (limited.value.until - clock()).total_seconds() == 1200
    assert limited.value.resource == "graphql"


async def test_one_that_is_refused_or_gone_says_nothing_of_the_others(
    github: GitHub,
    simulator: Simulator,
    world: World,
    rocket: SimulatedRepository,
    repository: Repository,
):
    changes = world.open_pull_requests(rocket, 3)
    for each in changes:
        world.open_thread(each, "bob")
    simulator.faults.add(
        faults.partial({"p0": "FORBIDDEN", "p1": "NOT_FOUND"}, body="query Threads")
    )
    readings = await github.threads([target(repository, each) for each in changes])
    assert [type(each.fault) for each in readings] == [Forbidden, NotVisible, type(None)]
    assert len(readings[2].threads.threads) == 1


async def test_a_thread_that_is_refused_leaves_a_gap_beside_the_others(
    github: GitHub, simulator: Simulator, world: World, repository: Repository, change: PullRequest
):
    for n in range(3):
        world.open_thread(change, "bob", line=n + 1)
    simulator.faults.add(
        faults.partial({"p0.reviewThreads.nodes.1": "FORBIDDEN"}, body="query Threads")
    )
    [reading] = await github.threads([target(repository, change)])
    assert len(reading.threads.threads) == 2
    assert reading.threads.gap == "the token may not see this"


async def test_a_pull_request_without_threads_has_none(
    github: GitHub, repository: Repository, change: PullRequest
):
    assert await threads_of(github, repository, change) == ()
