"""A forge that fails while the server answers: the truth in `sync`, the rows kept, and an end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest

from tests.end_to_end.place import PLENTY, Place, Server, eventually, place
from tests.simulators.github import TOKEN, World, faults, running
from tests.simulators.github.faults import Fault
from tests.simulators.github.model import PullRequest
from tests.simulators.github.server import GitHub
from tests.stdio.client import Message

pytestmark = pytest.mark.stdio

FAILING = ("failing",)
TROUBLED = ("failing", "stale")
PATIENCE = 40.0  # seconds: some wait for their fifth attempt
OUR_INSIDES = ("Traceback", "httpx", "Error(", "site-packages", ".py")


@dataclass(frozen=True)
class Trouble:
    """What goes wrong at every request of a forge, and what `sync` says then.

    `fault` is None where it is the world itself that changes.
    """

    fault: Callable[[World], Fault | None]
    reason: str
    states: tuple[str, ...] = FAILING


def answer(status: int, json: object, **headers: str) -> Callable[[World], Fault]:
    return lambda _: Fault(f"{status}", times=None, status=status, json=json, headers=headers)


def without_graphql(spelling: str) -> Callable[[World], None]:
    """GraphQL's budget is gone, which it says in one of its spellings; REST has its own."""

    def happens(world: World) -> None:
        world.limit_error_type = spelling
        world.set_budget("graphql", 0, reset_in=12)

    return happens


def soon(world: World, seconds: float) -> datetime:
    return world.now() + timedelta(seconds=seconds)


ELSEWHERE = "http://127.0.0.2:9/api/graphql"  # nobody listens there, and nobody may be asked

TROUBLES = {
    "502": Trouble(lambda w: faults.server_error(502, times=None), "could not be reached"),
    "503": Trouble(lambda w: faults.server_error(503, times=None), "could not be reached"),
    "a page of HTML": Trouble(lambda w: faults.html_page(200, times=None), "could not be reached"),
    "half a JSON": Trouble(lambda w: faults.cut_json(times=None), "could not be reached"),
    "an answer that breaks off": Trouble(
        lambda w: faults.broken_off(times=None), "could not be reached"
    ),
    "no connection": Trouble(lambda w: faults.dropped(times=None), "could not be reached"),
    "no answer ever": Trouble(lambda w: faults.hanging(times=None), "has not happened", TROUBLED),
    "an empty object": Trouble(answer(200, {}), "could not be used"),
    "a list": Trouble(answer(200, [1]), "could not be "),
    "418": Trouble(answer(418, {"message": "I'm a teapot"}), "could not be used"),
    "something went wrong": Trouble(
        lambda w: faults.something_went_wrong(status=200, times=None), "could not be reached"
    ),
    "resource limits": Trouble(
        lambda w: faults.resource_limits(times=None), "could not be reached"
    ),
    "403": Trouble(answer(403, {"message": "No"}), "may not see this repository"),
    "404": Trouble(answer(404, {"message": "Not Found"}), "not found, or is not visible"),
    "a secondary limit in seconds": Trouble(
        lambda w: faults.secondary_limit(3, times=None), "rate limit", ("paused",)
    ),
    "a secondary limit as a date": Trouble(
        lambda w: faults.secondary_limit(soon(w, 8), times=None), "rate limit", ("paused",)
    ),
    "a secondary limit with 429": Trouble(
        lambda w: faults.secondary_limit(3, status=429, times=None), "rate limit", ("paused",)
    ),
    "a primary limit": Trouble(
        lambda w: faults.primary_limit(soon(w, 8), times=None), "rate limit", ("paused",)
    ),
    "no more GraphQL": Trouble(
        without_graphql("RATE_LIMITED"), "could not be read completely: review", ("partial",)
    ),
    "no more GraphQL in another spelling": Trouble(
        without_graphql("RATE_LIMIT"), "could not be read completely: review", ("partial",)
    ),
    "a delta that leaves it out": Trouble(
        lambda w: faults.partial({"r0": "FORBIDDEN"}, body="query Delta", times=None),
        "may not see this repository",
    ),
    "a delta that does not find it": Trouble(
        lambda w: faults.partial({"r0": "NOT_FOUND"}, body="query Delta", times=None),
        "not found, or is not visible",
    ),
    "a delta that fails in a new way": Trouble(
        lambda w: faults.partial({"r0": "MOON_PHASE"}, body="query Delta", times=None),
        "could not be used",
    ),
    "302 to another host": Trouble(answer(302, {}, location=ELSEWHERE), "could not be used"),
    "307 to another host": Trouble(answer(307, {}, location=ELSEWHERE), "could not be used"),
}


