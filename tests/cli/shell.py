"""Running the commands as a person does: real processes, with no environment but what is given."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SECONDS = 60


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended."""

    status: int
    output: str
    errors: str

    @property
    def json(self) -> Any:
        """Standard output, which must be JSON and nothing else."""
        return json.loads(self.output)


@dataclass(frozen=True, slots=True)
class Shell:
    """A folder with a configuration and a store of its own."""

    folder: Path
    environ: dict[str, str]

    def run(self, *arguments: object, **environ: str) -> Done:
        """`pullstate ARGUMENTS` to its end."""
        command = [sys.executable, "-m", "pullstate", *map(str, arguments)]
        done = subprocess.run(
            command,
            cwd=self.folder,
            env={**self.environ, **environ},
            capture_output=True,
            encoding="utf-8",
            errors="backslashreplace",
            timeout=SECONDS,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)


def shell(folder: Path, configuration: str = "", **environ: str) -> Shell:
    """A shell whose home, configuration and store lie in `folder`."""
    file = folder / "config.toml"
    file.write_text(configuration, encoding="utf-8")
    own = {
        "HOME": str(folder),
        "PATH": os.environ["PATH"],
        "PULLSTATE_CONFIG": str(file),
        "PULLSTATE_STORE": str(folder / "store.db"),
    }
    return Shell(folder, own | environ)
