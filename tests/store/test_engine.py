"""The store as its callers see it: transactions, threads, versions, and faults in words."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import anyio
import pytest
from anyio import to_thread
from sqlalchemy import make_url, text

from pullstate.store import errors, reading, writing
from pullstate.store.connecting import connect_file
from pullstate.store.engine import Store
from pullstate.store.errors import (
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreTooNew,
    StoreUnreachable,
)
from pullstate.store.translating import kind_of
from tests.domain.readings import lean
from tests.store.conftest import ADDRESS, KINDS, track
from tests.store.test_recording import AT, record


def run(store: Store, statement: str) -> None:
    """Change something behind the store's back."""
    store.write_now(lambda connection: connection.execute(text(statement)).rowcount)


def numbers(store: Store, repository) -> list[int]:
    rows = store.read_now(reading.page, repository.id, limit=999)
    return [row.pull_request.number for row in rows]


# Transactions


@pytest.mark.anyio
async def test_reads_and_writes_from_the_event_loop(store):
    repository = await store.write(writing.track, ADDRESS, writing.Depth.ALL, "command")
    await store.write(writing.record, repository.id, [lean(1)], at=AT)
    rows = await store.read(reading.page, repository.id, limit=5)
    assert [row.pull_request.number for row in rows] == [1]


@pytest.mark.anyio
async def test_a_store_answers_while_every_thread_of_the_event_loops_own_is_taken(store):
    release = threading.Event()
    everyone = to_thread.current_default_thread_limiter()
    async with anyio.create_task_group() as group:
        for _ in range(int(everyone.total_tokens)):
            group.start_soon(to_thread.run_sync, release.wait)
        while everyone.available_tokens:
            await anyio.lowlevel.checkpoint()
        with anyio.fail_after(30):
            assert await store.read(reading.newest_change) == 0
        release.set()


@pytest.mark.anyio
async def test_fifty_reads_and_writes_at_once_make_no_error(store, repository):
    async with anyio.create_task_group() as group:
        for number in range(1, 51):
            group.start_soon(store.write, writing.record, repository.id, [lean(number)], AT)
            group.start_soon(store.read, lambda c: reading.page(c, repository.id, limit=9))
    assert len(numbers(store, repository)) == 50


@pytest.mark.anyio
async def test_a_write_that_is_cancelled_still_ends_whole(store, repository):
    began, go_on = threading.Event(), threading.Event()

    def slow(connection):
        writing.record(connection, repository.id, [lean(1)], AT)
        began.set()
        go_on.wait(30)
        writing.record(connection, repository.id, [lean(2)], AT)

    async with anyio.create_task_group() as group:
        group.start_soon(store.write, slow)
        await to_thread.run_sync(began.wait)
        group.cancel_scope.cancel()
        go_on.set()
    assert numbers(store, repository) == [2, 1]


def test_a_write_that_raises_leaves_nothing_and_says_what_it_said(store, repository):
    def fail(connection):
        writing.record(connection, repository.id, [lean(1)], AT)
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        store.write_now(fail)
    assert numbers(store, repository) == []


def test_a_read_is_one_snapshot(path, open_store):
    store, other = open_store(path), open_store(path)
    repository = track(store)

    def twice(connection):
        first = reading.page(connection, repository.id, limit=9)
        record(other, repository, lean(1))
        return first, reading.page(connection, repository.id, limit=9)

    assert store.read_now(twice) == ([], [])
    assert numbers(store, repository) == [1]


def test_a_write_sees_what_was_committed_before_it_began(path, open_store):
    """A deferred transaction would read first and fail on writing: somebody wrote in between."""
    store, other = open_store(path), open_store(path)
    repository = track(store)
    attempts = []

    def second():
        return record(other, repository, lean(2))

    def read_then_write(connection):
        reading.page(connection, repository.id, limit=9)
        thread = threading.Thread(
            target=lambda: attempts.append(record(other, repository, lean(2)))
        )
        thread.start()
        writing.record(connection, repository.id, [lean(1)], AT)
        return thread

    store.write_now(read_then_write).join(30)
    assert attempts[0].inserted == 1
    assert numbers(store, repository) == [2, 1]


def test_after_close_a_store_can_still_be_asked(store, repository):
    store.close()
    assert numbers(store, repository) == []
    record(store, repository, lean(1))
    assert numbers(store, repository) == [1]


