"""How much of a reply each part may take, in bytes of UTF-8 as compact JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from pullstate.server.wire import size

Row = dict[str, Any]
R = TypeVar("R")

COUNTED = {"truncated": True, "not_shown": 10**9}  # as long as what a cut list says gets


def cost(rows: Iterable[object]) -> int:
    """The bytes that rows take inside an array."""
    return sum(size(row) + 1 for row in rows)


def fill(rows: Sequence[R], room: int) -> list[R]:
    """The first rows that fit into `room`: maybe all, maybe none."""
    for count, row in enumerate(rows):
        room -= size(row) + 1
        if room < 0:
            return list(rows[:count])
    return list(rows)


def left_out(count: int, truncated: bool) -> Row:
    """What a list says of its own completeness; `truncated` where the forge itself had more."""
    return {"truncated": truncated or count > 0} | ({"not_shown": count} if count else {})


def fair(room: int, wanted: int, others: int) -> int:
    """What one of two gets of `room`: at least half of it, and what the other leaves."""
    return min(wanted, max(room // 2, room - others))


def together(parts: Mapping[str, Callable[[int], Row]], room: int) -> dict[str, Row]:
    """Every part, made for the room it gets: what a small one does not need goes to the others.

    The parts and their names fit into `room` together if each keeps to what it is given.
    """
    made = {name: make(room) for name, make in parts.items()}
    sizes = {name: size(part) for name, part in made.items()}
    for before, name in enumerate(sorted(sizes, key=sizes.__getitem__)):
        name_itself = len(name) + 4  # quotes, colon, comma
        share = room // (len(parts) - before) - name_itself
        if sizes[name] > share:
            made[name] = parts[name](share)
            sizes[name] = size(made[name])
        room -= sizes[name] + name_itself
    return made
