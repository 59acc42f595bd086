"""A server answers tools/list before its store is open: tools wait here for what they need."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

import anyio

from pullstate.server.errors import ToolError

if TYPE_CHECKING:
    from pullstate.server.context import Context

A = TypeVar("A")
R = TypeVar("R")


class Opening:
    """The context of a server's tools, opened at the first call or at `open`, whichever is first.

    `opener` opens the store and everything over it; what it raises is told to whoever asks, and
    the next one to ask tries again.
    """

    def __init__(self, opener: Callable[[], Awaitable[Context]]) -> None:
        self._opener = opener
        self._context: Context | None = None
        self._one_at_a_time = anyio.Lock()
        self.asked = anyio.Event()  # set once a tool is called
        self.opened = anyio.Event()

    async def open(self) -> Context:
        """The context. Raises what `opener` raises."""
        if self._context is None:
            async with self._one_at_a_time:
                if self._context is None:
                    self._context = await self._opener()
                    self.opened.set()
        return self._context

    async def answer(self, tool: Callable[[Context, A], Awaitable[R]], arguments: A) -> R:
        """Run a tool over the context. ToolError with words where the store is of no use."""
        from pullstate.server.answers import store_trouble
        from pullstate.store.errors import StoreError

        self.asked.set()
        try:
            return await tool(await self.open(), arguments)
        except StoreError as error:
            raise ToolError(store_trouble(error)) from error
