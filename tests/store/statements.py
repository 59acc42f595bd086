"""What a store says to its database, and how SQLite means to go about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine, event

from pullstate.store.engine import Store


@contextmanager
def listening(note: Callable[..., None]) -> Iterator[None]:
    """Call `note` before every statement of any engine."""
    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def written(act: Callable[[], object]) -> list[str]:
    """The statements that write while something is done."""
    seen: list[str] = []

    def note(_connection, _cursor, statement, *_rest):
        if statement.startswith(("INSERT", "UPDATE", "DELETE")):
            seen.append(statement)

    with listening(note):
        act()
    return seen


def plan(
    store: Store, query: Callable[..., object], *args: object, of: str, **asked: object
) -> list[str]:
    """SQLite's plan for the statements on a table that a query of the store runs."""

    def explain(connection: Connection) -> list[str]:
        driver = connection.connection.dbapi_connection
        ran: list[str] = []
        driver.set_trace_callback(ran.append)
        query(connection, *args, **asked)
        driver.set_trace_callback(None)
        reads = [statement for statement in ran if statement.startswith(f"SELECT {of}.")]
        plans = [driver.execute(f"EXPLAIN QUERY PLAN {statement}") for statement in reads]
        return [row[-1] for rows in plans for row in rows]

    return store.read_now(explain)
