"""Faults, the request log, TLS, and the simulator as a process of its own."""

import ssl

import httpx
import pytest

from tests.simulators import faults
from tests.simulators.gitlab import DEFAULT_TOKEN, Clock, World, running
from tests.simulators.gitlab import faults as gitlab_faults
from tests.simulators.gitlab.server import separate_process
from tests.simulators.remote import Remote

APP = "group%2Fsub%2Fapp"


@pytest.fixture
def gitlab():
    world = World(clock=Clock())
    world.fill(world.project("group/sub/app"), 30)
    with running(world) as it:
        yield it


@pytest.fixture
def api(gitlab):
    with httpx.Client(
        base_url=gitlab.api, headers={"PRIVATE-TOKEN": gitlab.token}, trust_env=False
    ) as client:
        yield client


LIST = f"/projects/{APP}/merge_requests?per_page=100"


def test_every_request_is_logged_as_it_came_and_as_it_was_answered(gitlab, api):
    api.get(LIST)
    api.post(gitlab.graphql, json={"query": "{ currentUser { username } }"})
    first, second = gitlab.log.matching()
    assert first.line == f"GET /gitlab/api/v4{LIST}"
    assert (first.status, first.headers["private-token"]) == (200, gitlab.token)
    assert second.graphql["query"] == "{ currentUser { username } }"
    assert first.sent > second.sent > 0
    assert (first.notes["user"], "user" in second.notes) == ("root", True)
    assert len(gitlab.log.wait_for("merge_requests")) == 1
    gitlab.log.clear()
    assert len(gitlab.log) == 0


def test_waiting_for_a_request_that_does_not_come_ends(gitlab):
    with pytest.raises(TimeoutError):
        gitlab.log.wait_for("never", timeout=0.01)


def test_a_fault_is_committed_so_often_and_no_more(gitlab, api):
    gitlab.faults.add(faults.server_error(503, request="merge_requests", times=2))
    assert [api.get(LIST).status_code for _ in range(3)] == [503, 503, 200]
    assert [seen.fault for seen in gitlab.log.matching()] == ["html 503", "html 503", None]


def test_a_fault_waits_for_its_turn_and_its_request(gitlab, api):
    fault = faults.server_error(502, request="merge_requests")
    fault.skip = 1
    gitlab.faults.add(fault)
    assert api.get("/version").status_code == 200
    assert [api.get(LIST).status_code for _ in range(3)] == [200, 502, 200]


def test_json_is_cut_and_bodies_break_off_and_connections_drop(gitlab, api):
    gitlab.faults.add(faults.cut_json(0.5))
    cut = api.get(LIST)
    assert cut.status_code == 200
    with pytest.raises(ValueError, match=r"Unterminated|Expecting"):
        cut.json()
    gitlab.faults.add(faults.broken_off())
    with pytest.raises(httpx.RemoteProtocolError):
        api.get(LIST)
    gitlab.faults.add(faults.dropped())
    with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)):
        api.get(LIST)
    assert api.get(LIST).status_code == 200


def test_a_hanging_request_is_answered_when_the_faults_are_cleared(gitlab, api):
    gitlab.faults.add(faults.hanging())
    with pytest.raises(httpx.ReadTimeout):
        api.get(LIST, timeout=0.05)
    gitlab.faults.clear()
    gitlab.log.wait_for("merge_requests")
    assert api.get(LIST).status_code == 200


def test_a_server_stops_though_a_request_hangs():
    world = World()
    with running(world) as gitlab:
        gitlab.faults.add(faults.hanging())
        with pytest.raises(httpx.ReadTimeout):
            httpx.get(f"{gitlab.api}/version", timeout=0.05, trust_env=False)
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{gitlab.api}/version", trust_env=False)