def test_no_read_leaves_a_transaction_open(path, open_store):
    store = open_store(path)
    numbers(store, track(store))
    record(store, store.read_now(reading.repositories)[0], lean(1))
    with closing(sqlite3.connect(path)) as connection:
        busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    assert busy == 0


def test_connections_are_set_up_as_they_must_be(path, open_store):
    store = open_store(path)

    def pragmas(connection):
        names = ("busy_timeout", "journal_mode", "synchronous", "foreign_keys")
        found = [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in names]
        limit = connection.exec_driver_sql("PRAGMA journal_size_limit").scalar()
        return found, limit

    settings, limit = store.read_now(pragmas)
    assert settings == [5000, "wal", 1, 1]
    assert 0 < limit < 2**27


# Versions


def test_the_version_moves_with_anybodys_commit_and_not_with_reads(url, open_store):
    store, other = open_store(url), open_store(url)
    repository = track(store)
    version = store.version()
    numbers(store, repository)
    assert store.version() == version
    record(store, repository, lean(1))
    mine = store.version()
    assert mine != version
    record(other, repository, lean(2))
    assert store.version() not in (mine, version)


def test_a_store_that_only_newer_ones_may_read_is_refused(url, open_store):
    store, running = open_store(url), open_store(url)
    repository = track(store)
    run(store, "UPDATE store SET min_reader = 2, min_writer = 2")
    with pytest.raises(StoreTooNew, match="restart this client"):
        Store.open(url)
    with pytest.raises(StoreTooNew):
        running.version()
    with pytest.raises(StoreTooNew):
        record(running, repository, lean(1))


def test_one_that_only_newer_ones_may_write_is_read_on(url, open_store):
    store, running = open_store(url), open_store(url)
    repository = track(store)
    record(store, repository, lean(1))
    run(store, "UPDATE store SET min_writer = 2")
    with pytest.raises(StoreReadOnly, match="restart this client"):
        record(running, repository, lean(2))
    assert running.read_only
    assert numbers(running, repository) == [1]
    late = open_store(url)
    assert late.read_only
    assert numbers(late, repository) == [1]


def test_a_running_reader_notices_a_newer_one_at_its_next_read(path, open_store):
    store, running = open_store(path), open_store(path)
    repository = track(store)
    assert numbers(running, repository) == []
    run(store, "UPDATE store SET min_writer = 2")
    numbers(running, repository)
    assert running.read_only


# Faults


