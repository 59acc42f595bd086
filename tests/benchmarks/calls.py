"""Tool calls over stdio, each beside a server of the same SDK that returns the same bytes."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.benchmarks.filled import ADDRESS, add_diffs, add_threads, filled
from tests.benchmarks.measuring import alternating, ms, say
from tests.stdio.client import Client

CONFIGURATION = '[[forge]]\nkind = "demo"\nurl = "https://demo.invalid"\n'
RUNS = 1_000
ROWS, OPEN, THREADS, FILES = 10_000, 200, 1_000, 60
FLOOR = Path(__file__).with_name("floor_server.py")
OWNER, REPO = ADDRESS.path.split("/")
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    f"a page of 20 out of {ROWS:,}": ("list_pull_requests", {"repositoryUrl": ADDRESS.url}),
    f"a page of 50 out of {THREADS:,}": (
        "list_pull_request_review_threads",
        {"owner": OWNER, "repo": REPO, "pull_number": ROWS},
    ),
    f"counts of {FILES} files": (
        "get_merge_request",
        {"url": f"{ADDRESS.url}/pull/{ROWS}", "include": "diffs", "detail": "stats"},
    ),
}


def main() -> None:
    """Measure, and say the ratios."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        store, known = filled(folder / "store.db", ROWS, unfinished=OPEN)
        add_threads(store, known, ROWS, THREADS)
        add_diffs(store, known, ROWS, FILES)
        store.close()
        with Client(served(folder), cwd=folder) as product:
            product.open()
            for title, (tool, arguments) in CALLS.items():
                _compare(f"{tool}, {title}", product, partial(_call, tool, arguments), folder)


def _call(tool: str, arguments: dict[str, Any], client: Client) -> dict[str, Any]:
    return client.call(tool, **arguments)


def _compare(title: str, product: Client, call: Any, folder: Path) -> None:
    """One call of the product beside the floor that returns its answer."""
    result = call(product)
    assert not result["isError"], result
    assert result["structuredContent"]["sync"]["state"] == "ok", result
    answer = folder / "answer.json"
    answer.write_text(json.dumps(result))
    with Client([sys.executable, FLOOR, answer], cwd=folder) as floor:
        floor.open()
        acts = {"floor": partial(call, floor), "product": partial(call, product)}
        alternating(50, **acts)
        times = alternating(RUNS, **acts)
    size = len(result["content"][0]["text"])
    say(
        f"{title}: {size:,} characters, over stdio",
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
