"""The GraphQL endpoint without HTTP: a request in, a status and GitHub's JSON out."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphql import (
    REMOVE,
    DocumentNode,
    GraphQLError,
    GraphQLField,
    GraphQLObjectType,
    GraphQLSchema,
    OperationDefinitionNode,
    UnionTypeDefinitionNode,
    Visitor,
    build_ast_schema,
    execute_sync,
    get_named_type,
    is_abstract_type,
    parse,
    validate,
    visit,
)

from tests.simulators.github import (  # noqa: F401 (importing them fills the table of fields)
    check_fields,
    conversation_fields,
    pull_request_fields,
    query_fields,
)
from tests.simulators.github.asking import FIELDS, Asking
from tests.simulators.github.connections import timestamp
from tests.simulators.github.costs import Step, defaults, price, steps
from tests.simulators.github.errors import Refusal, WholeRefusal, forbidden, rate_limited
from tests.simulators.github.tokens import GRAPHQL, Viewer
from tests.simulators.github.world import World

SDL = Path(__file__).with_name("schema.graphql")
INT_MAX = 2**31 - 1
MESSAGES = {
    "FORBIDDEN": "Resource not accessible by personal access token",
    "NOT_FOUND": "Could not resolve to a node.",
    "RESOURCE_LIMITS_EXCEEDED": "Resource limits for this query exceeded.",
}


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document that was read once: it is valid, or why not."""

    document: DocumentNode | None
    errors: list[dict[str, Any]]
    operations: dict[str, tuple[OperationDefinitionNode, list[Step]]]


@dataclass(slots=True)
class Reply:
    body: dict[str, Any]
    cost: int = 0


class Engine:
    def __init__(self, world: World) -> None:
        self.world = world
        self.schema = load_schema(world.without)
        self._prepare = functools.lru_cache(maxsize=256)(self._prepare_once)

    def answer(
        self,
        viewer: Viewer,
        query: str,
        variables: dict[str, Any] | None = None,
        operation: str | None = None,
        *,
        empty_rollups: bool = False,
    ) -> Reply:
        """What GitHub would say, charged to the viewer's user."""
        prepared = self._prepare(query)
        if prepared.document is None:
            return Reply({"errors": prepared.errors})
        try:
            asking = self._charge(viewer, prepared, variables or {}, operation)
        except WholeRefusal as refusal:
            return Reply({"errors": [refusal.shaped]})
        asking.empty_rollups = empty_rollups
        return self._execute(asking, prepared.document, variables, operation)

    def _charge(
        self, viewer: Viewer, prepared: Prepared, variables: dict[str, Any], operation: str | None
    ) -> Asking:
        chosen, plan = _chosen_operation(prepared, operation)
        given = {**(defaults(chosen) if chosen else {}), **variables}
        asked, budget = price(plan, given), self.world.budgets.of(viewer.payer, GRAPHQL)
        if asked.points > budget.remaining:
            user = viewer.user.database_id if viewer.user else 0
            raise rate_limited(self.world.limit_error_type, user)
        budget.used += asked.points
        return Asking(self.world, viewer, asked.points, asked.nodes, budget)

    def _execute(
        self,
        asking: Asking,
        document: DocumentNode,
        variables: dict[str, Any] | None,
        operation: str | None,
    ) -> Reply:
        result = execute_sync(
            self.schema,
            document,
            context_value=asking,
            variable_values=variables,
            operation_name=operation,
            middleware=[_Forbidding(asking.viewer.forbids)] if asking.viewer.forbids else None,
        )
        for pull_request in asking.asked_mergeable:
            if pull_request.unknown_for:
                pull_request.unknown_for -= 1
        body: dict[str, Any] = {} if result.data is None else {"data": result.data}
        if result.errors:
            body["errors"] = [_shaped(error) for error in result.errors]
        return Reply(body, asking.cost)

    def _prepare_once(self, query: str) -> Prepared:
        try:
            document = parse(query)
        except GraphQLError as error:
            return Prepared(None, [_shaped(error)], {})
        if errors := validate(self.schema, document):
            return Prepared(None, [_invalid(error) for error in errors], {})
        operations = {
            each.name.value if each.name else "": (each, steps(document, each))
            for each in document.definitions
            if isinstance(each, OperationDefinitionNode)
        }
        return Prepared(document, [], operations)


