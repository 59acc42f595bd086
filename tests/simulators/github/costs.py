"""What a GraphQL request costs, counted as GitHub does before it is executed.

Points: the requests that it takes to fill every connection, over 100, rounded, at least 1. Nodes:
the most that the connections can hold; more than 500,000 are refused.
https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    IntValueNode,
    ListValueNode,
    OperationDefinitionNode,
    SelectionSetNode,
    ValueNode,
    VariableNode,
)

from tests.simulators.github.errors import WholeRefusal

NODE_LIMIT = 500_000
PAGE_LIMIT = 100
FILLED = frozenset({"nodes", "edges", "pageInfo"})


@dataclass(slots=True)
class Price:
    requests: int = 0
    nodes: int = 0

    @property
    def points(self) -> int:
        return max(1, round(self.requests / 100))


@dataclass(slots=True)
class Step:
    """A field that multiplies what lies below it: a connection, or `nodes(ids:)`."""

    name: str
    arguments: Mapping[str, ValueNode]
    is_connection: bool
    is_filled: bool
    """Whether its items are asked for, and not only their number."""
    below: list[Step] = field(default_factory=list)


def steps(document: DocumentNode, operation: OperationDefinitionNode) -> list[Step]:
    """The multiplying fields of an operation; depends on nothing but its text."""
    fragments = {
        each.name.value: each
        for each in document.definitions
        if isinstance(each, FragmentDefinitionNode)
    }
    return list(_steps(operation.selection_set, fragments))


def _steps(
    selected: SelectionSetNode | None, fragments: Mapping[str, FragmentDefinitionNode]
) -> Iterable[Step]:
    for each in selected.selections if selected else ():
        if isinstance(each, FieldNode):
            yield from _field_steps(each, fragments)
        elif isinstance(each, FragmentSpreadNode):
            yield from _steps(fragments[each.name.value].selection_set, fragments)
        else:
            yield from _steps(each.selection_set, fragments)


def _field_steps(
    node: FieldNode, fragments: Mapping[str, FragmentDefinitionNode]
) -> Iterable[Step]:
    below = list(_steps(node.selection_set, fragments))
    arguments = {each.name.value: each.value for each in node.arguments or ()}
    chosen = {each.name.value for each in _fields(node.selection_set, fragments)}
    is_connection = bool({"first", "last"} & set(arguments)) or bool(FILLED & chosen)
    if is_connection or "ids" in arguments:
        filled = bool(FILLED & chosen)
        yield Step(node.name.value, arguments, is_connection, filled, below)
    else:
        yield from below


def _fields(
    selected: SelectionSetNode | None, fragments: Mapping[str, FragmentDefinitionNode]
) -> Iterable[FieldNode]:
    for each in selected.selections if selected else ():
        if isinstance(each, FieldNode):
            yield each
        elif isinstance(each, FragmentSpreadNode):
            yield from _fields(fragments[each.name.value].selection_set, fragments)
        else:
            yield from _fields(each.selection_set, fragments)


def defaults(operation: OperationDefinitionNode) -> dict[str, int]:
    """The page sizes that an operation's variables have when they are not given."""
    return {
        each.variable.name.value: int(each.default_value.value)
        for each in operation.variable_definitions or ()
        if isinstance(each.default_value, IntValueNode)
    }


def price(plan: Iterable[Step], variables: Mapping[str, Any]) -> Price:
    """Requests and nodes; WholeRefusal for a page or a query that asks for too much."""
    total = Price()
    for step in plan:
        _add(step, variables, 1, total)
    if total.nodes > NODE_LIMIT:
        message = (
            f"This query requests up to {total.nodes:,} possible nodes which exceeds the"
            f" maximum limit of {NODE_LIMIT:,}."
        )
        raise WholeRefusal("MAX_NODE_LIMIT_EXCEEDED", message)
    return total


def _add(step: Step, variables: Mapping[str, Any], times: int, total: Price) -> None:
    size = _page_size(step, variables) if step.is_connection else _count(step, variables)
    if size is None:
        size = 1
    else:
        total.nodes += times * size
        if step.is_connection:
            total.requests += times
    for each in step.below:
        _add(each, variables, times * size, total)


def _page_size(step: Step, variables: Mapping[str, Any]) -> int | None:
    """How many items are asked for; `None` where only their number is."""
    for argument in ("first", "last"):
        size = _value(step.arguments.get(argument), variables)
        if size is not None:
            return _checked(step.name, argument, size)
    if step.is_filled:
        message = (
            "You must provide a `first` or `last` value to properly paginate the"
            f" `{step.name}` connection."
        )
        raise WholeRefusal("MISSING_PAGINATION_BOUNDARIES", message)
    return None


def _checked(connection: str, argument: str, size: int) -> int:
    if size > PAGE_LIMIT:
        message = (
            f"Requesting {size} records on the `{connection}` connection exceeds the"
            f" `{argument}` limit of {PAGE_LIMIT} records."
        )
        raise WholeRefusal("EXCESSIVE_PAGINATION", message)
    if size < 0:
        message = f"`{argument}` on the `{connection}` connection cannot be less than zero."
        raise WholeRefusal("INVALID_PAGINATION", message)
    return size


def _count(step: Step, variables: Mapping[str, Any]) -> int:
    ids = step.arguments["ids"]
    if isinstance(ids, ListValueNode):
        return _within_page(len(ids.values))
    given = _value(ids, variables)
    return _within_page(len(given) if isinstance(given, list) else 1)


def _within_page(count: int) -> int:
    if count > PAGE_LIMIT:
        message = f"You may not provide more than {PAGE_LIMIT} node ids; you provided {count}."
        raise WholeRefusal("ARGUMENT_LIMIT", message)
    return count


def _value(node: ValueNode | None, variables: Mapping[str, Any]) -> Any:
    if isinstance(node, IntValueNode):
        return int(node.value)
    return variables.get(node.name.value) if isinstance(node, VariableNode) else None
