"""What a `get_merge_request` call wishes for: the merge request, its facets, where it lies."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import anyio
from sqlalchemy import Connection

from pullstate.domain.address import RepositoryAddress
from pullstate.domain.merge_request import Facet
from pullstate.server import answers
from pullstate.server.asking import asked_about
from pullstate.server.context import Context
from pullstate.server.merge_request_question import Named
from pullstate.server.merge_request_refusals import not_visible, unread
from pullstate.store import reading, writing
from pullstate.store.errors import StoreError
from pullstate.store.records import Depth, Repository
from pullstate.store.wishes import Granted, WishKind


@dataclass(frozen=True, slots=True)
class Wishes:
    """The wishes of one call, which together wait no longer than a call may."""

    context: Context
    until: datetime

    @classmethod
    def of(cls, context: Context) -> Wishes:
        return cls(context, context.clock() + timedelta(seconds=context.patience))

    async def wish(self, kind: WishKind, repository_id: int, target: str) -> Granted:
        """Ask whoever syncs for a read that begins now; why not, in words, where none came."""
        left = max((self.until - self.context.clock()).total_seconds(), 0.1)
        try:
            return await self.context.wisher.wish(kind, repository_id, target, round(left, 1))
        except StoreError as error:
            return Granted(False, why=answers.trouble(error))

    async def number(self, repository_id: int, number: int) -> Granted:
        """Wish for a merge request itself."""
        return await self.wish(WishKind.NUMBER, repository_id, str(number))

    async def facets(
        self, repository_id: int, number: int, wanted: Iterable[Facet]
    ) -> dict[Facet, Granted]:
        """One wish for each facet, all waited for together."""
        granted: dict[Facet, Granted] = {}

        async def wish(facet: Facet) -> None:
            granted[facet] = await self.wish(WishKind.FACET, repository_id, f"{number}:{facet}")

        async with anyio.create_task_group() as group:
            for facet in wanted:
                group.start_soon(wish, facet)
        return granted


async def located(context: Context, named: Named, wishes: Wishes) -> Named:
    """Where a project of which only the id is known lies, from the store or else the forge.

    The forge finds a project by its id as it does by its path; so it is taken up under the id,
    and gets its path with the forge's first answer. ToolError where there is none.
    """
    known = await context.store.read(_by_id, named)
    if known is None:
        known = await _found(context, named, wishes)
    if not known.listed:
        raise not_visible(named)
    return replace(named, address=RepositoryAddress(named.site, known.path))


async def _found(context: Context, named: Named, wishes: Wishes) -> Repository:
    """The project as the forge knows it. Nothing is kept of an id that led nowhere."""
    asked = await asked_about(context, named.address, Depth.ONE)
    number = await wishes.number(asked.repository.id, named.number)
    known = await context.store.read(_by_id, named)
    if known is not None:
        return known
    served = await context.store.read(_is_served, asked.repository.id, context.clock())
    if number.outcome or not served:  # else the forge is slow, and may still say where it lies
        with suppress(StoreError):
            await context.store.write(writing.forget_unidentified, asked.repository.id)
    raise unread(named, number, soon=served)


def _by_id(conn: Connection, named: Named) -> Repository | None:
    return reading.by_forge_id(conn, named.site.url, named.numeric_id or "")


def _is_served(conn: Connection, repository_id: int, now: datetime) -> bool:
    return reading.freshness(conn, repository_id, now).served
