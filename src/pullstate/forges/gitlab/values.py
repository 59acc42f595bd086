"""What GitLab writes where a value is expected: nulls, numbers as text, another version's words."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel

Item = TypeVar("Item")
_MOMENT = TypeAdapter(datetime)


def _text(value: Any) -> str:
    return str(value) if isinstance(value, str | int | float) else ""


def _number(value: Any) -> int | None:
    try:
        return int(str(value).strip())
    except ValueError:
        return None


def _flag(value: Any) -> bool | None:
    if isinstance(value, str):
        return value.strip().lower() in ("true", "1", "t", "yes")
    return None if value is None else bool(value)


def _moment(value: Any) -> datetime | None:
    """A time in UTC; None for what is none."""
    if isinstance(value, str):
        value = value.strip().removesuffix(" UTC")
    try:
        moment = _MOMENT.validate_python(value)
    except ValidationError:
        return None
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        return None


def _items(value: Any) -> list[Any]:
    """What is there of a list; one thing that could not be read is null."""
    return [each for each in value if each is not None] if isinstance(value, list) else []


def _records(value: Any) -> list[Any]:
    return [each for each in _items(value) if isinstance(each, dict | BaseModel)]


def _names(value: Any) -> list[str]:
    """Labels are names, or records with a name where their details were asked for."""
    found = (each.get("name") if isinstance(each, dict) else each for each in _items(value))
    return [str(each) for each in found if each]


Text = Annotated[str, BeforeValidator(_text)]
Word = Annotated[str | None, BeforeValidator(lambda value: _text(value) or None)]
Number = Annotated[int | None, BeforeValidator(_number)]
Flag = Annotated[bool | None, BeforeValidator(_flag)]
Moment = Annotated[datetime | None, BeforeValidator(_moment)]
Names = Annotated[list[str], BeforeValidator(_names)]
Records = Annotated[list[Item], BeforeValidator(_records)]
Record = Annotated[
    Item | None,
    BeforeValidator(lambda value: value if isinstance(value, dict | BaseModel) else None),
]


class Payload(BaseModel):
    """A record of REST, whose keys are written with underscores."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Node(BaseModel):
    """A record of GraphQL, whose keys are in camel case."""

    model_config = ConfigDict(
        extra="ignore", frozen=True, alias_generator=to_camel, populate_by_name=True
    )


class Connection(Node, Generic[Item]):
    nodes: Records[Item] = Field(default_factory=list)


def nodes(connection: Connection[Item] | None) -> list[Item]:
    """What a connection holds; nothing where it was not asked for, or is refused."""
    return connection.nodes if connection else []
