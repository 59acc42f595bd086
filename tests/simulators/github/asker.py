"""Asking the simulated GitHub's GraphQL without HTTP."""

from __future__ import annotations

from typing import Any

from tests.simulators.github.engine import Engine
from tests.simulators.github.world import TOKEN, World


class Asker:
    """Asks as the user of a token."""

    def __init__(self, world: World, token: str = TOKEN) -> None:
        self.engine = Engine(world)
        self.viewer = world.tokens.viewer(token)

    def reply(self, query: str, **variables: Any) -> dict[str, Any]:
        assert self.viewer is not None
        return self.engine.answer(self.viewer, query, variables).body

    def data(self, query: str, **variables: Any) -> dict[str, Any]:
        """The data of an answer without errors."""
        body = self.reply(query, **variables)
        assert "errors" not in body, body["errors"]
        return body["data"]

    def cost(self, query: str, **variables: Any) -> tuple[int, int]:
        """Points and nodes of a query, asked for in its own first lines."""
        priced = query.replace("{", "{ rateLimit { cost nodeCount }", 1)
        found = self.data(priced, **variables)["rateLimit"]
        return found["cost"], found["nodeCount"]
