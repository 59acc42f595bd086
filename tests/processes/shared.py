"""A demo forge that several processes ask: it lives in the test, and each loop has a way to it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from functools import partial
from multiprocessing.managers import BaseManager
from typing import Any

from anyio import to_thread

from pullstate.domain.site import ForgeKind, Site
from pullstate.forges.demo import DemoForge, World
from pullstate.forges.forge import Delta, Repository, Target

SITE = Site(ForgeKind.DEMO, "https://demo.invalid")
KEY = b"a test"


class Desk:
    """Answers one question at a time for all processes; `before` may hold an answer back."""

    def __init__(self, world: World) -> None:
        self.forge = DemoForge(SITE, world)
        self.lock = threading.RLock()
        self.before: Callable[[str], None] = lambda question: None
        self.after: Callable[[str], None] = lambda question: None

    def answer(self, question: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What the forge answers, as it is when the question arrives."""
        self.before(question)
        with self.lock:
            answer = asyncio.run(getattr(self.forge, question)(*args, **kwargs))
        self.after(question)
        return answer

    def count(self, *questions: str) -> int:
        """How often something was asked."""
        with self.lock:
            return sum(asked in questions for asked, _ in self.forge.requests)


class Line(BaseManager):
    """The connection between them."""


def served(desk: Desk) -> tuple[Line, str, int]:
    """Serve a desk from threads of this process; the manager, and where it listens."""

    class Serving(BaseManager):
        pass

    Serving.register("desk", callable=lambda: desk)
    manager = Serving(("127.0.0.1", 0), KEY)
    server = manager.get_server()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    host, port = server.address
    return manager, host, port


class SharedForge:
    """The desk, as a `Forge` of another process."""

    site = SITE
    limits = DemoForge.limits

    def __init__(self, host: str, port: int) -> None:
        Line.register("desk")
        line = Line((host, port), KEY)
        line.connect()
        self._desk = line.desk()

    async def _ask(self, question: str, *args: Any, **kwargs: Any) -> Any:
        call = partial(self._desk.answer, question, args, kwargs)
        return await to_thread.run_sync(call, abandon_on_cancel=True)

    async def find_repository(self, path: str) -> Any:
        return await self._ask("find_repository", path)

    async def open_page(self, repository: Repository, cursor: str | None, size: int) -> Any:
        return await self._ask("open_page", repository, cursor, size)

    async def lean_page(
        self, repository: Repository, cursor: str | None, size: int, *, newest_first: bool = False
    ) -> Any:
        return await self._ask("lean_page", repository, cursor, size, newest_first=newest_first)

    async def newest_change(self, repository: Repository) -> Any:
        return await self._ask("newest_change", repository)

    async def changed(self, deltas: Sequence[Delta], size: int) -> Any:
        return await self._ask("changed", deltas, size)

    async def probe(self, repository: Repository, etag: str | None) -> Any:
        return await self._ask("probe", repository, etag)

    async def read(self, targets: Sequence[Target]) -> Any:
        return await self._ask("read", targets)

    async def find_number(self, repository: Repository, number: int) -> Any:
        return await self._ask("find_number", repository, number)

    async def find_branch(self, repository: Repository, branch: str, owner: str | None) -> Any:
        return await self._ask("find_branch", repository, branch, owner)

    async def threads(self, targets: Sequence[Target]) -> Any:
        return await self._ask("threads", targets)

    async def facet(self, target: Target, facet: Any) -> Any:
        return await self._ask("facet", target, facet)

    def quotas(self) -> tuple[()]:
        return ()

    async def aclose(self) -> None:
        return None
