"""Doing without root's powers, and using them: what a file system refuses to whom."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


def powerless(command: list[str]) -> list[str]:
    """The command as one to whom file permissions apply; skips where that cannot be had."""
    if os.geteuid() != 0:
        return command
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        pytest.skip("root may write everything, and setpriv is not there to take that away")
    return [setpriv, "--bounding-set", "-dac_override,-dac_read_search", *command]


@contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[Path]:
    """A disk of so many kilobytes at `folder`; skips where none can be mounted."""
    folder.mkdir(exist_ok=True)
    options = ["-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(["mount", *options], check=False).returncode:
        pytest.skip("only root may mount a small disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
