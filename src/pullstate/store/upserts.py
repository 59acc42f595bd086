"""INSERT … ON CONFLICT, which both databases spell alike and SQLAlchemy keeps in their dialects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from sqlalchemy import ColumnElement, Connection, Dialect, Table, or_
from sqlalchemy.dialects import postgresql, sqlite

from pullstate.store.columns import UtcTime


def insert_into(connection: Connection, table: Table) -> Any:
    """An insert of the connection's dialect, which knows `on_conflict_do_update`."""
    return insert_of(connection.dialect.name, table)


def insert_of(dialect: str, table: Table) -> Any:
    """The same for a statement that is prepared once."""
    return (postgresql if dialect == "postgresql" else sqlite).insert(table)


def put(
    connection: Connection,
    table: Table,
    key: dict[str, Any],
    values: dict[str, Any],
    *,
    first: Mapping[str, Any] | None = None,
) -> None:
    """Insert a row, or set its values where its key is there; `first` counts when inserted."""
    insert = insert_into(connection, table).values(**key, **values, **(first or {}))
    connection.execute(insert.on_conflict_do_update(index_elements=list(key), set_=values))


Values = Callable[[Any], dict[str, Any]]
_Compiled = tuple[str, Callable[[Any], Any], list[int], Callable[[Any], Any]]


class Upsert:
    """Many rows at once: inserted, or corrected where their key is there and anything differs.

    The statement is compiled once for each database and run by the driver's own `executemany`:
    half of the time that SQLAlchemy takes for a row goes into its parameters.
    """

    def __init__(
        self,
        table: Table,
        key: Sequence[str],
        columns: Sequence[str],
        *,
        kept: Sequence[str] = (),
        corrected: Values | None = None,
    ) -> None:
        """`kept` columns are written by the insert alone. `corrected` gives what an update sets,
        from the row that was to be inserted, where that is not simply `columns`."""
        self._table = table
        self._key = list(key)
        self._columns = list(columns)
        self._names = [*key, *kept, *columns]
        self._corrected = corrected
        self._compiled: dict[str, _Compiled] = {}

    def run(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write rows; each names every column."""
        if not rows:
            return
        dialect = connection.dialect
        if dialect.name not in self._compiled:
            self._compiled[dialect.name] = self._compile(dialect)
        text, pick, times, store = self._compiled[dialect.name]
        values = [tuple(_bound(pick(row), times, store)) for row in rows]
        connection.exec_driver_sql(text, values)

    def _compile(self, dialect: Dialect) -> _Compiled:
        statement = self._statement(dialect.name)
        compiled = statement.compile(dialect=dialect, column_keys=self._names)
        text, order = str(compiled), compiled.positiontup
        if order is None:  # psycopg names its parameters
            order = sorted(self._names, key=lambda name: text.index(f"%({name})s"))
            text = text % dict.fromkeys(order, "%s")
        types = [self._table.c[name].type for name in order]
        times = [index for index, kind in enumerate(types) if isinstance(kind, UtcTime)]
        return text, itemgetter(*order), times, UtcTime().bind_processor(dialect)

    def _statement(self, dialect: str) -> Any:
        insert = insert_of(dialect, self._table).inline()
        if self._corrected is not None:
            corrected = self._corrected(insert.excluded)
            return insert.on_conflict_do_update(index_elements=self._key, set_=corrected)
        return insert.on_conflict_do_update(
            index_elements=self._key,
            set_={name: insert.excluded[name] for name in self._columns},
            where=differs(self._table, insert.excluded, self._columns),
        )


def _bound(values: tuple[Any, ...], times: list[int], store: Callable[[Any], Any]) -> list[Any]:
    bound = list(values)
    for index in times:
        bound[index] = store(bound[index])
    return bound


def differs(table: Table, excluded: Any, columns: Iterable[str]) -> ColumnElement[bool]:
    """Whether any of the columns would become another value."""
    return or_(*(table.c[name].is_distinct_from(excluded[name]) for name in columns))