@dataclass
class Seen:
    """One forge's story: before its trouble, in it, and after it."""

    github: GitHub
    before: Message = field(default_factory=dict)
    told: Message = field(default_factory=dict)
    during: Message = field(default_factory=dict)
    after: Message = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"{self.github.url}/acme/rocket"

    @property
    def change(self) -> PullRequest:
        rocket = self.github.world.find_repository("acme/rocket")
        assert rocket is not None
        return rocket.pull_requests[3]


@pytest.fixture(scope="module")
def stories(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Seen]]:
    """Every trouble at once, each at a forge of its own, and one server that reads them all."""
    with ExitStack() as stack:
        here = stack.enter_context(place(tmp_path_factory.mktemp("stories")))
        forges = {name: stack.enter_context(running(_world())) for name in TROUBLES}
        tokens = {f"TOKEN_{n}": TOKEN for n in range(len(forges))}
        urls = [f"{github.url}/acme/rocket" for github in forges.values()]
        here.configure(_tables(forges.values(), tokens) + f"[track]\nrepositories = {urls}\n")
        server = stack.enter_context(here.serving(**tokens))
        yield _told(server, forges)
        assert "Traceback" not in "".join(server.stderr.read)


def _tables(forges: Iterable[GitHub], variables: Iterable[str]) -> str:
    return "".join(
        f'[[forge]]\nkind = "github"\nurl = "{github.url}"\ntoken_env = "{variable}"\n'
        for github, variable in zip(forges, variables, strict=True)
    )


def _world() -> World:
    world = World()
    world.budgets.limits = {"core": PLENTY, "graphql": PLENTY}
    world.open_pull_requests(world.create_repository("acme/rocket"), 3, unfinished=2)
    return world


def _told(server: Server, forges: dict[str, GitHub]) -> dict[str, Seen]:
    stories = {}
    for name, github in forges.items():
        seen = Seen(github)
        seen.before = server.until_swept(seen.url)
        stories[name] = seen
    for name, seen in stories.items():
        if fault := TROUBLES[name].fault(seen.github.world):
            seen.github.faults.add(fault)
        seen.github.world.edit(seen.change, title=f"Edited during {name}")
        seen.github.world.push(seen.change)
    _until(stories, lambda name: _sees(server, TROUBLES[name], stories[name]))
    for seen in stories.values():
        seen.github.faults.clear()
    _until(stories, lambda name: _recovers(server, stories[name]))
    return stories


def _until(names: Iterable[str], ends: Callable[[str], bool]) -> None:
    """Look at all in turns until each has ended, or for as long as the last one may take."""
    pending, deadline = list(names), time.monotonic() + PATIENCE
    while pending and time.monotonic() < deadline:
        pending = [name for name in pending if not ends(name)]


def _sees(server: Server, trouble: Trouble, seen: Seen) -> bool:
    seen.during = server.list(seen.url)
    seen.told = seen.during["sync"]
    goes_on = trouble.states != ("partial",) or shows(seen.during, seen.change)
    return goes_on and is_of(trouble, seen.told)


def _recovers(server: Server, seen: Seen) -> bool:
    seen.after = server.list(seen.url)
    return is_well(seen.after, seen.change)


def is_of(trouble: Trouble, sync: Message) -> bool:
    return sync["state"] in trouble.states and trouble.reason in sync["reason"]


def is_well(reply: Message, change: PullRequest) -> bool:
    """Whether an answer is whole and shows a pull request as it is."""
    return reply["sync"]["state"] == "ok" and shows(reply, change)


def shows(reply: Message, change: PullRequest) -> bool:
    true = (change.number, change.title, change.head.oid)
    return true in [(row["number"], row["title"], row["headSha"]) for row in reply["pullRequests"]]


