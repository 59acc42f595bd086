"""`pullstate sync`."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any

import anyio
import click
from rich.console import Console
from rich.progress import Progress as Display
from rich.progress import SpinnerColumn, TaskID, TextColumn

from pullstate.cli.options import DONE, FAILED, Failed, print_json
from pullstate.cli.running import VERSION, Running
from pullstate.domain.freshness import FAULT_WORDS
from pullstate.settings import Settings
from pullstate.store.errors import StoreError
from pullstate.sync.once import Once, Progress, Synced


def forever(settings: Settings) -> int:
    """The loop, until a signal ends it: then its leases are given up."""
    running = Running(settings)
    anyio.run(_until_signalled, running, running.sync_here)
    return DONE


def once(settings: Settings, as_json: bool) -> int:
    """One pass. FAILED where a repository could not be brought up to date."""
    running = Running(settings)
    done: list[Synced] | None = anyio.run(_until_signalled, running, partial(_pass, running))
    if done is None:
        raise Failed("Ended before everything was up to date; the next run goes on from there.")
    _print(done, as_json)
    return FAILED if any(each.fault or not each.swept for each in done) else DONE


async def _until_signalled(running: Running, work: Callable[[], Awaitable[Any]]) -> Any:
    """What `work` over an open store comes to; None where a signal ended it first."""
    result, failure = None, None
    try:
        await running.open()
        async with anyio.create_task_group() as group:
            group.start_soon(_end_at_signal, group.cancel_scope)
            result = await work()
            group.cancel_scope.cancel()
    except* StoreError as group_of:
        failure = _first(group_of)  # what is raised here would be wrapped in a group again
    finally:
        with anyio.CancelScope(shield=True):
            await running.close()
    if failure is not None:
        raise Failed(str(failure))
    return result


def _first(group: BaseExceptionGroup[Any]) -> BaseException:
    first = group.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first


async def _end_at_signal(scope: anyio.CancelScope) -> None:
    if sys.platform == "win32":
        return  # KeyboardInterrupt alone
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as received:
        async for _ in received:
            scope.cancel()


async def _pass(running: Running) -> list[Synced]:
    assert running.store is not None and running.loop is not None
    with _shown() as progress:
        return await Once(
            running.store,
            running.loop.source,
            VERSION,
            interval=timedelta(seconds=running.settings.interval),
            quota_share=running.settings.quota_share,
            tell=progress.tell,
        ).run()


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


def _texts(*names: str) -> list[TextColumn]:
    return [TextColumn(f"{{task.{name}}}", markup=False) for name in names]


@contextmanager
def _shown() -> Iterator[Lines]:
    console = Console(stderr=True)
    columns = (SpinnerColumn(), *_texts("description", "fields[told]"))
    with Display(*columns, console=console, disable=not console.is_terminal) as display:
        yield Lines(display)


def _print(done: Sequence[Synced], as_json: bool) -> None:
    if as_json:
        print_json(json.dumps([asdict(each) for each in done], default=str))
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
