"""A process over one store: what the commands are put together from, opened when first needed."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from anyio import to_thread

from pullstate.settings import Settings

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from pullstate.domain.address import RepositoryAddress, Site
    from pullstate.forges.forge import Forge
    from pullstate.forges.http import Credentials
    from pullstate.forges.tokens import TokenSources
    from pullstate.server.context import Context
    from pullstate.store.engine import Store
    from pullstate.sync.loop import Loop

VERSION = version("pullstate")

log = logging.getLogger(__name__)


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


class Running:
    """The store, the loop over it and the context of its tools.

    The store's libraries are imported when it is opened: a server answers tools/list before.
    """

    def __init__(self, settings: Settings, *, syncs: bool = True) -> None:
        self.settings = settings
        self.syncs = syncs
        self.store: Store | None = None
        self.loop: Loop | None = None

    @cached_property
    def tokens(self) -> dict[Site, TokenSources]:
        """Where this process finds its tokens; nothing is read before it is asked for."""
        from pullstate.forges.tokens import Surroundings, token_sources

        return token_sources(self.settings.tokens, Surroundings(os.environ))

    def looked_in(self, site_url: str) -> tuple[str, ...]:
        """Where this process looks for a token of a site, and what was wrong there; no values."""
        by_url = {site.url: sources for site, sources in self.tokens.items()}
        sources = by_url.get(site_url)
        if sources is None or not self.syncs or (self.store is not None and self.store.read_only):
            return ()  # a token is not what such a process lacks
        wrong = dict(sources.problems) | dict.fromkeys(sources.rejected, "its token was refused")
        return tuple(
            f"{name} ({wrong[name]})" if name in wrong else name for name in sources.looked_in()
        )

    async def open(self) -> Context:
        """Open the store, ready the loop, and say what the configuration tracks. StoreError."""
        self.store = store = await to_thread.run_sync(self._open)
        self.loop = self._loop(store) if self.syncs else None
        return self._context(store)

    async def sync(self) -> None:
        """Run the loop, until cancelled; at once over if this process does not sync."""
        if self.loop is not None:
            await self.loop.run()

    async def sync_here(self) -> None:
        """The same, with an interest in the git remotes of the directory that it runs in."""
        if self.loop is not None:
            self.loop.remotes = await to_thread.run_sync(self._remotes, abandon_on_cancel=True)
            await self.loop.run()

    async def close(self) -> None:
        """Close what was opened."""
        if self.loop is not None:
            await self.loop.source.aclose()
        if self.store is not None:
            self.store.close()

    def _open(self) -> Store:
        from pullstate.store.engine import Store
        from pullstate.store.errors import StoreError

        store = Store.open(self.settings.store)
        for note in store.notes:
            log.warning("%s", note)
        if self.syncs and self.settings.repositories and not store.read_only:
            try:
                store.write_now(_track, self.settings.repositories)
            except StoreError as error:  # what is stored can be read all the same
                log.warning("what the configuration tracks is not noted: %s", error)
        return store

    def _remotes(self) -> list[RepositoryAddress]:
        from pullstate.cli.remotes import remotes

        return remotes(Path.cwd(), self.settings.sites)

    def _loop(self, store: Store) -> Loop:
        from pullstate.store.agenda import sites_read_as
        from pullstate.sync.loop import Loop
        from pullstate.sync.readers import ANONYMOUS
        from pullstate.sync.sources import CredentialSource

        had_token = set(store.read_now(sites_read_as, ANONYMOUS))
        return Loop(
            store,
            CredentialSource(self.tokens, self._connect, store.salt, had_token),
            version=VERSION,
            interval=timedelta(seconds=self.settings.interval),
            quota_share=self.settings.quota_share,
            quiet=0,
        )

    def _context(self, store: Store) -> Context:
        from pullstate.server.context import Context
        from pullstate.sync.wishing import Wisher

        kick = self.loop.kick if self.loop else lambda: None
        return Context(
            store=store,
            sites=self.settings.sites,
            wisher=Wisher(
                store,
                kick,
                listed=self.loop and self.loop.listed,
                looked_in=self.looked_in,
            ),
            clock=now,
            default_site=self.settings.default_site,
            default_gitlab=self.settings.default_gitlab,
            exclusion=self.settings.exclusion,
            looked_in=self.looked_in,
        )

    def _connect(self, site: Site, credentials: Credentials) -> Forge:
        from pullstate.domain.address import ForgeKind
        from pullstate.forges import github, gitlab

        ca_file = next(each.ca_file for each in self.settings.forges if each.site == site)
        if site.kind is ForgeKind.DEMO:
            return self._demo(site)
        kind = github if site.kind is ForgeKind.GITHUB else gitlab
        made = github.GitHub if site.kind is ForgeKind.GITHUB else gitlab.GitLab
        return made(site, kind.connected(site, credentials, now, ca_file=ca_file))

    def _demo(self, site: Site) -> Forge:
        from pullstate.forges.demo import DemoForge, Story

        story = Story(now, now(), site.url)
        return DemoForge(site, story.world, story.advance)


def _track(conn: Connection, addresses: Sequence[RepositoryAddress]) -> None:
    """What the configuration names is read whole."""
    from pullstate.store import writing
    from pullstate.store.records import Depth, Interest

    for address in addresses:
        writing.track(conn, address, Depth.ALL, by=Interest.CONFIGURATION, at=now())