def test_busy_is_an_answer_with_words(path, open_store):
    store = open_store(path)
    repository = track(store)
    store.read_now(lambda connection: connection.exec_driver_sql("PRAGMA busy_timeout=0"))
    with closing(connect_file(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy, match="Try again"):
            record(store, repository, lean(1))
        assert numbers(store, repository) == []
        other.execute("ROLLBACK")
    record(store, repository, lean(1))


def test_a_full_disk_is_said_and_loses_nothing(path, open_store):
    store = open_store(path)
    repository = track(store)
    record(store, repository, lean(1))

    def fill(connection):
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")

    store.write_now(fill)
    with pytest.raises(StoreFull, match="make room"):
        record(store, repository, *(lean(number) for number in range(2, 500)))
    assert numbers(store, repository) == [1]
    store.write_now(lambda connection: connection.exec_driver_sql("PRAGMA max_page_count=99999"))
    assert record(store, repository, lean(2)).inserted == 1


READER = """
import os, sys, sqlite3, sqlalchemy.dialects.sqlite
from pullstate.store.engine import Store
from pullstate.store import reading, writing
from pullstate.store.errors import StoreReadOnly
if os.getuid() == 0:
    os.setgid(65534); os.setuid(65534)
store = Store.open(sys.argv[1])
rows = store.read_now(reading.page, 1, limit=9)
print(store.read_only, [row.pull_request.number for row in rows], store.version() > 0)
try:
    store.write_now(writing.untrack, 1)
except StoreReadOnly as error:
    print(error)
"""


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that other users reach: pytest's own are closed to them."""
    with tempfile.TemporaryDirectory() as place:
        yield Path(place)
        Path(place).chmod(0o700)


@pytest.mark.skipif(not hasattr(os, "setuid"), reason="file permissions are another matter here")
@pytest.mark.parametrize("folder", [0o777, 0o555], ids=["folder writable", "folder read-only"])
def test_a_file_that_may_only_be_read_is_read(shared, made_file, folder):
    path = shared / "pullstate.db"
    path.write_bytes(made_file.read_bytes())
    store = Store.open(path)
    record(store, track(store), lean(3))
    store.close()
    for each in shared.iterdir():
        each.chmod(0o444)
    shared.chmod(folder)
    done = subprocess.run(
        [sys.executable, "-c", READER, str(path)], capture_output=True, text=True, check=False
    )
    first, second = done.stdout.splitlines() or [done.stderr, ""]
    assert first == "True [3] True"
    assert "cannot be written" in second


@pytest.mark.skipif(not hasattr(os, "setuid"), reason="file permissions are another matter here")
def test_a_file_that_would_have_to_be_upgraded_first_says_so(shared):
    path = shared / "pullstate.db"
    path.touch(0o444)
    shared.chmod(0o555)
    done = subprocess.run(
        [sys.executable, "-c", READER, str(path)], capture_output=True, text=True, check=False
    )
    assert "StoreReadOnly" in done.stderr.splitlines()[-1]
    assert "cannot be upgraded" in done.stderr.splitlines()[-1]


@pytest.mark.skipif(not hasattr(os, "setuid"), reason="file permissions are another matter here")
def test_a_damaged_file_that_may_only_be_read_stays_where_it_is(shared):
    path = shared / "pullstate.db"
    garbage(path)
    path.chmod(0o444)
    shared.chmod(0o555)
    done = subprocess.run(
        [sys.executable, "-c", READER, str(path)], capture_output=True, text=True, check=False
    )
    assert "StoreDamaged" in done.stderr.splitlines()[-1]
    assert [each.name for each in shared.iterdir()] == ["pullstate.db"]


def test_what_is_tracked_is_tracked_though_its_file_cannot_be_written(path, open_store):
    path.with_name("pullstate.db.tracked.json").mkdir()
    store = open_store(path)
    assert track(store).tracked
    assert "could not be written" in store.notes[0]
    track(store, "acme/lander")
    assert len(store.notes) == 1


@pytest.mark.skipif("postgres" not in KINDS, reason="no PostgreSQL is named")
def test_a_server_that_may_only_be_read_is_read(server_url, open_store):
    store = open_store(server_url)
    record(store, track(store), lean(3))
    url = make_url(server_url)
    options = f"{url.query['options']} -c default_transaction_read_only=on"
    reader = open_store(
        url.update_query_dict({"options": options}).render_as_string(hide_password=False)
    )
    assert reader.read_only
    assert numbers(reader, reader.read_now(reading.repositories)[0]) == [3]
    with pytest.raises(StoreReadOnly, match="cannot be written"):
        track(reader)


def test_a_server_that_is_not_there_is_said_without_the_password():
    with pytest.raises(StoreUnreachable, match="cannot be reached") as caught:
        Store.open("postgresql://ann:secret@127.0.0.1:1/nowhere?password=hidden")
    assert "secret" not in str(caught.value)
    assert "hidden" not in str(caught.value)
    assert "127.0.0.1:1/nowhere" in str(caught.value)


@pytest.mark.skipif("postgres" not in KINDS, reason="no PostgreSQL is named")
def test_a_connection_that_the_server_closed_is_replaced(server_url, open_store):
    store, other = open_store(server_url), open_store(server_url)
    repository = track(store)
    for act in (
        lambda: numbers(store, repository),
        lambda: record(store, repository, lean(1)),
        store.version,
    ):
        own = store.read_now(lambda c: c.execute(text("SELECT pg_backend_pid()")).scalar())
        kill = text(f"SELECT pg_terminate_backend({own}, 5000)")
        assert other.read_now(lambda c, kill=kill: c.execute(kill).scalar())
        act()
    assert numbers(store, repository) == [1]


def test_every_error_is_in_the_tree_at_the_top_of_its_module():
    kinds = [each for each in vars(errors).values() if isinstance(each, type)]
    assert all(issubclass(kind, StoreError) for kind in kinds)
    assert all(kind.__name__ in (errors.__doc__ or "") for kind in kinds)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("40001", StoreBusy),
        ("40P01", StoreBusy),
        ("55P03", StoreBusy),
        ("57014", StoreBusy),
        ("25P03", StoreBusy),
        ("53300", StoreBusy),
        ("53100", StoreFull),
        ("25006", StoreReadOnly),
        ("42501", StoreReadOnly),
        ("57P01", StoreUnreachable),
        ("08006", StoreUnreachable),
        ("28P01", StoreUnreachable),
        ("3D000", StoreUnreachable),
        ("XX001", StoreDamaged),
        ("22P02", StoreError),
    ],
)
def test_every_refusal_of_postgresql_has_its_meaning(code, kind):
    from psycopg.errors import lookup
    from sqlalchemy.exc import DBAPIError

    assert kind_of(DBAPIError("SELECT 1", {}, lookup(code)("x"))) is kind


