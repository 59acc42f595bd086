"""Payloads that GitLabs really sent, where they are at hand beside the repository."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parents[4] / "shared" / "data" / "gitlab"


def records(wanted: Callable[[dict[str, Any]], bool]) -> list[Any]:
    """Every record in every file that is wanted, as parameters named after their files."""
    if not DATA.is_dir():
        return [pytest.param(None, marks=pytest.mark.skip(reason="no ../shared/data/gitlab here"))]
    return [
        pytest.param(record, id=f"{path.relative_to(DATA)}-{number}")
        for path in sorted(DATA.rglob("*"))
        for number, record in enumerate(filter(wanted, _records_of(path)))
    ]


def _records_of(path: Path) -> Iterator[dict[str, Any]]:
    if path.suffix == ".jsonl":
        for line in path.read_text().splitlines():
            yield from _within(json.loads(line))
    elif path.suffix == ".json":
        yield from _within(json.loads(path.read_text()))
    elif path.suffix == ".http":
        _, _, body = path.read_text().replace("\r\n", "\n").partition("\n\n")
        yield from _within(json.loads(body))


def _within(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for each in value.values():
            yield from _within(each)
    elif isinstance(value, list):
        for each in value:
            yield from _within(each)
