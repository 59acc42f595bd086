"""Compact JSON, and how much of it a page may hold."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic_core import to_json

REST_OF_REPLY = 2_000


def compact(data: Any) -> str:
    """JSON without spaces and with every character as itself.

    Raises ValueError for what JSON or UTF-8 cannot say (a lone surrogate, an object of ours).
    """
    return to_json(data).decode()


def size(data: Any) -> int:
    """The bytes that `compact` takes in UTF-8."""
    return len(to_json(data))


def fitting(rows: Iterable[Any], budget: int, rest: int = REST_OF_REPLY) -> list[Any]:
    """The first rows whose reply stays within `budget` bytes of UTF-8; never none of several.

    `rest` is what the reply says besides its rows. Rows are taken one by one, so that those
    beyond the page are never made.
    """
    left = budget - rest
    shown: list[Any] = []
    for row in rows:
        left -= size(row) + 1
        if left < 0 and shown:
            break
        shown.append(row)
    return shown
