"""Store: one database that many processes share, SQLite or PostgreSQL.

Statements run in threads of the store's own, never in the event loop and never in the threads
that standard input and output need. Reads are short; writes are one transaction each.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from anyio import CapacityLimiter, to_thread
from sqlalchemy import Connection, Engine, select

from pullstate.store import feed, tracked
from pullstate.store.connecting import WRITES
from pullstate.store.databases import AGES, Database, FileDatabase, ServerDatabase
from pullstate.store.errors import (
    FencedOut,
    StoreDamaged,
    StoreError,
    StoreReadOnly,
    StoreTooNew,
)
from pullstate.store.interest import named_addresses, restore
from pullstate.store.lease import Fence, holds
from pullstate.store.location import MOUNTS, Location, locate, shown
from pullstate.store.mending import set_aside
from pullstate.store.schema import READS_AS, store
from pullstate.store.translating import DRIVER_ERRORS, is_disconnect, translate
from pullstate.store.upgrade import is_behind, upgrade

T = TypeVar("T")

THREADS = 4
_ONE = select(store.c.id, store.c.salt, store.c.min_reader, store.c.min_writer)


class Store:
    """One database. Safe to use from several threads; every method is short.

    `id` stands in cursors, `salt` keys fingerprints of credentials, `url` shows no password,
    `path` is None on a server. `read_only` is set while reads answer and nothing can be written:
    permissions, the medium, or a newer pullstate that wrote the store meanwhile.
    """

    id: str
    salt: bytes

    def __init__(self, location: Location, lease_time: float) -> None:
        """Use `open`."""
        self.url = shown(location.url)
        self.path = location.path
        self.lease_time = lease_time
        self.read_only = False
        self._notes = list(location.notes)
        self._database: Database = (
            FileDatabase(location.path)
            if location.path
            else ServerDatabase(location.url, lease_time)
        )
        weakref.finalize(self, self._database.close)  # whoever forgets to close leaves nothing open
        self._reopening = threading.RLock()
        self._read_limiter = CapacityLimiter(THREADS)
        self._write_limiter = CapacityLimiter(1 if location.path else THREADS)
        self._looked_at: int | None = None
        self._ready = False  # connected, upgraded, and admitted
        self._open()

    @classmethod
    def open(
        cls, named: str | Path | None = None, *, lease_time: float = 15.0, mounts: Path = MOUNTS
    ) -> Store:
        """Open the store at a path or SQLAlchemy URL; with None, at the default place.

        Creates it where there is none (folder 0700, file 0600), upgrades an older schema, moves a
        damaged file aside. `lease_time` is in seconds. Raises a StoreError in words.
        """
        return cls(locate(named, mounts), lease_time)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done differently from what was asked, and why, for a person."""
        return tuple(self._notes)

    async def read(self, query: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        """`query(connection, …)` in a thread; one snapshot on SQLite. It must not write."""
        call = partial(self.read_now, query, *args, **kwargs)
        return await to_thread.run_sync(call, limiter=self._read_limiter)

    async def write(self, command: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        """`command(connection, …)` in one transaction, in a thread; a cancelled one still ends."""
        call = partial(self.write_now, command, *args, **kwargs)
        return await to_thread.run_sync(call, limiter=self._write_limiter)

    async def write_as(
        self, fence: Fence, command: Callable[..., T], *args: Any, **kwargs: Any
    ) -> T:
        """`write`, if the lease is still the fence's; else raises FencedOut and writes nothing."""
        return await self.write(partial(_fenced, fence, command), *args, **kwargs)

    def read_now(self, query: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        """`read` in this thread."""
        self._follow()
        return self._told(self._again, self._attempt, query, *args, **kwargs)

    def write_now(self, command: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        """`write` in this thread."""
        self._follow()
        if self.path is None:
            self._told(self._again, self._attempt, _ages)  # not over a connection that is dead
        return self._told(self._transact, command, *args, **kwargs)

    def write_as_now(self, fence: Fence, command: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        """`write_as` in this thread."""
        return self.write_now(partial(_fenced, fence, command), *args, **kwargs)

    def version(self) -> int:
        """A number that moves when any process has committed a change. Cheap: ask it often."""
        self._follow()
        return self._look()

    def close(self) -> None:
        """Give up all connections; a later call opens new ones."""
        self._ready = False
        self._database.close()

    def _attempt(self, query: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        with self._database.reading() as connection:
            return query(connection, *args, **kwargs)

    def _transact(self, command: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        if not self._database.writable:
            raise StoreReadOnly(
                f"The store {self.url} cannot be written by this process: check its permissions."
            )
        with self._writes.begin() as connection:
            self._admit(*_ages(connection))
            if self.read_only:
                raise StoreReadOnly(
                    f"A newer pullstate writes the store {self.url}: restart this client to get it."
                )
            feed.begin(connection)
            tracked.begin(connection)
            result = command(connection, *args, **kwargs)
            if self.path and tracked.moved(connection):
                self._save_tracked(self.path, connection)
            feed.finish(connection)
        return result

    def _save_tracked(self, path: Path, connection: Connection) -> None:
        try:
            tracked.save(path, named_addresses(connection))
        except OSError as error:
            self._note(f"what is tracked could not be written beside the store: {error.strerror}")

    def _note(self, words: str) -> None:
        if words not in self._notes:
            self._notes.append(words)

    def _open(self) -> None:
        """Connect, and once more over a new file where the one that was there is damaged."""
        try:
            self._told(self._connect)
        except StoreDamaged:
            if self.path is None:
                raise
            self._told(self._connect)
        finally:
            if not self._ready:
                self.close()

    def _connect(self) -> None:
        self._ready = False
        engine = self._database.connect()
        self._writes = engine.execution_options(**{WRITES: True})
        self._looked_at = None
        made = self._upgraded(engine)
        with self._database.reading() as connection:
            self.id, self.salt, *ages = connection.execute(_ONE).one()
        self._admit(*ages)
        self._ready = True
        if made and self.path and (addresses := tracked.load(self.path)):
            self._transact(restore, addresses)

    def _upgraded(self, engine: Engine) -> bool:
        """Whether the schema was made or brought up to date just now."""
        if self._database.writable:
            return upgrade(engine)
        if is_behind(engine):
            raise StoreReadOnly(
                f"The store {self.url} was written by an older pullstate and cannot be upgraded by "
                "this process: check its permissions."
            )
        return False

    def _follow(self) -> None:
        """Another process may have moved a damaged file aside: go on over what lies there now."""
        if not self._ready or self._database.replaced():
            with self._reopening:
                if not self._ready or self._database.replaced():
                    self._open()
        if self.path:
            self._look()

    def _look(self) -> int:
        """The version; where it moved, a newer pullstate may have upgraded the store."""
        version = self._told(self._again, self._database.version)
        if version != self._looked_at:
            self._admit(*self._told(self._attempt, _ages))
            self._looked_at = version
        return version

    def _admit(self, min_reader: int, min_writer: int) -> None:
        """Refuse to read what is too new; stop writing beside what is newer."""
        if min_reader > READS_AS:
            raise StoreTooNew(
                f"The store {self.url} was written by a newer pullstate: restart this client to "
                "get it."
            )
        self.read_only = min_writer > READS_AS or not self._database.writable

    def _again(self, call: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        """A read may be repeated where the server closed the connection that was kept."""
        try:
            return call(*args, **kwargs)
        except DRIVER_ERRORS as error:
            if self.path or not is_disconnect(error):
                raise
        return call(*args, **kwargs)

    def _told(self, call: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        try:
            return call(*args, **kwargs)
        except DRIVER_ERRORS as error:
            raise self._meaning(error) from error

    def _meaning(self, error: Exception) -> StoreError:
        meaning = translate(error, self.url)
        if isinstance(meaning, StoreDamaged) and self.path and self._database.writable:
            return self._mend(self.path)
        return meaning

    def _mend(self, path: Path) -> StoreDamaged:
        aside = set_aside(path)
        if aside is None and self._database.replaced():
            return StoreDamaged(f"The store {path} was damaged; it has been set aside. Try again.")
        if aside is None:
            return StoreDamaged(
                f"The store {path} gave an error that its own checks do not explain. Try again; if "
                "it stays, move the file away: it is filled anew from the forges."
            )
        note = f"the store was damaged and has been moved to {aside}; it is being filled anew"
        self._note(note)
        return StoreDamaged(note[0].upper() + note[1:] + ".")


def _ages(connection: Connection) -> tuple[int, int]:
    min_reader, min_writer = connection.execute(AGES).one()
    return min_reader, min_writer


def _fenced(fence: Fence, command: Callable[..., T], *args: Any, **kwargs: Any) -> Any:
    """Called as `_fenced(fence, command, connection, …)`: prove the lease, then go on."""
    connection, *rest = args
    if not holds(connection, fence):
        raise FencedOut(f"The lease {fence.key} belongs to another process now.")
    return command(connection, *rest, **kwargs)
