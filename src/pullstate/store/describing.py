"""What a person wants to know of a store: where it lies, how big it is, what it runs on."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, text

from pullstate.store.engine import Store

# Two writers can, very rarely, damage a database in older ones. https://sqlite.org/wal.html
_FIXED = ((3, 44, 6), (3, 50, 7), (3, 51, 3))


@dataclass(frozen=True, slots=True)
class Description:
    """`size` is in bytes, with the journal; `has_wal_fix` is None where there is no WAL of ours."""

    url: str
    path: Path | None
    size: int
    revision: str
    journal_mode: str | None
    database: str
    has_wal_fix: bool | None
    read_only: bool
    notes: tuple[str, ...]


def describe(store: Store) -> Description:
    """A store's place, size, revision and database. Raises a StoreError where it cannot be read."""
    revision, journal_mode, database, size = store.read_now(_ask)
    return Description(
        url=store.url,
        path=store.path,
        size=size if store.path is None else _size(store.path),
        revision=revision,
        journal_mode=journal_mode,
        database=database,
        has_wal_fix=has_wal_fix() if store.path else None,
        read_only=store.read_only,
        notes=store.notes,
    )


def has_wal_fix(version: Sequence[int] = sqlite3.sqlite_version_info) -> bool:
    """Whether this SQLite cannot damage a database that two processes write."""
    found = tuple(version)
    return any(fixed <= found < (fixed[0], fixed[1] + 1) for fixed in _FIXED) or found >= _FIXED[-1]


def _ask(connection: Connection) -> tuple[str, str | None, str, int]:
    revision = connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one()
    if connection.dialect.name == "sqlite":
        mode = connection.exec_driver_sql("PRAGMA journal_mode").scalar_one()
        return revision, mode, f"SQLite {sqlite3.sqlite_version}", 0
    version = connection.execute(text("SHOW server_version")).scalar_one()
    size = connection.execute(text("SELECT pg_database_size(current_database())")).scalar_one()
    return revision, None, f"PostgreSQL {version}", size


def _size(path: Path) -> int:
    files = (path.with_name(path.name + suffix) for suffix in ("", "-wal", "-shm"))
    return sum(file.stat().st_size for file in files if file.exists())