def test_429_comes_with_and_without_the_time_to_wait(gitlab, api):
    date = "Wed, 02 Dec 2026 08:00:00 GMT"
    for wait in (None, 7, date):
        gitlab.faults.add(gitlab_faults.too_many_requests(wait))
    answers = [api.get(LIST) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [429] * 3
    assert [answer.headers.get("retry-after") for answer in answers] == [None, "7", date]


@pytest.mark.parametrize(
    "fault",
    [gitlab_faults.graphql_error(), gitlab_faults.graphql_null(), gitlab_faults.graphql_timeout()],
    ids=["no data", "null", "timeout"],
)
def test_graphql_fails_with_200(gitlab, api, fault):
    gitlab.faults.add(fault)
    assert api.get(LIST).status_code == 200
    answer = api.post(gitlab.graphql, json={"query": "{ currentUser { username } }"})
    assert answer.status_code == 200
    assert answer.json()["errors"]


def test_a_fault_may_concern_what_the_body_asks_for(gitlab, api):
    gitlab.faults.add(faults.Fault(body="mergeRequests", status=500, times=None))
    url = gitlab.graphql
    assert api.post(url, json={"query": "{ currentUser { username } }"}).status_code == 200
    assert api.post(url, json={"query": "{ project { mergeRequests } }"}).status_code == 500


def test_the_date_is_the_worlds(gitlab, api):
    assert api.get(LIST).headers["date"] == "Mon, 02 Jun 2025 09:00:00 GMT"


def test_at_the_root_of_a_host_there_is_no_subpath():
    world = World()
    world.project("group/app")
    with running(world, root="") as gitlab:
        answer = httpx.get(
            f"{gitlab.api}/projects/group%2Fapp",
            headers={"PRIVATE-TOKEN": gitlab.token},
            trust_env=False,
        )
    assert answer.json()["web_url"] == f"{gitlab.base}/group/app"


def test_the_web_interface_sends_strangers_to_the_sign_in_page(gitlab):
    page = httpx.get(f"{gitlab.base}/group/sub/app/-/merge_requests/1", trust_env=False)
    assert page.status_code == 302
    assert page.headers["location"] == "/gitlab/users/sign_in"


def test_a_private_authority_is_trusted_by_those_who_know_it(tmp_path):
    certificates = pytest.importorskip("tests.simulators.certificates")
    files = certificates.private_authority(tmp_path)
    world = World()
    with running(world, tls=files.tls) as gitlab:
        assert gitlab.base.startswith("https://")
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{gitlab.base}/users/sign_in", trust_env=False)
        known = ssl.create_default_context(cafile=str(files.authority))
        page = httpx.get(f"{gitlab.base}/users/sign_in", verify=known, trust_env=False)
        assert page.status_code == 200


def test_a_process_of_its_own_is_told_what_happens():
    headers = {"PRIVATE-TOKEN": DEFAULT_TOKEN}
    with (
        separate_process("--frozen", "--version", "17.3.0") as remote,
        httpx.Client(base_url=f"{remote.url}/gitlab", headers=headers, trust_env=False) as client,
    ):
        mr, url = "group/sub/app!3", f"/api/v4/projects/{APP}/merge_requests/3"
        assert client.get("/api/v4/version").json()["version"] == "17.3.0"
        before = client.get(url).json()
        remote.advance_clock(90)
        pushed = remote.act("push", mr=mr)
        thread = remote.act("note", mr=mr, body="hm", thread=True)
        remote.act("resolve", mr=mr, discussion=thread["id"])
        after = client.get(url).json()
        assert after["sha"] == pushed != before["sha"]
        assert after["updated_at"] == "2025-06-02T09:01:30.000Z"
        assert client.get(f"{url}/discussions").json()[-1]["notes"][0]["resolved"] is True
        remote.fault("server_error", status=503, request="merge_requests")
        assert client.get(url).status_code == 503
        remote.set_world(graphql_mode="absent")
        assert client.post("/api/graphql", json={}).status_code == 404
        assert remote.counters()["requests"] == len(remote.log()) == 6
        for wrong in ({"name": "no_such_act"}, {"name": "push", "mr": "no/where!1"}):
            with pytest.raises(ValueError, match="no "):
                remote.act(**wrong)


def test_every_act_can_be_told_over_http():
    world = World()
    with running(world, root="") as gitlab, Remote(gitlab.base) as remote:
        remote.act("open_merge_request", project=world.project("group/app").path, reviewers=["ann"])
        acts = remote._get("/acts")
    assert {"push", "approve", "request_changes", "set_pipeline", "move_project"} <= set(acts)
    assert world.merge_request("group/app", 1).reviewers == {"ann": "UNREVIEWED"}
