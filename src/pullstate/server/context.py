"""What every tool call has at hand."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

import anyio

from pullstate.domain.address import Site
from pullstate.domain.diff_exclusion import DiffExclusionPolicy
from pullstate.store.engine import Store
from pullstate.store.wishes import Granted, WishKind


class Wisher(Protocol):
    """Asks whoever syncs for a read that begins now, and waits for it, bounded."""

    async def wish(
        self, kind: WishKind, repository_id: int, target: str, timeout: float
    ) -> Granted:
        """How it ended after at most `timeout` seconds. StoreError."""
        ...

    async def swept(self, repository_id: int, timeout: float) -> Granted:
        """Wait for a repository's first sweep, at most `timeout` seconds; fulfilled once it is."""
        ...

    def kick(self) -> None:
        """Something is wanted: look now."""
        ...


@dataclass(slots=True)
class Allowance:
    """How many repositories this process may take up by asking: `most` in each `span`."""

    most: int = 20
    span: timedelta = timedelta(hours=1)
    turn: anyio.Lock = field(default_factory=anyio.Lock)
    _spent: deque[datetime] = field(default_factory=deque)

    def spent(self, now: datetime) -> bool:
        """Whether one more would be too many."""
        while self._spent and self._spent[0] <= now - self.span:
            self._spent.popleft()
        return len(self._spent) >= self.most

    def spend(self, now: datetime) -> None:
        """One more was taken up."""
        self._spent.append(now)


def looked_nowhere(site_url: str) -> tuple[str, ...]:
    """A process that does not sync looks for no token."""
    return ()


@dataclass(frozen=True, slots=True)
class Context:
    """The store, the configured sites, and the way to ask the loop for more."""

    store: Store
    sites: tuple[Site, ...]
    wisher: Wisher
    clock: Callable[[], datetime]
    default_site: Site  # where owner/repo lives when no host is named
    default_gitlab: Site
    exclusion: DiffExclusionPolicy
    patience: float = 5.0  # seconds that a call waits for the loop at most
    allowance: Allowance = field(default_factory=Allowance)
    looked_in: Callable[[str], tuple[str, ...]] = looked_nowhere  # for a token of a site's URL
