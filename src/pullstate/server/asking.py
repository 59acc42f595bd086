"""Which repository a call means, that somebody asked about it, and what is wished for it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TypeVar

from sqlalchemy import Connection

from pullstate.domain.address import (
    AddressError,
    ForgeKind,
    RepositoryAddress,
    Site,
    parse_path,
    parse_repository,
    site_for_host,
)
from pullstate.domain.address_error import quoted, without_secrets
from pullstate.domain.freshness import Freshness
from pullstate.domain.text import quote
from pullstate.server.answers import trouble
from pullstate.server.context import Context
from pullstate.server.registry import ToolError
from pullstate.store import reading, writing
from pullstate.store.errors import StoreError
from pullstate.store.records import Depth, Interest, Repository, StoredPullRequest
from pullstate.store.wishes import Granted, WishKind

V = TypeVar("V")

NOTED_EVERY = timedelta(hours=1)  # interest lasts a week after the last question: not each is noted
_DEPTHS = tuple(Depth)  # least first


@dataclass(frozen=True, slots=True)
class Asked:
    """A stored repository, under the address it has now, and how its sync stands."""

    repository: Repository
    address: RepositoryAddress
    freshness: Freshness
    newest_change: int  # of the whole store, before anything else was read


def address_of(context: Context, text: str) -> RepositoryAddress:
    """The repository that a caller's spelling means. ToolError with the remedy for all else."""
    parse = parse_repository if "@" in text else _parsed_before  # a password is not kept in memory
    try:
        return parse(text, context.sites)
    except AddressError as error:
        raise ToolError(f"repositoryUrl: {error.sentence}") from None


_parsed_before = lru_cache(256)(parse_repository)


def path_of(context: Context, owner: str, repo: str, host: str) -> RepositoryAddress:
    """The repository that `owner`, `repo` and (optional) `host` mean. ToolError."""
    try:
        site = site_for_host(host, context.sites) if host else context.default_site
    except AddressError as error:
        raise ToolError(f"host: {error.sentence}") from None
    if _is_group(owner) and site.kind is not ForgeKind.GITLAB:
        raise ToolError(_wants_gitlab(context, owner, site))
    try:
        return parse_path(f"{owner}/{repo}", site)
    except AddressError as error:
        raise ToolError(f"owner and repo: {_no_path(error, f'{owner}/{repo}', site)}") from None


def _no_path(error: AddressError, path: str, site: Site) -> str:
    """The error's own remedy is an address, which these two arguments do not take."""
    if error.code == "is_a_wiki":
        return error.sentence
    return (
        f"{quoted(without_secrets(path), of=path)} is no repository's path on {site.name}: send "
        "the two parts apart, owner OWNER (GitLab: the whole group path) and repo NAME, as the "
        "forge shows them, in letters, digits, dots, dashes and underscores."
    )


def _is_group(owner: str) -> bool:
    """Whether it is a path, and not the beginning of an address."""
    return "/" in owner.strip("/") and not {":", "@"} & set(owner)


def _wants_gitlab(context: Context, owner: str, site: Site) -> str:
    names = [each.name for each in context.sites if each.kind is ForgeKind.GITLAB]
    remedy = (
        f"for a GitLab project send its host too ({', '.join(names)})"
        if names
        else "a GitLab would have to be configured first"
    )
    return (
        f"owner: {quote(owner)} is the path of a GitLab group, and {site.name} is no GitLab: "
        f"{remedy}, else send the account alone."
    )


