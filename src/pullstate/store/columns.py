"""Column types that behave alike on SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import BigInteger, DateTime, Dialect, Integer, String, TypeDecorator
from sqlalchemy.types import TypeEngine

ID = BigInteger().with_variant(Integer, "sqlite")  # AUTOINCREMENT wants INTEGER


@lru_cache(1024)  # one reading dates many rows alike
def text_of_time(value: datetime) -> str:
    """RFC 3339 in UTC at a fixed width, so that text sorts as time does. ValueError when naive."""
    if value.tzinfo is not UTC:
        value = aware(value)
    return value.isoformat(timespec="microseconds")[:-6] + "Z"


time_of_text = datetime.fromisoformat  # what `text_of_time` wrote


def aware(value: datetime) -> datetime:
    """The same moment in UTC. ValueError when it has no zone."""
    if value.tzinfo is None:
        raise ValueError("a time without a zone cannot be stored")
    return value.astimezone(UTC)


class UtcTime(TypeDecorator[datetime]):
    """An aware time, stored and returned in UTC; a naive one is refused.

    `DateTime(timezone=True)` silently drops the offset on SQLite, so there it is text.
    """

    impl = DateTime(timezone=True)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name == "sqlite":
            return dialect.type_descriptor(String(27))
        return dialect.type_descriptor(DateTime(timezone=True))

    def bind_processor(self, dialect: Dialect) -> Callable[[datetime | None], Any]:
        store = text_of_time if dialect.name == "sqlite" else aware
        return lambda value: None if value is None else store(value)

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:
        if dialect.name == "sqlite":
            return lambda value: None if value is None else time_of_text(value)
        return lambda value: None if value is None else value.astimezone(UTC)
