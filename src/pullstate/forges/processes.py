"""Small outside commands (`gh`, `glab`, a password manager) that can neither ask nor hang.

An argument list and never a shell, an absolute executable, no input, no terminal, bounded time and
bounded output. What a command writes to its standard error is dropped: it may quote a secret.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

TIMEOUT = 3.0  # seconds
MAX_OUTPUT = 64 * 1024  # bytes


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command ended. `code` is None where it was stopped: too late, or too much."""

    code: int | None
    output: bytes = field(repr=False)


def find_executable(name: str, environ: Mapping[str, str]) -> str | None:
    """The absolute path of a command, or None; relative folders of PATH are skipped."""
    if Path(name).is_absolute():
        return shutil.which(name)
    if Path(name).name != name:
        return None
    folders = (Path(folder) for folder in environ.get("PATH", "").split(os.pathsep) if folder)
    found = (shutil.which(str(folder / name)) for folder in folders if folder.is_absolute())
    return next((path for path in found if path), None)


def run_process(
    arguments: Sequence[str], environ: Mapping[str, str], timeout: float = TIMEOUT
) -> Outcome:
    """Run a command to its end or for `timeout` seconds. OSError where it cannot be started.

    It gets a session of its own: without a controlling terminal it cannot prompt, and at the
    deadline, or when it prints too much, everything that it started goes with it.
    """
    deadline = time.monotonic() + timeout
    process = subprocess.Popen(
        list(arguments),
        bufsize=0,
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )
    try:
        output = _read(process, timeout)
        return Outcome(process.wait(max(0.0, deadline - time.monotonic())), output)
    except subprocess.TimeoutExpired:
        return Outcome(None, b"")
    finally:
        _end(process)


def _read(process: subprocess.Popen[bytes], timeout: float) -> bytes:
    """What it prints until it closes its output. A thread reads: Windows cannot poll a pipe."""
    output = bytearray()
    reader = threading.Thread(target=_collect, args=(process.stdout, output), daemon=True)
    reader.start()
    reader.join(timeout)
    if reader.is_alive() or len(output) > MAX_OUTPUT:
        raise subprocess.TimeoutExpired(process.args, timeout)
    return bytes(output)


def _collect(pipe: IO[bytes], output: bytearray) -> None:
    with contextlib.suppress(OSError, ValueError):  # closed under it at the deadline
        while len(output) <= MAX_OUTPUT and (chunk := pipe.read(MAX_OUTPUT)):
            output += chunk


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        with contextlib.suppress(OSError):
            _kill(process)
        process.wait()
    if process.stdout:
        process.stdout.close()


def _kill(process: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
