"""What the simulated GitHub's GraphQL charges, and whom."""

from __future__ import annotations

import pytest

from tests.simulators.github import ManualClock, World
from tests.simulators.github.asker import Asker
from tests.simulators.github.model import Repository


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def world(clock: ManualClock) -> World:
    return World(clock=clock)


@pytest.fixture
def rocket(world: World) -> Repository:
    return world.create_repository("acme/rocket")


@pytest.fixture
def ask(world: World, rocket: Repository) -> Asker:
    return Asker(world)


def prs(inner: str, first: int = 100) -> str:
    pull_requests = f"pullRequests(first: {first}) {{ nodes {{ {inner} }} }}"
    return f'{{ repository(owner: "acme", name: "rocket") {{ {pull_requests} }} }}'


THREADS = "reviewThreads(first: 50) { nodes { id comments(first: 20) { nodes { id } } } }"
ONE = '{ repository(owner: "acme", name: "rocket") { pullRequest(number: 1) { %s } } }'
HOT_THREADS = "query($ids: [ID!]!) { nodes(ids: $ids) { ... on PullRequest { %s } } }"
HOT = """
query($ids: [ID!]!) { nodes(ids: $ids) { ... on PullRequest {
  latestOpinionatedReviews(first: 20, writersOnly: true) { nodes { state } }
  labels(first: 10) { nodes { name } }
  commits(last: 1) { nodes { commit {
    statusCheckRollup { state }
    checkSuites(first: 20) { nodes { status checkRuns { totalCount } } }
  } } }
} } }
"""


@pytest.mark.parametrize(
    ("query", "cost", "nodes"),
    [
        (prs("id title"), 1, 100),
        (
            prs("labels(first: 15) { totalCount nodes { name } } comments { totalCount }", 50),
            1,
            800,
        ),
        (prs("reviewThreads { totalCount }"), 1, 100),
        (prs(THREADS), 51, 100 + 100 * 50 + 100 * 50 * 20),
        (ONE % THREADS, 1, 50 + 50 * 20),
        ("{ viewer { login } }", 1, 0),
    ],
)
def test_a_query_costs_the_requests_that_fill_its_connections_over_100(
    ask: Asker, world: World, rocket: Repository, query: str, cost: int, nodes: int
) -> None:
    world.open_pull_request(rocket)
    assert ask.cost(query) == (cost, nodes)


def test_nodes_multiply_what_lies_below_them(ask: Asker, world: World, rocket: Repository) -> None:
    ids = [each.id for each in world.open_pull_requests(rocket, 25)]
    threads = HOT_THREADS % THREADS
    assert ask.cost(HOT, ids=ids)[0] == 1
    assert ask.cost(threads, ids=ids[:10])[0] == 5
    assert ask.cost(threads, ids=ids)[0] == 13


def test_fragments_and_default_sizes_count(ask: Asker) -> None:
    query = """
    query($first: Int = 30) { repository(owner: "acme", name: "rocket") { ...prs } }
    fragment prs on Repository { pullRequests(first: $first) { nodes { ...threads } } }
    fragment threads on PullRequest { reviewThreads(first: 10) { nodes { id } } }
    """
    assert ask.reply(query)["data"]
    rate = "rateLimit { nodeCount }"
    body = ask.reply(query.replace("{ repository", f"{{ {rate} repository", 1))
    assert body["data"]["rateLimit"]["nodeCount"] == 30 + 300


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        (prs("id", 101), "EXCESSIVE_PAGINATION"),
        (prs("id", -1), "INVALID_PAGINATION"),
        (prs("id").replace("(first: 100)", ""), "MISSING_PAGINATION_BOUNDARIES"),
        (
            prs("reviewThreads(first: 100) { nodes { comments(first: 100) { nodes { id } } } }"),
            "MAX_NODE_LIMIT_EXCEEDED",
        ),
    ],
)
def test_too_much_is_refused_before_it_costs_anything(
    ask: Asker, world: World, query: str, kind: str
) -> None:
    (error,) = ask.reply(query)["errors"]
    assert error["type"] == kind
    assert world.budgets.of("octocat", "graphql").used == 0


def test_two_tokens_of_one_user_share_a_budget(ask: Asker, world: World) -> None:
    world.add_token("another")
    world.add_token("stranger's", "hubot")
    world.set_budget("graphql", 2)
    Asker(world, "another").data("{ viewer { login } }")
    assert ask.data("{ rateLimit { remaining used limit } }")["rateLimit"] == {
        "remaining": 0,
        "used": 5000,
        "limit": 5000,
    }
    (error,) = ask.reply("{ viewer { login } }")["errors"]
    assert error["type"] == "RATE_LIMITED"
    assert Asker(world, "stranger's").data("{ viewer { login } }")["viewer"]["login"] == "hubot"


def test_an_empty_budget_has_two_names(ask: Asker, world: World) -> None:
    world.limit_error_type = "RATE_LIMIT"
    world.set_budget("graphql", 0)
    (error,) = ask.reply("{ viewer { login } }")["errors"]
    assert (error["type"], error["code"]) == ("RATE_LIMIT", "graphql_rate_limit")


def test_the_budget_is_full_again_when_the_window_ends(
    ask: Asker, world: World, clock: ManualClock
) -> None:
    world.set_budget("graphql", 0, reset_in=60)
    assert "errors" in ask.reply("{ viewer { login } }")
    clock.advance(61)
    assert ask.data("{ rateLimit { remaining } }")["rateLimit"]["remaining"] == 4999
