"""`pullstate sync --once`: bring every repository up to date, then end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import anyio
from sqlalchemy import Connection

from pullstate.domain.freshness import Fault
from pullstate.forges.errors import Unauthorized
from pullstate.store import agenda, reading
from pullstate.store.agenda import Charge, Scope
from pullstate.store.engine import Store
from pullstate.store.errors import FencedOut
from pullstate.store.lease import Fence
from pullstate.store.records import Depth
from pullstate.store.wishes import WishKind
from pullstate.sync import backfill, delta, hot, rollcall, threads
from pullstate.sync.backfill import Leg, Walk, walk_of
from pullstate.sync.budget import Purpose
from pullstate.sync.charges import delta_due_at, identified, roll_call_due_at
from pullstate.sync.clock import Clock, SystemClock
from pullstate.sync.loop import INTERVAL, QUOTA_SHARE
from pullstate.sync.membership import Membership
from pullstate.sync.readers import ForgeSource, Reader
from pullstate.sync.schedule import DAY, THREADS_AGAIN, mergeability_unknown
from pullstate.sync.session import Session
from pullstate.sync.turns import attempt, fail_site
from pullstate.sync.upkeep import mine
from pullstate.sync.wishing import Wisher

PATIENCE = 60.0  # seconds that another process which leads has for what it is asked
NOBODY = "no credential of this process reads it"


@dataclass(frozen=True, slots=True)
class Progress:
    """What is told of a repository while it is brought up to date."""

    url: str
    stage: str  # "open", "all", "rest", "changes", "threads", "done"
    rows: int = 0  # read in this stage so far


@dataclass(frozen=True, slots=True)
class Synced:
    """Where a repository stands at the end."""

    url: str
    swept: bool
    stored: int
    unsettled: tuple[int, ...] = ()  # numbers whose mergeability the forge has not said yet
    fault: Fault | None = None
    elsewhere: str | None = None  # not read by this process: why, or what came of asking another


@dataclass(slots=True)
class Once:
    """One pass over everything that this process can read."""

    store: Store
    source: ForgeSource
    version: str
    interval: timedelta = INTERVAL
    quota_share: float = QUOTA_SHARE
    clock: Clock = field(default_factory=SystemClock)
    patience: float = PATIENCE
    tell: Callable[[Progress], None] = lambda progress: None
    membership: Membership = field(init=False)
    _done: dict[int, str | None] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.membership = Membership(self.store, self.version, self.clock)

    async def run(self) -> list[Synced]:
        """Read what is due and what was never read; where everything stands then."""
        try:
            tried: set[str] = set()
            while readers := [r for r in await self.source.readers() if r.key not in tried]:
                await self.membership.appear(await self.source.readers())
                for reader in readers:
                    tried.add(reader.key)
                    await self._as(reader)
        finally:
            await self.membership.leave()
        return await self.store.read(_results, self._done)

    async def _as(self, reader: Reader) -> None:
        fence = await self.membership.take(reader.name)
        if fence is None:
            await self._ask_leader(reader)
            return
        try:
            await self._lead(reader, fence)
        except FencedOut:
            await self._ask_leader(reader)
        finally:
            await self.membership.release(fence)

    async def _lead(self, reader: Reader, fence: Fence) -> None:
        """Read everything that is this reader's; with no credential left, say so of each."""
        session = Session(
            self.store,
            reader,
            lambda: fence,
            self.clock,
            interval=self.interval,
            share=self.quota_share,
            within=self.membership.within,
        )
        failure: Exception | None = None
        async with anyio.create_task_group() as group:
            group.start_soon(self._keep, fence)
            try:
                await self._bring_up(session)
            except (Unauthorized, FencedOut) as error:
                failure = error
            group.cancel_scope.cancel()
        if isinstance(failure, FencedOut):
            raise failure
        if failure and not await self.source.set_aside(reader):
            await fail_site(session, (await self._mine(reader)).values())

    async def _keep(self, fence: Fence) -> None:
        while await self.membership.renew(fence):
            await self.clock.sleep(self.membership.beat)

    async def _bring_up(self, session: Session) -> None:
        for charge in (await self._mine(session.reader)).values():
            await attempt(session, charge, self._one, session, charge)
            self._done.setdefault(charge.repository.id, None)

    async def _mine(self, reader: Reader) -> dict[int, Charge]:
        now, within = self.clock.now(), self.membership.within
        return await self.store.read(mine, reader.key, reader.site.url, now, within)

    async def _one(self, session: Session, charge: Charge) -> None:
        charge = await identified(session, charge)
        if charge.repository.depth is not Depth.ONE:
            charge = await self._whole(session, charge)
        await self._read_due(session, charge)
        self._tell(charge, "threads")
        await self._read_threads(session, charge)
        self._tell(charge, "done")

    async def _whole(self, session: Session, charge: Charge) -> Charge:
        """What is missing of the backfill, or what changed since, and a roll-call if it is due."""
        known = charge.sweep.swept
        await self._walk(session, charge)
        charge = await session.read(agenda.charge, charge.repository.id)
        if known or _is_due(delta_due_at, charge, self.clock.now()):
            self._tell(charge, "changes")
            await delta.run(session, [charge])
        charge = await session.read(agenda.charge, charge.repository.id)
        while _is_due(roll_call_due_at, charge, self.clock.now()):
            await rollcall.step(session, charge)
            charge = await session.read(agenda.charge, charge.repository.id)
        return charge

    async def _walk(self, session: Session, charge: Charge) -> None:
        """The whole backfill; of what was only asked about, as much as makes it known."""
        walk = walk_of(await backfill.begin(session, charge))
        rows = 0

        def _go_on(leg: Leg) -> bool:
            nonlocal rows
            rows += len(leg.page.rows)
            self._tell(charge, leg.walk.stage, rows)
            return self._may(session, leg.after)

        if walk is not None and self._may(session, walk):
            await backfill.run(session, walk, _go_on)

    def _may(self, session: Session, walk: Walk) -> bool:
        if walk.purpose is Purpose.REST:
            return False
        return session.ledger.allows(walk.purpose, session.interval, self.clock.now())

    async def _read_due(self, session: Session, charge: Charge) -> None:
        began_at = self.clock.now()
        batch = session.forge.limits.read_batch
        while True:
            due = await session.read(agenda.due, _scope(charge, began_at), began_at, batch)
            if not due:
                return
            await hot.run(session, {charge.repository.id: charge}, due)

    async def _read_threads(self, session: Session, charge: Charge) -> None:
        began_at = self.clock.now()
        before = began_at - session.interval * THREADS_AGAIN
        while True:
            wanted = await session.read(
                agenda.threads_wanted, _scope(charge, began_at), before, 1000
            )
            free = [each for each in wanted if not threads.is_held(session, each, began_at)]
            if not free:
                return
            batch = free[: session.forge.limits.threads_batch]
            await threads.read_threads(session, {charge.repository.id: charge}, batch)

    async def _ask_leader(self, reader: Reader) -> None:
        """Leave a wish for each repository with whoever leads, and wait, bounded."""
        wisher = Wisher(self.store, clock=self.clock)
        for id_ in await self._mine(reader):
            if id_ not in self._done:
                granted = await wisher.wish(WishKind.REFRESH, id_, "", self.patience)
                self._done[id_] = granted.why or "it was read"

    def _tell(self, charge: Charge, stage: str, rows: int = 0) -> None:
        self.tell(Progress(charge.repository.url, stage, rows))


