"""What the resolvers of GraphQL fields share: the request, its users, its time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tests.simulators.gitlab.access import Caller
from tests.simulators.gitlab.entities import Entities
from tests.simulators.gitlab.model import MergeRequest, User
from tests.simulators.gitlab.world import World


@dataclass(frozen=True, slots=True)
class Context:
    world: World
    caller: Caller
    entities: Entities


@dataclass(frozen=True, slots=True)
class Involved:
    """A user as the author or a reviewer of one merge request."""

    user: User
    mr: MergeRequest


Resolve = Callable[..., Any]


def stamp(at: datetime | None) -> str | None:
    """GraphQL's Time has whole seconds, unlike REST's."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if at else None
