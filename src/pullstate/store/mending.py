"""A damaged file is moved aside, whole, by one process; a new one is filled from the forges."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from pullstate.store.connecting import BUSY_SECONDS, connect_file
from pullstate.store.errors import StoreBusy, StoreDamaged
from pullstate.store.location import make_private_file

_DAMAGE = ("SQLITE_CORRUPT", "SQLITE_NOTADB")
_BESIDE = ("-wal", "-shm")


def is_damage(error: sqlite3.Error) -> bool:
    """Whether an error says that the file is no sound database."""
    return (getattr(error, "sqlite_errorname", None) or "").startswith(_DAMAGE)


def is_damaged(path: Path) -> bool:
    """Whether the file fails SQLite's own checks; False when it is merely busy or absent.

    The whole check takes seconds for each gigabyte: it is made of a file that gave an error.
    """
    try:
        with closing(connect_file(path)) as connection:
            return not (
                _passes(connection, "quick_check") and _passes(connection, "integrity_check")
            )
    except sqlite3.Error as error:
        return is_damage(error)


def _passes(connection: sqlite3.Connection, check: str) -> bool:
    found = connection.execute(f"PRAGMA {check}(1)").fetchone()
    return found is None or found[0] == "ok"


def set_aside(path: Path) -> Path | None:
    """Move a damaged file away with its journal and put an empty one in its place.

    Only the process that holds the lock beside the store does it; one that comes later finds a
    sound file and None. The journal goes along: it belongs to the damaged file, and would be
    replayed into the new one.
    """
    from filelock import FileLock, Timeout

    try:
        with FileLock(path.with_name(path.name + ".lock"), timeout=2 * BUSY_SECONDS, mode=0o600):
            return _move(path) if is_damaged(path) else None
    except Timeout:
        raise StoreBusy(f"Another process is mending the store {path}. Try again.") from None
    except OSError as error:
        raise StoreDamaged(
            f"The store {path} is damaged and cannot be moved aside: {error.strerror}."
        ) from None


def _move(path: Path) -> Path:
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
    aside = path.with_name(f"{path.name}.damaged-{stamp}")
    for suffix in _BESIDE:
        journal = path.with_name(path.name + suffix)
        if journal.exists():
            journal.replace(aside.with_name(aside.name + suffix))
    path.replace(aside)
    make_private_file(path)
    return aside