def _is_due(
    due_at: Callable[[Charge, datetime], datetime | None], charge: Charge, now: datetime
) -> bool:
    when = due_at(charge, now)
    return when is not None and when <= now


def _scope(charge: Charge, now: datetime) -> Scope:
    one = charge.repository.depth is Depth.ONE
    ids = (charge.repository.id,)
    return Scope(() if one else ids, ids if one else (), now - DAY)


def _results(conn: Connection, done: dict[int, str | None]) -> list[Synced]:
    wanted = [known for known in reading.repositories(conn) if known.depth is not None]
    return [_result(conn, each.id, done.get(each.id, NOBODY)) for each in wanted]


def _result(conn: Connection, repository_id: int, elsewhere: str | None) -> Synced:
    known = reading.repository_by_id(conn, repository_id)
    sweep = reading.sweep(conn, repository_id)
    unfinished = reading.unfinished(conn, repository_id)
    unknown = [u.pull_request for u in unfinished if mergeability_unknown(u.pull_request)]
    return Synced(
        url=known.url if known else "",
        swept=sweep.swept,
        stored=agenda.count(conn, repository_id),
        unsettled=tuple(sorted(each.number for each in unknown)),
        fault=sweep.fault,
        elsewhere=None if sweep.fault and elsewhere == NOBODY else elsewhere,
    )