@pytest.mark.parametrize("name", TROUBLES)
def test_in_this_trouble_sync_says_what_is_wrong(stories: dict[str, Seen], name: str) -> None:
    told = stories[name].told
    assert is_of(TROUBLES[name], told), told
    assert "nextAt" in told
    assert not [word for word in OUR_INSIDES if word in str(told)]


@pytest.mark.parametrize("name", TROUBLES)
def test_in_this_trouble_every_row_is_kept(stories: dict[str, Seen], name: str) -> None:
    seen = stories[name]
    assert seen.before["pullRequests"]
    known = [(row["number"], row["id"]) for row in seen.before["pullRequests"]]
    assert [(row["number"], row["id"]) for row in seen.during["pullRequests"]] == known


@pytest.mark.parametrize("name", TROUBLES)
def test_after_this_trouble_all_is_well(stories: dict[str, Seen], name: str) -> None:
    seen = stories[name]
    assert is_well(seen.after, seen.change), (seen.told, seen.after)


@pytest.mark.parametrize("name", [name for name in TROUBLES if "GraphQL" in name])
def test_without_graphql_what_rest_can_say_goes_on(stories: dict[str, Seen], name: str) -> None:
    seen = stories[name]
    assert shows(seen.during, seen.change), seen.during
    assert "GraphQL limit is used up until" in seen.told["facets"]["review"]


@pytest.fixture
def change(there: Place, server: Server) -> Iterator[PullRequest]:
    """A pull request of a repository that is read well, before and after."""
    world = there.world
    rocket = world.find_repository("acme/rocket") or world.create_repository("acme/rocket")
    change = world.open_pull_request(rocket)
    well(there, server, change)
    yield change
    there.github.faults.clear()


def well(there: Place, server: Server, change: PullRequest) -> Message:
    """The answer, once all is well."""
    return eventually(lambda: server.list(there.url()), lambda reply: is_well(reply, change))


def test_a_forge_that_never_answers_keeps_no_tool_waiting(
    there: Place, server: Server, change: PullRequest
) -> None:
    there.github.faults.add(faults.hanging(times=None))
    facets = "diffs,commits,notes,pipelines,conflicts,discussions"
    asked = {
        "list_pull_requests": {"repositoryUrl": there.url(), "maxAgeSeconds": 0},
        "list_pull_request_review_threads": {
            "owner": "acme",
            "repo": "rocket",
            "pull_number": change.number,
        },
        "get_merge_request": {"url": change.url, "include": facets},
    }
    started = {
        tool: server.start("tools/call", name=tool, arguments=arguments)
        for tool, arguments in asked.items()
    }
    replies = {tool: server.result_of(number, 50) for tool, number in started.items()}
    assert not any(reply["isError"] for reply in replies.values())
    listed = replies["list_pull_requests"]["structuredContent"]
    assert listed["sync"]["refreshed"] is False
    assert "not read within 5 seconds" in listed["sync"]["reason"]
    assert listed["pullRequests"][0]["number"] == change.number
    shown = replies["get_merge_request"]["structuredContent"]
    assert shown["iid"] == change.number
    assert all("not read within 5 seconds" in shown[facet]["error"] for facet in facets.split(","))


# --- Limits ---------------------------------------------------------------------------------------


def test_a_limit_that_only_the_body_tells_of_lasts_a_minute(here: Place) -> None:
    here.world.open_pull_request(here.world.create_repository("acme/rocket"))
    with here.serving() as server:
        server.until_swept(here.url())
        here.github.faults.add(faults.secondary_limit(None))
        told = eventually(lambda: server.sync(here.url()), lambda sync: sync["state"] == "paused")
        asked = len(here.github.log)
        fresh = server.list(here.url(), maxAgeSeconds=0)
        assert "rate limit is used up until" in fresh["sync"]["reason"]
        assert fresh["pullRequests"]
        assert told["nextAt"] == fresh["sync"]["nextAt"]
        assert len(here.github.log) == asked


# --- Credentials ----------------------------------------------------------------------------------


NARROW = "ghp_narrow000000000000000000000000000000"


