"""The first questions to a server: of what nobody tracks, while a sweep hangs, after a rest."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from pullstate.store import reading
from pullstate.store.engine import Store
from tests.end_to_end.place import Place, agrees, eventually, place
from tests.simulators.github.faults import Fault
from tests.simulators.watched import Request

pytestmark = pytest.mark.stdio

WALKS = r"query (OpenPage|LeanPage)"


def test_a_repository_nobody_tracks_is_taken_up_swept_and_answered(here: Place) -> None:
    rocket = here.world.create_repository("acme/rocket")
    here.world.open_pull_requests(rocket, 140, unfinished=30)
    with here.serving() as server:
        assert server.sync(here.url())["state"] == "ok"
        rows = server.whole(here.url())
    assert [row["number"] for row in rows] == list(range(140, 0, -1))
    assert all(agrees(row, rocket.pull_requests[row["number"]]) for row in rows)


def test_a_branch_is_answered_in_time_while_the_first_sweep_hangs(here: Place) -> None:
    rocket = here.world.create_repository("acme/rocket")
    change = here.world.open_pull_request(rocket, head="ignition")
    here.github.faults.add(Fault("stuck", "graphql", WALKS, times=None, hang=True))
    with here.serving() as server:
        reply = server.list(here.url(), headBranch="ignition")
        assert [row["number"] for row in reply["pullRequests"]] == [change.number]
        assert reply["branchState"] == "PULL_REQUEST_STATE_OPEN"
        assert reply["sync"]["state"] == "unread"
        nothing = server.list(here.url(), headBranch="nothing-was-opened-from-it")
        assert nothing["branchState"] == "PULL_REQUEST_STATE_NONE"
        whole = server.list(here.url())
        assert whole["sync"]["state"] == "unread"
        assert "ask again" in whole["sync"]["reason"]


def test_threads_and_merge_requests_need_no_sweep(here: Place) -> None:
    rocket = here.world.create_repository("acme/rocket")
    change = here.world.open_pull_request(rocket, head="ignition")
    here.world.open_thread(change, "alice")
    with here.serving() as server:
        assert server.threads("acme", "rocket", 1)["totalCount"] == 1
        facets = "diffs,commits,notes,pipelines,conflicts,discussions"
        reply = server.structured("get_merge_request", url=change.url, include=facets)
        assert (reply["iid"], reply["state"]) == (1, "opened")
        assert not [name for name in facets.split(",") if "error" in reply[name]]
        assert not here.github.operations("LeanPage")


def test_a_host_that_is_not_configured_is_refused_before_anything_is_stored_or_sent(
    here: Place,
) -> None:
    with here.serving() as server:
        for tool, arguments in (
            ("list_pull_requests", {"repositoryUrl": "https://elsewhere.example/a/b"}),
            (
                "list_pull_request_review_threads",
                {"owner": "a", "repo": "b", "pull_number": 1, "host": "elsewhere.example"},
            ),
            ("get_merge_request", {"url": "https://elsewhere.example/a/b/pull/1"}),
        ):
            assert "elsewhere.example" in server.error(tool, **arguments)
    assert Store.open(here.store).read_now(reading.repositories) == []
    assert here.github.log.matching() == []


def test_a_repository_that_does_not_exist_is_said_not_to_be_found(here: Place) -> None:
    with here.serving() as server:
        reply = server.list(here.url("acme/nothing"))
        assert (reply["pullRequests"], reply["sync"]["state"]) == ([], "unread")
        assert "not found, or is not visible" in reply["sync"]["reason"]
        assert "environment SIMULATED_TOKEN" in reply["sync"]["reason"]
        branch = server.list(here.url("acme/nothing"), headBranch="main")
        assert branch["branchState"] == "PULL_REQUEST_STATE_UNREAD"
        given = {"owner": "acme", "repo": "nothing", "pull_number": 1}
        threads = server.structured("list_pull_request_review_threads", **given)
        assert "not found, or " in threads["sync"]["reason"]


def test_where_nobody_syncs_the_answer_comes_at_once_and_says_so(here: Place) -> None:
    here.world.create_repository("acme/rocket")
    with here.serving("--no-sync") as server:
        for arguments in ({}, {"headBranch": "main"}, {"maxAgeSeconds": 0}):
            sync = server.list(here.url(), **arguments)["sync"]
            assert sync["state"] == "unread"
            assert "no running pullstate process reads" in sync["reason"]
    assert here.github.log.matching() == []


def test_what_was_merged_while_no_server_ran_shows_after_the_start(here: Place) -> None:
    rocket = here.world.create_repository("acme/rocket")
    changes = here.world.open_pull_requests(rocket, 4)
    with here.serving() as server:
        assert len(server.rows(here.url())) == 4
        server.close_stdin()
        server.wait()
    here.world.merge(changes[0])
    here.world.close(changes[1])
    here.world.push(changes[2])
    with here.serving() as server:

        def states() -> list[str]:
            rows = server.rows(here.url())
            return [rows[each.number]["state"].rpartition("_")[2] for each in changes]

        eventually(states, lambda told: told == ["MERGED", "CLOSED", "OPEN", "OPEN"])
        eventually(
            lambda: server.row(here.url(), changes[2].number),
            lambda row: row["headSha"] == changes[2].head.oid,
        )


def test_what_the_configuration_tracks_is_read_before_anybody_asks(here: Place) -> None:
    here.world.open_pull_requests(here.world.create_repository("acme/rocket"), 3)
    here.configure(f'[track]\nrepositories = ["{here.url()}"]\n')
    with here.serving():
        eventually(lambda: is_swept(here))


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_the_remotes_of_the_directory_are_read_before_anybody_asks(here: Place) -> None:
    here.world.open_pull_requests(here.world.create_repository("acme/rocket"), 3)
    password = "s3cretInTheRemote"
    remote = here.url("acme/rocket.git").replace("://", f"://octocat:{password}@")
    for command in (["init", "-q"], ["remote", "add", "origin", remote]):
        subprocess.run(["git", *command], cwd=here.folder, check=True)
    with here.serving(PULLSTATE_LOG="DEBUG") as server:
        eventually(lambda: is_swept(here))
        told = server.list(here.url())
        assert len(told["pullRequests"]) == 3
        assert password not in repr(told) + "".join(server.stderr.read)
        assert not [
            file for file in here.folder.glob("store.db*") if password.encode() in file.read_bytes()
        ]


def is_swept(here: Place) -> bool:
    """Whether the only repository of the store is; the store is made meanwhile."""
    if not here.store.exists():
        return False
    store = Store.open(here.store)
    try:
        lines = store.read_now(reading.status).repositories
        return [line.sweep.swept for line in lines] == [True]
    finally:
        store.close()


def test_a_round_over_forty_open_ones_in_four_repositories_costs_four_requests(
    tmp_path: Path,
) -> None:
    with place(tmp_path, interval=2) as here:
        urls = [here.url(f"acme/part{n}") for n in range(4)]
        for n in range(4):
            here.world.open_pull_requests(here.world.create_repository(f"acme/part{n}"), 10)
        here.configure(f"[track]\nrepositories = {urls}\n")
        with here.serving() as server:
            for url in urls:
                server.until_swept(url)
            eventually(lambda: len(here.github.operations("Delta")) > 4)
            here.github.log.clear()
            rounds = eventually(lambda: here.github.operations("Delta"), lambda r: len(r) == 3)
        asked = [each for each in here.github.log.matching() if each.at <= rounds[-1].at]
        assert len(asked) <= 4 * len(rounds), [each.line for each in asked]


def test_a_quiet_repository_costs_nothing_but_free_requests(here: Place) -> None:
    rocket = here.world.create_repository("acme/rocket")
    here.world.open_pull_requests(rocket, 3, unfinished=0)
    with here.serving() as server:
        server.until_swept(here.url())
        here.github.log.wait_for(r"pulls\?state=all", 3)
        here.github.log.clear()
        here.github.log.wait_for(r"pulls\?state=all", 3)
        seen: list[Request] = here.github.log.matching()
        assert {request.status for request in seen} == {304}
        assert server.sync(here.url())["state"] == "ok"
