"""From the start of the process to the answer of tools/list, and the memory it takes then."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from tests.benchmarks.calls import FLOOR, served
from tests.benchmarks.filled import ADDRESS, filled
from tests.benchmarks.measuring import alternating, ms, say
from tests.stdio.client import Client

RUNS = 15
MIB = 1024 * 1024


def main() -> None:
    """Measure, and say the ratios."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        filled(folder / "store.db", 1_000, unfinished=50)[0].close()
        with Client(served(folder), cwd=folder) as client:
            client.open()
            tools = folder / "tools.json"
            tools.write_text(json.dumps(client.list_tools()))
        (folder / "none.json").write_text("{}")
        floor = [sys.executable, FLOOR, folder / "none.json", tools]
        acts = {
            "floor": partial(_start, floor, folder),
            "product": partial(_start, served(folder), folder),
        }
        alternating(2, **acts)
        times = alternating(RUNS, **acts)
        memory = {"floor": _memory(floor, folder), "product": _memory(served(folder), folder)}
        used = _memory(served(folder), folder, call=True)
    say(
        "start to tools/list",
        *(f"{name:>8}: {ms(t.median)}, {memory[name]:.1f} MiB" for name, t in times.items()),
        f"{times['product'].median / times['floor'].median:.2f} × the floor's time, "
        f"{memory['product'] / memory['floor']:.2f} × its memory",
        f"after a first tool call: {used:.1f} MiB, {used / memory['floor']:.2f} ×",
    )


def _start(command: list[str | Path], folder: Path) -> None:
    with Client(command, cwd=folder) as client:
        client.open()
        client.list_tools()
        client.process.kill()


def _memory(command: list[str | Path], folder: Path, *, call: bool = False) -> float:
    with Client(command, cwd=folder) as client:
        client.open()
        client.list_tools()
        if call:
            client.structured("list_pull_requests", repositoryUrl=ADDRESS.url)
        return psutil.Process(client.process.pid).memory_info().rss / MIB


if __name__ == "__main__":
    main()
