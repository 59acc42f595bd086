"""The commands against a simulated GitHub: the main job from an empty folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.shell import Shell, shell
from tests.simulators.github import TOKEN, World, running
from tests.simulators.github.server import GitHub


@pytest.fixture
def github() -> Iterator[GitHub]:
    world = World()
    rocket = world.create_repository("acme/rocket")
    first = world.open_pull_request(rocket, head="ignition", title="Ignite both engines")
    world.set_checks(first, build="FAILURE", lint="SUCCESS")
    done = world.open_pull_request(rocket, head="pad", title="Pour the pad")
    world.merge(done)
    with running(world) as served:
        yield served


@pytest.fixture
def here(tmp_path: Path, github: GitHub) -> Shell:
    forge = f'[[forge]]\nkind = "github"\nurl = "{github.url}"\ntoken_env = "SIMULATED"\n'
    return shell(tmp_path, forge, SIMULATED=TOKEN)


def test_track_sync_list_is_the_main_job(here: Shell, github: GitHub) -> None:
    url = f"{github.url}/acme/rocket"
    assert here.run("track", url).output == f"tracking {url}\n"
    synced = here.run("sync", "--once")
    assert (synced.status, synced.output) == (0, f"{url}: 2 pull requests\n")
    listed = here.run("list", url, "--json").json
    states = [(row["number"], row["state"]) for row in listed["pullRequests"]]
    assert states == [(1, "PULL_REQUEST_STATE_FAILING"), (2, "PULL_REQUEST_STATE_MERGED")]
    assert listed["sync"]["state"] == "ok"


def test_a_table_shows_what_json_says(here: Shell, github: GitHub) -> None:
    here.run("track", f"{github.url}/acme/rocket")
    here.run("sync", "--once")
    table = here.run("list", f"{github.url}/acme/rocket", "--branch", "ignition").output
    assert "Ignite both engines" in table
    assert "failing" in table
    assert "Pour the pad" not in table


def test_a_list_of_what_nobody_tracks_begins_to_sync_it(here: Shell, github: GitHub) -> None:
    reply = here.run("list", f"{github.url}/acme/rocket", "--branch", "ignition", "--json").json
    assert [row["number"] for row in reply["pullRequests"]] == [1]
    assert reply["branchState"] == "PULL_REQUEST_STATE_FAILING"


def test_call_takes_raw_arguments(here: Shell, github: GitHub) -> None:
    asked = f'{{"repository_url": "{github.url}/acme/rocket", "headBranch": "nope"}}'
    reply = here.run("call", "list_pull_requests", asked).json
    assert reply["pullRequests"] == []
    assert reply["branchState"] == "PULL_REQUEST_STATE_NONE"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["call", "list_pull_requests", "{"], "no JSON"),
        (["call", "list_pull_requests", "[]"], "JSON object"),
        (["call", "list_pullrequests", "{}"], "list_pull_requests"),
        (["list", "https://elsewhere.example/a/b"], "elsewhere.example"),
        (["track", "https://elsewhere.example/a/b"], "elsewhere.example"),
        (["track"], "Missing argument"),
        (["threads", "rocket", "3"], "OWNER/REPO"),
        (["threads", "https://github.com/acme/rocket", "3"], "--host"),
        (["serve", "--tool-prefix", "no spaces"], "--tool-prefix"),
        (["lisst"], "lisst"),
    ],
)
def test_what_is_used_wrongly_is_said_on_stderr(
    here: Shell, arguments: list[str], words: str
) -> None:
    done = here.run(*arguments)
    assert done.status in (1, 2)
    assert done.output == ""
    assert words in done.errors
    assert "Traceback" not in done.errors


def test_an_unknown_host_is_refused_before_anything_is_stored(tmp_path: Path) -> None:
    done = shell(tmp_path).run("track", "https://elsewhere.example/a/b")
    assert done.status == 2
    assert "github.com" in done.errors
    assert not (tmp_path / "store.db").exists()


def test_track_of_several_is_all_or_none(here: Shell, github: GitHub) -> None:
    done = here.run("track", f"{github.url}/acme/rocket", "https://elsewhere.example/a/b")
    assert done.status == 2
    assert here.run("status", "--json").json["repositories"] == []


def test_untrack_keeps_what_is_stored(here: Shell, github: GitHub) -> None:
    url = f"{github.url}/acme/rocket"
    here.run("track", url)
    here.run("sync", "--once")
    assert here.run("untrack", url).status == 0
    told = here.run("status", "--json").json
    assert told["pullRequests"] == 2
    assert told["repositories"][0]["depth"] is None
    again = here.run("untrack", "acme/none")
    assert again.status == 1


def test_what_was_only_asked_about_and_never_read_stands_last_on_a_line_of_its_own(
    here: Shell, github: GitHub
) -> None:
    for path in ("acme/aaaa", "acme/rocket", "acme/zzzz"):
        here.run("list", f"{github.url}/{path}")
    here.run("track", f"{github.url}/acme/tracked")
    told = here.run("status")
    where, repositories = told.output.partition("REPOSITORY")[2].splitlines(), []
    for line in where[1:]:
        repositories += [name for name in ("aaaa", "rocket", "tracked", "zzzz") if name in line]
    assert repositories == ["rocket", "tracked", "aaaa", "zzzz"]
    assert all("never synced" in line for line in where[-2:])
    assert len(here.run("status", "--json").json["repositories"]) == 4


def test_a_misspelt_key_ends_every_command_with_the_right_one(tmp_path: Path) -> None:
    done = shell(tmp_path, "[sync]\nintervall = 5\n").run("status")
    assert done.status == 2
    assert "interval" in done.errors
    assert "Traceback" not in done.errors


def test_a_damaged_store_is_moved_aside_and_said(here: Shell, github: GitHub) -> None:
    here.run("track", f"{github.url}/acme/rocket")
    here.run("sync", "--once")
    (here.folder / "store.db").write_bytes(b"not a database, " * 4096)
    told = here.run("status", "--json").json
    assert any("damaged" in note for note in told["notes"])
    assert here.run("sync", "--once").status == 0
    rows = here.run("list", f"{github.url}/acme/rocket", "--json").json["pullRequests"]
    assert len(rows) == 2


def test_a_store_that_cannot_be_opened_is_words(here: Shell) -> None:
    done = here.run("status", PULLSTATE_STORE=str(here.folder / "config.toml" / "store.db"))
    assert done.status == 1
    assert done.errors.startswith("Error: ")
    assert "Traceback" not in done.errors


def test_the_token_is_nowhere(here: Shell, github: GitHub) -> None:
    here.run("track", f"http://octocat:{TOKEN}@{github.url.removeprefix('http://')}/acme/rocket")
    synced = here.run("sync", "--once", PULLSTATE_LOG="DEBUG")
    assert synced.status == 0
    shown = here.run("status", "--json").output + synced.output + synced.errors
    assert TOKEN not in shown
    for file in here.folder.glob("store.db*"):
        assert TOKEN.encode() not in file.read_bytes()


def test_the_demo_needs_nothing_and_shows_the_list(tmp_path: Path) -> None:
    done = shell(tmp_path).run("demo", "--for", "3")
    assert done.status == 0
    assert "Ignite both engines" in done.output
    assert done.errors == ""
    assert not (tmp_path / "store.db").exists()


def test_the_version_is_the_package_s(tmp_path: Path) -> None:
    from importlib.metadata import version

    assert shell(tmp_path).run("--version").output == f"pullstate {version('pullstate')}\n"


def test_a_host_that_had_a_token_is_not_read_without_one(here: Shell, github: GitHub) -> None:
    here.run("track", f"{github.url}/acme/rocket")
    assert here.run("sync", "--once").status == 0
    github.log.clear()
    done = here.run("sync", "--once", SIMULATED="")
    assert len(github.log.matching("")) == 0
    assert "Traceback" not in done.errors
    assert TOKEN not in done.output + done.errors


def test_status_names_the_database_and_whether_it_has_the_fix(tmp_path: Path) -> None:
    import sqlite3

    told = shell(tmp_path).run("status", "--json").json
    assert told["database"] == f"SQLite {sqlite3.sqlite_version}"
    assert told["hasWalFix"] in (True, False)
    assert told["bytes"] >= (tmp_path / "store.db").stat().st_size
    shown = shell(tmp_path).run("status").output
    assert f"SQLite {sqlite3.sqlite_version}" in shown
    assert ("lacks a fix" in shown) is not told["hasWalFix"]
