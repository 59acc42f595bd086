"""What a session does while it leads, in three lanes beside each other: wishes, upkeep, backfill.

A lane asks one thing of the forge at a time; what is wanted now never waits for a long walk.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

import anyio
from sqlalchemy import Connection

from pullstate.store import interest, wishes
from pullstate.store.agenda import Charge
from pullstate.store.feed import prune_changes
from pullstate.sync import backfill, serving
from pullstate.sync.backfill import Leg, Walk, walk_of
from pullstate.sync.budget import Purpose
from pullstate.sync.charges import held_until, identified
from pullstate.sync.concurrency import version_of
from pullstate.sync.schedule import HOUR
from pullstate.sync.serving import Errand
from pullstate.sync.session import Session
from pullstate.sync.turns import attempt
from pullstate.sync.upkeep import Round, mine

Start = Callable[[Callable[[], Awaitable[None]]], None]

LOOK = timedelta(milliseconds=100)  # for wishes
LOOK_AGAIN = timedelta(seconds=1)  # for what others changed in the store
AT_ONCE = 4  # wishes that are read for at the same time
STRETCH = 10  # pages of one walk before the next repository has its turn
CHANGES_KEPT = timedelta(days=30)
_URGENCY = {backfill.OPEN: 0, backfill.ALL: 1, backfill.REST: 2}


@dataclass(frozen=True, slots=True)
class Rest:
    """A lane had nothing to do at a version of the store, and will not before a time."""

    version: int
    until: datetime


@dataclass(slots=True)
class Lanes:
    """The lanes of one session."""

    session: Session
    _under_way: set[object] = field(default_factory=set)
    _at_once: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(AT_ONCE))
    _kept_house_at: datetime | None = None
    _turns: dict[int, int] = field(default_factory=dict)
    _resting: dict[str, Rest] = field(default_factory=dict)

    async def charges(self) -> dict[int, Charge]:
        """The repositories that are this session's to read."""
        session = self.session
        return await session.read(
            mine, session.key, session.reader.site.url, session.now(), session.within
        )

    async def wishes(self, start: Start) -> datetime:
        """Start to read for every open wish that nobody reads for yet."""
        session, now = self.session, self.session.now()
        if await self._rests("wishes"):
            return now + LOOK
        self._resting["wishes"] = Rest(await version_of(session.store), now + LOOK_AGAIN)
        open_ones = await session.read(wishes.open_wishes, session.reader.site.url, now)
        waiting = [e for e in serving.errands(open_ones) if e.key not in self._under_way]
        charges = await self.charges() if waiting else {}
        for errand in waiting:
            if errand.repository_id in charges:
                self._under_way.add(errand.key)
                start(partial(self._grant, charges[errand.repository_id], errand))
        return now + LOOK

    async def _grant(self, charge: Charge, errand: Errand) -> None:
        try:
            async with self._at_once:
                await serving.grant(self.session, charge, errand)
        finally:
            self._under_way.discard(errand.key)

    async def upkeep(self) -> datetime:
        """One round over what is due."""
        now = self.session.now()
        if await self._rests("upkeep"):
            return now + LOOK_AGAIN
        version = await version_of(self.session.store)
        if self._kept_house_at is None or now - self._kept_house_at > HOUR:
            self._kept_house_at = now
            await self.session.commit(_keep_house, now)
        again = await Round(self.session, await self.charges(), now).run()
        self._resting["upkeep"] = Rest(version, again)
        return min(again, now + LOOK_AGAIN)

    async def backfill(self) -> datetime:
        """A stretch of the walk that has waited longest, open ones before all others."""
        session, now = self.session, self.session.now()
        if await self._rests("backfill"):
            return now + LOOK_AGAIN
        version = await version_of(session.store)
        walks = [w for charge in (await self.charges()).values() if (w := walk_of(charge))]
        ready = [walk for walk in walks if self._ready_at(walk, now) <= now]
        if not ready:
            until = min((self._ready_at(walk, now) for walk in walks), default=now + HOUR)
            self._resting["backfill"] = Rest(version, until)
            return min(until, now + LOOK_AGAIN)
        walk = min(ready, key=self._urgency)
        id_ = walk.charge.repository.id
        self._turns[id_] = max(self._turns.values(), default=0) + 1
        await attempt(session, walk.charge, self._walk, walk)
        return session.now()

    def _ready_at(self, walk: Walk, now: datetime) -> datetime:
        session = self.session
        affordable = session.ledger.waits_until(walk.purpose, session.interval, now)
        opens = session.closed_until(walk.question)
        return max(held_until(walk.charge, now), affordable or now, opens or now)

    async def _rests(self, lane: str) -> bool:
        """Whether nothing was written and nothing came due since a lane looked last."""
        rest = self._resting.get(lane)
        if rest is None or self.session.now() >= rest.until:
            return False
        return await version_of(self.session.store) == rest.version

    def _urgency(self, walk: Walk) -> tuple[bool, int, int]:
        last_turn = self._turns.get(walk.charge.repository.id, 0)
        return walk.purpose is Purpose.REST, _URGENCY[walk.stage], last_turn

    async def _walk(self, walk: Walk) -> None:
        session = self.session
        charge = await backfill.begin(session, await identified(session, walk.charge))
        pages = 0

        def _go_on(leg: Leg) -> bool:
            nonlocal pages
            pages += 1
            now = session.now()
            as_urgent = leg.after.purpose is walk.purpose and self._ready_at(leg.after, now) <= now
            return as_urgent and pages < STRETCH and not session.ending.is_set()

        if again := walk_of(charge):
            await backfill.run(session, again, _go_on)


def _keep_house(conn: Connection, now: datetime) -> None:
    """Forget what nobody needs any more."""
    interest.expire_interest(conn, now)
    wishes.drop_expired(conn, now)
    prune_changes(conn, now - CHANGES_KEPT)
