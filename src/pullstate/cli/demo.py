"""`pullstate demo`: the whole thing on a forge without a network."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import Any

import anyio
from rich.console import Console
from rich.text import Text

from pullstate.cli import tables
from pullstate.cli.options import DONE, log_to_stderr
from pullstate.cli.running import Running, now
from pullstate.cli.serving import serve_over
from pullstate.domain.address import ForgeKind, RepositoryAddress, Site
from pullstate.domain.diff_exclusion import DiffExclusionPolicy
from pullstate.forges.demo import DEMO_SECONDS, REPOSITORY
from pullstate.server.opening import Opening
from pullstate.server.registry import Registry
from pullstate.server.tools import TOOLS
from pullstate.settings import ForgeSettings, Settings

INTERVAL = 1.0  # seconds
LOOK = 0.2
SITE = Site(ForgeKind.DEMO, "https://demo.invalid")
ADDRESS = RepositoryAddress(SITE, REPOSITORY)

Rows = dict[int, dict[str, Any]]


def serve(parent: int, prefix: str) -> int:
    """An MCP server over the demo; the exit status."""
    log_to_stderr("WARNING")
    with TemporaryDirectory(prefix="pullstate-demo-") as folder:
        running = Running(_settings(Path(folder)))
        # At the end of a server that a signal ended this block is never left.
        return serve_over(running, parent, prefix, partial(rmtree, folder, ignore_errors=True))


def watch(seconds: int | None) -> int:
    """Print where the demo's pull requests stand, as they change, until the story ends."""
    log_to_stderr("WARNING")
    with TemporaryDirectory(prefix="pullstate-demo-") as folder:
        anyio.run(partial(_watch, _settings(Path(folder)), seconds or DEMO_SECONDS))
    return DONE


def _settings(folder: Path) -> Settings:
    """The demo forge in place of all others; nothing of the user's own is read."""
    return Settings(
        file=folder / "config.toml",
        has_file=False,
        store=str(folder / "store.db"),
        interval=INTERVAL,
        quota_share=1.0,
        log_level="WARNING",
        forges=(ForgeSettings(SITE),),
        repositories=(ADDRESS,),
        exclusion=DiffExclusionPolicy(),
    )


async def _watch(settings: Settings, seconds: float) -> None:
    running = Running(settings)
    opening = Opening(running.open)
    try:
        await opening.open()
        async with anyio.create_task_group() as group:
            group.start_soon(running.sync)
            with anyio.move_on_after(seconds):
                await _follow(opening)
            tables.show(tables.pull_requests(await _list(opening)))
            group.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await running.close()


async def _follow(opening: Opening) -> None:
    """The list once, then a line for each pull request that stands elsewhere than before."""
    console, before = Console(highlight=False), Rows()
    while True:
        reply = await _list(opening)
        rows = {row["number"]: row for row in reply["pullRequests"]}
        if rows and not before:
            tables.show(tables.pull_requests(reply))
        elif rows:
            for number, row in sorted(rows.items()):
                _tell(console, before.get(number), row)
        before = rows
        await anyio.sleep(LOOK)


def _tell(console: Console, before: dict[str, Any] | None, row: dict[str, Any]) -> None:
    was = before["state"] if before else None
    if was == row["state"]:
        return
    change = [tables.word(was), " → "] if was else []
    console.print(
        Text.assemble(
            f"{tables.clock_time(now())}  #{row['number']:<3} ",
            *change,
            tables.word(row["state"]),
            f"  {row['title']}",
        )
    )


async def _list(opening: Opening) -> dict[str, Any]:
    arguments = {"repositoryUrl": ADDRESS.url}
    reply = await Registry(TOOLS).call(opening, "list_pull_requests", arguments)
    assert reply.structured is not None, reply.text
    return reply.structured
