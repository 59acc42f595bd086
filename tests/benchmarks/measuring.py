"""How the benchmarks time, and how they say it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Times:
    """What a number of runs took, in seconds."""

    runs: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.runs)

    @property
    def p99(self) -> float:
        return sorted(self.runs)[min(len(self.runs) - 1, int(len(self.runs) * 0.99))]


def timed(act: Callable[[], object]) -> float:
    """Seconds that one run takes."""
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def alternating(times: int, **acts: Callable[[], object]) -> dict[str, Times]:
    """Run each act in turn, again and again: what slows the machine slows them alike."""
    taken: dict[str, list[float]] = {name: [] for name in acts}
    for _ in range(times):
        for name, act in acts.items():
            taken[name].append(timed(act))
    return {name: Times(tuple(runs)) for name, runs in taken.items()}


def ms(seconds: float) -> str:
    """Seconds as milliseconds."""
    return f"{seconds * 1000:.2f} ms"


def say(title: str, *lines: str) -> None:
    """Print one benchmark's result."""
    print(f"\n{title}", *(f"  {line}" for line in lines), sep="\n", flush=True)  # noqa: T201
