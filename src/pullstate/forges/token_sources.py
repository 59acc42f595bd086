"""The places where a token may be found. Each is read when it is asked for, never before."""

from __future__ import annotations

import stat
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from pullstate.forges.processes import TIMEOUT, Outcome, find_executable, run_process
from pullstate.forges.token_values import NOTHING, Reading, Secret, read_value

MAX_FILE = 64 * 1024  # bytes
RECHECK = 30.0  # seconds until a command that gave nothing usable is run again

# What gh and glab would hand back instead of what they keep themselves.
ECHOED = frozenset(
    {
        "GH_TOKEN", "GITHUB_TOKEN", "GITHUB_PERSONAL_ACCESS_TOKEN",
        "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN",
        "GITLAB_TOKEN", "GITLAB_ACCESS_TOKEN", "GITLAB_PERSONAL_ACCESS_TOKEN", "OAUTH_TOKEN",
        "CI_JOB_TOKEN", "JOB_TOKEN",
    }
)  # fmt: skip
QUIET = {"GH_PROMPT_DISABLED": "1", "GH_NO_UPDATE_NOTIFIER": "1", "NO_PROMPT": "1"}


def read_file(path: Path) -> bytes:
    """The beginning of a regular file. OSError for a pipe, a terminal, and where there is none."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError("not a regular file")
    with path.open("rb") as file:
        return file.read(MAX_FILE)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What sources look at: the environment, files, processes, and a monotonic clock."""

    environ: Mapping[str, str] = field(repr=False)
    read: Callable[[Path], bytes] = read_file
    run: Callable[[Sequence[str], Mapping[str, str], float], Outcome] = run_process
    clock: Callable[[], float] = time.monotonic

    @property
    def home(self) -> Path | None:
        """The user's folder by the environment alone."""
        text = self.environ.get("HOME") or self.environ.get("USERPROFILE") or ""
        return Path(text) if Path(text).is_absolute() else None


class Source(Protocol):
    """One place. `name` says which, without a path, an argument or a value in it."""

    @property
    def name(self) -> str: ...

    def read(self) -> Reading:
        """What the place holds now. Never raises; may run a process: not for an event loop."""
        ...

    def doubt(self, secret: Secret) -> None:
        """The forge refused `secret`: look again instead of remembering it. Never waits."""
        ...


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of the environment."""

    variable: str
    surroundings: Surroundings

    @property
    def name(self) -> str:
        return f"environment {self.variable}"

    def read(self) -> Reading:
        return read_value(self.surroundings.environ.get(self.variable, ""))

    def doubt(self, secret: Secret) -> None:
        """It is read each time anyway."""


@dataclass(frozen=True, slots=True)
class TokenFile:
    """A file that holds a token and nothing else; `named_in` is the key or variable that names it.

    It is read each time, so that a rotated token counts from the next request on.
    """

    named_in: str
    path: Path
    surroundings: Surroundings

    @property
    def name(self) -> str:
        return f"file ({self.named_in})"

    def read(self) -> Reading:
        try:
            return read_value(self.surroundings.read(self.path).decode("utf-8-sig"))
        except FileNotFoundError:
            return Reading(problem="names a file that does not exist")
        except OSError:
            return Reading(problem="names a file that cannot be read")
        except UnicodeDecodeError:
            return Reading(problem="names a file that is not UTF-8 text")

    def doubt(self, secret: Secret) -> None:
        """It is read each time anyway."""


class Command:
    """A command that prints a token.

    Its answer is kept while it serves. It runs again once the answer is doubted, when one of
    `watched` (files that it reads) changes, and every RECHECK seconds while it gives nothing new.
    """

    def __init__(
        self,
        name: str,
        arguments: Sequence[str],
        surroundings: Surroundings,
        watched: Sequence[Path] = (),
    ) -> None:
        self.name = name
        self._arguments = tuple(arguments)
        self._surroundings = surroundings
        self._watched = tuple(watched)
        self._kept: Reading | None = None
        self._kept_at = 0.0
        self._seen: tuple[object, ...] = ()
        self._doubted: Secret | None = None

    def read(self) -> Reading:
        kept, seen = self._kept, tuple(_stamp(path) for path in self._watched)
        if kept is None or seen != self._seen or self._is_due(kept):
            kept = self._ask()
            self._kept, self._seen, self._kept_at = kept, seen, self._surroundings.clock()
        return kept

    def doubt(self, secret: Secret) -> None:
        self._doubted = secret
        self._kept = None

    def _is_due(self, kept: Reading) -> bool:
        serves = kept.secret and kept.secret != self._doubted
        return not serves and self._surroundings.clock() - self._kept_at >= RECHECK

    def _ask(self) -> Reading:
        executable = find_executable(self._arguments[0], self._surroundings.environ)
        if executable is None:
            return NOTHING if self._is_optional() else Reading(problem="names no command in PATH")
        try:
            outcome = self._surroundings.run(
                (executable, *self._arguments[1:]), self._environ(), TIMEOUT
            )
        except OSError:
            return Reading(problem="names a command that cannot be started")
        return self._answer(outcome)

    def _answer(self, outcome: Outcome) -> Reading:
        if outcome.code is None:
            return Reading(problem=f"gave no short answer within {TIMEOUT:g} seconds")
        if outcome.code != 0:
            return NOTHING if self._is_optional() else Reading(problem="ended with an error")
        try:
            return read_value(outcome.output.decode())
        except UnicodeDecodeError:
            return Reading(problem="prints what is not UTF-8 text")

    def _is_optional(self) -> bool:
        """gh and glab may be missing, or logged in nowhere: that is no mistake of anybody's."""
        return _program(self._arguments) in ("gh", "glab")

    def _environ(self) -> dict[str, str]:
        dropped = ECHOED if self._is_optional() else frozenset()
        kept = {k: v for k, v in self._surroundings.environ.items() if k not in dropped}
        return kept | QUIET


def _program(arguments: Sequence[str]) -> str:
    return Path(arguments[0]).name.lower().removesuffix(".exe")


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
