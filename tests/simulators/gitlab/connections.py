"""Cursor connections of the GraphQL API."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from graphql import GraphQLError

from tests.simulators.gitlab.model import MergeRequest

MAXIMUM = 100

SORTS: dict[str, tuple[str, bool]] = {
    "created_asc": ("created_at", False),
    "created_desc": ("created_at", True),
    "updated_asc": ("updated_at", False),
    "updated_desc": ("updated_at", True),
}


@dataclass(frozen=True, slots=True)
class Connection:
    """`rows` are those of the page; `count` is over all."""

    rows: Sequence[Any]
    cursors: Sequence[str]
    count: int
    has_next: bool
    has_previous: bool


def _encode(place: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip("=")


def _decode(cursor: str) -> Any:
    try:
        return json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except ValueError as error:
        raise GraphQLError("Please provide a valid cursor") from error


def _window(total: int, start: int, stop: int, first: int | None, last: int | None) -> slice:
    """The part of `rows[start:stop]` that `first` or `last` asks for."""
    if min(first or 0, last or 0) < 0:
        raise GraphQLError("first and last must not be negative")
    start, stop = min(start, total), min(stop, total)
    if first is None and last is not None:
        return slice(max(start, stop - min(last, MAXIMUM)), stop)
    size = MAXIMUM if first is None else min(first, MAXIMUM)
    return slice(start, max(start, min(stop, start + size)))


def _page(rows: Sequence[Any], part: slice, place: Callable[[int], Any]) -> Connection:
    numbers = range(part.start, part.stop)
    return Connection(
        rows[part],
        [_encode(place(number)) for number in numbers],
        len(rows),
        part.stop < len(rows),
        part.start > 0,
    )


def by_offset(
    rows: Sequence[Any],
    after: str | None = None,
    before: str | None = None,
    first: int | None = None,
    last: int | None = None,
    **_: Any,
) -> Connection:
    """Of an array: the cursor is the place in it."""
    start = _decode(after) if after else 0
    stop = _decode(before) - 1 if before else len(rows)
    return _page(rows, _window(len(rows), start, stop, first, last), lambda number: number + 1)


def by_key(
    rows: Sequence[MergeRequest],
    sort: str,
    after: str | None = None,
    before: str | None = None,
    first: int | None = None,
    last: int | None = None,
) -> Connection:
    """Of a sorted table: the cursor is the row's own key, so that it survives writes."""
    column, down = SORTS[sort.lower()]

    def key(mr: MergeRequest) -> tuple[datetime, int]:
        return getattr(mr, column), mr.id

    ordered = sorted(rows, key=key, reverse=down)

    def past(cursor: str | None, default: int) -> int:
        if not cursor:
            return default
        stamp, number = _decode(cursor)
        mark = (datetime.fromisoformat(stamp), number)
        return sum(key(mr) > mark if down else key(mr) < mark for mr in ordered)

    at_after = past(after, 0)
    marked = bool(after) and at_after < len(ordered) and _is_at(ordered[at_after], after, key)
    start, stop = at_after + marked, past(before, len(ordered))
    part = _window(len(ordered), start, stop, first, last)
    return _page(ordered, part, lambda n: [key(ordered[n])[0].isoformat(), ordered[n].id])


def _is_at(mr: MergeRequest, cursor: str | None, key: Callable[[MergeRequest], Any]) -> bool:
    stamp, number = _decode(cursor or "")
    return key(mr) == (datetime.fromisoformat(stamp), number)
