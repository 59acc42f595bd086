"""Upkeep: one round over everything of a reader's repositories that is due."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from sqlalchemy import Connection

from pullstate.domain.freshness import FaultKind
from pullstate.forges.errors import RateLimited
from pullstate.store import agenda, lease
from pullstate.store.agenda import Charge, Scope
from pullstate.store.records import Depth, StoredPullRequest
from pullstate.sync import delta, hot, rollcall, threads
from pullstate.sync.budget import Purpose
from pullstate.sync.charges import delta_due_at, held_until, roll_call_due_at
from pullstate.sync.readers import ReaderName, chosen
from pullstate.sync.schedule import DAY, THREADS_AGAIN
from pullstate.sync.session import Session
from pullstate.sync.turns import attempt, failed

TOGETHER = 1 / 4  # of an interval: deltas due so soon ride along with one that is due
_REFUSALS = {FaultKind.UNAUTHORIZED, FaultKind.FORBIDDEN, FaultKind.NOT_FOUND}
EVERYTHING = "*"  # in the place of one resource
MORE_TO_HOLD = 100  # pull requests looked at for a batch, for some may be held back


def mine(
    conn: Connection, key: str, site_url: str, now: datetime, within: timedelta
) -> dict[int, Charge]:
    """The repositories that this reader, of all live ones, is to read."""
    running = lease.live(conn, now, within)
    live = [ReaderName.parse(text) for process in running for text in process.readers]
    refusals = agenda.refusals(conn, site_url)
    found: dict[int, Charge] = {}
    for charge in agenda.charges(conn, site_url):
        id_, path = charge.repository.id, charge.repository.path
        refused = refusals.get(id_, frozenset())
        if chosen(path, site_url, live, refused) == key:
            found[id_] = charge if key in refused else _unrefused(charge)
    return found


def _unrefused(charge: Charge) -> Charge:
    """What another credential was refused is no reason to wait for one that was not."""
    fault = charge.sweep.fault
    if fault is None or fault.kind not in _REFUSALS:
        return charge
    return replace(charge, sweep=replace(charge.sweep, fault=None))


@dataclass(slots=True)
class Round:
    """One round: what it is about, and when the next has something to do."""

    session: Session
    charges: Mapping[int, Charge]
    now: datetime
    next_at: datetime = field(init=False)
    scope: Scope = field(init=False)

    def __post_init__(self) -> None:
        self.next_at = self.now + self.session.planned_interval
        ready = [c for c in self.charges.values() if _readable(c, self.now)]
        single = [c.repository.id for c in ready if c.repository.depth is Depth.ONE]
        whole = [c.repository.id for c in ready if c.repository.depth is not Depth.ONE]
        self.scope = Scope(tuple(whole), tuple(single), self.now - DAY)

    async def run(self) -> datetime:
        """Do what is due; when to look again."""
        if until := self._unaffordable(Purpose.UPKEEP):
            await self._pause(until)
            return until
        await self._hot()
        await self._deltas()
        await self._roll_calls()
        if until := self._unaffordable(Purpose.BACKFILL):
            self._again(until)
        else:
            await self._threads()
            await self._facets()
        return self.next_at

    def _unaffordable(self, purpose: Purpose) -> datetime | None:
        """Until when the budget has nothing for a purpose; None where it has."""
        session = self.session
        return session.ledger.waits_until(purpose, session.interval, session.now())

    async def _pause(self, until: datetime) -> None:
        """Say of every repository that it waits for the limit's end: it is late for a reason."""
        for id_ in self.scope.whole:
            await failed(self.session, self.charges[id_], RateLimited(until, EVERYTHING))

    def _again(self, at: datetime | None) -> None:
        if at is not None:
            self.next_at = min(self.next_at, at)

    async def _hot(self) -> None:
        session, batch = self.session, self.session.forge.limits.read_batch
        due = await session.read(agenda.due, self.scope, self.now, batch)
        if due:
            await hot.run(session, self.charges, due)
        more = len(due) == batch
        self._again(self.now if more else await session.read(agenda.next_due, self.scope))

    async def _deltas(self) -> None:
        soon = self.now + self.session.interval * TOGETHER
        planned = self._planned(delta_due_at)
        if planned and planned[0][0] <= self.now:
            most = self.session.forge.limits.delta_batch
            taken = [charge for when, _, charge in planned if when <= soon][:most]
            await delta.run(self.session, taken)
            planned = planned[len(taken) :]
        if planned:
            self._again(planned[0][0])

    async def _roll_calls(self) -> None:
        session = self.session
        for when, _, charge in self._planned(roll_call_due_at)[:1]:
            when = max(when, session.closed_until(rollcall.QUESTION) or when)
            if when <= self.now:
                await attempt(session, charge, rollcall.step, session, charge)
            self._again(when)

    def _planned(
        self, due_at: Callable[[Charge, datetime], datetime | None]
    ) -> list[tuple[datetime, int, Charge]]:
        """The charges of which more is wanted than single pull requests, the first due first."""
        whole = (self.charges[id_] for id_ in self.scope.whole)
        dated = ((due_at(charge, self.now), charge) for charge in whole)
        return sorted((when, c.repository.id, c) for when, c in dated if when is not None)

    async def _threads(self) -> None:
        session = self.session
        unresolved_before = self.now - session.interval * THREADS_AGAIN
        wanted = await session.read(
            agenda.threads_wanted, self.scope, unresolved_before, MORE_TO_HOLD
        )
        wanted = [*wanted, *await self._finished_ones()]
        free = [each for each in wanted if not threads.is_held(session, each, self.now)]
        for each in wanted:
            if (until := threads.held_until(session, each)) and until > self.now:
                self._again(until)
        batch = free[: session.forge.limits.threads_batch]
        if batch:
            await threads.read_threads(session, self.charges, batch, Purpose.BACKFILL)
            self._again(self.now)

    async def _finished_ones(self) -> list[StoredPullRequest]:
        """Looked for after news alone: there may be very many finished ones."""
        looked_at = self.session.memory.looked_at
        ids = [id_ for id_ in self.scope.whole if id_ not in looked_at]
        if not ids:
            return []
        found = await self.session.read(agenda.finished_threads_wanted, ids, MORE_TO_HOLD)
        if not found:
            looked_at.update(ids)
        return found

    async def _facets(self) -> None:
        session = self.session
        moving_before = self.now - session.interval * THREADS_AGAIN
        wanted = await session.read(agenda.facets_wanted, self.scope, moving_before, MORE_TO_HOLD)
        for each in wanted:
            if not session.memory.is_held(each.facet, each.pull_request.id, self.now):
                charge = self.charges[each.pull_request.repository_id]
                await threads.refresh_facet(session, charge, each)
                self._again(self.now)
                return


def _readable(charge: Charge, now: datetime) -> bool:
    return charge.repository.forge_id is not None and held_until(charge, now) <= now
