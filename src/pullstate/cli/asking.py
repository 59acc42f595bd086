"""The tools from the shell: the same objects, from a process that syncs while it asks."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import anyio
from rich.console import RenderableType

from pullstate.cli import tables
from pullstate.cli.options import Failed, Misused, print_json
from pullstate.cli.running import Running
from pullstate.server.opening import Opening
from pullstate.server.registry import Registry, Reply, UnknownTool
from pullstate.server.tools import TOOLS
from pullstate.settings import Settings

Show = Callable[[dict[str, Any]], RenderableType]


def ask(settings: Settings, tool: str, arguments: Mapping[str, Any], show: Show | None) -> None:
    """Print a tool's answer, as JSON where `show` is None. Failed with the tool's words."""
    reply = anyio.run(_call, settings, tool, arguments)
    if isinstance(reply, UnknownTool):
        raise Misused(str(reply))
    if reply.structured is None:
        raise Failed(reply.text)
    if show is None:
        print_json(reply.text)
    else:
        tables.show(show(reply.structured))


def call(settings: Settings, tool: str, arguments: str) -> None:
    """`pullstate call`: raw arguments in, the raw reply out."""
    try:
        given = json.loads(arguments)
    except (ValueError, RecursionError) as error:
        raise Misused(f"The arguments are no JSON: {error}.") from None
    if not isinstance(given, dict):
        raise Misused("The arguments are a JSON object: write '{\"name\": value}'.")
    ask(settings, tool, given, None)


async def _call(settings: Settings, tool: str, arguments: Mapping[str, Any]) -> Reply | UnknownTool:
    """What is raised within the group would come out wrapped in an exception group."""
    running, registry = Running(settings), Registry(TOOLS)
    opening = Opening(running.open)
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_sync, running, opening)
            try:
                return await registry.call(opening, tool, arguments)
            except UnknownTool as unknown:
                return unknown
            finally:
                group.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await running.close()


async def _sync(running: Running, opening: Opening) -> None:
    await opening.opened.wait()
    await running.sync()
