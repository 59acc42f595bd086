"""Leading: the lanes of a session, run until its lease is lost, given up, or of no use."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Awaitable, Callable
from datetime import datetime
from enum import StrEnum
from functools import partial

import anyio
from anyio import CancelScope
from anyio.abc import TaskGroup

from pullstate.forges.errors import Unauthorized
from pullstate.store.errors import FencedOut, StoreError, Untracked
from pullstate.sync.concurrency import Bell, first_of
from pullstate.sync.lanes import Lanes
from pullstate.sync.session import Session

log = logging.getLogger(__name__)

AFTER_AN_ERROR = 3.0  # seconds until a lane that failed goes on


class End(StrEnum):
    """Why a session leads no more."""

    LOST = "lost"  # another process holds the lease
    YIELDED = "yielded"  # a newer version asked for it
    REFUSED = "refused"  # the forge does not accept the credential


class Lead:
    """One time of leading. Nothing that goes wrong in a lane ends another, or the process."""

    def __init__(self, session: Session, lanes: Lanes, bell: Bell) -> None:
        self._session = session
        self._lanes = lanes
        self._bell = bell
        self._scope = CancelScope()
        self._end = End.YIELDED
        self._logged: set[str] = set()

    async def run(self, renew: Callable[[], Awaitable[End | None]], every: float) -> End:
        """Work until the lease ends; `renew` is called `every` so many seconds to keep it."""
        with self._scope:
            async with anyio.create_task_group() as outer:
                outer.start_soon(self._keep, renew, every)
                async with anyio.create_task_group() as group:
                    wishes = partial(self._lanes.wishes, partial(self._start, group))
                    group.start_soon(self._lane, "wishes", wishes)
                    group.start_soon(self._lane, "upkeep", self._lanes.upkeep)
                    group.start_soon(self._lane, "backfill", self._lanes.backfill)
                outer.cancel_scope.cancel()
        return self._end

    async def _keep(self, renew: Callable[[], Awaitable[End | None]], every: float) -> None:
        while True:
            await self._session.clock.sleep(every)
            end = await renew()
            if end is End.YIELDED:
                self._session.ending.set()
            elif end is not None:
                self._stop(end)

    async def _lane(self, name: str, turn: Callable[[], Awaitable[datetime]]) -> None:
        session = self._session
        while not session.ending.is_set():
            again = await self._guarded(name, turn)
            now = session.now()
            wait = (again - now).total_seconds() if again else AFTER_AN_ERROR
            woken = (self._bell.wait,) if name == "wishes" else ()
            await first_of(partial(session.clock.sleep, wait), session.ending.wait, *woken)

    def _start(self, group: TaskGroup, work: Callable[[], Awaitable[None]]) -> None:
        group.start_soon(self._guarded, "wishes", work)

    async def _guarded(
        self, name: str, work: Callable[[], Awaitable[datetime | None]]
    ) -> datetime | None:
        try:
            return await work()
        except FencedOut:
            self._stop(End.LOST)
        except Unauthorized:
            self._stop(End.REFUSED)
        except Untracked:
            return None  # beside the work: the next turn knows of it
        except StoreError as error:
            self._log_once(f"{name} {type(error)}", "%s waits for the store: %s", name, error)
        except Exception as error:
            reference = secrets.token_hex(4)
            what = f"{name} {type(error)}"
            self._log_once(what, "%s failed (reference %s)", name, reference, error=error)
        else:
            self._logged.clear()
        return None

    def _stop(self, end: End) -> None:
        self._end = end
        self._scope.cancel()

    def _log_once(
        self, what: str, message: str, *args: object, error: Exception | None = None
    ) -> None:
        """A lane that fails the same way again and again says so once."""
        if what not in self._logged:
            self._logged.add(what)
            log.error(message, *args, exc_info=error)
