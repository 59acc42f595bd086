"""A process among the others over one store: its entry in their list, and the leases it takes."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta

import anyio
from sqlalchemy import Connection

from pullstate.store import lease
from pullstate.store.engine import Store
from pullstate.store.errors import StoreError, StoreReadOnly
from pullstate.store.lease import Fence, Process
from pullstate.sync.clock import Clock, SystemClock
from pullstate.sync.readers import Reader, ReaderName

ORDERLY = 1.0  # seconds in which an orderly exit gives up what it holds
BEATS = 3  # heartbeats, and renewals, in one lease time
LOOK_AT_LEAST = 0.1  # seconds between two looks at a lease that runs out
MISSED_BEATS = 9  # before a process counts as dead


@dataclass(slots=True)
class Membership:
    """One process's part in who syncs. `version` is this pullstate's."""

    store: Store
    version: str
    clock: Clock = field(default_factory=SystemClock)
    process_id: str = field(default_factory=lambda: secrets.token_hex(8))

    @property
    def beat(self) -> float:
        """Seconds between two heartbeats."""
        return self.store.lease_time / BEATS

    @property
    def within(self) -> timedelta:
        """How old a live process's last heartbeat may be."""
        return timedelta(seconds=self.beat * MISSED_BEATS)

    async def appear(self, readers: Iterable[Reader]) -> None:
        """Show that this process lives, and which readers it is. StoreError."""
        names = [str(reader.name) for reader in readers]
        await self.store.write(
            lease.enroll, self.process_id, os.getpid(), self.version, names, self.clock.now()
        )

    async def leave(self) -> None:
        """Strike this process off, within a moment or not at all."""
        with anyio.move_on_after(ORDERLY, shield=True), suppress(StoreError):
            await self.store.write(lease.leave, self.process_id)

    async def take(self, name: ReaderName) -> Fence | None:
        """A reader's lease, where it is free. Writes only when the row says that it is."""
        if self.store.read_only:
            return None
        try:
            if await self.store.read(self._may_take, name):
                return await self.store.write(
                    lease.take, name.key, self.process_id, self.store.lease_time
                )
            await self._ask_older(name)
        except StoreError:
            pass
        return None

    async def until_free(self, name: ReaderName) -> float:
        """Seconds until it is worth looking at a lease again: a beat, or less where it runs out."""
        with suppress(StoreError):
            leader = await self.store.read(lease.leader, name.key, self.store.lease_time)
            if leader is not None and leader.held and leader.holder != self.process_id:
                left = (leader.expires_at - self.clock.now()).total_seconds()
                return min(max(left, LOOK_AT_LEAST), self.beat)
        return self.beat

    async def renew(self, fence: Fence) -> bool:
        """Keep a lease; False where it is another's by now."""
        try:
            kept = await self.store.write(
                lease.take, fence.key, self.process_id, self.store.lease_time
            )
        except StoreReadOnly:
            return False  # a newer version took the store over
        except StoreError:
            return True  # every write proves the fence anyway
        return kept is not None and kept.token == fence.token

    async def is_wanted(self, fence: Fence) -> bool:
        """Whether a newer version asks for a lease."""
        with suppress(StoreError):
            leader = await self.store.read(lease.leader, fence.key, self.store.lease_time)
            return leader is not None and bool(leader.wanted_by)
        return False

    async def release(self, fence: Fence) -> None:
        """Give a lease up, within a moment or not at all."""
        with anyio.move_on_after(ORDERLY, shield=True), suppress(StoreError):
            await self.store.write(lease.release, fence)

    def _may_take(self, conn: Connection, name: ReaderName) -> bool:
        live = lease.live(conn, self.clock.now(), self.within)
        if name.anonymous and any(_has_credential(process, name.site_url) for process in live):
            return False
        leader = lease.leader(conn, name.key, self.store.lease_time)
        return leader is None or not leader.held or leader.holder == self.process_id

    async def _ask_older(self, name: ReaderName) -> None:
        """A newer version asks an older one to yield."""
        if await self.store.read(self._is_older, name):
            await self.store.write(lease.want, name.key, self.process_id)

    def _is_older(self, conn: Connection, name: ReaderName) -> bool:
        leader = lease.leader(conn, name.key, self.store.lease_time)
        if leader is None or leader.wanted_by:
            return False
        live = lease.live(conn, self.clock.now(), self.within)
        versions = [process.version for process in live if process.id == leader.holder]
        return any(_release(version) < _release(self.version) for version in versions)


def _has_credential(process: Process, site_url: str) -> bool:
    names = map(ReaderName.parse, process.readers)
    return any(name.site_url == site_url and not name.anonymous for name in names)


def _release(version: str) -> tuple[int, ...]:
    """The numbers that a version begins with: 0.10.1rc1 → (0, 10, 1)."""
    return tuple(int(digits) for digits in re.findall(r"\d+", version.partition("rc")[0]))