# Damage


def garbage(path: Path) -> None:
    path.write_bytes(b"This is no database, and never was. " * 500)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def scribble(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(8192)
        file.write(b"\xff" * (path.stat().st_size - 8192))


def forget(store: Store) -> None:
    """Drop what the store's connection has read of the file so far."""
    store.read_now(lambda connection: connection.exec_driver_sql("PRAGMA shrink_memory"))


DAMAGE = [garbage, cut, scribble]


def filled(path: Path) -> None:
    """Put rows into a store and everything of it into the one file."""
    store = Store.open(path)
    record(store, track(store), *(lean(number) for number in range(1, 300)))
    store.close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_moved_aside_and_what_was_tracked_is_tracked_again(
    path, open_store, damage
):
    filled(path)
    damage(path)
    broken = path.read_bytes()
    store = open_store(path)
    try:
        repositories = store.read_now(reading.repositories)
        store.read_now(reading.page, repositories[0].id, limit=999)
    except StoreDamaged:
        repositories = store.read_now(reading.repositories)
    (aside,) = path.parent.glob("pullstate.db.damaged-*[0-9]")
    assert aside.read_bytes() == broken
    assert [each.path for each in repositories] == ["acme/rocket"]
    assert str(aside) in store.notes[-1]
    assert numbers(store, repositories[0]) == []
    record(store, repositories[0], lean(1))


def test_damage_while_it_runs_is_said_once_and_the_next_call_goes_on(path, open_store):
    filled(path)
    store = open_store(path)
    old = store.id
    numbers(store, store.read_now(reading.repositories)[0])
    scribble(path)
    forget(store)
    with pytest.raises(StoreDamaged, match="moved to"):
        store.read_now(reading.page, 1, limit=999)
    assert [each.path for each in store.read_now(reading.repositories)] == ["acme/rocket"]
    assert store.id != old


def test_the_others_notice_and_go_on_over_the_new_file(path, open_store):
    filled(path)
    first, second = open_store(path), open_store(path)
    version = second.version()
    scribble(path)
    with pytest.raises(StoreDamaged):
        forget(first)
        first.read_now(reading.page, 1, limit=999)
    assert first.read_now(reading.newest_change) == 0
    assert second.read_now(reading.newest_change) == 0
    assert second.id == first.id
    assert second.version() != version
    assert len(list(path.parent.glob("pullstate.db.damaged-*[0-9]"))) == 1


def test_the_journal_goes_along_with_a_damaged_file(path, open_store):
    store = open_store(path)
    record(store, track(store), lean(1))
    garbage(path)
    assert path.with_name("pullstate.db-wal").stat().st_size > 0
    fresh = open_store(path)
    names = sorted(each.name.rpartition("-")[2] for each in path.parent.glob("*.damaged-*"))
    assert "wal" in names
    assert fresh.read_now(reading.newest_change) == 0


def test_a_file_that_was_deleted_is_made_anew(path, open_store):
    store = open_store(path)
    track(store)
    for each in path.parent.glob("pullstate.db*"):
        if "tracked" not in each.name:
            each.unlink()
    assert [each.path for each in store.read_now(reading.repositories)] == ["acme/rocket"]
    record(store, store.read_now(reading.repositories)[0], lean(1))


def test_an_empty_file_is_a_new_store(tmp_path, open_store):
    path = tmp_path / "pullstate.db"
    path.touch()
    assert open_store(path).read_now(reading.repositories) == []
