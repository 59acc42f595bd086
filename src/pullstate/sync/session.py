"""One reader's work under its lease: what it asks of the forge, and what it commits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any, TypeVar

import anyio
from sqlalchemy import Connection

from pullstate.domain.merge_request import Facet
from pullstate.forges.errors import Overloaded, RateLimited, Unreachable
from pullstate.forges.forge import Forge, Quota
from pullstate.store import writing
from pullstate.store.engine import Store
from pullstate.store.lease import LIVE, Fence
from pullstate.sync.budget import PER_MINUTE, Ledger, Pace, Purpose
from pullstate.sync.clock import Clock
from pullstate.sync.memory import Memory
from pullstate.sync.readers import Reader

T = TypeVar("T")

PATIENCE = 120.0  # seconds for one answer; the forges' own time limits are shorter
RETRIES = (1.0, 3.0)  # seconds before each new attempt at what a smaller page may mend
QUOTA_SAVED_EVERY = timedelta(seconds=10)


class Session:
    """A reader that holds its lease. Several lanes of work share it."""

    def __init__(
        self,
        store: Store,
        reader: Reader,
        fence: Callable[[], Fence],
        clock: Clock,
        *,
        interval: timedelta,
        share: float = 0.5,
        within: timedelta = LIVE,
        peers: list[Ledger] | None = None,
    ) -> None:
        """`within`: how old the last heartbeat of a process that lives may be; `peers`: the
        ledgers of the process's other sessions at this site.
        """
        self.store = store
        self.reader = reader
        self.clock = clock
        self.within = within
        self.memory = Memory()
        self.ledger = Ledger(share, peers)
        self.ending = anyio.Event()  # set: finish the page at hand, then leave
        self._fence = fence
        self._interval = interval
        self._pace = Pace(PER_MINUTE.get(reader.site.url))
        self._closed: dict[str, RateLimited] = {}
        self._quota_saved_at: datetime | None = None

    @property
    def key(self) -> str:
        return self.reader.key

    @property
    def forge(self) -> Forge:
        return self.reader.forge

    @property
    def interval(self) -> timedelta:
        """The sync interval, stretched where the quota is short."""
        return self.ledger.stretched(self._interval, self.now())

    @property
    def planned_interval(self) -> timedelta:
        """The sync interval as it was set."""
        return self._interval

    def now(self) -> datetime:
        return self.clock.now()

    async def ask(
        self,
        question: Callable[..., Awaitable[T]],
        *args: Any,
        purpose: Purpose = Purpose.UPKEEP,
        **kwargs: Any,
    ) -> T:
        """One request to the forge. ForgeError; RateLimited without asking while it is known."""
        name = _name_of(question, args)
        self._check_open(name)
        await self.clock.sleep(self._pace.send(self.now()).total_seconds())
        try:
            with anyio.fail_after(PATIENCE):
                return await question(*args, **kwargs)
        except TimeoutError:
            raise Unreachable("no answer in time") from None
        except RateLimited as limited:
            self._close(name, limited)
            raise
        finally:
            self.ledger.settle(self.forge.quotas(), purpose, self.now())

    async def ask_smaller(self, name: str, size: int, ask: Callable[[int], Awaitable[T]]) -> T:
        """Ask with a page of `size`; where that is too much, with half, and half again.

        The size that worked is remembered under `name`.
        """
        size = min(size, self.memory.sizes.get(name, size))
        for wait in (*RETRIES, None):
            try:
                answer = await ask(size)
            except Overloaded:
                size = max(1, size // 2)
                self.memory.sizes[name] = size
                if wait is None:
                    raise
                await self.clock.sleep(wait)
            else:
                return answer
        raise AssertionError("unreachable")

    async def read(self, query: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        """A query, in a worker thread."""
        return await self.store.read(query, *args, **kwargs)

    async def commit(self, command: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        """One transaction under the lease. FencedOut where it is another's by now."""
        limits = self._limits_to_save()
        return await self.store.write_as(
            self._fence(), _with_limits, self.key, limits, command, args, kwargs
        )

    def closed_until(self, question: str) -> datetime | None:
        """When a question may be asked again, where a limit closed it: other questions go on."""
        closed = [self._closed[name] for name in (question, "*") if name in self._closed]
        return max((limit.until for limit in closed if limit.until > self.now()), default=None)

    def _check_open(self, question: str) -> None:
        for name in (question, "*"):
            closed = self._closed.get(name)
            if closed and closed.until > self.now():
                raise RateLimited(closed.until, closed.resource, secondary=closed.secondary)

    def _close(self, question: str, limited: RateLimited) -> None:
        """A forge may answer other questions from another resource; a secondary limit is on all."""
        self._closed["*" if limited.of_everything else question] = limited
        self._quota_saved_at = None

    def _limits_to_save(self) -> list[tuple[Quota | None, RateLimited | None]]:
        now = self.now()
        if self._quota_saved_at and now - self._quota_saved_at < QUOTA_SAVED_EVERY:
            return []
        self._quota_saved_at = now
        limited = {error.resource: error for error in self._closed.values() if error.until > now}
        quotas = {quota.resource: quota for quota in self.ledger.quotas()}
        return [(quotas.get(name), limited.get(name)) for name in {**quotas, **limited}]


def _name_of(question: Callable[..., Any], args: tuple[Any, ...]) -> str:
    """A question's name; each facet is a question of its own."""
    return " ".join((question.__name__, *(each for each in args if isinstance(each, Facet))))


def _with_limits(
    conn: Connection,
    reader: str,
    limits: list[tuple[Quota | None, RateLimited | None]],
    command: Callable[..., T],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> T:
    done = command(conn, *args, **kwargs)
    for quota, limited in limits:
        writing.set_limit(
            conn,
            reader,
            quota.resource if quota else limited.resource,
            quota.limit if quota else None,
            quota.remaining if quota else None,
            quota.resets_at if quota else None,
            limited.until if limited else None,
        )
    return done