async def look(
    context: Context,
    address: RepositoryAddress,
    depth: Depth,
    see: Callable[[Connection, Asked], V],
    *,
    unknown: ToolError | None = None,
) -> V:
    """What `see` finds of the repository, in one read.

    Where nobody tracks it yet it is taken up first, to `depth`; ToolError where that would be one
    too many. One that is not stored at all is refused with `unknown`, where that is given. That
    it was asked about is noted once an hour.
    """
    context.wisher.kick()
    looked_in = context.looked_in(address.site.url)
    known, seen = await context.store.read(_seen, address, looked_in, see, context.clock())
    if known is None and unknown is not None:
        raise unknown
    if known is not None and not _adds_interest(known, depth, context.clock()):
        return seen  # type: ignore[return-value]
    await _take_up(context, address, depth, known)
    known, seen = await context.store.read(_seen, address, looked_in, see, context.clock())
    if known is None:
        raise ToolError(f"{address.url} was purged from the store just now; ask again.")
    return seen  # type: ignore[return-value]


async def asked_about(context: Context, address: RepositoryAddress, depth: Depth) -> Asked:
    """The stored repository, taken up like in `look`."""
    return await look(context, address, depth, lambda _, asked: asked)


def _seen(
    conn: Connection,
    address: RepositoryAddress,
    looked_in: tuple[str, ...],
    see: Callable[[Connection, Asked], V],
    now: datetime,
) -> tuple[Repository | None, V | None]:
    found = reading.standing(conn, address, now)
    if found is None:
        return None, None
    known = found.repository
    freshness = replace(found.freshness, site_url=address.site.url, looked_in=looked_in)
    here = RepositoryAddress(address.site, known.path)
    return known, see(conn, Asked(known, here, freshness, found.newest_change))


def _adds_interest(known: Repository, depth: Depth, now: datetime) -> bool:
    """Whether this question adds to the interest that is written down."""
    if known.tracked:
        return False
    if known.depth is None or _DEPTHS.index(known.depth) < _DEPTHS.index(depth):
        return True
    return known.asked_at is None or known.asked_at < now - NOTED_EVERY


async def _take_up(
    context: Context, address: RepositoryAddress, depth: Depth, known: Repository | None
) -> None:
    """Write the interest down. What is stored can be read even where nothing can be written."""
    if known is not None and known.depth is not None:
        await _noted(context, address, depth, known)
        return
    async with context.allowance.turn:  # of many who ask for the same one, the first takes it up
        known = await context.store.read(reading.find_repository, address)
        adds = known is None or known.depth is None
        if adds and context.allowance.spent(context.clock()):
            raise ToolError(_too_many(context, address))
        if await _noted(context, address, depth, known):
            context.allowance.spend(context.clock())


async def _noted(
    context: Context, address: RepositoryAddress, depth: Depth, known: Repository | None
) -> bool:
    """Whether the question was noted and nobody wanted the repository before."""
    try:
        return await context.store.write(_note, address, depth, context.clock())
    except StoreError:
        if known is None:
            raise
        return False


def _note(conn: Connection, address: RepositoryAddress, depth: Depth, now: datetime) -> bool:
    """Note a question; whether nobody wanted the repository before."""
    before = reading.find_repository(conn, address)
    writing.track(conn, address, depth, by=Interest.QUESTION, at=now)
    return before is None or before.depth is None


async def note_asked(context: Context, stored: StoredPullRequest) -> None:
    """Note once an hour that one pull request was asked about: it is kept hot for a day."""
    now = context.clock()
    if stored.asked_at is None or stored.asked_at < now - NOTED_EVERY:
        with suppress(StoreError):
            await context.store.write(writing.asked, stored.id, now)


def _too_many(context: Context, address: RepositoryAddress) -> str:
    return (
        f"{address.url} is not tracked, and this server has taken up {context.allowance.most} "
        "repositories by asking within the hour, which is the most: ask again later, or have a "
        f"person run `pullstate track {address.url}`."
    )


async def wished(
    context: Context,
    kind: WishKind,
    repository_id: int,
    target: str,
    patience: float | None = None,
) -> Granted:
    """Ask whoever syncs for a read that begins now, and wait for it as long as a call may."""
    patience = context.patience if patience is None else patience
    try:
        return await context.wisher.wish(kind, repository_id, target, patience)
    except StoreError as error:
        return Granted(False, why=trouble(error))
