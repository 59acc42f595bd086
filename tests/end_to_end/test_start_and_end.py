"""How a server starts and ends, and that nothing but messages is ever on its standard output."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Literal

import pytest

from pullstate.store import lease, reading
from pullstate.store.engine import Store
from tests.end_to_end.place import Place, Server, eventually, wire
from tests.simulators.github import World
from tests.stdio.client import MODERN_VERSION, RpcError, environment, python

pytestmark = pytest.mark.stdio

TITLE = "Zünde 👩‍💻 – „beide“ 🚀 Triebwerke 葛󠄀"
TOOLS = ["list_pull_requests", "list_pull_request_review_threads", "get_merge_request"]


def open_one(world: World) -> None:
    world.open_pull_request(world.create_repository("acme/rocket"), head="ignition", title=TITLE)


def living(here: Place) -> list[lease.Process]:
    store = Store.open(here.store)
    try:
        return store.read_now(lease.live, here.world.now())
    finally:
        store.close()


# --- The start ------------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_a_probe_that_kills_the_server_at_once_leaves_nothing_behind(
    here: Place, era: Literal["legacy", "modern"]
) -> None:
    open_one(here.world)
    here.configure(f'[track]\nrepositories = ["{here.url()}"]\n')
    with here.server(era=era) as server:
        server.open()
        assert [tool["name"] for tool in server.list_tools()] == TOOLS
        server.process.kill()
    assert not here.store.exists()
    assert here.github.log.matching() == []


def test_nothing_is_asked_of_the_forge_in_the_first_two_seconds(here: Place) -> None:
    """And then everything, without a question."""
    open_one(here.world)
    here.configure(f'[track]\nrepositories = ["{here.url()}"]\n')
    started_at = time.monotonic()
    with here.serving():
        first = here.github.log.wait_for("", timeout=20)[0]
        assert first.at - started_at > 2.0


@pytest.mark.parametrize("version", ["2024-11-05", "2099-01-01"])
def test_the_oldest_and_an_unknown_version_get_the_same_tools(here: Place, version: str) -> None:
    with here.server("--no-sync") as server:
        given = server.open(version)["protocolVersion"]
        assert given == (version if version < "2026" else "2025-11-25")
        assert [tool["name"] for tool in server.list_tools()] == TOOLS


def test_the_modern_era_gets_the_same_answers(here: Place) -> None:
    open_one(here.world)
    with here.serving() as legacy, here.serving(era="modern") as modern:
        assert modern.request("server/discover")["supportedVersions"] == [MODERN_VERSION]
        assert modern.list_tools() == legacy.list_tools()
        assert modern.rows(here.url()) == legacy.rows(here.url())


def test_a_prefix_begins_every_name_and_changes_nothing_else(here: Place) -> None:
    with here.serving("--no-sync", "--tool-prefix", "pullstate_") as prefixed:
        listed = prefixed.list_tools()
        assert [tool["name"] for tool in listed] == [f"pullstate_{name}" for name in TOOLS]
        assert "repositoryUrl" in prefixed.error("pullstate_list_pull_requests")
        with here.serving("--no-sync") as plain:
            without = [{**tool, "name": f"pullstate_{tool['name']}"} for tool in plain.list_tools()]
            assert without == listed


def test_path_and_home_are_all_that_a_server_needs(tmp_path: Path) -> None:
    """As clients on some systems start it: no locale, no user, no terminal, no configuration."""
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    bare = ["env", "-i", *(f"{name}={text}" for name, text in env.items())]
    with Server([*bare, *python("-m", "pullstate")]) as server:
        server.open()
        assert [tool["name"] for tool in server.list_tools()] == TOOLS
        refused = server.error("list_pull_requests", repositoryUrl="https://elsewhere.example/a/b")
        assert "github.com" in refused
    done = subprocess.run(
        python("-m", "pullstate", "status"), env=env, capture_output=True, text=True, check=True
    )
    assert "no token in environment GH_TOKEN" in done.stdout
    assert (tmp_path / ".local/share/pullstate/pullstate.db").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PULLSTATE_LOG", "loud"),
        ("PULLSTATE_SYNC_INTERVAL", "often"),
        ("PULLSTATE_SYNC_INTERVAL", "0"),
        ("PULLSTATE_CONFIG", "/nowhere/at/all.toml"),
    ],
)
def test_a_setting_that_is_wrong_ends_the_start_in_words(
    here: Place, name: str, value: str
) -> None:
    with here.server(**{name: value}) as server:
        assert server.wait() == 2
        assert server.stderr.ended().startswith("Error: ")
        assert "Traceback" not in server.stderr.ended()
        assert server.stdout.ended() == ""


# --- Standard output ------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_every_character_arrives_whatever_the_locale(here: Place, encoding: str) -> None:
    open_one(here.world)
    spoken = {"PYTHONIOENCODING": encoding, "LC_ALL": "C", "PYTHONUTF8": "0"}
    with here.serving(**spoken) as server:
        [row] = server.rows(here.url(), headBranch="ignition").values()
        assert row["title"] == TITLE
        refused = server.error("list_pull_requests", repositoryUrl=here.url(), größe=1)
        assert "größe" in refused


def test_standard_output_holds_messages_and_nothing_else(here: Place) -> None:
    open_one(here.world)
    with here.serving(PULLSTATE_LOG="DEBUG", PYTHONWARNINGS="default", PYTHONDEVMODE="1") as server:
        server.until_swept(here.url())
        server.send_line("this is no message")
        server.answer_to(None)
        with pytest.raises(RpcError):
            server.request("no/such/method")
        server.threads("acme", "rocket", 1)
        server.error("list_pull_requests")
        server.close_stdin()
        assert server.wait() == 0
        assert len(wire(server)) >= 6
        assert "Traceback" not in server.stderr.ended()


def test_lines_that_are_no_messages_hurt_nobody(here: Place) -> None:
    open_one(here.world)
    with here.serving() as server:
        for line in (b"\xff\xfe\x00", b"{", b"[1, 2]", b"null", b"", b"\x00" * 64, b"[" * 20_000):
            server.send_line(line)
        assert server.rows(here.url())
        assert all(message["jsonrpc"] == "2.0" for message in wire(server))


# --- The end --------------------------------------------------------------------------------------


@pytest.fixture
def at_work(here: Place) -> Place:
    """A forge that answers slowly: whatever ends, a question is under way."""
    open_one(here.world)
    here.github.app.latency = 0.2
    return here


@pytest.mark.parametrize(
    ("how", "status"),
    [("end of stdin", 0), ("SIGTERM", 143), ("SIGINT", 130), ("SIGHUP", 129)],
)
def test_an_end_in_order_leaves_the_lease_to_the_next(
    at_work: Place, how: str, status: int
) -> None:
    with at_work.serving() as server:
        assert server.rows(at_work.url())
        asked = {"repositoryUrl": at_work.url(), "maxAgeSeconds": 0}
        server.start("tools/call", name="list_pull_requests", arguments=asked)
        if how == "end of stdin":
            server.close_stdin()
        else:
            server.signal(getattr(signal, how))
        assert server.wait(5) == status
        assert "Traceback" not in server.stderr.ended()
        wire(server)
    assert living(at_work) == []
    store = Store.open(at_work.store)
    [limited] = [each for each in store.read_now(_leases) if each.startswith(at_work.github.url)]
    leader = store.read_now(lease.leader, limited)
    assert leader is not None
    assert not leader.held


def _leases(conn: object) -> list[str]:
    from sqlalchemy import select

    from pullstate.store.schema import lease as table

    return list(conn.execute(select(table.c.key)).scalars())  # type: ignore[attr-defined]


def test_a_client_that_closes_both_ends_is_let_go(at_work: Place) -> None:
    with subprocess.Popen(
        python("-m", "pullstate", "serve"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(at_work.environ),
        cwd=at_work.folder,
    ) as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdout.close()
        process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        process.stdin.close()
        assert process.wait(20) in (0, 1)
        assert b"Traceback" not in process.stderr.read()


def test_a_parent_killed_during_the_start_takes_the_server_with_it(here: Place) -> None:
    """Its pipes stay open in this process: only the parent's pid tells."""
    parent = "import subprocess, sys; sys.exit(subprocess.Popen(sys.argv[1:]).wait())"
    command = python("-c", parent, *python("-m", "pullstate", "serve"))
    with Server(command, env=here.environ, cwd=here.folder) as server:
        child = eventually(lambda: _child_of(server.process.pid))
        eventually(lambda: _is_importing(child))
        server.process.kill()
        ended = threading.Event()
        threading.Thread(target=lambda: (server.stdout.ended(), ended.set()), daemon=True).start()
        assert ended.wait(20), f"{child} lives on"


def _child_of(pid: int) -> int | None:
    import psutil

    children = psutil.Process(pid).children()
    return children[0].pid if children else None


def _is_importing(pid: int) -> bool:
    """It has noted its parent, which it does first, and is not serving yet."""
    import psutil

    return any("pydantic_core" in each.path for each in psutil.Process(pid).memory_maps())


def test_what_a_killed_server_stored_is_whole_for_the_next(here: Place) -> None:
    open_one(here.world)
    with here.serving() as server:
        server.until_swept(here.url())
        server.process.kill()
    with here.serving("--no-sync") as server:
        assert [row["title"] for row in server.rows(here.url()).values()] == [TITLE]
    store = Store.open(here.store)
    assert store.read_now(reading.status).pull_requests == 1
