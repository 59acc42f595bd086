"""The simulated GitHub's REST interface over HTTP: pages, ETags, limits, renames."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.simulators.github import TOKEN, ChangedFile, GitHub, ManualClock, World, running
from tests.simulators.github.model import Repository


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def github(clock: ManualClock) -> Iterator[GitHub]:
    with running(World(clock=clock)) as served:
        yield served


@pytest.fixture
def world(github: GitHub) -> World:
    return github.world


@pytest.fixture
def rocket(world: World) -> Repository:
    return world.create_repository("acme/rocket")


@pytest.fixture
def client(github: GitHub) -> Iterator[httpx.Client]:
    with asking(github, TOKEN) as made:
        yield made


def asking(github: GitHub, token: str = "", root: str = "/api/v3") -> httpx.Client:
    headers = {"authorization": f"Bearer {token}"} if token else {}
    return httpx.Client(base_url=github.url + root, headers=headers, trust_env=False)


def numbers(answer: httpx.Response) -> list[int]:
    assert answer.status_code == 200, answer.text
    return [each["number"] for each in answer.json()]


def pages(client: httpx.Client, path: str) -> Iterator[httpx.Response]:
    answer = client.get(path)
    yield answer
    while "next" in answer.links:
        answer = client.get(answer.links["next"]["url"])
        yield answer


PULLS = "/repos/acme/rocket/pulls"


def test_pages_are_linked_through_the_repositorys_id(
    client: httpx.Client, world: World, rocket: Repository
) -> None:
    world.open_pull_requests(rocket, 25)
    walk = list(pages(client, f"{PULLS}?state=all&sort=created&direction=asc&per_page=10"))
    assert [number for page in walk for number in numbers(page)] == list(range(1, 26))
    assert set(walk[0].links) == {"next", "last"}
    assert set(walk[1].links) == {"prev", "first", "next", "last"}
    assert set(walk[2].links) == {"prev", "first"}
    assert f"/api/v3/repositories/{rocket.database_id}/pulls?" in walk[0].links["next"]["url"]


def test_a_page_holds_thirty_unless_told_and_a_hundred_at_most(
    client: httpx.Client, world: World, rocket: Repository
) -> None:
    world.open_pull_requests(rocket, 120)
    assert len(client.get(PULLS).json()) == 30
    assert len(client.get(PULLS, params={"per_page": 500}).json()) == 100
    assert client.get(PULLS, params={"page": 99}).json() == []


def test_lists_are_filtered_and_sorted_as_asked(
    client: httpx.Client, world: World, rocket: Repository, clock: ManualClock
) -> None:
    world.open_pull_request(rocket, head="fix")
    clock.advance(60)
    world.merge(world.open_pull_request(rocket, head="fix", fork="alice"))
    clock.advance(60)
    world.open_pull_request(rocket, base="next")
    clock.advance(60)
    world.comment(rocket.pull_requests[1], "bob")
    assert numbers(client.get(PULLS)) == [3, 1]
    assert numbers(client.get(PULLS, params={"state": "closed"})) == [2]
    assert numbers(client.get(PULLS, params={"state": "all", "direction": "asc"})) == [1, 2, 3]
    updated = {"state": "all", "sort": "updated", "direction": "desc"}
    assert numbers(client.get(PULLS, params=updated)) == [1, 3, 2]
    assert numbers(client.get(PULLS, params={"state": "all", "head": "alice:fix"})) == [2]
    assert numbers(client.get(PULLS, params={"state": "all", "head": "fix"})) == [3, 2, 1]
    assert numbers(client.get(PULLS, params={"state": "all", "head": "acme:nope"})) == []
    assert numbers(client.get(PULLS, params={"base": "next"})) == [3]


def test_an_unchanged_answer_is_a_304_that_costs_nothing(
    client: httpx.Client, world: World, rocket: Repository, clock: ManualClock
) -> None:
    pull_request = world.open_pull_request(rocket)
    newest = f"{PULLS}?state=all&sort=updated&direction=desc&per_page=1"
    first = client.get(newest)
    known = {"if-none-match": first.headers["etag"]}
    again = client.get(newest, headers=known)
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["x-ratelimit-used"] == first.headers["x-ratelimit-used"] == "1"
    world.set_checks(pull_request, build="FAILURE")
    assert client.get(newest, headers=known).status_code == 304
    clock.advance(1)
    world.comment(pull_request, "bob")
    changed = client.get(newest, headers=known)
    assert changed.status_code == 200
    assert changed.headers["etag"] != first.headers["etag"]


def test_an_etag_is_one_tokens_alone(
    github: GitHub, client: httpx.Client, world: World, rocket: Repository
) -> None:
    world.add_token("another")
    tag = client.get("/repos/acme/rocket").headers["etag"]
    with asking(github, "another") as other:
        answer = other.get("/repos/acme/rocket", headers={"if-none-match": tag})
    assert answer.status_code == 200


def test_without_a_token_a_304_costs_and_private_repositories_are_not_there(
    github: GitHub, world: World, rocket: Repository
) -> None:
    world.create_repository("acme/secret", private=True)
    with asking(github) as nobody:
        first = nobody.get("/repos/acme/rocket")
        assert first.headers["x-ratelimit-limit"] == "60"
        again = nobody.get("/repos/acme/rocket", headers={"if-none-match": first.headers["etag"]})
        assert (again.status_code, again.headers["x-ratelimit-remaining"]) == (304, "58")
        assert nobody.get("/repos/acme/secret").status_code == 404
        query = {"query": "{ viewer { login } }"}
        assert nobody.post(f"{github.url}/api/graphql", json=query).status_code == 401


def test_an_empty_budget_is_a_403_with_nothing_remaining(
    client: httpx.Client, world: World, rocket: Repository
) -> None:
    world.set_budget("core", 1, reset_in=120)
    assert client.get("/repos/acme/rocket").status_code == 200
    answer = client.get("/repos/acme/rocket")
    assert answer.status_code == 403
    assert answer.headers["x-ratelimit-remaining"] == "0"
    assert "rate limit exceeded" in answer.json()["message"]
    reset = int(answer.headers["x-ratelimit-reset"])
    assert reset == int(world.now().timestamp()) + 120
    limits = client.get("/rate_limit")
    assert limits.json()["resources"]["graphql"]["remaining"] == 5000


def test_a_rename_moves_the_address_to_the_id_with_its_query(
    client: httpx.Client, world: World, rocket: Repository
) -> None:
    world.open_pull_request(rocket)
    world.rename_repository(rocket, "umbrella/missile")
    moved = client.get(f"{PULLS}?state=all")
    assert moved.status_code == 301
    assert moved.headers["location"].endswith(f"/repositories/{rocket.database_id}/pulls?state=all")
    assert moved.json()["url"] == moved.headers["location"]
    assert numbers(client.get(moved.headers["location"])) == [1]
    found = client.get(f"/repositories/{rocket.database_id}").json()
    assert found["full_name"] == "umbrella/missile"


def test_names_are_found_in_any_case(client: httpx.Client, rocket: Repository) -> None:
    assert client.get("/repos/ACME/Rocket").json()["full_name"] == "acme/rocket"


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/repos/acme/nope", 404),
        ("/repos/acme/nope/pulls", 404),
        ("/repositories/1/pulls", 404),
        ("/repos/acme/rocket/pulls/77", 404),
        ("/repos/acme/rocket/pulls/x", 404),
        ("/repos/acme/rocket/commits/0000/check-runs", 422),
    ],
)
def test_what_is_not_there_says_so(
    client: httpx.Client, rocket: Repository, path: str, status: int
) -> None:
    answer = client.get(path)
    assert answer.status_code == status
    assert answer.json()["message"]


def test_disabled_pull_requests_are_hidden_and_said(
    client: httpx.Client, world: World, rocket: Repository
) -> None:
    world.open_pull_request(rocket)
    assert client.get("/repos/acme/rocket").json()["has_pull_requests"] is True
    world.set_pull_requests_enabled(rocket, False)
    assert client.get("/repos/acme/rocket").json()["has_pull_requests"] is False
    assert client.get(PULLS).status_code == 404
    assert client.get(f"{PULLS}/1").status_code == 404
    world.set_pull_requests_enabled(rocket, True)
    assert numbers(client.get(PULLS)) == [1]


def test_one_pull_request_by_itself_has_its_mergeability(
    client: httpx.Client, world: World, rocket: Repository
) -> None:
    pull_request = world.open_pull_request(rocket, fork="alice", head="fix")
    world.set_mergeable(pull_request, "CONFLICTING", unknown_for=1)
    first, second = client.get(f"{PULLS}/1").json(), client.get(f"{PULLS}/1").json()
    assert (first["mergeable"], first["mergeable_state"]) == (None, "unknown")
    assert (second["mergeable"], second["mergeable_state"]) == (False, "dirty")
    assert second["head"]["label"] == "alice:fix"
    assert second["head"]["repo"]["full_name"] == "alice/rocket"
    assert "mergeable" not in client.get(PULLS).json()[0]
    world.delete_head_repository(pull_request)
    assert client.get(f"{PULLS}/1").json()["head"]["repo"] is None


def test_checks_are_read_by_commit(client: httpx.Client, world: World, rocket: Repository) -> None:
    pull_request = world.open_pull_request(rocket)
    commit = f"/repos/acme/rocket/commits/{pull_request.head.oid}"
    empty = client.get(f"{commit}/status").json()
    assert (empty["state"], empty["total_count"]) == ("pending", 0)
    suite = world.set_checks(pull_request, build="SUCCESS", lint="IN_PROGRESS")
    world.run_again(suite.runs[0], "FAILURE")
    world.set_status(pull_request, "jenkins", "ERROR")
    latest = client.get(f"{commit}/check-runs").json()
    assert {(run["name"], run["status"], run["conclusion"]) for run in latest["check_runs"]} == {
        ("build", "completed", "failure"),
        ("lint", "in_progress", None),
    }
    assert client.get(f"{commit}/check-runs?filter=all").json()["total_count"] == 3
    assert client.get(f"{commit}/status").json()["state"] == "failure"
    suites = client.get(f"{commit}/check-suites").json()["check_suites"]
    assert [each["latest_check_runs_count"] for each in suites] == [2]
    by_branch = client.get("/repos/acme/rocket/commits/change-1/check-runs").json()
    assert by_branch["total_count"] == 2


def test_rules_name_what_they_ask_for(
    client: httpx.Client, world: World, rocket: Repository
) -> None:
    rules = "/repos/acme/rocket/rules/branches/release/1.0"
    assert client.get(rules).json() == []
    world.set_rules(rocket, "release/1.0", required_status_check_contexts=["build"], strict=True)
    (rule,) = client.get(rules).json()
    assert rule["type"] == "required_status_checks"
    assert rule["parameters"]["required_status_checks"] == [{"context": "build"}]
    assert rule["parameters"]["strict_required_status_checks_policy"] is True


def test_what_people_said_is_read(client: httpx.Client, world: World, rocket: Repository) -> None:
    pull_request = world.open_pull_request(rocket)
    world.review(pull_request, "alice", "APPROVED", "Good.")
    world.review(pull_request, "alice", "PENDING")
    thread = world.open_thread(pull_request, "alice", line=3)
    world.reply(thread, "renovate[bot]")
    world.comment(pull_request, "alice", "Hm.")
    world.delete_account("alice")
    reviews = client.get(f"{PULLS}/1/reviews").json()
    assert [each["state"] for each in reviews] == ["APPROVED", "COMMENTED", "COMMENTED"]
    said = client.get(f"{PULLS}/1/comments").json()
    assert [each["user"]["login"] for each in said] == ["ghost", "renovate[bot]"]
    assert said[1]["in_reply_to_id"] == said[0]["id"]
    (comment,) = client.get("/repos/acme/rocket/issues/1/comments").json()
    assert (comment["user"]["login"], comment["body"]) == ("ghost", "Hm.")


def test_files_and_commits_are_read(client: httpx.Client, world: World, rocket: Repository) -> None:
    pull_request = world.open_pull_request(rocket)
    world.push(pull_request)
    renamed = ChangedFile("new.py", 2, 1, "RENAMED", previous_path="old.py", patch="@@ -1 +1 @@")
    world.set_files(pull_request, [renamed, ChangedFile("gone.py", 0, 9, "DELETED")])
    files = client.get(f"{PULLS}/1/files").json()
    assert [(each["filename"], each["status"]) for each in files] == [
        ("new.py", "renamed"),
        ("gone.py", "removed"),
    ]
    assert files[0]["previous_filename"] == "old.py"
    commits = client.get(f"{PULLS}/1/commits").json()
    assert [each["sha"] for each in commits] == [each.oid for each in pull_request.commits]


def test_a_changed_file_has_a_patch_with_as_many_lines_as_are_counted(
    client: httpx.Client, world: World, rocket: Repository
) -> None:
    pull_request = world.open_pull_request(rocket)
    (added,) = client.get(f"{PULLS}/1/files").json()
    assert (added["status"], added["patch"]) == ("added", "@@ -0,0 +1,1 @@\n+new line 1")
    named = [ChangedFile("a.py", 2, 1), ChangedFile("gone.py", 0, 3, "DELETED")]
    world.set_files(pull_request, [*named, ChangedFile("b.png", 0, 0), ChangedFile("c", 90_000)])
    edited, deleted, binary, large = client.get(f"{PULLS}/1/files").json()
    assert edited["patch"] == "@@ -1,1 +1,2 @@\n-old line 1\n+new line 1\n+new line 2"
    assert deleted["patch"].splitlines()[0] == "@@ -1,3 +0,0 @@"
    assert "patch" not in binary
    assert "patch" not in large


def test_a_route_that_a_token_may_not_read_is_a_plain_403(
    github: GitHub, world: World, rocket: Repository
) -> None:
    world.add_token("narrow", forbids={"check-runs"})
    head = world.open_pull_request(rocket).head.oid
    with asking(github, "narrow") as narrow:
        answer = narrow.get(f"/repos/acme/rocket/commits/{head}/check-runs")
        assert answer.status_code == 403
        assert answer.headers["x-ratelimit-remaining"] != "0"
        assert narrow.get(PULLS).status_code == 200


def test_a_jobs_log_lies_on_another_host_that_takes_no_token(
    github: GitHub, client: httpx.Client, world: World, rocket: Repository
) -> None:
    suite = world.set_checks(world.open_pull_request(rocket))
    run = world.add_check_run(suite, "test", "FAILURE", log="##[error] it broke\n")
    answer = client.get(f"/repos/acme/rocket/actions/jobs/{run.database_id}/logs")
    assert answer.status_code == 302
    target = answer.headers["location"]
    assert httpx.URL(target).host != httpx.URL(github.url).host
    with httpx.Client(trust_env=False) as plain:
        assert plain.get(target).text == "##[error] it broke\n"
        assert plain.get(target, headers={"authorization": "Bearer x"}).status_code == 400


@pytest.mark.parametrize("scheme", ["Bearer {}", "token {}"])
def test_a_token_is_taken_in_either_scheme(github: GitHub, scheme: str) -> None:
    with httpx.Client(trust_env=False) as plain:
        headers = {"authorization": scheme.format(TOKEN)}
        user = plain.get(f"{github.url}/user", headers=headers)
        assert user.json()["login"] == "octocat"
        headers = {"authorization": scheme.format("wrong")}
        assert plain.get(f"{github.url}/user", headers=headers).status_code == 401
        basic = plain.get(f"{github.url}/user", auth=("octocat", TOKEN))
        assert basic.json()["login"] == "octocat"


def test_a_revoked_token_is_refused(client: httpx.Client, world: World) -> None:
    assert client.get("/user").status_code == 200
    world.revoke_token(TOKEN)
    assert client.get("/user").json()["message"] == "Bad credentials"


def test_only_an_enterprise_server_says_its_version(github: GitHub) -> None:
    with asking(github) as enterprise, asking(github, root="") as dotcom:
        assert re.match(r"\d+\.\d+", enterprise.get("/meta").json()["installed_version"])
        assert "installed_version" not in dotcom.get("/meta").json()


def test_an_unknown_api_version_and_a_missing_user_agent_are_refused(
    github: GitHub, client: httpx.Client
) -> None:
    version = {"x-github-api-version": "1999-01-01"}
    assert client.get("/user", headers=version).status_code == 400
    assert client.get("/user", headers={"user-agent": ""}).status_code == 403


@pytest.mark.parametrize("root", ["", "/api"])
def test_graphql_is_answered_at_both_addresses(
    github: GitHub, rocket: Repository, root: str
) -> None:
    with asking(github, TOKEN, root) as client:
        answer = client.post("/graphql", json={"query": "query Me { viewer { login } }"})
    assert answer.json() == {"data": {"viewer": {"login": "octocat"}}}
    assert answer.headers["x-ratelimit-resource"] == "graphql"
    assert answer.headers["date"] == "Thu, 01 Oct 2026 10:00:00 GMT"


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"query": 1}', b"\xff"])
def test_a_body_that_is_no_request_is_a_400(
    github: GitHub, client: httpx.Client, body: bytes
) -> None:
    assert client.post(f"{github.url}/api/graphql", content=body).status_code == 400


def test_text_goes_out_as_it_came_in(
    client: httpx.Client, world: World, rocket: Repository
) -> None:
    titles = ['Don\'t "x" & y', "a < b\n#99|approved", "👩‍💻 \u202e tag \U000e0041", "lone \ud800"]
    for title in titles:
        world.open_pull_request(rocket, title=title)
    found: list[dict[str, Any]] = client.get(f"{PULLS}?direction=asc").json()
    assert [each["title"] for each in found] == titles
