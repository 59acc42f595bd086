"""Schemas on the wire: flat for what goes in, honest about null for what comes out."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated, Any, Literal

import jsonschema
import pytest
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from pullstate.server.arguments import CamelArguments
from pullstate.server.schemas import input_schema, output_schema


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Inner(CamelArguments):
    """Written for readers of the code."""

    title: Annotated[str, Field(description="A property that is named like a keyword.")] = ""
    page_size: Annotated[int, Field(ge=1, le=9)] = 5


class Outer(CamelArguments):
    """Written for readers of the code."""

    the_name: Annotated[str, Field(max_length=9, description="The name.")]
    inner: Annotated[Inner, Field(description="What is inside.")] = Inner()
    maybe: Annotated[Inner | None, Field(description="Or not.")] = None
    several: list[Inner] | None = None
    colour: Colour = Colour.RED
    shade: Literal["dim", "pale"] | None = None
    flag: bool = False
    number: int | None = None


class Row(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, extra="forbid")

    line: int | None = Field(description="null where there is none.")
    colour: Colour | None
    inner: Inner | None
    merged_at: str = ""
    facets: dict[str, str] = {}


class Page(BaseModel):
    rows: list[Row]
    next: str = Field(default="", description="Absent on the last page.")


def keywords(schema: Any, within: str = "") -> set[str]:
    """Every keyword that the schema uses, properties' own names left out."""
    if isinstance(schema, list):
        return set().union(*map(keywords, schema), set())
    if not isinstance(schema, dict):
        return set()
    inner = [keywords(value, key) for key, value in schema.items()]
    return set().union(*inner, set() if within == "properties" else set(schema))


def test_an_input_schema_is_flat() -> None:
    assert keywords(input_schema(Outer)).isdisjoint(
        {"$ref", "$defs", "anyOf", "oneOf", "allOf", "title"}
    )


def test_an_input_schema_says_what_was_declared() -> None:
    inner = {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "title": {
                "type": "string",
                "description": "A property that is named like a keyword.",
            },
            "pageSize": {"type": "integer", "default": 5, "minimum": 1, "maximum": 9},
        },
    }
    assert input_schema(Outer) == {
        "type": "object",
        "additionalProperties": False,
        "required": ["theName"],
        "properties": {
            "theName": {"type": "string", "maxLength": 9, "description": "The name."},
            "inner": inner | {"description": "What is inside."},
            "maybe": inner | {"description": "Or not."},
            "several": {"type": "array", "items": inner},
            "colour": {"type": "string", "enum": ["red", "blue"], "default": "red"},
            "shade": {"type": "string", "enum": ["dim", "pale"]},
            "flag": {"type": "boolean", "default": False},
            "number": {"type": "integer"},
        },
    }


def test_an_output_schema_says_null_where_null_may_come_and_has_no_references() -> None:
    schema = output_schema(Page)
    assert keywords(schema).isdisjoint({"$ref", "$defs", "title", "default"})
    row = schema["properties"]["rows"]["items"]
    assert row["properties"]["line"] == {
        "anyOf": [{"type": "integer"}, {"type": "null"}],
        "description": "null where there is none.",
    }
    assert row["properties"]["colour"]["anyOf"][1] == {"type": "null"}
    assert row["properties"]["inner"]["anyOf"][0]["properties"]["pageSize"]["maximum"] == 9
    assert row["required"] == ["line", "colour", "inner"]
    assert schema["required"] == ["rows"]


@pytest.mark.parametrize(
    ("row", "valid"),
    [
        ({"line": 1, "colour": "red", "inner": None}, True),
        ({"line": None, "colour": None, "inner": {}}, True),
        ({"line": None, "colour": None, "inner": None, "facets": {"a": "b"}}, True),
        ({"line": None, "colour": None, "inner": None, "ofANewerVersion": 1}, True),
        ({"colour": None, "inner": None}, False),
        ({"line": None, "colour": "green", "inner": None}, False),
        ({"line": None, "colour": None, "inner": None, "mergedAt": None}, False),
        ({"line": None, "colour": None, "inner": None, "facets": {"a": 1}}, False),
    ],
)
def test_an_output_schema_checks_replies(row: dict[str, Any], valid: bool) -> None:
    checker = jsonschema.Draft202012Validator(output_schema(Page))
    assert checker.is_valid({"rows": [row]}) is valid


def test_a_models_docstring_is_not_published() -> None:
    published = json.dumps([input_schema(Outer), output_schema(Page)])
    assert "readers of the code" not in published
