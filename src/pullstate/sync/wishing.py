"""The asker's side of a wish: leave it, wait for whoever syncs, bounded, and say how it ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeVar

import anyio
from sqlalchemy import Connection

from pullstate.domain.freshness import unserved
from pullstate.store import lease, reading, wishes
from pullstate.store.engine import Store
from pullstate.store.wishes import Granted, WishKind, WishOutcome
from pullstate.sync.backfill import OPEN
from pullstate.sync.clock import Clock, SystemClock
from pullstate.sync.concurrency import version_of
from pullstate.sync.readers import ReaderName

T = TypeVar("T")
LookedIn = Callable[[str], tuple[str, ...]]

LOOK = 0.1  # seconds between two looks for the outcome
FAILED = "failed"


@dataclass(slots=True)
class Wisher:
    """What tools use. `kick` wakes this process's own loop; without one, others may still serve.

    `listed` is set once that loop has entered itself among the live ones: just after the start
    nobody seems to read the site. `looked_in` names where it looks for a token of a site.
    """

    store: Store
    kick_loop: Callable[[], None] = lambda: None
    clock: Clock = field(default_factory=SystemClock)
    listed: anyio.Event | None = None
    looked_in: LookedIn = lambda site_url: ()

    def kick(self) -> None:
        """Something is wanted: look now."""
        self.kick_loop()

    async def wish(
        self, kind: WishKind, repository_id: int, target: str, timeout: float
    ) -> Granted:
        """Wish for a read that begins now; wait at most `timeout` seconds for its outcome.

        Raises StoreError where the wish cannot be left.
        """
        self.kick()
        now = self.clock.now()
        deadline = now + timedelta(seconds=timeout)
        if why := await self._why_not(repository_id, deadline):
            return Granted(False, why=why)
        id_ = await self.store.write(
            wishes.wish, kind, repository_id, target, deadline, wanted_at=now
        )
        self.kick()
        return _granted(await self._until(deadline, wishes.outcome, id_), timeout)

    async def swept(self, repository_id: int, timeout: float) -> Granted:
        """Wait for a repository's first sweep, at most `timeout` seconds, where somebody reads it.

        Over at once where it fails, and where only old ones are missing: those may take long.
        """
        self.kick()
        deadline = self.clock.now() + timedelta(seconds=timeout)
        if why := await self._why_not(repository_id, deadline):
            return Granted(False, why=why)
        if (await self.store.read(reading.sweep, repository_id)).stage != OPEN:
            return Granted(False)
        ended = await self._until(deadline, _sweep_ended, repository_id)
        return ended or Granted(False, why="it goes on: ask again in a few seconds")

    async def _why_not(self, repository_id: int, deadline: datetime) -> str | None:
        """Why nobody can read a repository before `deadline`; None where somebody can."""
        was_listed = self.listed is None or self.listed.is_set()
        given = (deadline, self.looked_in)
        why = await self.store.read(_why_not, repository_id, self.clock.now(), *given)
        if why and not was_listed and await self._is_listed_by(deadline):
            why = await self.store.read(_why_not, repository_id, self.clock.now(), *given)
        return why

    async def _is_listed_by(self, deadline: datetime) -> bool:
        """Wait for this process's loop, which is on its way; whether it arrived."""
        assert self.listed is not None
        with anyio.move_on_after((deadline - self.clock.now()).total_seconds()):
            await self.listed.wait()
        return self.listed.is_set()

    async def _until(
        self, deadline: datetime, find: Callable[[Connection, int], T | None], id_: int
    ) -> T | None:
        """What `find` finds in the store of the row `id_`, once it does; None by `deadline`."""
        seen: int | None = None
        while True:
            over = self.clock.now() >= deadline
            version = await version_of(self.store)
            if version != seen or over:
                seen = version
                if found := await self.store.read(find, id_):
                    return found
            if over:
                return None
            await self.clock.sleep(LOOK)


def _granted(found: WishOutcome | None, timeout: float) -> Granted:
    if found is None:
        return Granted(False, why=f"the forge was not read within {round(timeout, 1):g} seconds")
    fulfilled = found.outcome != FAILED
    return Granted(fulfilled, found.outcome, None if fulfilled else found.detail)


def _sweep_ended(conn: Connection, repository_id: int) -> Granted | None:
    known = reading.sweep(conn, repository_id)
    if known.swept:
        return Granted(True, "read")
    return Granted(False) if known.fault else None


def _why_not(
    conn: Connection, repository_id: int, now: datetime, deadline: datetime, looked_in: LookedIn
) -> str | None:
    """Why nobody can fulfil a wish before its deadline; None where somebody can."""
    known = reading.repository_by_id(conn, repository_id)
    if known is None:
        return "the repository is not stored"
    readers = _readers(conn, known.site_url, now)
    if not readers:
        return unserved(known.site_url, looked_in(known.site_url))
    paused = [_paused_until(conn, name, deadline) for name in readers]
    if all(paused):
        until = min(filter(None, paused))
        return f"the forge's rate limit is used up until {until:%Y-%m-%dT%H:%M:%SZ}"
    return None


def _readers(conn: Connection, site_url: str, now: datetime) -> list[ReaderName]:
    names = [ReaderName.parse(text) for each in lease.live(conn, now) for text in each.readers]
    return [name for name in names if name.site_url == site_url]


def _paused_until(conn: Connection, name: ReaderName, deadline: datetime) -> datetime | None:
    """When a limit on everything ends, where that is after the deadline."""
    limit = reading.limits(conn, name.key).get("*")
    until = limit.not_before if limit else None
    return until if until and until > deadline else None
