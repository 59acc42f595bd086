"""Waiting for several things at once, and for what other processes do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from anyio import to_thread

from pullstate.store.engine import Store


async def version_of(store: Store) -> int:
    """`store.version()`, which a file tells at once and a server only over the network."""
    return store.version() if store.path else await to_thread.run_sync(store.version)


class Bell:
    """Wakes whoever waits at the moment it rings."""

    def __init__(self) -> None:
        self._event = anyio.Event()

    def ring(self) -> None:
        rung, self._event = self._event, anyio.Event()
        rung.set()

    async def wait(self) -> None:
        await self._event.wait()


async def together(*works: Callable[[], Awaitable[Any]]) -> list[Any]:
    """Do all at once, each to its end; their results in order, or the first one's error."""
    done: dict[int, Any] = {}
    errors: dict[int, Exception] = {}

    async def _do(place: int, work: Callable[[], Awaitable[Any]]) -> None:
        try:
            done[place] = await work()
        except Exception as error:
            errors[place] = error

    async with anyio.create_task_group() as group:
        for place, work in enumerate(works):
            group.start_soon(_do, place, work)
    if errors:
        raise errors[min(errors)]
    return [done[place] for place in range(len(works))]


async def first_of(*waits: Callable[[], Awaitable[object]]) -> None:
    """Return when the first of several waits is over; the others are given up."""

    async def _wait(one: Callable[[], Awaitable[object]]) -> None:
        await one()
        group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        for wait in waits:
            group.start_soon(_wait, wait)
