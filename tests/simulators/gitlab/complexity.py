"""What GitLab charges for a GraphQL query before it runs it.

A field costs one and its children; one that asks Gitaly costs one more; some have a fixed price.
A connection with a resolver costs a hundredth more per item of its page (`first`, else 100), but
nothing more when it is asked for by `iids` (`Resolvers::BaseResolver.complexity_multiplier`).
Connections without a resolver (`reviewers`, `approvedBy`) do not multiply.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
    VariableNode,
    value_from_ast_untyped,
)

LIMIT_ANONYMOUS, LIMIT = 200, 250
DEPTH_ANONYMOUS, DEPTH = 15, 20
PAGE = 100

FIXED = {"mergedAt": 5, "labels": 5, "assignees": 5, "reviewers": 5, "participants": 15}
ASKS_GITALY = frozenset(
    {
        "commits",
        "detailedMergeStatus",
        "diffHeadSha",
        "diffStats",
        "diffStatsSummary",
        "divergedFromTargetBranch",
        "mergeableDiscussionsState",
        "rebaseInProgress",
        "shouldBeRebased",
        "sourceBranchExists",
    }
)
WITH_RESOLVER = {"mergeRequests": 2, "jobs": 1, "pipelines": 1, "projects": 1}
"""Connections that charge by the page → their own price; a sort (it has a default) adds one."""


class Cost:
    """The price and depth of the one operation of a document."""

    def __init__(self, document: DocumentNode, variables: dict[str, Any]) -> None:
        self.variables = variables
        self._fragments = {
            each.name.value: each
            for each in document.definitions
            if isinstance(each, FragmentDefinitionNode)
        }
        operation = next(
            each for each in document.definitions if isinstance(each, OperationDefinitionNode)
        )
        self.complexity = self._price(operation.selection_set)
        self.depth = self._deepest(operation.selection_set)

    def _fields(self, selected: SelectionSetNode | None) -> Iterator[FieldNode]:
        for node in selected.selections if selected else ():
            if isinstance(node, FieldNode):
                yield node
            elif isinstance(node, InlineFragmentNode):
                yield from self._fields(node.selection_set)
            elif isinstance(node, FragmentSpreadNode):
                yield from self._fields(self._fragments[node.name.value].selection_set)

    def _price(self, selected: SelectionSetNode | None) -> int:
        return sum(self._price_of(field) for field in self._fields(selected))

    def _price_of(self, field: FieldNode) -> int:
        name, children = field.name.value, self._price(field.selection_set)
        if name in FIXED:
            return FIXED[name] + children
        if name not in WITH_RESOLVER:
            return 1 + (name in ASKS_GITALY) + children
        price, given = WITH_RESOLVER[name] + children, self._arguments(field)
        if given.get("iids"):
            return price
        pages = [value for value in (given.get("first"), given.get("last")) if value is not None]
        return int(price + price * min([*pages, PAGE]) * 0.01)

    def _arguments(self, field: FieldNode) -> dict[str, Any]:
        def value(node: Any) -> Any:
            if isinstance(node, VariableNode):
                return self.variables.get(node.name.value)
            return value_from_ast_untyped(node, self.variables)

        return {each.name.value: value(each.value) for each in field.arguments or ()}

    def _deepest(self, selected: SelectionSetNode | None) -> int:
        depths = [1 + self._deepest(field.selection_set) for field in self._fields(selected)]
        return max(depths, default=0)
