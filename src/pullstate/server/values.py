"""One argument's value: read as its schema says, or the words for why it does not fit.

What can only mean one thing is taken: a number, a boolean, an object or an array as text, a whole
number written 20.0. What could mean two things is not: 20.5 for an integer, true for 1.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from enum import Enum
from typing import Any

from pullstate.domain.text import quote
from pullstate.server.schemas import Schema

LARGEST_INTEGER = 2**53 - 1  # beyond it a JSON number is another one after JavaScript has read it


class Misfit(Exception):
    """Why a value does not fit. Its text goes on from the argument's name and a colon."""


class Takes(Enum):
    """What a text argument takes besides text; put into its annotation."""

    NUMBER = "an integer, as its digits"
    LIST = "an array of texts, as the same with commas between"


def is_unset(value: object) -> bool:
    """null and the empty text say "not given": some clients send every parameter."""
    return value is None or value == ""


def read_text(schema: Schema, value: object, takes: frozenset[Takes]) -> str:
    """A string within the schema's values, length and pattern."""
    if Takes.LIST in takes:
        value = _joined(value)
    if Takes.NUMBER in takes and not isinstance(value, str):
        value = str(read_integer(schema, value))
    if not isinstance(value, str):
        raise Misfit(f"{shown(value)} is not text")
    _check_characters(value)
    _check_length(schema, value)
    if (choices := _choices(schema)) and value not in choices:
        raise Misfit(f"{quote(value)} is not one of its values")
    if (pattern := schema.get("pattern")) and not re.search(pattern, value):
        raise Misfit(f"{quote(value)} does not have its form")
    return value


def read_integer(schema: Schema, value: object) -> int:
    """A whole number within the schema's bounds, and never one that JSON cannot carry."""
    number = _whole(value)
    if number is None:
        raise Misfit(f"{shown(value)} is not an integer")
    return _within(schema, number)


def read_number(schema: Schema, value: object) -> float:
    """A finite number within the schema's bounds."""
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        raise Misfit(f"{shown(value)} is not a number")
    return _within(schema, value)


def read_boolean(_: Schema, value: object) -> bool:
    """true or false, as text too."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and (word := value.strip().lower()) in {"true", "false"}:
        return word == "true"
    raise Misfit(f"{shown(value)} is neither true nor false")


READERS: dict[str, Callable[[Schema, Any], object]] = {
    "integer": read_integer,
    "number": read_number,
    "boolean": read_boolean,
}


def as_object(value: object) -> dict[str, Any]:
    """An object, from its JSON text too."""
    found = _from_json(value, "{")
    if not isinstance(found, dict):
        raise Misfit(f"{shown(value)} is not an object")
    return found


def as_list(schema: Schema, value: object) -> list[Any]:
    """An array within the schema's length, from its JSON text too, or from `a, b` for texts."""
    found = _from_json(value, "[")
    if isinstance(found, str) and schema["items"].get("type") == "string":
        found = [part.strip() for part in found.split(",")]
    if not isinstance(found, list):
        raise Misfit(f"{shown(value)} is not an array")
    if len(found) > schema.get("maxItems", len(found)):
        raise Misfit(f"{len(found)} items are too many")
    if len(found) < schema.get("minItems", 0):
        raise Misfit(f"{len(found)} items are too few")
    return found


# --- Words ---------------------------------------------------------------------------------------


def wanted(schema: Schema) -> str:
    """What to send for a value of this schema."""
    if choices := _choices(schema):
        return f"one of {', '.join(choices)}"
    kind = schema.get("type")
    if kind in {"integer", "number"}:
        return ("an integer" if kind == "integer" else "a number") + _range(schema)
    if kind == "array":
        return f"an array{_count(schema)}, each item {wanted(schema['items'])}"
    if kind == "object":
        return f"an object with {', '.join(schema.get('properties', {}))}"
    return "true or false" if kind == "boolean" else f"text{_length(schema)}"


def shown(value: object) -> str:
    """The caller's own value in a sentence: short, clean, and never a large one."""
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "an array"
    if isinstance(value, int) and not -LARGEST_INTEGER <= value <= LARGEST_INTEGER:
        return "that number"
    return json.dumps(value, default=lambda _: "that value")


def _range(schema: Schema) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f" from {low} to {high}"
    if low is not None:
        return f", {low} or more"
    return f", {high} or less" if high is not None else ""


def _length(schema: Schema) -> str:
    return f" of at most {most} characters" if (most := schema.get("maxLength")) else ""


def _count(schema: Schema) -> str:
    return f" of at most {most} items" if (most := schema.get("maxItems")) else ""


def _choices(schema: Schema) -> list[str]:
    return schema.get("enum") or ([schema["const"]] if "const" in schema else [])


# --- Parts of the readings -----------------------------------------------------------------------

_INTEGER = re.compile(r"\s*[+-]?[0-9]{1,400}(\.0*)?\s*")
_NUMBER = re.compile(r"\s*[+-]?[0-9]{1,300}(\.[0-9]{0,300})?\s*")


def _whole(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str) and _INTEGER.fullmatch(value):
        return int(value.partition(".")[0])
    return None


def _within(schema: Schema, number: Any) -> Any:
    if number < schema.get("minimum", -LARGEST_INTEGER):
        raise Misfit(f"{shown(number)} is too small")
    if number > schema.get("maximum", LARGEST_INTEGER):
        raise Misfit(f"{shown(number)} is too large")
    return number


def _joined(value: object) -> object:
    found = _from_json(value, "[")
    if not isinstance(found, list):
        return found
    if not all(isinstance(item, str) for item in found):
        raise Misfit("the array holds something other than text")
    return ",".join(found)


def _check_characters(value: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Misfit("it holds half of a surrogate pair") from None
    if "\0" in value:
        raise Misfit("it holds a NUL character")


def _check_length(schema: Schema, value: str) -> None:
    if len(value) > schema.get("maxLength", len(value)):
        raise Misfit(f"{len(value)} characters are too many")
    if len(value) < schema.get("minLength", 0):
        raise Misfit(f"{len(value)} characters are too few")


def _from_json(value: object, opening: str) -> object:
    """What the text says where it is JSON of the kind that begins so, else the value itself."""
    if not isinstance(value, str) or not value.lstrip().startswith(opening):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise Misfit("the text is not JSON") from None
