"""What was learned within the last hour, and need not be asked again."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from datetime import datetime, timedelta
from typing import Generic, TypeVar

FOR = timedelta(hours=1)
AT_MOST = 10_000  # things; all are forgotten when there are more

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Kept(Generic[Key, Value]):
    """Values by key, each for an hour."""

    def __init__(self, clock: Callable[[], datetime], at_most: int = AT_MOST) -> None:
        self._clock, self._at_most = clock, at_most
        self._known: dict[Key, tuple[Value, datetime]] = {}

    def put(self, key: Key, value: Value) -> Value:
        """Keep a value, and give it back."""
        if len(self._known) >= self._at_most:
            self._known.clear()
        self._known[key] = value, self._clock() + FOR
        return value

    def get(self, key: Key) -> Value | None:
        """The value, unless it is older than an hour."""
        value, until = self._known.get(key, (None, None))
        return value if until is not None and self._clock() < until else None
