"""What a store says to its database, and how SQLite means to go about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy import Engine, event


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


def plan(act: Callable[[], object], of: str) -> list[str]:
    """SQLite's plan for the statements that read a table while something is done."""
    lines: list[str] = []

    def explain(_connection, cursor, statement, parameters, *_rest):
        if statement.startswith(f"SELECT {of}."):
            rows = cursor.connection.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)
            lines.extend(row[-1] for row in rows)

    with listening(explain):
        act()
    return lines
