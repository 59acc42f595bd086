"""What the real tools publish: schemas that every client takes, within a budget of tokens."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from mcp.shared.tool_name_validation import validate_tool_name

from pullstate.server.registry import Published, Registry
from pullstate.server.tools import TOOLS

PUBLISHED = Registry(TOOLS).published
EACH = pytest.mark.parametrize("tool", PUBLISHED, ids=lambda tool: tool.name)
NOT_FLAT = {"$ref", "$defs", "anyOf", "oneOf", "allOf", "not", "if", "title", "prefixItems"}
BOUNDS = ("minimum", "maximum", "maxLength", "minLength", "maxItems", "minItems")


def schemas(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema in an input schema, with its path as a caller sees it."""
    yield path, schema
    for name, inner in schema.get("properties", {}).items():
        yield from schemas(inner, f"{path}.{name}".lstrip("."))
    if "items" in schema:
        yield from schemas(schema["items"], f"{path}[]")


def compact(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


@EACH
def test_the_input_schema_is_flat(tool: Published[Any]) -> None:
    for path, schema in schemas(tool.input_schema):
        assert not NOT_FLAT & set(schema), path
        assert isinstance(schema["type"], str), path
        assert schema.get("default", 0) is not None, path
        assert schema["type"] != "object" or schema["additionalProperties"] is False, path


@EACH
def test_every_parameter_is_described_and_every_bound_said_in_words(tool: Published[Any]) -> None:
    for path, schema in schemas(tool.input_schema):
        if not path or path.endswith("[]"):
            continue
        words = schema["description"]
        for bound in BOUNDS:
            said = str(schema.get(bound, ""))
            trivial = bound == "minLength" and said == "1"
            assert trivial or said in re.sub(r"(?<=\d),(?=\d)", "", words), f"{path}: {bound}"


@EACH
def test_the_output_schema_has_no_references_and_no_titles(tool: Published[Any]) -> None:
    assert tool.output_schema["type"] == "object"
    text = compact(tool.output_schema)
    assert not re.search(r'"(\$ref|\$defs|oneOf|allOf|default)":', text)


@EACH
def test_the_name_is_a_verb_and_its_object(tool: Published[Any]) -> None:
    assert validate_tool_name(tool.name).is_valid
    assert re.fullmatch("(list|get|wait_for|resolve)_[a-z_]+", tool.name)


@EACH
def test_one_spelling_of_each_parameter_is_advertised(tool: Published[Any]) -> None:
    names = list(tool.input_schema["properties"])
    bare = [name.replace("_", "").lower() for name in names]
    assert len(set(bare)) == len(bare)


def test_all_tools_together_cost_an_agent_little() -> None:
    said = [compact([p.name, p.tool.title, p.tool.description, p.input_schema]) for p in PUBLISHED]
    assert sum(map(len, said)) < 12_000
    assert sum(len(compact(p.output_schema)) for p in PUBLISHED) < 20_000
