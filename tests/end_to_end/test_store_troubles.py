"""A store of no use, wholly or for writing: the handshake is answered, and tools in words."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.end_to_end.place import Place, Server, eventually, place
from tests.powers import powerless, small_disk
from tests.simulators.github.model import Repository
from tests.stdio.client import Message, python

pytestmark = pytest.mark.stdio

OUR_INSIDES = ("Traceback", "sqlite", "SQL", "Error(", "Error:", "store.db", ".py", "reference")


@pytest.fixture
def rocket(here: Place) -> Repository:
    rocket = here.world.create_repository("acme/rocket")
    here.world.open_pull_requests(rocket, 3)
    return rocket


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A place whose store a server has filled and left."""
    with place(tmp_path_factory.mktemp("filled")) as there:
        there.world.open_pull_requests(there.world.create_repository("acme/rocket"), 3)
        with there.serving() as server:
            assert len(server.rows(there.url())) == 3
            server.close_stdin()
            server.wait()
        yield there


@pytest.fixture
def stored(filled: Place, tmp_path: Path) -> Place:
    """A place of the test's own, over the same forge, with a copy of that store."""
    shutil.copy(filled.store, tmp_path)
    return filled.moved(tmp_path)


def in_words(server: Server, here: Place, tool: str = "list_pull_requests", **more: object) -> str:
    """The error of a tool, which tells nothing of our insides."""
    given = more or {"repositoryUrl": here.url("acme/another")}
    text = server.error(tool, **given)
    assert str(here.folder) not in text
    assert not [word for word in OUR_INSIDES if word in text], text
    return text


def shakes_hands(server: Server) -> None:
    """What must work whatever the store is like."""
    server.open()
    assert len(server.list_tools()) == 3


@contextmanager
def changed(here: Place) -> Iterator[sqlite3.Connection]:
    """The store's file, for a change that no pullstate makes."""
    with closing(sqlite3.connect(here.store, isolation_level=None)) as connection:
        yield connection


# --- Newer than the package ----------------------------------------------------------------------


def test_a_store_that_a_newer_pullstate_wrote_is_refused_in_words(stored: Place) -> None:
    with changed(stored) as connection:
        connection.execute("UPDATE store SET min_reader = 99, min_writer = 99")
    with stored.server() as server:
        shakes_hands(server)
        assert "newer pullstate: restart this client" in in_words(server, stored)
        by_number = {"owner": "acme", "repo": "rocket", "pull_number": 1}
        in_words(server, stored, "list_pull_request_review_threads", **by_number)
        in_words(server, stored, "get_merge_request", url=stored.url("acme/rocket/pull/1"))


def test_a_store_that_becomes_too_new_while_a_server_runs_is_refused_too(
    here: Place, rocket: Repository
) -> None:
    with here.serving() as server:
        server.until_swept(here.url())
        with changed(here) as connection:
            connection.execute("UPDATE store SET min_reader = 99, min_writer = 99")
        assert "newer pullstate: restart this client" in in_words(server, here)
        here.github.log.clear()
        with pytest.raises(TimeoutError):
            here.github.log.wait_for("", count=3, timeout=2)
        with changed(here) as connection:
            connection.execute("UPDATE store SET min_reader = 1, min_writer = 1")
        here.world.close(rocket.pull_requests[1])
        eventually(
            lambda: server.row(here.url(), 1),
            lambda row: row.get("state") == "PULL_REQUEST_STATE_CLOSED",
            within=40,
        )


def test_beside_a_newer_writer_a_server_reads_on_and_neither_leads_nor_writes(
    here: Place, rocket: Repository
) -> None:
    with here.serving() as server:
        server.until_swept(here.url())
        with changed(here) as connection:
            connection.execute("UPDATE store SET min_writer = 99")
        assert len(server.rows(here.url())) == 3
        assert "cannot be written" not in in_words(server, here)
        here.github.log.clear()
        fresh = server.list(here.url(), maxAgeSeconds=0)
        assert fresh["sync"]["refreshed"] is False
        assert len(fresh["pullRequests"]) == 3
        eventually(lambda: server.sync(here.url()), lambda sync: sync["state"] == "stale")
        before = len(here.github.log)
        with pytest.raises(TimeoutError):
            here.github.log.wait_for("", count=before + 3, timeout=2)


# --- Not to be written ---------------------------------------------------------------------------


@contextmanager
def read_only(here: Place, *, folder: bool) -> Iterator[None]:
    for file in here.folder.glob("store.db*"):
        file.chmod(0o400)
    here.folder.chmod(0o500 if folder else 0o700)
    try:
        yield
    finally:
        here.folder.chmod(0o700)


@pytest.mark.parametrize("folder", [True, False])
def test_a_store_that_cannot_be_written_is_read(stored: Place, folder: bool) -> None:
    command = powerless(python("-m", "pullstate", "serve"))
    with (
        read_only(stored, folder=folder),
        Server(command, env=stored.environ, cwd=stored.folder) as server,
    ):
        shakes_hands(server)
        reply = server.list(stored.url())
        assert len(reply["pullRequests"]) == 3
        assert "no running pullstate process" in reply["sync"]["reason"]
        refused = in_words(server, stored)
        assert "can be read but not written" in refused


def test_a_folder_that_cannot_be_made_is_words(here: Place) -> None:
    locked = here.folder / "locked"
    locked.mkdir(mode=0o500)
    command = powerless(python("-m", "pullstate", "serve"))
    environ = {**here.environ, "PULLSTATE_STORE": str(locked / "deeper" / "store.db")}
    with Server(command, env=environ, cwd=here.folder) as server:
        shakes_hands(server)
        assert "cannot be opened" in in_words(server, here)
    locked.chmod(0o700)


