"""Engines for the two databases, each set up as it must be on every connection."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, QueuePool, create_engine, event

from pullstate.store.errors import StoreUnreachable

BUSY_SECONDS = 5.0
BUSY_MS = int(BUSY_SECONDS * 1000)
WAL_SECONDS = 60.0  # everybody who starts on a new file wants this at once
OLDEST_SQLITE = (3, 35, 0)  # RETURNING
JOURNAL_BYTES = 32 * 1024 * 1024
WRITES = "pullstate_writes"  # execution option: the transaction will write

_PRAGMAS = (
    "PRAGMA synchronous=NORMAL",
    "PRAGMA foreign_keys=ON",
    f"PRAGMA journal_size_limit={JOURNAL_BYTES}",
)


def connect_file(path: Path, mode: str = "rw") -> sqlite3.Connection:
    """A connection to a store's file; `mode` is SQLite's: rw, ro, or ro&immutable=1.

    The file is never created here, so that one which was moved aside is not made anew in silence.
    """
    connection = sqlite3.connect(
        f"{path.as_uri()}?mode={mode}",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
    )
    try:
        connection.execute(f"PRAGMA busy_timeout={BUSY_MS}")
        if mode == "rw":
            _use_wal(connection)
            for pragma in _PRAGMAS:
                connection.execute(pragma)
    except BaseException:
        connection.close()
        raise
    return connection


def _use_wal(connection: sqlite3.Connection) -> None:
    """Changing the journal's mode does not always wait for others as statements do."""
    deadline = time.monotonic() + WAL_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() > deadline:
                raise
            threading.Event().wait(0.01)


def file_engine(path: Path, mode: str = "rw") -> Engine:
    """An engine over a store's file. Writing transactions are IMMEDIATE from their begin.

    Read-then-write in a deferred one fails at once when somebody else wrote in between, however
    long the busy timeout (https://sqlite.org/rescode.html#busy_snapshot).
    """
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        raise StoreUnreachable(
            f"This Python comes with SQLite {sqlite3.sqlite_version}; 3.35 or newer is needed."
        )
    engine = create_engine(
        "sqlite://",
        creator=lambda: connect_file(path, mode),
        poolclass=QueuePool,
        pool_size=6,
        max_overflow=26,
        pool_timeout=BUSY_SECONDS,
    )

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get(WRITES)
        raw = connection.connection.dbapi_connection
        raw.execute("BEGIN IMMEDIATE" if writes else "BEGIN")  # type: ignore[union-attr]

    return engine


class KeptConnections:
    """Connections for reads that stay open from one read to the next.

    A pool takes longer to give a connection out and to take it back than most reads take.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._idle: list[Connection] = []
        self._closed = False

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection in a transaction that sees one snapshot."""
        connection = self._taken()
        try:
            with connection.begin():
                yield connection
        except BaseException:
            connection.close()
            raise
        self._idle.append(connection)
        if self._closed:
            self.close()

    def close(self) -> None:
        """Close what is idle now, and everything else when it is given back."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()

    def _taken(self) -> Connection:
        with suppress(IndexError):
            return self._idle.pop()
        connection = self._engine.connect()
        connection.detach()
        return connection


def server_engine(url: URL, lease_time: float) -> Engine:
    """An engine over PostgreSQL. No lock is waited for, and none is held idle, past the lease."""
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise StoreUnreachable(
            "A PostgreSQL store needs its driver: install pullstate[postgres]."
        ) from None
    patience = max(int(lease_time * 1000 * 0.6), 100)
    options = (
        f"-c lock_timeout={patience} -c idle_in_transaction_session_timeout={patience}"
        " -c timezone=UTC"
    )
    query: dict[str, Any] = dict(url.query)
    given = query.pop("options", "")
    arguments = {"options": f"{given} {options}".strip(), "application_name": "pullstate"}
    query.setdefault("connect_timeout", os.environ.get("PGCONNECT_TIMEOUT", "5"))
    return create_engine(
        url.set(query=query),
        connect_args=arguments,
        pool_size=4,
        max_overflow=28,
        pool_timeout=BUSY_SECONDS,
    )
