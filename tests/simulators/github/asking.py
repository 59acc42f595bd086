"""A GraphQL request under way, and the table of fields that are more than an attribute."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.simulators.github.checks import Commit
from tests.simulators.github.model import PullRequest, Repository
from tests.simulators.github.tokens import Budget, Viewer
from tests.simulators.github.world import World

Info = Any
FIELDS: dict[tuple[str, str], Callable[..., Any]] = {}


@dataclass(slots=True)
class Asking:
    """One GraphQL request under way."""

    world: World
    viewer: Viewer
    cost: int
    node_count: int
    budget: Budget
    asked_mergeable: set[PullRequest] = field(default_factory=set)
    empty_rollups: bool = False


@dataclass(slots=True)
class Ref:
    typename = "Ref"
    repository: Repository
    name: str
    prefix: str = "refs/heads/"

    @property
    def id(self) -> str:
        return f"REF_{self.repository.database_id}_{self.name}"

    @property
    def target(self) -> Commit:
        return self.repository.branches[self.name]

    @property
    def ref_update_rule(self) -> Any:
        return self.repository.rules.get(self.name)


@dataclass(slots=True)
class Rollup:
    typename = "StatusCheckRollup"
    commit: Commit
    state: str

    @property
    def id(self) -> str:
        return f"SCR_{self.commit.oid}"


def answers(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a resolver for `Type.field`."""

    def register(resolve: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            type_name, _, field_name = name.partition(".")
            FIELDS[type_name, field_name] = resolve
        return resolve

    return register


def ref(repository: Repository | None, name: str) -> Ref | None:
    """The branch of this name; null when it was deleted."""
    return Ref(repository, name) if repository and name in repository.branches else None


def rollup(commit: Commit, asking: Asking) -> Rollup | None:
    """Null for a commit without checks, and where the request was told to find none."""
    state = None if asking.empty_rollups else commit.rollup_state
    return Rollup(commit, state) if state else None