def test_a_token_that_is_refused_gives_way_to_the_next_and_the_last_to_words(here: Place) -> None:
    first, second, third = (f"ghp_{name}{'0' * 32}" for name in ("one", "two", "six"))
    here.world.add_token(first, "alice")
    here.world.add_token(second, "bob")
    (here.folder / "token").write_text(second, encoding="utf-8")
    change = here.world.open_pull_request(here.world.create_repository("acme/rocket"))
    environ = {"SIMULATED_TOKEN": first, "SIMULATED_TOKEN_FILE": str(here.folder / "token")}
    with here.serving(**environ) as server:
        well(here, server, change)
        assert here.github.log.matching()[-1].notes["token"] == first
        here.world.revoke_token(first)
        here.world.push(change)
        well(here, server, change)
        assert here.github.log.matching("graphql")[-1].notes["token"] == second
        here.world.revoke_token(second)
        told = eventually(lambda: server.sync(here.url()), lambda sync: sync["state"] == "failing")
        assert "the forge refuses the credential" in told["reason"]
        assert told["reason"].count("SIMULATED_TOKEN_FILE") == 1
        assert "environment SIMULATED_TOKEN (its token was refused)" in told["reason"]
        assert "file (SIMULATED_TOKEN_FILE) (its token was refused)" in told["reason"]
        assert server.row(here.url(), change.number)
        assert first not in str(told) and second not in str(told)
        here.world.add_token(third, "carol")
        (here.folder / "token").write_text(third, encoding="utf-8")
        here.world.push(change)
        well(here, server, change)


def test_a_repository_hidden_from_the_token_keeps_its_rows(here: Place) -> None:
    change = here.world.open_pull_request(here.world.create_repository("acme/rocket"))
    here.world.add_token(NARROW)
    with here.serving(SIMULATED_TOKEN=NARROW) as server:
        well(here, server, change)
        here.world.add_token(NARROW, sees=["orbit"])
        told = eventually(lambda: server.sync(here.url()), lambda sync: sync["state"] == "failing")
        assert "not found, or is not visible to the credential" in told["reason"]
        assert [*server.rows(here.url())] == [change.number]
        here.world.add_token(NARROW)
        well(here, server, change)


@pytest.mark.parametrize(
    ("field", "facet"),
    [("Commit.statusCheckRollup", "checks"), ("PullRequest.latestOpinionatedReviews", "review")],
)
def test_one_field_that_is_refused_costs_that_facet_alone(
    here: Place, field: str, facet: str
) -> None:
    here.world.add_token(NARROW, forbids=[field])
    change = here.world.open_pull_request(here.world.create_repository("acme/rocket"))
    here.world.set_checks(change, build="FAILURE")
    here.world.review(change, "alice", "APPROVED")
    with here.serving(SIMULATED_TOKEN=NARROW) as server:
        reply = server.until_swept(here.url())
        [row] = reply["pullRequests"]
        assert row["headSha"] == change.head.oid
        assert row["checks"] == ("CHECKS_NONE" if facet == "checks" else "CHECKS_FAILING")
        whole = "REVIEW_DECISION_NONE" if facet == "review" else "REVIEW_DECISION_APPROVED"
        assert row["reviewDecision"] == whole
        assert reply["sync"]["state"] == "partial"
        assert reply["sync"]["facets"] == {facet: "the token may not see this"}


# --- Answers with holes in them -------------------------------------------------------------------


def test_checks_that_come_back_empty_once_are_not_believed(
    there: Place, server: Server, change: PullRequest
) -> None:
    there.world.set_checks(change, build="SUCCESS")
    eventually(
        lambda: server.row(there.url(), change.number),
        lambda row: row["checks"] == "CHECKS_PASSING",
    )
    there.github.faults.add(faults.no_checks(body="query Read"))
    [hole] = eventually(lambda: [r for r in there.github.log.matching() if r.fault == "no checks"])
    eventually(
        lambda: [r for r in there.github.operations("Read") if r.at > hole.at and r.status],
        lambda later: _is_passing(there, server, change) and len(later) > 1,
    )


def _is_passing(there: Place, server: Server, change: PullRequest) -> bool:
    row = server.row(there.url(), change.number)
    assert row["checks"] == "CHECKS_PASSING"
    return True
