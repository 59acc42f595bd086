"""The loop of one process: be whatever readers it can, and lead where nobody else does."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

import anyio
from anyio.abc import TaskGroup
from sqlalchemy import Connection

from pullstate.domain.address import RepositoryAddress
from pullstate.domain.site import Site
from pullstate.store import writing
from pullstate.store.engine import Store
from pullstate.store.errors import StoreError
from pullstate.store.lease import Fence
from pullstate.store.records import Depth, Interest
from pullstate.sync.budget import Ledger
from pullstate.sync.clock import Clock, SystemClock
from pullstate.sync.concurrency import Bell, first_of
from pullstate.sync.lanes import Lanes
from pullstate.sync.leading import End, Lead
from pullstate.sync.membership import Membership
from pullstate.sync.readers import ForgeSource, Reader
from pullstate.sync.schedule import DAY
from pullstate.sync.session import Session
from pullstate.sync.turns import fail_site

log = logging.getLogger(__name__)

INTERVAL = timedelta(seconds=60)
QUOTA_SHARE = 0.5
QUIET = 2.0  # seconds: clients start a server only to probe it, and kill it at once


@dataclass(slots=True)
class Loop:
    """Run it in the server's task group; `kick` it whenever a tool is called."""

    store: Store
    source: ForgeSource
    version: str
    interval: timedelta = INTERVAL
    quota_share: float = QUOTA_SHARE
    clock: Clock = field(default_factory=SystemClock)
    quiet: float = QUIET
    remotes: Sequence[RepositoryAddress] = ()
    membership: Membership = field(init=False)
    listed: anyio.Event = field(init=False, default_factory=anyio.Event)  # among the live ones
    _bell: Bell = field(init=False, default_factory=Bell)
    _refused: Bell = field(init=False, default_factory=Bell)
    _awake: anyio.Event = field(init=False, default_factory=anyio.Event)
    _group: TaskGroup = field(init=False)
    _contending: dict[str, anyio.CancelScope] = field(init=False, default_factory=dict)
    _ledgers: dict[str, list[Ledger]] = field(init=False, default_factory=dict)  # by site
    _warned: type[Exception] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.membership = Membership(self.store, self.version, self.clock)

    def kick(self) -> None:
        """Something is wanted: begin, and look now."""
        self._awake.set()
        self._bell.ring()

    async def run(self) -> None:
        """Sync until cancelled. The process is listed as live at once, and leads after a while."""
        try:
            async with anyio.create_task_group() as group:
                self._group = group
                group.start_soon(self._wake_up)
                group.start_soon(self._keep_interest)
                while True:
                    await self._look_around(group)
                    beat = partial(self.clock.sleep, self.membership.beat)
                    await first_of(beat, self._refused.wait)
        finally:
            self.listed.set()
            await self.membership.leave()

    async def _wake_up(self) -> None:
        await self.clock.sleep(self.quiet)
        self.kick()

    async def _look_around(self, group: TaskGroup) -> None:
        """Show which readers this process is, and contend for those that are new."""
        try:
            readers = {reader.key: reader for reader in await self.source.readers()}
            await self.membership.appear(readers.values())
        except Exception as error:
            self._warn(error)
            return
        self.listed.set()
        for key in self._contending.keys() - readers.keys():
            self._contending.pop(key).cancel()
        for key in readers.keys() - self._contending.keys():
            self._contending[key] = anyio.CancelScope()
            group.start_soon(self._contend, readers[key], self._contending[key])

    def _warn(self, error: Exception) -> None:
        """Once while it lasts: the process looks around again at the next beat."""
        if type(error) is not self._warned:
            self._warned = type(error)
            expected = isinstance(error, StoreError)
            what = error if expected else "an unexpected error"
            log.warning("cannot look who syncs: %s", what, exc_info=None if expected else error)

    async def _keep_interest(self) -> None:
        """The remotes of the directory that this process was started in, while it lives."""
        while self.remotes:
            with suppress(StoreError):
                await self.store.write(_renew, self.remotes, self.clock.now())
            await self.clock.sleep(DAY.total_seconds())

    async def _contend(self, reader: Reader, scope: anyio.CancelScope) -> None:
        """Lead whenever the lease is free, for as long as this process is that reader."""
        with scope:
            await self._awake.wait()
            while True:
                fence = await self.membership.take(reader.name)
                end = await self._lead(reader, fence) if fence else None
                if end is End.REFUSED:
                    break
                if end is End.YIELDED:
                    await self.clock.sleep(self.store.lease_time)
                    continue
                pause = await self.membership.until_free(reader.name)
                await first_of(partial(self.clock.sleep, pause), self._bell.wait)
        if not scope.cancel_called:
            self._contending.pop(reader.key, None)
            self._refused.ring()

    async def _lead(self, reader: Reader, fence: Fence) -> End:
        session = Session(
            self.store,
            reader,
            lambda: fence,
            self.clock,
            interval=self.interval,
            share=self.quota_share,
            within=self.membership.within,
            peers=self._ledgers.setdefault(reader.site.url, []),
        )
        lanes = Lanes(session)
        try:
            lead = Lead(session, lanes, self._bell)
            end = await lead.run(partial(self._renewed, fence), self.membership.beat)
            if end is End.REFUSED:
                await self._set_aside(session, lanes)
            return end
        finally:
            self._ledgers[reader.site.url].remove(session.ledger)
            await self.membership.release(fence)

    async def _renewed(self, fence: Fence) -> End | None:
        """Why the lease ends; None where it goes on."""
        if not await self.membership.renew(fence):
            return End.LOST
        return End.YIELDED if await self.membership.is_wanted(fence) else None

    async def _set_aside(self, session: Session, lanes: Lanes) -> None:
        """On to the next source; with none left the site fails, and is tried again later."""
        site = session.reader.site
        charges = await lanes.charges()
        if await self.source.set_aside(session.reader):
            return
        again = session.now() + self.interval
        with suppress(StoreError):
            again = await fail_site(session, charges.values())
        self._group.start_soon(self._reconsider, site, again)

    async def _reconsider(self, site: Site, at: datetime) -> None:
        await self.clock.sleep((at - self.clock.now()).total_seconds())
        await self.source.reconsider(site)
        self._refused.ring()


def _renew(conn: Connection, remotes: Sequence[RepositoryAddress], now: datetime) -> None:
    for address in remotes:
        writing.track(conn, address, Depth.OPEN, Interest.REMOTE, at=now)
