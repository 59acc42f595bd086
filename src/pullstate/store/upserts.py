"""INSERT … ON CONFLICT, which both databases spell alike and SQLAlchemy keeps in their dialects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, or_
from sqlalchemy.dialects import postgresql, sqlite


def insert_into(connection: Connection, table: Table) -> Any:
    """An insert of the connection's dialect, which knows `on_conflict_do_update`."""
    return insert_of(connection.dialect.name, table)


def insert_of(dialect: str, table: Table) -> Any:
    """The same for a statement that is prepared once."""
    return (postgresql if dialect == "postgresql" else sqlite).insert(table)


def put(connection: Connection, table: Table, key: dict[str, Any], values: dict[str, Any]) -> None:
    """Insert a row, or set its values where its key is there already."""
    insert = insert_into(connection, table).values(**key, **values)
    connection.execute(insert.on_conflict_do_update(index_elements=list(key), set_=values))


def prepared(table: Table, key: Iterable[str], columns: Iterable[str]) -> dict[str, Any]:
    """For each dialect, an upsert of `columns` that leaves a row alone where nothing differs."""
    return {
        dialect: _upsert(insert_of(dialect, table), table, list(key), list(columns))
        for dialect in ("sqlite", "postgresql")
    }


def _upsert(insert: Any, table: Table, key: list[str], columns: list[str]) -> Any:
    return insert.on_conflict_do_update(
        index_elements=key,
        set_={name: insert.excluded[name] for name in columns},
        where=differs(table, insert.excluded, columns),
    )


def differs(table: Table, excluded: Any, columns: Iterable[str]) -> ColumnElement[bool]:
    """Whether any of the columns would become another value."""
    return or_(*(table.c[name].is_distinct_from(excluded[name]) for name in columns))
