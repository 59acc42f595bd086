"""`pullstate serve`."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio

from pullstate.cli.options import Misused
from pullstate.cli.running import VERSION, Running
from pullstate.server import stdio
from pullstate.server.app import build
from pullstate.server.opening import Opening
from pullstate.server.tools import TOOLS
from pullstate.settings import Settings

PROBED = 2.0  # seconds: some clients start a server only to look at it, and kill it at once
OPEN_AGAIN = 5.0  # seconds after a store could not be opened
INSTRUCTIONS = (
    "Where pull requests stand, from a store that is kept in sync: ask as often as you like, it "
    "costs no quota. `sync` in every reply says how fresh it is."
)

log = logging.getLogger(__name__)


def serve(settings: Settings, parent: int, *, syncs: bool = True, prefix: str = "") -> int:
    """Serve one client over standard input and output; the exit status."""
    return serve_over(Running(settings, syncs=syncs), parent, prefix)


def serve_over(
    running: Running, parent: int, prefix: str = "", clean_up: Callable[[], None] = lambda: None
) -> int:
    """Serve one client over what `running` opens; `clean_up` comes last, however it ends."""

    @asynccontextmanager
    async def opening() -> AsyncIterator[Opening]:
        try:
            yield Opening(running.open)
        finally:
            await running.close()
            clean_up()

    async def background(opening: Opening) -> None:
        with anyio.move_on_after(PROBED):
            await opening.asked.wait()
        await _opened(opening)
        await running.sync_here()

    try:
        server = build(
            TOOLS,
            opening,
            background,
            version=VERSION,
            instructions=INSTRUCTIONS,
            prefix=prefix,
        )
    except ValueError as error:
        raise Misused(f"--tool-prefix: {error}.") from None
    return stdio.serve(server, parent)


async def _opened(opening: Opening) -> None:
    """Open the store, again and again where that fails; each reason is logged once."""
    from pullstate.store.errors import StoreError

    logged = set()
    while not opening.opened.is_set():
        try:
            await opening.open()
        except StoreError as error:
            if str(error) not in logged:
                logged.add(str(error))
                log.warning("%s", error)
            with anyio.move_on_after(OPEN_AGAIN):
                await opening.opened.wait()
