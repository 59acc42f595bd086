"""The MCP Inspector from the shell: an independent client, and a strict reader of schemas.

@needs_inspector
def test_…():
    tools = inspect(command, "--method", "tools/list", "--strict").result["tools"]
    reply = call(command, "list_pull_requests", {"repositoryUrl": "…"}, era="legacy").result
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Era = Literal["legacy", "modern", "auto"]

# npx would take an older major here, for its engine; this one runs on Node 20 all the same.
INSPECTOR = ("npx", "--yes", "@modelcontextprotocol/inspector@2", "--cli")
INSTALL_SECONDS = 100
DEADLINE = 60
TOOL_ERROR_STATUS = 5
SCHEMA_ERROR_STATUS = 6


@dataclass(frozen=True)
class Inspected:
    """What one run of the Inspector came to."""

    status: int
    result: dict[str, Any]
    stderr: str


@functools.cache
def missing() -> str:
    """Why there is no Inspector on this machine; empty where there is one."""
    if shutil.which("npx") is None:
        return "npx is not installed"
    try:
        probe = _run("--version", timeout=INSTALL_SECONDS)
    except subprocess.TimeoutExpired:
        return f"the Inspector could not be fetched within {INSTALL_SECONDS} s"
    return "" if probe.returncode == 0 else f"npx cannot run the Inspector: {probe.stderr[-300:]}"


def inspect(command: Sequence[str | Path], *options: str, era: Era = "auto") -> Inspected:
    """Run the Inspector once over a server that it starts."""
    fixed = ("--format", "json", "-q", "--protocol-era", era)
    run = _run(*map(str, command), *options, *fixed, timeout=DEADLINE)
    found = json.loads(run.stdout) if run.stdout.strip() else {}
    return Inspected(run.returncode, found.get("result", {}), run.stderr)


def call(
    command: Sequence[str | Path], tool: str, arguments: dict[str, Any], era: Era = "auto"
) -> Inspected:
    """Call one tool."""
    sent = json.dumps(arguments)
    options = ("--method", "tools/call", "--tool-name", tool, "--tool-args-json", sent)
    return inspect(command, *options, era=era)


def _run(*arguments: str, timeout: float) -> subprocess.CompletedProcess[str]:
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run(
            [*INSPECTOR, *arguments],
            capture_output=True,
            encoding="utf-8",
            timeout=timeout,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "MCP_CATALOG_PATH": f"{folder}/catalog.json"},
            check=False,
        )
