"""A first sweep of 10,000 pull requests at 100 ms a request, beside a bare loop of the same."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from tests.benchmarks.measuring import say
from tests.simulators.github import TOKEN
from tests.simulators.github.server import separate_process
from tests.simulators.remote import Remote

COUNT, UNFINISHED, LATENCY = 10_000, 200, 0.1
REPOSITORY = "acme/rocket"


def main() -> None:
    """Measure, count the requests, and sweep a second time where nothing has changed."""
    arguments = ("--prs", str(COUNT), "--unfinished", str(UNFINISHED), "--latency", str(LATENCY))
    with separate_process(*arguments) as github, TemporaryDirectory() as name:
        folder = Path(name)
        configure(folder, github)
        took = _timed(folder, "sync", "--once")
        counted, sent = github.counters(), github.log()
        bare = _bare(github, sent)
        say(
            f"first sweep of {COUNT} pull requests, {UNFINISHED} unfinished, "
            f"{LATENCY * 1000:.0f} ms a request",
            f"{counted['requests']} requests: {counted['operations']}, {counted['rest']}",
            f"{counted['points']} points",
            f"    bare loop of the same requests, one after the other: {bare:.2f} s",
            f"    pullstate sync --once, its start and end included: {took:.2f} s, "
            f"{took / bare:.2f} ×",
        )


def configure(folder: Path, github: Remote) -> None:
    (folder / "config.toml").write_text(
        f'[[forge]]\nkind = "github"\nurl = "{github.url}"\ntoken_env = "SIMULATED"\n'
    )
    run(folder, "track", f"{github.url}/{REPOSITORY}")


def run(folder: Path, *command: str, interval: int = 60) -> None:
    options = ["--config", folder / "config.toml", "--store", folder / "store.db"]
    environ = {**os.environ, "SIMULATED": TOKEN, "PULLSTATE_SYNC_INTERVAL": str(interval)}
    arguments = [sys.executable, "-m", "pullstate", command[0], *options, *command[1:]]
    subprocess.run(arguments, env=environ, check=True, stdout=subprocess.DEVNULL)


def _timed(folder: Path, *command: str) -> float:
    began = time.perf_counter()
    run(folder, *command)
    return time.perf_counter() - began


def _bare(github: Remote, sent: list[dict[str, Any]]) -> float:
    """The same requests to the same forge, and their answers parsed, with nothing in between."""
    headers = {"authorization": f"Bearer {TOKEN}"}
    with httpx.Client(base_url=github.url, headers=headers, timeout=60) as client:
        began = time.perf_counter()
        for each in sent:
            client.request(each["method"], each["path"], **_content(each)).json()
        return time.perf_counter() - began


def _content(sent: dict[str, Any]) -> dict[str, Any]:
    if sent["operation"] is None:
        return {"params": sent["query"]}
    return {"json": {"query": sent["document"], "variables": sent["variables"]}}


if __name__ == "__main__":
    main()
