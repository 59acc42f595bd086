"""GitLab's GraphQL endpoint: limits and validation first, then graphql-core."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from graphql import (
    DocumentNode,
    GraphQLEnumType,
    GraphQLError,
    GraphQLSchema,
    build_ast_schema,
    execute,
    extend_schema,
    parse,
    validate,
)

from tests.simulators.gitlab.access import Caller
from tests.simulators.gitlab.asking import Context
from tests.simulators.gitlab.complexity import DEPTH, DEPTH_ANONYMOUS, LIMIT, LIMIT_ANONYMOUS, Cost
from tests.simulators.gitlab.mergeability import RENAMED
from tests.simulators.gitlab.resolvers import resolve
from tests.simulators.gitlab.versions import has, trim

HERE = Path(__file__).parent
NEWER_SINCE = "18.3"

Json = dict[str, Any]

_UNKNOWN_FIELD = re.compile(r"Cannot query field '(\w+)' on type '(\w+)'")
_UNKNOWN_ARGUMENT = re.compile(r"Unknown argument '(\w+)' on field '(?:(\w+)\.)?(\w+)'")


@lru_cache
def schema(version: str, enterprise: bool) -> GraphQLSchema:
    """The schema as this version and edition publishes it."""
    document = trim(parse((HERE / "schema.graphql").read_text()), version, enterprise)
    built = build_ast_schema(document)
    for file, applies in (
        ("schema_newer.graphql", has(version, NEWER_SINCE)),
        ("schema_older.graphql", not has(version, RENAMED)),
    ):
        if applies:
            built = extend_schema(built, parse((HERE / file).read_text()))
    for name, kind in built.type_map.items():
        if isinstance(kind, GraphQLEnumType) and not name.startswith("__"):
            # A value that no published version has yet must reach the client as it is.
            kind.serialize = kind.coerce_output_value = str  # type: ignore[method-assign]
    return built


def answer(context: Context, body: str) -> Json:
    """The reply to one request; a refusal is a reply with `errors` and no `data`."""
    asked = _asked(body)
    if isinstance(asked, str):
        return {"errors": [{"message": asked}]}
    query, variables, operation = asked
    built = schema(context.world.version, context.world.edition == "ee")
    try:
        document = parse(query)
    except GraphQLError as error:
        return {"errors": [error.formatted]}
    if errors := validate(built, document) or _too_much(document, variables, context.caller):
        return {"errors": [_in_ruby_words(error) for error in errors]}
    return _run(built, document, context, variables, operation)


def _asked(body: str) -> tuple[str, Json, str | None] | str:
    try:
        given = json.loads(body)
    except ValueError:
        return "Invalid JSON"
    query = given.get("query") if isinstance(given, dict) else None
    if not isinstance(query, str) or not query.strip():
        return "No query string was present"
    variables = given.get("variables") or {}
    return query, variables if isinstance(variables, dict) else {}, given.get("operationName")


def _too_much(document: DocumentNode, variables: Json, caller: Caller) -> list[GraphQLError]:
    cost = Cost(document, variables)
    limit, depth = (LIMIT, DEPTH) if caller.user else (LIMIT_ANONYMOUS, DEPTH_ANONYMOUS)
    words = []
    if cost.complexity > limit:
        words.append(
            f"Query has complexity of {cost.complexity}, which exceeds max complexity of {limit}"
        )
    if cost.depth > depth:
        words.append(f"Query has depth of {cost.depth}, which exceeds max depth of {depth}")
    return [GraphQLError(each) for each in words]


def _in_ruby_words(error: GraphQLError) -> Json:
    """graphql-ruby's wording and code for what a client may look for."""
    shape = dict(error.formatted)
    if found := _UNKNOWN_FIELD.search(error.message):
        name, owner = found.groups()
        shape["message"] = f"Field '{name}' doesn't exist on type '{owner}'"
        shape["extensions"] = {"code": "undefinedField", "typeName": owner, "fieldName": name}
    elif found := _UNKNOWN_ARGUMENT.search(error.message):
        argument, owner, name = found.groups()
        shape["message"] = f"Field '{name}' doesn't accept argument '{argument}'"
        shape["extensions"] = {"code": "argumentNotAccepted", "name": name, "typeName": owner}
    return shape


def _run(
    built: GraphQLSchema,
    document: DocumentNode,
    context: Context,
    variables: Json,
    name: str | None,
) -> Json:
    result = execute(
        built,
        document,
        context_value=context,
        variable_values=variables,
        operation_name=name,
        field_resolver=resolve,
    )
    reply: Json = {"data": result.data}  # type: ignore[union-attr]
    if result.errors:  # type: ignore[union-attr]
        reply["errors"] = [error.formatted for error in result.errors]  # type: ignore[union-attr]
    return reply