class _Forbidding:
    """graphql-core middleware: the fields that a token may not read."""

    def __init__(self, fields: frozenset[str]) -> None:
        self._fields = fields

    def resolve(self, following: Any, source: Any, info: Any, **arguments: Any) -> Any:
        if f"{info.parent_type.name}.{info.field_name}" in self._fields:
            raise forbidden()
        return following(source, info, **arguments)


def _chosen_operation(
    prepared: Prepared, name: str | None
) -> tuple[OperationDefinitionNode | None, list[Step]]:
    if name:
        return prepared.operations.get(name, (None, []))
    return next(iter(prepared.operations.values()), (None, []))


def _shaped(error: GraphQLError) -> dict[str, Any]:
    shaped: dict[str, Any] = {}
    refusal = error.original_error
    if isinstance(refusal, Refusal):
        shaped["type"] = refusal.type
    if error.path:
        shaped["path"] = error.path
    if isinstance(refusal, Refusal) and refusal.extensions:
        shaped["extensions"] = refusal.extensions
    shaped["locations"] = [{"line": at.line, "column": at.column} for at in error.locations or ()]
    shaped["message"] = error.message
    return shaped


def _invalid(error: GraphQLError) -> dict[str, Any]:
    """A validation error; that of an unknown field in GitHub's own words."""
    shaped = _shaped(error)
    unknown = re.match(r"Cannot query field '(\w+)' on type '(\w+)'", error.message)
    if unknown:
        name, type_name = unknown.groups()
        shaped["path"] = ["query", name]
        shaped["extensions"] = {
            "code": "undefinedField",
            "typeName": type_name,
            "fieldName": name,
        }
        shaped["message"] = f"Field '{name}' doesn't exist on type '{type_name}'"
    return shaped


@functools.lru_cache(maxsize=8)
def load_schema(without: frozenset[str] = frozenset()) -> GraphQLSchema:
    """The executable schema, less the fields that a version does not have."""
    sdl = visit(parse(SDL.read_text(encoding="utf-8")), _Omitting(without))
    schema = build_ast_schema(sdl)
    for kind in schema.type_map.values():
        if is_abstract_type(kind):
            kind.resolve_type = lambda value, *_: value.typename
        elif isinstance(kind, GraphQLObjectType) and not kind.name.startswith("__"):
            for name, field in kind.fields.items():
                field.resolve = _resolver(kind.name, name, field)
    return schema


class _Omitting(Visitor):
    """Takes `Type.field` and `Union.Member` out of a schema's text."""

    def __init__(self, names: frozenset[str]) -> None:
        super().__init__()
        self._names = names

    def enter_field_definition(self, node: Any, _: Any, __: Any, ___: Any, above: Any) -> Any:
        return REMOVE if f"{above[-1].name.value}.{node.name.value}" in self._names else None

    def enter_named_type(self, node: Any, _: Any, __: Any, ___: Any, above: Any) -> Any:
        owner = above[-1]
        if not isinstance(owner, UnionTypeDefinitionNode):
            return None
        return REMOVE if f"{owner.name.value}.{node.name.value}" in self._names else None


def _resolver(kind: str, name: str, field: GraphQLField) -> Any:
    resolve = FIELDS.get((kind, name)) or _attribute(name)
    if get_named_type(field.type).name == "DateTime":
        return lambda source, info: timestamp(resolve(source, info))
    return resolve


def _attribute(name: str) -> Any:
    if name == "databaseId":
        return _database_id
    if name == "fullDatabaseId":
        return lambda source, _: str(source.database_id)
    attribute = re.sub(r"([A-Z])", lambda found: f"_{found[1].lower()}", name)
    return lambda source, _: getattr(source, attribute)


def _database_id(source: Any, _: Any) -> int | None:
    """Null where it does not fit into GraphQL's 32 bits; `fullDatabaseId` always does."""
    return source.database_id if source.database_id <= INT_MAX else None


def spoiled(body: dict[str, Any], nulls: Mapping[str, str]) -> dict[str, Any]:
    """An answer with some nodes null and an error beside each: `{"r0": "FORBIDDEN"}`.

    A key is a path with dots, numbers for items: `nodes.1`, `repository.pullRequest.reviews`.
    """
    for dotted, kind in nulls.items():
        path = [int(step) if step.isdigit() else step for step in dotted.split(".")]
        parent: Any = body["data"]
        for step in path[:-1]:
            parent = parent[step]
        parent[path[-1]] = None
        error = {"type": kind, "path": path, "locations": [], "message": MESSAGES.get(kind, kind)}
        body.setdefault("errors", []).append(error)
    return body
