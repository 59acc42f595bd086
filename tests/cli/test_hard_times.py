"""The commands where something is in their way: locales, signals, pipes, disks, other folders."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.shell import Shell, shell
from tests.powers import powerless
from tests.simulators.faults import hanging
from tests.simulators.github import TOKEN, World, running
from tests.simulators.github.server import GitHub

TITLE = "Zünde beide 🚀 „Triebwerke“"


@pytest.fixture
def github() -> Iterator[GitHub]:
    world = World()
    rocket = world.create_repository("acme/rocket")
    made = world.open_pull_request(rocket, head="ignition", title=TITLE, body="Why\nnot?")
    world.set_checks(made, build="FAILURE")
    world.set_files(made, ["engine.py", "yarn.lock"])
    world.open_thread(made, "alice", "engine.py", 7, "Both?")
    world.comment(made, "bob", "Both!")
    with running(world) as served:
        yield served
        served.faults.clear()


@pytest.fixture
def here(tmp_path: Path, github: GitHub) -> Shell:
    forge = f'[[forge]]\nkind = "github"\nurl = "{github.url}"\ntoken_env = "SIMULATED"\n'
    return shell(tmp_path, forge, SIMULATED=TOKEN)


def test_show_prints_what_was_asked_for(here: Shell, github: GitHub) -> None:
    facets = "diffs,commits,notes,pipelines,conflicts,discussions"
    shown = here.run("show", f"{github.url}/acme/rocket/pull/1", "--include", facets)
    assert shown.status == 0
    for words in (
        TITLE,
        "octocat: ignition → main",
        "opened, failing",
        "Why\nnot?",
        "left out (generated/lockfile): yarn.lock",
        "bob, 20",
        "  Both!",
        "failed: build",
        "PRRT_",
        "  Both?",
        "ok synced",
    ):
        assert words in shown.output
    assert "COMMITS\n" in shown.output


def test_show_prints_nothing_that_was_not_asked_for(here: Shell, github: GitHub) -> None:
    shown = here.run("show", f"{github.url}/acme/rocket/pull/1").output
    assert "NOTES" not in shown
    assert "Both!" not in shown


def test_a_title_that_the_locale_lacks_ends_no_command(here: Shell, github: GitHub) -> None:
    url = f"{github.url}/acme/rocket"
    for command in (["list", url, "--branch", "ignition"], ["show", f"{url}/pull/1"]):
        shown = here.run(*command, PYTHONIOENCODING="ascii")
        assert shown.status == 0, shown.errors
        assert "Z?nde beide ?" in shown.output
        assert here.run(*command, "--json", PYTHONIOENCODING="ascii").output.count(TITLE) == 1


def test_a_reader_that_goes_away_is_no_error_of_ours(here: Shell, github: GitHub) -> None:
    command = [sys.executable, "-m", "pullstate", "list", f"{github.url}/acme/rocket", "--json"]
    with subprocess.Popen(
        command,
        cwd=here.folder,
        env=here.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
    ) as process:
        assert process.stdout and process.stderr
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_sync_once_in_order_and_the_next_need_not_wait(
    here: Shell, github: GitHub, end: signal.Signals
) -> None:
    here.run("track", f"{github.url}/acme/rocket")
    stuck = github.faults.add(hanging(request="graphql", times=None))
    command = [sys.executable, "-m", "pullstate", "sync", "--once"]
    with subprocess.Popen(
        command, cwd=here.folder, env=here.environ, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr
        github.log.wait_for("repos/acme/rocket")
        deadline = time.monotonic() + 20
        while not any(r.fault == stuck.name for r in github.log.matching("graphql")):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(end)
        assert process.wait(20) == 1
        said = process.stderr.read().decode()
    assert said.startswith("Error: Ended before everything was up to date")
    github.faults.clear()
    synced = here.run("sync", "--once")
    assert (synced.status, synced.output) == (0, f"{github.url}/acme/rocket: 1 pull requests\n")


def test_a_store_that_cannot_be_written_is_words(here: Shell, github: GitHub) -> None:
    url = f"{github.url}/acme/rocket"
    here.run("track", url)
    here.run("sync", "--once")
    for file in here.folder.glob("store.db*"):
        file.chmod(0o400)
    here.folder.chmod(0o500)
    try:
        tracking = ["track", f"{github.url}/acme/lander"], ["untrack", url]
        for command in (*tracking, ["sync", "--once"]):
            done = run_powerless(here, *command)
            assert done.returncode == 1
            assert done.stderr.startswith("Error: The store ")
            assert "Traceback" not in done.stderr
        listed = run_powerless(here, "list", url)
        assert listed.returncode == 0, listed.stderr
        assert "ignition" in listed.stdout
        assert "a token" not in run_powerless(here, "list", url, "--max-age", "0").stdout
        assert "read only" in run_powerless(here, "status").stdout
    finally:
        here.folder.chmod(0o700)


def run_powerless(here: Shell, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = powerless([sys.executable, "-m", "pullstate", *arguments])
    return subprocess.run(
        command,
        cwd=here.folder,
        env=here.environ,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        stdin=subprocess.DEVNULL,
        check=False,
    )


def test_status_says_where_it_looked_for_a_token(tmp_path: Path) -> None:
    told = shell(tmp_path, GH_TOKEN="ghp_notToBeShown0000000000000000000000").run(
        "status", "--json"
    )
    github, gitlab = told.json["forges"]
    assert github["token"] == "environment GH_TOKEN"
    assert gitlab["token"] is None
    assert "environment GITLAB_TOKEN" in gitlab["lookedIn"]
    assert "notToBeShown" not in told.output + told.errors
    shown = shell(tmp_path).run("status").output
    assert "https://github.com: no token in environment GH_TOKEN, " in shown


def test_the_demo_reads_nothing_of_the_user_s_own(tmp_path: Path) -> None:
    folder = tmp_path / ".config" / "pullstate"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text("this is no TOML [", encoding="utf-8")
    done = shell(tmp_path).run("demo", "--for", "1", XDG_CONFIG_HOME=str(tmp_path / ".config"))
    assert done.status == 0, done.errors


def test_the_demo_takes_no_time_that_is_none(tmp_path: Path) -> None:
    for wrong in ("0", "-1", "nan", "soon"):
        done = shell(tmp_path).run("demo", "--for", wrong)
        assert done.status == 2, wrong
        assert "Traceback" not in done.errors


@pytest.mark.parametrize("end", [signal.SIGTERM, None])
def test_a_served_demo_leaves_nothing_behind(tmp_path: Path, end: signal.Signals | None) -> None:
    place = tmp_path / "temporary"
    place.mkdir()
    environ = {**shell(tmp_path).environ, "TMPDIR": str(place)}
    command = [sys.executable, "-m", "pullstate", "demo", "--serve"]
    with subprocess.Popen(
        command, env=environ, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as process:
        deadline = time.monotonic() + 30
        while not list(place.glob("pullstate-demo-*/store.db")):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        if end is None:
            assert process.stdin
            process.stdin.close()
        else:
            process.send_signal(end)
        process.wait(20)
    assert list(place.iterdir()) == []
