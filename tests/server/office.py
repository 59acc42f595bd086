"""A store filled from a world, and the tools over it, asked through the registry.

Every answer is checked as a strict client would: valid against the published schema with nothing
beside it, the text the same JSON as the structure, within the bytes that a page may have.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from jsonschema import Draft202012Validator

from pullstate.domain.address import GITHUB_COM, GITLAB_COM, RepositoryAddress
from pullstate.domain.diff_exclusion import DiffExclusionPolicy
from pullstate.domain.pull_request import PullRequest
from pullstate.domain.review import Threads
from pullstate.domain.site import ForgeKind, Site
from pullstate.forges.demo import Project, World
from pullstate.server.context import Context
from pullstate.server.opening import Opening
from pullstate.server.registry import Registry, Reply
from pullstate.server.tools import TOOLS
from pullstate.store import reading, writing
from pullstate.store.engine import Store
from pullstate.store.records import Depth, Repository, StoredPullRequest
from pullstate.sync.wishing import Wisher
from tests.sync.home import Home, at_home
from tests.sync.home import now as real_now
from tests.sync.stage import HeldClock

LIST = "list_pull_requests"
THREADS = "list_pull_request_review_threads"
PAGE_BYTES = 40_000

DEMO = Site(ForgeKind.DEMO, "https://demo.invalid")
GITLAB_BELOW = Site(ForgeKind.GITLAB, "https://example.com/gitlab")
SITES = (GITHUB_COM, GITLAB_COM, DEMO, GITLAB_BELOW)
ROCKET = "https://demo.invalid/acme/rocket"

Row = dict[str, Any]

REGISTRY: Registry[Opening] = Registry(TOOLS)


@dataclass
class Office:
    """The tools over one store; `world` is what the forge would say."""

    store: Store
    world: World
    clock: HeldClock
    context: Context
    opening: Opening

    @classmethod
    def build(cls, folder: Path, site: Site = DEMO) -> Office:
        """Nobody syncs here: a wish is answered at once, by why not."""
        clock = HeldClock()
        store = new_store(folder)
        context = context_of(store, Wisher(store, clock=clock), clock.now)
        return cls(store, World(clock.now, site.url), clock, context, opening_of(context))

    async def call(self, tool: str, **arguments: Any) -> Reply:
        return await REGISTRY.call(self.opening, tool, arguments)

    async def ask(self, tool: str, **arguments: Any) -> Row:
        """The answer, which is none of an error."""
        return checked(tool, await self.call(tool, **arguments))

    async def refused(self, tool: str, **arguments: Any) -> str:
        """The words of an error, which was foreseen."""
        reply = await self.call(tool, **arguments)
        assert reply.is_error, reply.text
        assert "not foreseen" not in reply.text, reply.text
        return reply.text

    async def list(self, url: str = ROCKET, **arguments: Any) -> Row:
        return await self.ask(LIST, repositoryUrl=url, **arguments)

    async def pages(self, url: str = ROCKET, *, limit: int = 20, **arguments: Any) -> list[Row]:
        """Every page, from the first to the last."""
        found: list[Row] = []
        page: Row = {"limit": limit}
        while not found or "nextPageToken" in found[-1]:
            found.append(await self.list(url, pagination=page, **arguments))
            page = {"limit": limit, "cursor": found[-1].get("nextPageToken", "")}
        return found

    async def threads(self, number: int, **arguments: Any) -> Row:
        return await self.ask(THREADS, **_named(number, arguments))

    async def no_threads(self, number: int, **arguments: Any) -> str:
        """The words of the error."""
        return await self.refused(THREADS, **_named(number, arguments))

    async def thread_pages(self, number: int, *, limit: int = 50, **arguments: Any) -> list[Row]:
        """Every page of threads."""
        found: list[Row] = []
        cursor = ""
        while not found or cursor:
            found.append(await self.threads(number, limit=limit, cursor=cursor, **arguments))
            cursor = found[-1].get("nextPageToken", "")
        return found

    def project(self, path: str = "acme/rocket") -> Project:
        return self.world.create_repository(path)

    def track(
        self, project: Project, site: Site = DEMO, depth: Depth = Depth.ALL, by: str = "command"
    ) -> Repository:
        address = RepositoryAddress(site, project.repository.path)
        return self.store.write_now(writing.track, address, depth, by, self.clock.now())

    def keep(
        self, project: Project, rows: Iterable[PullRequest] | None = None, *, site: Site = DEMO
    ) -> int:
        """Track a repository and record its pull requests as the world has them; our id of it.

        They are history, as at the end of a first sweep.
        """
        id_ = self.track(project, site).id
        seen = list(project.pull_requests.values() if rows is None else rows)
        self.store.write_now(writing.record, id_, seen, self.clock.now(), backfill=True)
        self.sweep(id_, swept=True, stage="done", as_of=self.clock.now())
        return id_

    def see(self, id_: int, project: Project) -> None:
        """Record what the world has now, as a delta does."""
        rows = list(project.pull_requests.values())
        self.store.write_now(writing.record, id_, rows, self.clock.now())

    def sweep(self, id_: int, **fields: Any) -> None:
        """Change fields of a repository's sweep."""
        after = replace(self.store.read_now(reading.sweep, id_), **fields)
        self.store.write_now(writing.save_sweep, id_, after)

    def stored(self, id_: int, number: int) -> StoredPullRequest:
        found = self.store.read_now(reading.pull_request, id_, number)
        assert found is not None
        return found

    def retire(self, id_: int, number: int, times: int = 2) -> None:
        """The forge says, so many times, that there is no such pull request."""
        for _ in range(times):
            self.store.write_now(writing.retire, self.stored(id_, number).id, self.clock.now())

    def keep_threads(self, id_: int, project: Project, number: int, gap: str | None = None) -> None:
        """Record the threads of one pull request as the world has them."""
        threads = Threads(tuple(project.threads[number]), gap)
        self.store.write_now(
            writing.record_threads, self.stored(id_, number).id, threads, self.clock.now()
        )

    def advance(self, **by: float) -> None:
        self.clock.advance(timedelta(**by))

    def repositories(self) -> list[Repository]:
        return self.store.read_now(reading.repositories)


