"""`pullstate sync`."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import timedelta

import anyio
import click
from rich.console import Console
from rich.progress import Progress as Display
from rich.progress import SpinnerColumn, TaskID, TextColumn

from pullstate.cli.options import DONE, FAILED, Failed
from pullstate.cli.running import VERSION, Running
from pullstate.domain.freshness import FAULT_WORDS
from pullstate.settings import Settings
from pullstate.store.errors import StoreError
from pullstate.sync.once import Once, Progress, Synced


async def forever(settings: Settings) -> int:
    """The loop, until a signal ends it: then its leases are given up."""
    running = Running(settings)
    try:
        await running.open()
        async with anyio.create_task_group() as group:
            group.start_soon(_end_at_signal, group.cancel_scope)
            await running.sync()
    except StoreError as error:
        raise Failed(str(error)) from None
    finally:
        with anyio.CancelScope(shield=True):
            await running.close()
    return DONE


async def _end_at_signal(scope: anyio.CancelScope) -> None:
    signals = (signal.SIGTERM, signal.SIGINT)
    if sys.platform == "win32":
        return  # KeyboardInterrupt alone
    with anyio.open_signal_receiver(*signals) as received:
        async for _ in received:
            scope.cancel()


async def once(settings: Settings, as_json: bool) -> int:
    """One pass. FAILED where a repository could not be brought up to date."""
    running = Running(settings)
    try:
        await running.open()
        assert running.store is not None
        with _shown() as progress:
            done = await Once(
                running.store,
                running.source(running.store),
                VERSION,
                interval=timedelta(seconds=settings.interval),
                quota_share=settings.quota_share,
                tell=progress.tell,
            ).run()
    except StoreError as error:
        raise Failed(str(error)) from None
    finally:
        await running.close()
    _print(done, as_json)
    return FAILED if any(each.fault or not each.swept for each in done) else DONE


@dataclass(slots=True)
class Lines:
    """A line a repository, on standard error where that is a terminal."""

    display: Display
    lines: dict[str, TaskID] = field(default_factory=dict)

    def tell(self, progress: Progress) -> None:
        """Say how far a repository is."""
        if progress.url not in self.lines:
            self.lines[progress.url] = self.display.add_task(progress.url, total=None, told="")
        rows = f", {progress.rows} pull requests" if progress.rows else ""
        done = 1 if progress.stage == "done" else None
        self.display.update(
            self.lines[progress.url], told=progress.stage + rows, total=done, completed=done or 0
        )


@contextmanager
def _shown() -> Iterator[Lines]:
    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TextColumn("{task.fields[told]}"))
    with Display(*columns, console=console, disable=not console.is_terminal) as display:
        yield Lines(display)


def _print(done: Sequence[Synced], as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json.dumps([asdict(each) for each in done], default=str) + "\n")
        return
    if not done:
        click.echo("Nothing is tracked: `pullstate track URL` adds a repository.")
    for each in done:
        click.echo(f"{each.url}: {_sentence(each)}")


def _sentence(synced: Synced) -> str:
    parts = [f"{synced.stored} pull requests"]
    if not synced.swept:
        parts.append("the first sweep is not complete")
    if synced.fault is not None:
        parts.append(f"failing ({FAULT_WORDS[synced.fault.kind]})")
    if synced.unsettled:
        numbers = ", ".join(map(str, synced.unsettled))
        parts.append(f"mergeability not settled yet: {numbers}")
    if synced.elsewhere:
        parts.append(f"read by another process: {synced.elsewhere}")
    return "; ".join(parts)
