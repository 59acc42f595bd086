"""Time as the loop sees it, so that tests can hold it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Protocol

import anyio


class Clock(Protocol):
    """Tells the time and waits."""

    def now(self) -> datetime:
        """The time, aware, in UTC."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return once so many seconds have passed; at once where there are none."""
        ...


class SystemClock:
    """The machine's own."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        await anyio.sleep(max(seconds, 0))
