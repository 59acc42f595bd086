"""Statements of the hot path, compiled once.

SQLite answers in microseconds what SQLAlchemy takes ten times as long to ask: there a prepared
statement goes to the driver as it is. A server is worth the whole way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Dialect, Select
from sqlalchemy.types import TypeEngine

from pullstate.store.columns import UtcTime, time_of_text

Process = Callable[[Any], Any]


class Prepared:
    """A SELECT without lists among its parameters."""

    def __init__(self, statement: Select[Any]) -> None:
        self.statement = statement
        self._compiled: _Compiled | None = None

    def all(self, connection: Connection, given: Mapping[str, Any]) -> Sequence[Sequence[Any]]:
        """Every row. The connection is in a transaction."""
        if connection.dialect.name != "sqlite":
            return connection.execute(self.statement, given).all()
        if self._compiled is None:
            self._compiled = _Compiled(self.statement, connection.dialect)
        driver: Any = connection.connection.dbapi_connection
        return self._compiled.run(driver, given)

    def first(self, connection: Connection, given: Mapping[str, Any]) -> Sequence[Any] | None:
        """The only row, or None."""
        rows = self.all(connection, given)
        return rows[0] if rows else None


class _Compiled:
    """A statement as SQLite takes it, and how its values go in and come out."""

    def __init__(self, statement: Select[Any], dialect: Dialect) -> None:
        compiled = statement.compile(dialect=dialect)
        self._text = str(compiled)
        self._given = [
            (name, compiled.params[name], compiled.binds[name].type.bind_processor(dialect))
            for name in compiled.positiontup or ()
        ]
        self._readers = [
            (index, read)
            for index, column in enumerate(statement.selected_columns)
            if (read := _reader(column.type, dialect)) is not None
        ]

    def run(self, driver: Any, given: Mapping[str, Any]) -> list[list[Any]]:
        values = [
            given.get(name, default) if bind is None else bind(given.get(name, default))
            for name, default, bind in self._given
        ]
        return [self._read(row) for row in driver.execute(self._text, values)]

    def _read(self, row: Sequence[Any]) -> list[Any]:
        values = list(row)
        for index, read in self._readers:
            value = values[index]
            if value is not None:
                values[index] = read(value)
        return values


def _reader(kind: TypeEngine[Any], dialect: Dialect) -> Process | None:
    """How a value that is there is read; None for one that is what it is."""
    return time_of_text if isinstance(kind, UtcTime) else kind.result_processor(dialect, None)
