"""The two kinds of database a store can be: a file of its own, or a PostgreSQL server's."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from sqlalchemy import URL, Connection, Engine, select, text

from pullstate.store.connecting import KeptConnections, connect_file, file_engine, server_engine
from pullstate.store.errors import StoreUnreachable
from pullstate.store.location import make_private_file, make_private_folder
from pullstate.store.schema import feed, store

AGES = select(store.c.min_reader, store.c.min_writer)
_READ_ONLY = text("SHOW transaction_read_only")  # on: a standby, or set for the role
_VERSION = select(feed.c.version)


class Database(Protocol):
    """What a store asks of its database."""

    writable: bool

    def connect(self) -> Engine:
        """An engine for writes."""
        ...

    def reading(self) -> AbstractContextManager[Connection]:
        """A connection for one read."""
        ...

    def replaced(self) -> bool:
        """Whether it is closed, or another database lies where this one was opened."""
        ...

    def version(self) -> int:
        """A number that moves with every commit of anybody."""
        ...

    def close(self) -> None:
        """Give up all connections."""
        ...


class FileDatabase:
    """A SQLite file. Connections are kept: for reads, and one for `data_version`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.writable = True
        self._mode = "rw"
        self._inode: tuple[int, int] | None = None
        self._opened = 0
        self._engine: Engine | None = None
        self._kept: KeptConnections | None = None
        self._watch: sqlite3.Connection | None = None
        self._watching = threading.Lock()

    def connect(self) -> Engine:
        """An engine over the file that lies at the path now; it is made where there is none."""
        self.close()
        self._make()
        self._mode = _mode(self.path)
        self.writable = self._mode == "rw"
        self._inode = _inode(self.path)
        self._opened += 1
        self._engine = file_engine(self.path, self._mode)
        self._kept = KeptConnections(self._engine)
        return self._engine

    def reading(self) -> AbstractContextManager[Connection]:
        """A kept connection, in a transaction."""
        assert self._kept is not None
        return self._kept.reading()

    def replaced(self) -> bool:
        """Closed, moved aside by another process, or deleted."""
        return self._inode is None or _inode(self.path) != self._inode

    def version(self) -> int:
        """`PRAGMA data_version`: it moves when another connection commits, so it has its own."""
        with self._watching:
            if self._watch is None:
                self._watch = connect_file(self.path, self._mode)
            moved = self._watch.execute("PRAGMA data_version").fetchone()[0]
        return (self._opened << 32) + moved

    def close(self) -> None:
        """Close the pool, and the connections that are kept."""
        self._inode = None
        if self._kept is not None:
            self._kept.close()
        if self._engine is not None:
            self._engine.dispose()
        with self._watching:
            if self._watch is not None:
                self._watch.close()
                self._watch = None

    def _make(self) -> None:
        if self.path.exists():
            return
        try:
            make_private_folder(self.path.parent)
            make_private_file(self.path)
        except OSError as error:
            raise StoreUnreachable(
                f"The store {self.path} cannot be made: {error.strerror}."
            ) from None


def _mode(path: Path) -> str:
    """rw, or how to read what cannot be written.

    Without write access to the folder SQLite cannot make the shared memory that WAL needs;
    `immutable` reads without it (https://sqlite.org/wal.html#read_only_databases).
    """
    if os.access(path, os.R_OK | os.W_OK) and os.access(path.parent, os.W_OK):
        return "rw"
    return "ro" if os.access(path.parent, os.W_OK) else "ro&immutable=1"


def _inode(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


class ServerDatabase:
    """A PostgreSQL database. Reads are in autocommit: that halves the round trips."""

    def __init__(self, url: URL, lease_time: float) -> None:
        self.writable = True
        self._url = url
        self._lease_time = lease_time
        self._reads: Engine | None = None

    def connect(self) -> Engine:
        """An engine; reads and writes share its pool."""
        self.close()
        writes = server_engine(self._url, self._lease_time)
        self._reads = writes.execution_options(isolation_level="AUTOCOMMIT")
        with self._reads.connect() as connection:
            self.writable = connection.execute(_READ_ONLY).scalar() == "off"
        return writes

    def reading(self) -> AbstractContextManager[Connection]:
        """A connection of the pool, in autocommit."""
        assert self._reads is not None
        return self._reads.connect()

    def replaced(self) -> bool:
        """A server's database stays where it is; it may have been closed."""
        return self._reads is None

    def version(self) -> int:
        """The counter that every write moves in its own transaction."""
        assert self._reads is not None
        with self._reads.connect() as connection:
            return connection.execute(_VERSION).scalar_one()

    def close(self) -> None:
        """Close the pool."""
        if self._reads is not None:
            self._reads.dispose()
            self._reads = None
