"""A tool call over stdio, beside a server of the same SDK that returns the same bytes."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.benchmarks.filled import ADDRESS, filled
from tests.benchmarks.measuring import alternating, ms, say
from tests.stdio.client import Client

CONFIGURATION = '[[forge]]\nkind = "demo"\nurl = "https://demo.invalid"\n'
RUNS = 1_000
TOOL = "list_pull_requests"
FLOOR = Path(__file__).with_name("floor_server.py")


def main() -> None:
    """Measure, and say the ratio."""
    arguments = {"repositoryUrl": ADDRESS.url}
    with TemporaryDirectory() as name:
        folder = Path(name)
        store, _ = filled(folder / "store.db", 10_000, unfinished=200)
        store.close()
        with Client(served(folder), cwd=folder) as product:
            product.open()
            result = product.call(TOOL, **arguments)
            answer = folder / "answer.json"
            answer.write_text(json.dumps(result))
            with Client([sys.executable, FLOOR, answer], cwd=folder) as floor:
                floor.open()
                acts = {
                    "floor": partial(floor.call, TOOL, **arguments),
                    "product": partial(product.call, TOOL, **arguments),
                }
                alternating(50, **acts)
                times = alternating(RUNS, **acts)
    size = len(result["content"][0]["text"])
    say(
        f"{TOOL}, 20 rows, {size:,} characters, over stdio",
        *(f"{name:>8}: {ms(t.median)} (p99 {ms(t.p99)})" for name, t in times.items()),
        f"{times['product'].median / times['floor'].median:.2f} × the floor",
    )


def served(folder: Path) -> list[str | Path]:
    """The command of a server over the store in `folder`, which leaves syncing alone."""
    configuration = folder / "config.toml"
    configuration.write_text(CONFIGURATION)
    options = ["--config", configuration, "--store", folder / "store.db"]
    return [sys.executable, "-m", "pullstate", "serve", "--no-sync", *options]


if __name__ == "__main__":
    main()
