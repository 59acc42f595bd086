"""Bringing a database to this version's schema, by one process while the others wait."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, text
from sqlalchemy.exc import DBAPIError

import pullstate
from pullstate.store.connecting import BUSY_MS, WRITES
from pullstate.store.errors import StoreDamaged, StoreUnreachable
from pullstate.store.schema import REVISION, feed, metadata, store

MIN_READER = 1  # the oldest `READS_AS` that may read what this version writes
MIN_WRITER = 1  # the oldest that may write beside it

PATIENCE = 60  # seconds: an upgrade is waited for longer than a write
_LOCK = 0x70756C6C73746174  # "pullstat": the key of PostgreSQL's advisory lock
_REVISION = text("SELECT version_num FROM alembic_version")


def migrations_folder() -> Path:
    """Where the migrations lie: in an installed package, or at the top of a checkout."""
    package = Path(pullstate.__file__).parent
    shipped = package / "migrations"
    return shipped if shipped.is_dir() else package.parents[1] / "migrations"


def upgrade(engine: Engine) -> bool:
    """Create or upgrade the schema where it is behind; True if it was.

    One SELECT tells; Alembic is imported only when there is something to do. However many
    processes come at once, one upgrades and the others find it done. A newer schema is left alone.
    """
    if not is_behind(engine):
        return False
    from alembic import command  # noqa: F401  # it takes its time: not under the lock

    with engine.connect().execution_options(**{WRITES: True}) as connection:
        if engine.dialect.name == "sqlite":
            return _upgrade_file(connection)
        with connection.begin():
            connection.execute(text(f"SET LOCAL lock_timeout = '{PATIENCE}s'"))
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
            return _upgrade(connection)


def is_behind(engine: Engine) -> bool:
    """Whether the schema is older than this version's, or not there at all."""
    revision = stored_revision(engine)
    return revision is None or revision < REVISION


def stored_revision(engine: Engine) -> str | None:
    """The schema's revision; None where there is no schema yet."""
    with engine.connect() as connection:
        try:
            return connection.execute(_REVISION).scalar()
        except DBAPIError as error:
            if _is_missing_table(error):
                return None
            raise


def _is_missing_table(error: DBAPIError) -> bool:
    state = getattr(error.orig, "sqlstate", None)
    return state == "42P01" or "no such table" in str(error.orig)


def _upgrade_file(connection: Connection) -> bool:
    """Batch operations copy tables: with foreign keys on, dropping the old one takes its children.

    The pragma does nothing inside a transaction, so it goes before BEGIN; the check of what it
    let through goes before COMMIT. https://alembic.sqlalchemy.org/en/latest/batch.html
    """
    raw = connection.connection.dbapi_connection
    raw.execute(f"PRAGMA busy_timeout={PATIENCE * 1000}")  # type: ignore[union-attr]
    raw.execute("PRAGMA foreign_keys=OFF")  # type: ignore[union-attr]
    try:
        with connection.begin():
            done = _upgrade(connection)
            if connection.exec_driver_sql("PRAGMA foreign_key_check").first() is not None:
                raise StoreDamaged("An upgrade of the store would have left rows without parents.")
            return done
    finally:
        raw.execute("PRAGMA foreign_keys=ON")  # type: ignore[union-attr]
        raw.execute(f"PRAGMA busy_timeout={BUSY_MS}")  # type: ignore[union-attr]


def _upgrade(connection: Connection) -> bool:
    tables = set(inspect(connection).get_table_names())
    revision = None
    if "alembic_version" in tables:
        revision = connection.execute(_REVISION).scalar()
    if revision is not None and revision >= REVISION:
        return False
    if _is_foreign(connection, tables):
        raise StoreUnreachable(
            "The database belongs to another program: name a file that does not exist yet, or an "
            "empty database."
        )
    _run_alembic(connection)
    _seed(connection)
    return True


def _is_foreign(connection: Connection, tables: set[str]) -> bool:
    """A file is one program's alone; a server's database may hold others' tables beside ours."""
    if not tables or {"alembic_version", "store"} <= tables:
        return False
    if connection.dialect.name == "sqlite" or "alembic_version" in tables:
        return True
    return bool(tables & set(metadata.tables))


def _run_alembic(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(migrations_folder()).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _seed(connection: Connection) -> None:
    """The rows that there is one of."""
    if connection.execute(store.select()).first() is None:
        connection.execute(
            store.insert().values(
                one=1,
                id=secrets.token_hex(8),
                salt=secrets.token_bytes(32),
                min_reader=MIN_READER,
                min_writer=MIN_WRITER,
                created_at=datetime.now(UTC),
            )
        )
        connection.execute(feed.insert().values(one=1, last=0, version=0, pruned=0))
    for column, least in (("min_reader", MIN_READER), ("min_writer", MIN_WRITER)):
        connection.execute(store.update().where(store.c[column] < least).values({column: least}))
