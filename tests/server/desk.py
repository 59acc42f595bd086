"""A desk at which `get_merge_request` is asked: a real store, filled by hand or by a real loop."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import jsonschema

from pullstate.domain.address import GITHUB_COM, GITLAB_COM, ForgeKind, RepositoryAddress, Site
from pullstate.domain.diff_exclusion import DiffExclusionPolicy
from pullstate.domain.merge_request import Facet, FacetBody, Overview
from pullstate.domain.pull_request import PullRequest
from pullstate.forges.demo import DemoForge, World
from pullstate.server.context import Context
from pullstate.server.opening import Opening
from pullstate.server.registry import Registry, Reply
from pullstate.server.tools.get_merge_request import TOOL
from pullstate.store import reading, writing
from pullstate.store.engine import Store
from pullstate.store.records import Depth, StoredPullRequest, Sweep
from pullstate.sync.loop import Loop
from pullstate.sync.readers import Reader, ReaderName
from pullstate.sync.wishing import Wisher
from tests.domain.readings import NOON, full

SELF_MANAGED = Site(ForgeKind.GITLAB, "https://git.example.com/gitlab")
SITES = (GITHUB_COM, GITLAB_COM, SELF_MANAGED)
PATH = "group/sub/rocket"
BUDGET = 48_000

REGISTRY = Registry([TOOL])
[PUBLISHED] = REGISTRY.published
_STRICT = jsonschema.Draft202012Validator(PUBLISHED.output_schema)


def checked(reply: Reply) -> dict[str, Any]:
    """The reply's object: complete, valid, within its budget, and the same as its text."""
    assert reply.structured is not None, reply.text
    assert json.loads(reply.text) == reply.structured
    assert len(reply.text.encode()) <= BUDGET
    _STRICT.validate(reply.structured)
    assert list(_strangers(reply.structured, PUBLISHED.output_schema)) == []
    return reply.structured


def _strangers(value: Any, schema: dict[str, Any], path: str = "") -> Sequence[str]:
    """Fields that the schema does not name."""
    arms = [arm for arm in schema.get("anyOf", [schema]) if arm != {"type": "null"}]
    found: list[str] = []
    if isinstance(value, list):
        for item in value:
            found += _strangers(item, arms[0]["items"], f"{path}[]")
    if isinstance(value, dict) and "properties" in arms[0]:
        for name, inner in value.items():
            here = f"{path}.{name}"
            known = arms[0]["properties"].get(name)
            found += [here] if known is None else _strangers(inner, known, here)
    return found