def test_a_path_on_a_file_is_words(here: Place) -> None:
    inside = str(here.folder / "config.toml" / "store.db")
    with here.server(PULLSTATE_STORE=inside) as server:
        shakes_hands(server)
        assert "cannot be opened" in in_words(server, here)
        assert "config.toml" in server.stderr.wait_for("cannot be")


def test_another_program_s_database_is_left_alone(here: Place) -> None:
    with changed(here) as connection:
        connection.execute("CREATE TABLE customers (name TEXT)")
    with here.server() as server:
        shakes_hands(server)
        in_words(server, here)
    with changed(here) as connection:
        assert connection.execute("SELECT count(*) FROM customers").fetchone() == (0,)


def test_a_database_server_that_does_not_answer_is_words(here: Place) -> None:
    pytest.importorskip("psycopg")
    url = "postgresql://somebody:s3cret@127.0.0.1:9/pullstate"
    with here.server(PULLSTATE_STORE=url) as server:
        shakes_hands(server)
        assert "does not answer" in in_words(server, here)
        server.close_stdin()
        assert server.wait() == 0
        assert "s3cret" not in server.stderr.ended()


# --- A full disk ---------------------------------------------------------------------------------


def test_a_full_disk_is_words_and_what_is_stored_is_answered(
    here: Place, rocket: Repository, tmp_path: Path
) -> None:
    with small_disk(tmp_path / "disk", 2048) as disk:
        with here.serving(PULLSTATE_STORE=str(disk / "store.db")) as server:
            assert len(server.rows(here.url())) == 3
            filler = fill(disk)
            assert "no room left" in in_words(server, here)
            assert len(server.rows(here.url())) == 3
            here.world.close(rocket.pull_requests[1])
            filler.unlink()
            eventually(
                lambda: server.row(here.url(), 1),
                lambda row: row["state"] == "PULL_REQUEST_STATE_CLOSED",
            )
            server.until_swept(here.url("acme/rocket"))
        fill(disk)
        with here.server(PULLSTATE_STORE=str(disk / "store.db")) as server:
            shakes_hands(server)
            assert len(server.rows(here.url())) == 3
            in_words(server, here)


def test_a_disk_that_is_full_from_the_start_is_words(here: Place, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 64) as disk:
        fill(disk)
        with here.server(PULLSTATE_STORE=str(disk / "store.db")) as server:
            shakes_hands(server)
            assert "no room left" in in_words(server, here)


def fill(disk: Path) -> Path:
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
        while True:
            file.write(bytes(4096))
    return filler


# --- Damage --------------------------------------------------------------------------------------


def recovered(server: Server, here: Place) -> None:
    """The rows come back from the forge."""

    def whole(reply: Message) -> bool:
        return (
            reply.get("isError") is False and len(reply["structuredContent"]["pullRequests"]) == 3
        )

    eventually(lambda: server.call("list_pull_requests", repositoryUrl=here.url()), whole)


@pytest.mark.parametrize("damage", ["garbage", "cut short", "another beginning", "empty"])
def test_a_store_that_was_damaged_before_is_moved_aside_and_filled_anew(
    stored: Place, damage: str
) -> None:
    content = stored.store.read_bytes()
    damaged = {
        "garbage": os.urandom(len(content)),
        "cut short": content[: len(content) // 2 + 100],
        "another beginning": b"GIF89a" + content[6:],
        "empty": b"",
    }[damage]
    for journal in stored.folder.glob("store.db-*"):
        journal.unlink()
    stored.store.write_bytes(damaged)
    with stored.server() as server:
        shakes_hands(server)
        recovered(server, stored)
        if damage != "empty":
            assert "moved to" in "".join(server.stderr.read)
            assert list(stored.folder.glob("store.db.damaged-*"))


def test_a_store_that_is_damaged_while_two_servers_run_is_filled_anew_for_both(
    here: Place, rocket: Repository
) -> None:
    with here.serving() as one, here.serving() as two:
        for server in (one, two):
            server.until_swept(here.url())
        with here.store.open("r+b") as file:
            file.write(os.urandom(64 * 1024))
        for server in (one, two):
            recovered(server, here)
            assert "Traceback" not in "".join(server.stderr.read)


def test_a_store_that_is_deleted_while_a_server_runs_is_filled_anew(
    here: Place, rocket: Repository
) -> None:
    with here.serving() as server:
        server.until_swept(here.url())
        for file in here.folder.glob("store.db*"):
            file.unlink()
        recovered(server, here)


# --- Somebody else writes ------------------------------------------------------------------------


def test_a_store_that_somebody_else_writes_to_for_long_is_read_and_else_words(
    stored: Place,
) -> None:
    with stored.server() as server, changed(stored) as connection:
        connection.execute("BEGIN IMMEDIATE")
        shakes_hands(server)
        assert len(server.rows(stored.url())) == 3
        assert "another process is writing" in in_words(server, stored)
        connection.execute("ROLLBACK")
        assert server.list(stored.url("acme/another"))["sync"]["state"] == "unread"


def test_a_new_store_that_somebody_holds_locked_delays_no_handshake(here: Place) -> None:
    with changed(here) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        with here.server() as server:
            shakes_hands(server)
            started = server.start(
                "tools/call", name="list_pull_requests", arguments={"repositoryUrl": here.url()}
            )
            assert len(server.list_tools()) == 3
            connection.execute("ROLLBACK")
            assert server.result_of(started)["isError"] is False
