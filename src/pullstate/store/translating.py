"""Errors of the databases' drivers → the store's own, with words that say what to do."""

from __future__ import annotations

import sqlite3

from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from pullstate.store.errors import (
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreUnreachable,
    Untracked,
)

DRIVER_ERRORS = (SQLAlchemyError, sqlite3.Error)

_SQLITE = {
    "SQLITE_BUSY": StoreBusy,
    "SQLITE_LOCKED": StoreBusy,
    "SQLITE_FULL": StoreFull,
    "SQLITE_READONLY": StoreReadOnly,
    "SQLITE_PERM": StoreReadOnly,
    "SQLITE_CORRUPT": StoreDamaged,
    "SQLITE_NOTADB": StoreDamaged,
    "SQLITE_CANTOPEN": StoreUnreachable,
    "SQLITE_IOERR": StoreUnreachable,
    "SQLITE_PROTOCOL": StoreBusy,
    "SQLITE_NOLFS": StoreFull,
}

# https://www.postgresql.org/docs/current/errcodes-appendix.html, longest prefix first
_POSTGRES = {
    "23503": Untracked,  # its repository was purged by another process
    "25006": StoreReadOnly,
    "25P03": StoreBusy,  # idle in transaction for too long
    "40": StoreBusy,  # serialization, deadlock
    "42501": StoreReadOnly,
    "53100": StoreFull,
    "53": StoreBusy,  # out of connections, of memory
    "55P03": StoreBusy,
    "57014": StoreBusy,
    "57": StoreUnreachable,
    "58": StoreUnreachable,
    "08": StoreUnreachable,
    "28": StoreUnreachable,
    "3D": StoreUnreachable,
    "XX": StoreDamaged,
}

_WORDS = {
    StoreBusy: "The store {at} is busy: another process has been writing for too long. Try again.",
    StoreFull: "The disk of the store {at} is full: make room, then try again.",
    StoreReadOnly: "The store {at} cannot be written: check its permissions, or name another one.",
    StoreDamaged: "The store {at} is damaged.",
    StoreUnreachable: "The store {at} cannot be reached: check that it is there and open to you.",
    Untracked: "The repository is no longer stored.",
    StoreError: "The store {at} could not do what was asked.",
}


def translate(error: Exception, at: str) -> StoreError:
    """The store's error for a driver's; `at` is the store's place as a person may see it."""
    kind = kind_of(error)
    return kind(_WORDS[kind].format(at=at))


def kind_of(error: Exception) -> type[StoreError]:
    """Which of the store's errors a driver's is."""
    if isinstance(error, PoolTimeout):
        return StoreBusy
    cause = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(cause, sqlite3.Error):
        return _of_sqlite(cause)
    if isinstance(cause, ImportError):
        return StoreUnreachable
    state = getattr(cause, "sqlstate", None)
    if state is None:
        return StoreUnreachable if is_disconnect(error) else StoreError
    return next((kind for code, kind in _POSTGRES.items() if state.startswith(code)), StoreError)


def is_disconnect(error: Exception) -> bool:
    """The server went away, or was never there: a statement of its own was not at fault."""
    if not isinstance(error, DBAPIError):
        return False
    return error.connection_invalidated or (
        type(error.orig).__name__ in ("OperationalError", "ConnectionTimeout", "InterfaceError")
        and getattr(error.orig, "sqlstate", None) is None
    )


def _of_sqlite(cause: sqlite3.Error) -> type[StoreError]:
    name = getattr(cause, "sqlite_errorname", None)
    if name is None:
        return StoreError
    if name in ("SQLITE_IOERR_CORRUPTFS", "SQLITE_IOERR_DATA"):
        return StoreDamaged
    if name in ("SQLITE_IOERR_SHMSIZE",):
        return StoreFull
    base = "_".join(name.split("_")[:2])
    return _SQLITE.get(base, StoreError)