def new_store(folder: Path) -> Store:
    """An empty store with an id of its own, copied from one that was made once."""
    folder.mkdir(exist_ok=True)
    path = folder / "store.db"
    path.write_bytes(_made())
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE store SET id = ?", [secrets.token_hex(8)])
    return Store.open(path)


@cache
def _made() -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        Store.open(path).close()
        return path.read_bytes()


def _named(number: int, arguments: Row) -> Row:
    named = {"owner": "acme", "repo": "rocket", "host": "demo.invalid", "pull_number": number}
    return named | arguments


def context_of(
    store: Store, wisher: Wisher, clock: Callable[[], datetime], **fields: Any
) -> Context:
    return Context(
        store=store,
        sites=SITES,
        wisher=wisher,
        clock=clock,
        default_site=GITHUB_COM,
        default_gitlab=GITLAB_COM,
        exclusion=DiffExclusionPolicy(),
        **fields,
    )


def opening_of(context: Context) -> Opening:
    async def opener() -> Context:
        return context

    return Opening(opener)


@asynccontextmanager
async def served(folder: Path, **settings: Any) -> AsyncIterator[tuple[Office, Home]]:
    """The same with a loop over the world, in real time."""
    async with at_home(folder, **settings) as home:
        wisher = Wisher(home.store, home.loop.kick, listed=home.loop.listed)
        context = context_of(home.store, wisher, real_now)
        clock = HeldClock(real_now())
        yield Office(home.store, home.world, clock, context, opening_of(context)), home


def kept(office: Office) -> int:
    """A repository of one open pull request, all of it read just now."""
    project = office.project()
    office.world.open(project, "Change", "branch")
    return office.keep(project)


def rows_of(pages: Iterable[Row], name: str = "pullRequests") -> list[Row]:
    return [row for page in pages for row in page[name]]


def numbers(*pages: Row) -> list[int]:
    return [row["number"] for row in rows_of(pages)]


def thread_ids(*pages: Row) -> list[str]:
    return [row["id"] for row in rows_of(pages, "threads")]


def checked(tool: str, reply: Reply) -> Row:
    """The structure of an answer, once everything that holds of all of them is seen to hold."""
    assert not reply.is_error, reply.text
    assert json.loads(reply.text) == reply.structured
    assert len(reply.text.encode()) <= PAGE_BYTES
    _validator(tool).validate(reply.structured)
    return reply.structured  # type: ignore[return-value]


@cache
def _validator(tool: str) -> Draft202012Validator:
    schema = next(each.output_schema for each in REGISTRY.published if each.name == tool)
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(_strict(schema))


def _strict(node: Any) -> Any:
    """The same schema, with nothing taken that it does not name."""
    if isinstance(node, list):
        return [_strict(each) for each in node]
    if not isinstance(node, dict):
        return node
    strict = {key: _strict(value) for key, value in node.items()}
    if isinstance(node.get("properties"), dict) and node.get("type") == "object":
        strict["additionalProperties"] = False
    return strict
