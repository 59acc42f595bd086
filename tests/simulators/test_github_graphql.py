"""The simulated GitHub's GraphQL: pages, refusals, who sees what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.simulators.github import ManualClock, World
from tests.simulators.github.asker import Asker
from tests.simulators.github.model import PullRequest, Repository

LIST = """
query List($first: Int, $after: String, $last: Int, $before: String, $orderBy: IssueOrder,
           $states: [PullRequestState!], $head: String) {
  repository(owner: "acme", name: "rocket") {
    pullRequests(first: $first, after: $after, last: $last, before: $before, orderBy: $orderBy,
                 states: $states, headRefName: $head) {
      totalCount
      pageInfo { endCursor startCursor hasNextPage hasPreviousPage }
      nodes { number }
    }
  }
}
"""
CREATED = {"field": "CREATED_AT", "direction": "ASC"}
ONE = '{ repository(owner: "acme", name: "rocket") { pullRequest(number: 1) { %s } } }'
UPDATED = {"field": "UPDATED_AT", "direction": "DESC"}


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


def page_of(ask: Asker, **variables: Any) -> dict[str, Any]:
    return ask.data(LIST, **variables)["repository"]["pullRequests"]


def numbers(page: dict[str, Any]) -> list[int]:
    return [node["number"] for node in page["nodes"]]


def pages(ask: Asker, **variables: Any) -> Iterator[list[int]]:
    after = None
    while True:
        page = page_of(ask, after=after, **variables)
        yield numbers(page)
        if not page["pageInfo"]["hasNextPage"]:
            return
        after = page["pageInfo"]["endCursor"]


@pytest.mark.parametrize("order", [None, CREATED, UPDATED])
@pytest.mark.parametrize("first", [1, 7, 50, 100])
def test_pages_hold_every_pull_request_once(
    ask: Asker, world: World, rocket: Repository, order: dict[str, str] | None, first: int
) -> None:
    world.open_pull_requests(rocket, 50)
    found = [number for page in pages(ask, first=first, orderBy=order) for number in page]
    expected = list(range(1, 51))
    assert found == (expected[::-1] if order is UPDATED else expected)


def test_pages_hold_every_pull_request_of_one_second_once(
    ask: Asker, world: World, rocket: Repository
) -> None:
    for _ in range(25):
        world.open_pull_request(rocket)
    found = [number for page in pages(ask, first=4, orderBy=UPDATED) for number in page]
    assert sorted(found) == list(range(1, 26))


def test_a_pull_request_opened_between_pages_by_creation_comes_last(
    ask: Asker, world: World, rocket: Repository
) -> None:
    world.open_pull_requests(rocket, 5)
    walk = pages(ask, first=3, orderBy=CREATED)
    assert next(walk) == [1, 2, 3]
    world.open_pull_request(rocket)
    world.edit(rocket.pull_requests[1], title="Updates move nothing here")
    assert list(walk) == [[4, 5, 6]]


def test_one_that_is_updated_between_pages_by_update_is_not_seen_again(
    ask: Asker, world: World, rocket: Repository, clock: ManualClock
) -> None:
    world.open_pull_requests(rocket, 5)
    walk = pages(ask, first=2, orderBy=UPDATED)
    assert next(walk) == [5, 4]
    clock.advance(60)
    world.edit(rocket.pull_requests[1], title="Moved to the front")
    assert list(walk) == [[3, 2]]


def test_the_last_page_is_read_from_the_end(ask: Asker, world: World, rocket: Repository) -> None:
    world.open_pull_requests(rocket, 10)
    page = page_of(ask, last=3)
    assert numbers(page) == [8, 9, 10]
    assert page["pageInfo"]["hasPreviousPage"] is True
    before = page_of(ask, last=3, before=page["pageInfo"]["startCursor"])
    assert numbers(before) == [5, 6, 7]


def test_filters_choose_by_state_and_by_exact_branch(
    ask: Asker, world: World, rocket: Repository
) -> None:
    world.open_pull_request(rocket, head="fix")
    world.close(world.open_pull_request(rocket, head="fix"))
    world.merge(world.open_pull_request(rocket, head="Fix"))
    world.open_pull_request(rocket, head="main", fork="alice")
    assert numbers(page_of(ask, first=9, states=["OPEN"])) == [1, 4]
    assert numbers(page_of(ask, first=9, states=["CLOSED", "MERGED"])) == [2, 3]
    assert numbers(page_of(ask, first=9, head="fix")) == [1, 2]
    assert numbers(page_of(ask, first=9, head="main")) == [4]
    assert page_of(ask, first=9, head="nope")["totalCount"] == 0


def test_a_cursor_that_is_none_is_refused(ask: Asker) -> None:
    (error,) = ask.reply(LIST, first=1, after="bm9uZQ==")["errors"]
    assert error["type"] == "INVALID_CURSOR_ARGUMENTS"
    assert error["path"] == ["repository", "pullRequests"]


# What is not there, and what is not shown


def test_what_is_not_there_is_null_with_an_error_beside_it(
    ask: Asker, world: World, rocket: Repository
) -> None:
    issue = world.open_issue(rocket)
    query = """
    query($number: Int!) {
      a: repository(owner: "acme", name: "rocket") { pullRequest(number: $number) { id } }
      b: repository(owner: "acme", name: "gone") { id }
    }
    """
    body = ask.reply(query, number=issue)
    assert body["data"] == {"a": {"pullRequest": None}, "b": None}
    assert [(e["type"], e["path"]) for e in body["errors"]] == [
        ("NOT_FOUND", ["a", "pullRequest"]),
        ("NOT_FOUND", ["b"]),
    ]


def test_an_unknown_id_among_nodes_leaves_the_others(
    ask: Asker, world: World, rocket: Repository
) -> None:
    pull_request = world.open_pull_request(rocket)
    body = ask.reply("query($i: [ID!]!) { nodes(ids: $i) { id } }", i=["PR_x", pull_request.id])
    assert body["data"] == {"nodes": [None, {"id": pull_request.id}]}
    assert body["errors"][0]["path"] == ["nodes", 0]
    assert body["errors"][0]["type"] == "NOT_FOUND"


def test_a_field_that_does_not_exist_fails_the_whole_query(ask: Asker) -> None:
    (error,) = ask.reply("{ viewer { login mood } }")["errors"]
    assert error["message"] == "Field 'mood' doesn't exist on type 'User'"
    assert error["extensions"]["code"] == "undefinedField"


def test_a_forbidden_field_is_null_and_says_so(world: World, rocket: Repository) -> None:
    world.add_token("narrow", forbids={"Commit.statusCheckRollup"})
    world.set_checks(world.open_pull_request(rocket), build="SUCCESS")
    commit = "title commits(last: 1) { nodes { commit { oid statusCheckRollup { state } } } }"
    body = Asker(world, "narrow").reply(ONE % commit)
    (error,) = body["errors"]
    assert error["type"] == "FORBIDDEN"
    assert error["path"][-2:] == ["commit", "statusCheckRollup"]
    found = body["data"]["repository"]["pullRequest"]
    assert found["title"] == "Change 1"
    assert found["commits"]["nodes"][0]["commit"]["statusCheckRollup"] is None


def test_a_token_sees_the_repositories_of_its_owners_alone(world: World) -> None:
    world.create_repository("acme/rocket")
    world.create_repository("umbrella/secret", private=True)
    world.add_token("acme's", sees={"Acme"})
    query = '{ repository(owner: "%s", name: "%s") { nameWithOwner } }'
    only = Asker(world, "acme's")
    assert only.data(query % ("acme", "rocket"))
    assert only.reply(query % ("umbrella", "secret"))["errors"][0]["type"] == "NOT_FOUND"
    assert Asker(world).data(query % ("umbrella", "secret"))


def test_an_old_name_is_answered_with_the_new_one(
    ask: Asker, world: World, rocket: Repository
) -> None:
    pull_request = world.open_pull_request(rocket)
    world.rename_repository(rocket, "acme/missile")
    query = '{ repository(owner: "ACME", name: "Rocket") { databaseId nameWithOwner url } }'
    found = ask.data(query)["repository"]
    assert found["nameWithOwner"] == "acme/missile"
    assert found["databaseId"] == rocket.database_id
    assert pull_request.url.endswith("/acme/missile/pull/1")


def test_a_name_that_was_taken_over_leads_to_another_repository(
    ask: Asker, world: World, rocket: Repository
) -> None:
    pull_request = world.open_pull_request(rocket)
    world.delete_repository(rocket)
    again = world.create_repository("acme/rocket")
    query = '{ repository(owner: "acme", name: "rocket") { databaseId } }'
    assert ask.data(query)["repository"]["databaseId"] == again.database_id != rocket.database_id
    gone = ask.reply("query($i: ID!) { node(id: $i) { id } }", i=pull_request.id)
    assert gone["errors"][0]["type"] == "NOT_FOUND"


# What depends on who asks, and how often


NODE = "query($i: ID!) { node(id: $i) { ... on PullRequest { %s } } }"


def read(ask: Asker, pull_request: PullRequest, fields: str) -> dict[str, Any]:
    return ask.data(NODE % fields, i=pull_request.id)["node"]


def test_mergeability_is_unknown_until_it_was_asked_for(
    ask: Asker, world: World, rocket: Repository
) -> None:
    pull_request = world.open_pull_request(rocket)
    world.set_mergeable(pull_request, "CONFLICTING", unknown_for=2)
    both = "mergeable mergeStateStatus"
    unknown = {"mergeable": "UNKNOWN", "mergeStateStatus": "UNKNOWN"}
    assert read(ask, pull_request, "mergeStateStatus") == {"mergeStateStatus": "UNKNOWN"}
    assert read(ask, pull_request, both) == unknown
    assert read(ask, pull_request, both) == unknown
    assert read(ask, pull_request, both) == {
        "mergeable": "CONFLICTING",
        "mergeStateStatus": "DIRTY",
    }


def test_pending_reviews_and_comments_are_their_authors_alone(
    ask: Asker, world: World, rocket: Repository
) -> None:
    world.add_token("alice's", "alice")
    pull_request = world.open_pull_request(rocket)
    pending = world.review(pull_request, "alice", "PENDING")
    thread = world.open_thread(pull_request, "alice", review=pending)
    world.open_thread(pull_request, "bob")
    fields = "reviews(first: 9) { nodes { state } } reviewThreads(first: 9) { totalCount }"
    assert read(ask, pull_request, fields) == {
        "reviews": {"nodes": [{"state": "COMMENTED"}]},
        "reviewThreads": {"totalCount": 1},
    }
    hers = read(Asker(world, "alice's"), pull_request, fields)
    assert hers["reviewThreads"] == {"totalCount": 2}
    assert {"state": "PENDING"} in hers["reviews"]["nodes"]
    world.submit(pending)
    assert read(ask, pull_request, fields)["reviewThreads"] == {"totalCount": 2}
    assert thread.comments[0].state == "SUBMITTED"


def test_the_comments_of_a_thread_are_paged(ask: Asker, world: World, rocket: Repository) -> None:
    thread = world.open_thread(world.open_pull_request(rocket), "alice")
    for index in range(119):
        world.reply(thread, "bob", f"reply {index}")
    query = """
    query($i: ID!, $after: String) { node(id: $i) { ... on PullRequestReviewThread {
      comments(first: 50, after: $after) { totalCount pageInfo { endCursor hasNextPage }
                                           nodes { body } } } } }
    """
    bodies, after, more = [], None, True
    while more:
        page = ask.data(query, i=thread.id, after=after)["node"]["comments"]
        bodies += [each["body"] for each in page["nodes"]]
        after, more = page["pageInfo"]["endCursor"], page["pageInfo"]["hasNextPage"]
    assert len(bodies) == page["totalCount"] == 120
    assert bodies[-1] == "reply 118"


def test_deleted_authors_are_null(ask: Asker, world: World, rocket: Repository) -> None:
    pull_request = world.open_pull_request(rocket, author="alice")
    world.delete_account("alice")
    assert read(ask, pull_request, "author { login }") == {"author": None}


def test_the_head_of_a_deleted_fork_is_null_and_its_branch_keeps_its_name(
    ask: Asker, world: World, rocket: Repository
) -> None:
    pull_request = world.open_pull_request(rocket, head="fix", fork="alice")
    fields = "headRefName headRepository { nameWithOwner } headRef { name }"
    assert read(ask, pull_request, fields)["headRepository"]["nameWithOwner"] == "alice/rocket"
    world.delete_head_repository(pull_request)
    assert read(ask, pull_request, fields) == {
        "headRefName": "fix",
        "headRepository": None,
        "headRef": None,
    }


def test_a_thread_is_resolved_by_the_viewer_and_a_narrow_token_may_not(
    ask: Asker, world: World, rocket: Repository
) -> None:
    thread = world.open_thread(world.open_pull_request(rocket), "alice")
    resolve = """
    mutation($i: ID!) { resolveReviewThread(input: {threadId: $i}) {
      thread { isResolved resolvedBy { login } } } }
    """
    world.add_token("reader", reads_only=True)
    assert Asker(world, "reader").reply(resolve, i=thread.id)["errors"][0]["type"] == "FORBIDDEN"
    assert thread.is_resolved is False
    done = ask.data(resolve, i=thread.id)["resolveReviewThread"]["thread"]
    assert done == {"isResolved": True, "resolvedBy": {"login": "octocat"}}


def test_ids_that_no_longer_fit_are_null_as_numbers_and_whole_as_text(clock: ManualClock) -> None:
    world = World(clock=clock, first_id=2**31)
    pull_request = world.open_pull_request(world.create_repository("acme/rocket"))
    ids = read(Asker(world), pull_request, "databaseId fullDatabaseId")
    assert ids == {"databaseId": None, "fullDatabaseId": str(pull_request.database_id)}
