"""The simulated GitHub as a server: faults, its log, and driving it from another process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from tests.simulators.github import TOKEN, GitHub, ManualClock, World, faults, running
from tests.simulators.github.model import Repository
from tests.simulators.github.server import separate_process
from tests.simulators.remote import Remote

TWO = """
query Two {
  r0: repository(owner: "acme", name: "rocket") { id }
  r1: repository(owner: "acme", name: "rocket") { pullRequests(first: 5) { nodes { number
    commits(last: 1) { nodes { commit { statusCheckRollup { state }
      checkSuites(first: 5) { totalCount } } } } } } }
}
"""


@pytest.fixture
def github() -> Iterator[GitHub]:
    with running() as served:
        yield served


@pytest.fixture
def rocket(github: GitHub) -> Repository:
    made = github.world.create_repository("acme/rocket")
    github.world.set_checks(github.world.open_pull_request(made), build="SUCCESS")
    return made


@pytest.fixture
def client(github: GitHub) -> Iterator[httpx.Client]:
    headers = {"authorization": f"Bearer {TOKEN}"}
    with httpx.Client(base_url=github.url, headers=headers, trust_env=False) as made:
        yield made


def graphql(client: httpx.Client, query: str = TWO, **variables: Any) -> httpx.Response:
    return client.post("/api/graphql", json={"query": query, "variables": variables})


@pytest.mark.parametrize("status", [502, 503, 504])
def test_a_server_error_is_a_page_and_then_all_is_well(
    github: GitHub, client: httpx.Client, rocket: Repository, status: int
) -> None:
    github.faults.add(faults.server_error(status, request="/graphql$"))
    assert client.get("/user").status_code == 200
    answer = graphql(client)
    assert answer.status_code == status
    assert answer.text.startswith("<!DOCTYPE html>")
    assert graphql(client).status_code == 200


def test_cut_json_looks_whole_to_http(
    github: GitHub, client: httpx.Client, rocket: Repository
) -> None:
    github.faults.add(faults.cut_json())
    answer = graphql(client)
    assert answer.status_code == 200
    with pytest.raises(json.JSONDecodeError):
        answer.json()


def test_connections_break(github: GitHub, client: httpx.Client) -> None:
    github.faults.add(faults.dropped())
    github.faults.add(faults.broken_off())
    for _ in range(2):
        with pytest.raises(httpx.RemoteProtocolError):
            client.get("/user")
    assert client.get("/user").status_code == 200


def test_an_answer_never_comes_until_the_faults_are_cleared(
    github: GitHub, client: httpx.Client
) -> None:
    github.faults.add(faults.hanging())
    with pytest.raises(httpx.ReadTimeout):
        client.get("/user", timeout=0.05)
    github.faults.clear()
    assert client.get("/user").status_code == 200


@pytest.mark.parametrize(
    ("retry_after", "header"),
    [
        (30, "30"),
        (datetime(2026, 12, 2, 8, 0, tzinfo=UTC), "Wed, 02 Dec 2026 08:00:00 GMT"),
        (None, None),
    ],
)
@pytest.mark.parametrize("status", [403, 429])
def test_a_secondary_limit_says_when_to_come_back_or_does_not(
    github: GitHub,
    client: httpx.Client,
    retry_after: int | datetime | None,
    header: str | None,
    status: int,
) -> None:
    github.faults.add(faults.secondary_limit(retry_after, status=status))
    answer = client.get("/user")
    assert answer.status_code == status
    assert answer.headers.get("retry-after") == header
    assert int(answer.headers["x-ratelimit-remaining"]) > 0
    assert "secondary rate limit" in answer.json()["message"]


def test_other_refusals_have_their_shapes(
    github: GitHub, client: httpx.Client, rocket: Repository
) -> None:
    github.faults.add(faults.bad_credentials())
    assert graphql(client).status_code == 401
    github.faults.add(faults.primary_limit(datetime(2026, 12, 2, tzinfo=UTC)))
    assert graphql(client).headers["x-ratelimit-remaining"] == "0"
    github.faults.add(faults.resource_limits())
    answer = graphql(client)
    assert (answer.status_code, answer.json()["data"]) == (200, None)
    assert answer.json()["errors"][0]["type"] == "RESOURCE_LIMITS_EXCEEDED"
    github.faults.add(faults.something_went_wrong())
    assert graphql(client).status_code == 502


def test_a_partial_answer_lacks_some_nodes(
    github: GitHub, client: httpx.Client, rocket: Repository
) -> None:
    lost = {"r0": "NOT_FOUND", "r1.pullRequests.nodes.0": "FORBIDDEN"}
    github.faults.add(faults.partial(lost, body="Two"))
    body = graphql(client).json()
    assert body["data"] == {"r0": None, "r1": {"pullRequests": {"nodes": [None]}}}
    assert [(error["type"], error["path"]) for error in body["errors"]] == [
        ("NOT_FOUND", ["r0"]),
        ("FORBIDDEN", ["r1", "pullRequests", "nodes", 0]),
    ]
    assert "errors" not in graphql(client).json()


def test_checks_are_gone_for_one_request(
    github: GitHub, client: httpx.Client, rocket: Repository
) -> None:
    def read() -> tuple[Any, int, int]:
        (node,) = graphql(client).json()["data"]["r1"]["pullRequests"]["nodes"]
        commit = node["commits"]["nodes"][0]["commit"]
        runs = client.get("/repos/acme/rocket/commits/change-1/check-runs").json()["total_count"]
        return commit["statusCheckRollup"], commit["checkSuites"]["totalCount"], runs

    github.faults.add(faults.no_checks(times=2))
    assert read() == (None, 0, 0)
    assert read() == ({"state": "SUCCESS"}, 1, 1)


def test_the_log_says_whose_each_request_was_and_what_it_cost(
    github: GitHub, client: httpx.Client, rocket: Repository
) -> None:
    graphql(
        client,
        'query Names($n: Int!) { a: repository(owner: "acme", name: "rocket")'
        " { pullRequests(first: $n) { totalCount } } }",
        n=5,
    )
    client.get("/repos/acme/rocket?x=1")
    asked, got = github.log.wait_for("", 2)
    assert github.operations("^Names$") == [asked]
    assert github.operations("Other") == []
    assert asked.graphql["variables"] == {"n": 5}
    assert asked.notes == {"user": "octocat", "token": TOKEN, "cost": 1, "resource": "graphql"}
    assert (got.line, got.status) == ("GET /repos/acme/rocket?x=1", 200)
    assert got.notes["resource"] == "core"
    assert got.at >= asked.at
    assert github.points == 1


def test_the_forge_is_driven_from_another_process() -> None:
    with separate_process("--prs", "30", "--unfinished", "10", "--threads", "4") as forge:
        opened = forge.act("open_pull_request", repository="acme/rocket", head="new")
        assert opened["pull_request"] == "acme/rocket#31"
        forge.act("set_checks", target="acme/rocket#31", checks={"build": "FAILURE"})
        forge.act("merge", pull_request="acme/rocket#30", at="2026-10-01T10:00:00+00:00")
        forge.act("add_token", token="hers", user="alice")
        forge.fault("secondary_limit", retry_after=30)
        headers = {"authorization": "Bearer hers"}
        with httpx.Client(base_url=forge.url, headers=headers, trust_env=False) as client:
            assert client.get("/api/v3/user").headers["retry-after"] == "30"
            one = client.get("/api/v3/repos/acme/rocket/pulls/30").json()
            assert one["merged_at"] == "2026-10-01T10:00:00Z"
            assert one["url"].startswith(f"{forge.url}/api/v3/")
            graphql(client)
        counters = forge.counters()
        assert (counters["requests"], counters["points"]) == (3, 1)
        assert counters["operations"] == {"Two": 1}
        assert [each["user"] for each in forge.log("Two")] == ["alice"]
        forge.clear_log()
        assert forge.counters()["requests"] == 0


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("explode", {}, "no act 'explode'"),
        ("merge", {"pull_request": "acme/rocket#99"}, "99"),
        ("merge", {"pull_request": "acme/nope#1"}, "no repository"),
        ("merge", {"pull_request": "acme/rocket#1", "how": "fast"}, "how"),
    ],
)
def test_an_act_that_cannot_be_is_an_error_with_words(
    github: GitHub, rocket: Repository, name: str, arguments: dict[str, str], words: str
) -> None:
    with Remote(github.url) as remote, pytest.raises(ValueError, match=words):
        remote.act(name, **arguments)


def test_clock_and_settings_are_moved_from_outside() -> None:
    with running(World(clock=ManualClock())) as github, Remote(github.url) as remote:
        remote.advance_clock(90)
        assert github.world.now() == datetime(2026, 10, 1, 10, 1, 30, tzinfo=UTC)
        remote.set_world(mergeability_lag=2)
        repository = github.world.create_repository("acme/rocket")
        assert github.world.open_pull_request(repository).unknown_for == 2
        with pytest.raises(ValueError, match="no setting"):
            remote.set_world(lock=None)
    with (
        running() as github,
        Remote(github.url) as remote,
        pytest.raises(ValueError, match="clock"),
    ):
        remote.advance_clock(90)


def test_several_worlds_run_beside_each_other() -> None:
    with running(World()) as one, running(World()) as other:
        one.world.create_repository("acme/rocket")
        headers = {"authorization": f"Bearer {TOKEN}"}
        with httpx.Client(headers=headers, trust_env=False) as client:
            assert client.get(f"{one.url}/repos/acme/rocket").status_code == 200
            assert client.get(f"{other.url}/repos/acme/rocket").status_code == 404
        assert len(one.log) == len(other.log) == 1
