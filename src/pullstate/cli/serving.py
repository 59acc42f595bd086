"""`pullstate serve`."""

from __future__ import annotations

from collections.abc import AsyncIterator
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
INSTRUCTIONS = (
    "Where pull requests stand, from a store that is kept in sync: ask as often as you like, it "
    "costs no quota. `sync` in every reply says how fresh it is."
)


def serve(settings: Settings, *, syncs: bool = True, prefix: str = "") -> int:
    """Serve one client over standard input and output; the exit status."""
    return serve_over(Running(settings, syncs=syncs), prefix)


def serve_over(running: Running, prefix: str = "") -> int:
    """Serve one client over what `running` opens."""

    @asynccontextmanager
    async def opening() -> AsyncIterator[Opening]:
        try:
            yield Opening(running.open)
        finally:
            await running.close()

    async def background(opening: Opening) -> None:
        with anyio.move_on_after(PROBED):
            await opening.asked.wait()
        await opening.open()
        await running.sync()

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
    return stdio.serve(server)
