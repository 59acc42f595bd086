"""Frozen dataclasses ↔ JSON, by their fields: for bodies that are stored and given back whole."""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

from pullstate.store.rows import dumps, scan


def encode(value: object) -> str:
    """A dataclass as JSON: an object of its fields, times as RFC 3339, tuples as arrays."""
    return dumps(_plain(value))


def decode(kind: type, text: str) -> Any:
    """The dataclass of a kind that `encode` wrote; fields of a newer version are left out."""
    return decode_at(kind, text)[0]


def decode_at(kind: type, text: str, at: int = 0) -> tuple[Any, int]:
    """The same of the JSON that begins at an index of a text, and the index where it ends."""
    value, end = scan(text, at)
    return _reader(kind)(value), end


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value.isoformat() if isinstance(value, datetime) else value


@cache
def _reader(kind: Any) -> Callable[[Any], Any]:
    """How to read a value of a type back."""
    if get_origin(kind) in (Union, types.UnionType):
        return _optional(kind)
    if get_origin(kind) is tuple:
        read = _reader(get_args(kind)[0])
        return lambda items: tuple(read(item) for item in items)
    if is_dataclass(kind):
        return _object(kind)  # type: ignore[arg-type]
    if kind is datetime:
        return datetime.fromisoformat
    return kind if isinstance(kind, type) and issubclass(kind, StrEnum) else _as_it_is


def _optional(kind: Any) -> Callable[[Any], Any]:
    (inner,) = (part for part in get_args(kind) if part is not type(None))
    read = _reader(inner)
    return read if read is _as_it_is else lambda value: None if value is None else read(value)


def _object(kind: type) -> Callable[[Any], Any]:
    readers = {name: _reader(hint) for name, hint in get_type_hints(kind).items()}
    to_read = [(name, read) for name, read in readers.items() if read is not _as_it_is]

    def read_object(value: dict[str, Any]) -> Any:
        for name, read in to_read:
            if name in value:
                value[name] = read(value[name])
        try:
            return kind(**value)
        except TypeError:  # a newer version has written more
            return kind(**{name: value[name] for name in readers if name in value})

    return read_object


def _as_it_is(value: Any) -> Any:
    return value
