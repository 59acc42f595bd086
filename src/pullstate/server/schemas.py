"""From pydantic models to the JSON schemas on the wire: flat, untitled, without references.

Some clients end the whole session over a `$ref` or a union in an input schema, so a nested model
stands where it is used, and an optional parameter is simply one that is not required.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

Schema = dict[str, Any]


def input_schema(model: type[BaseModel]) -> Schema:
    """The schema of a tool's arguments: no unions with null, no defaults that mean "not given"."""
    return _flat(*_generated(model), nulls=False)


def output_schema(model: type[BaseModel]) -> Schema:
    """The schema of a tool's result: `anyOf [X, null]` where null may come.

    A field with a default may be absent. Unknown fields are not forbidden: a client may check the
    replies of a newer server against a schema that it kept.
    """
    return _flat(*_generated(model), nulls=True)


def _generated(model: type[BaseModel]) -> tuple[Schema, dict[str, Schema]]:
    schema = model.model_json_schema(by_alias=True)
    schema.pop("description", None)
    return schema, schema.pop("$defs", {})


def _flat(node: Schema, definitions: dict[str, Schema], *, nulls: bool) -> Schema:
    node = _resolved(node, definitions)
    if not nulls:
        node = _without_null(node, definitions)
    flat = {key: value for key, value in node.items() if _is_said(key, value, output=nulls)}
    for key, value in flat.items():
        if key == "properties":
            flat[key] = {k: _flat(v, definitions, nulls=nulls) for k, v in value.items()}
        elif key in {"items", "additionalProperties"} and isinstance(value, dict):
            flat[key] = _flat(value, definitions, nulls=nulls)
        elif key == "anyOf":
            flat[key] = [_flat(arm, definitions, nulls=nulls) for arm in value]
    return flat


def _resolved(node: Schema, definitions: dict[str, Schema]) -> Schema:
    """The node with its definition in it; what the field says of itself wins.

    A definition's description is the model's docstring, written for readers of the code.
    """
    if "$ref" not in node:
        return node
    definition = definitions[node["$ref"].removeprefix("#/$defs/")]
    own = {key: value for key, value in node.items() if key != "$ref"}
    return {key: value for key, value in definition.items() if key != "description"} | own


def _without_null(node: Schema, definitions: dict[str, Schema]) -> Schema:
    """`X | null` as X."""
    arms = [arm for arm in node.get("anyOf", []) if arm != {"type": "null"}]
    if len(arms) != 1:
        return node
    own = {key: value for key, value in node.items() if key != "anyOf"}
    return _resolved(arms[0], definitions) | own


def _is_said(key: str, value: Any, *, output: bool) -> bool:
    """Whether a keyword goes on the wire."""
    if key == "title":
        return False
    if key == "default":
        return not output and isinstance(value, bool | int | float | str) and value != ""
    return not (output and key == "additionalProperties" and value is False)