@dataclass
class Desk:
    """Where questions are asked; `at` is the time there, unless a loop runs."""

    store: Store
    site: Site = GITLAB_COM
    at: datetime = NOON
    clock: Callable[[], datetime] | None = None
    wisher: Any = None
    exclusion: DiffExclusionPolicy = field(default_factory=DiffExclusionPolicy)
    patience: float = 5.0
    world: World | None = None
    forge: DemoForge | None = None

    async def call(self, **arguments: Any) -> Reply:
        """Ask; the reply as the registry gives it."""

        async def open_() -> Context:
            return self.context

        return await REGISTRY.call(Opening(open_), TOOL.name, arguments)

    async def get(self, **arguments: Any) -> dict[str, Any]:
        """Ask for what is stored or can be read; the checked reply."""
        if not {"url", "project_id"} & arguments.keys():
            arguments["url"] = f"{self.site.url}/{PATH}/-/merge_requests/7"
        return checked(await self.call(**arguments))

    async def refused(self, **arguments: Any) -> str:
        """Ask for what cannot be answered; the words."""
        reply = await self.call(**arguments)
        assert reply.is_error, reply.text
        assert "not foreseen" not in reply.text
        return reply.text

    @property
    def context(self) -> Context:
        return Context(
            store=self.store,
            sites=(*SITES, self.site) if self.site not in SITES else SITES,
            wisher=self.wisher or Wisher(self.store),
            clock=self.clock or (lambda: self.at),
            default_site=GITHUB_COM,
            default_gitlab=self.site if self.site.kind is not ForgeKind.GITHUB else GITLAB_COM,
            exclusion=self.exclusion,
            patience=self.patience,
        )

    # --- Filling the store by hand ---------------------------------------------------------------

    def track(self, path: str = PATH, *, forge_id: str | None = "1000", swept: bool = True) -> int:
        """A repository that the sync keeps up; our id of it."""
        address = RepositoryAddress(self.site, path)
        id_ = self.store.write_now(writing.track, address, Depth.ALL, "command", self.at).id
        if forge_id is not None:
            self.store.write_now(writing.identify, id_, forge_id, path, self.at)
        sweep = Sweep(stage="done", swept=swept, as_of=self.at)
        self.store.write_now(writing.save_sweep, id_, sweep)
        return id_

    def record(
        self, repository_id: int, seen: PullRequest | None = None, at: datetime | None = None
    ) -> StoredPullRequest:
        """Store a merge request as it was read at a time."""
        seen = seen or merge_request()
        self.store.write_now(writing.record, repository_id, [seen], at or self.at)
        return self.stored(repository_id, seen.number)

    def stored(self, repository_id: int, number: int = 7) -> StoredPullRequest:
        found = self.store.read_now(reading.pull_request, repository_id, number)
        assert found is not None
        return found

    def keep(
        self, stored: StoredPullRequest, *bodies: FacetBody, at: datetime | None = None
    ) -> None:
        """Store facets as they were read now, or at another time."""
        for body in bodies:
            self.store.write_now(
                writing.record_facet,
                stored.id,
                facet_of(body),
                body,
                at or self.at,
                stored.pull_request.head.sha,
                changed_at=stored.pull_request.changed_at,
            )

    def fail(self, stored: StoredPullRequest, facet: Facet, fault: str) -> None:
        """Store that a facet could not be read."""
        sha = stored.pull_request.head.sha
        self.store.write_now(
            writing.record_facet, stored.id, facet, None, self.at, sha, fault=fault
        )

    def filled(self, *bodies: FacetBody, seen: PullRequest | None = None) -> StoredPullRequest:
        """A tracked repository with one merge request, its overview and some facets."""
        stored = self.record(self.track(), seen)
        self.keep(stored, overview(), *bodies)
        return stored


def facet_of(body: FacetBody) -> Facet:
    return Facet(type(body).__name__.lower())


def overview(**changes: Any) -> Overview:
    known = Overview("opened", "Fly to the moon.", ("space",), ("ann",), "mergeable")
    return replace(known, **changes)


def merge_request(number: int = 7, **changes: Any) -> PullRequest:
    """A merge request that was last updated a day before noon: long settled."""
    day_before = NOON - timedelta(days=1)
    changes = {"opened_at": day_before, "changed_at": day_before, **changes}
    return full(number, **changes)


# --- A desk with a loop ------------------------------------------------------------------------


@dataclass
class Source:
    """One credential, which is never refused."""

    forge: DemoForge

    async def readers(self) -> Sequence[Reader]:
        return [Reader(ReaderName(self.forge.site.url, "token"), self.forge)]

    async def set_aside(self, reader: Reader) -> bool:
        return False

    async def reconsider(self, site: Site) -> None:
        return None

    async def aclose(self) -> None:
        return None


HOUR = timedelta(hours=1)


def now() -> datetime:
    return datetime.now(UTC)


@asynccontextmanager
async def desk_with_loop(folder: Path, site: Site = GITLAB_COM) -> AsyncIterator[Desk]:
    """A desk beside a loop that reads a demo world as if it were a forge of the site's kind."""
    store = Store.open(folder / "store.db")
    world = World(lambda: now() - HOUR, site.url)  # what it says has settled
    forge = DemoForge(site, world)
    loop = Loop(store, Source(forge), "1.0", interval=timedelta(seconds=60), quiet=0.0)
    wisher = Wisher(store, loop.kick)
    desk = Desk(store, site, clock=now, wisher=wisher, patience=20.0, world=world, forge=forge)
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(loop.run)
            yield desk
            group.cancel_scope.cancel()
    finally:
        store.close()


def asked(desk: Desk, *questions: str) -> list[tuple[str, str]]:
    """What the forge was asked, of all or of some questions."""
    assert desk.forge is not None
    return [each for each in desk.forge.requests if not questions or each[0] in questions]
