"""Which repository a call means, and that somebody asked about it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from pullstate.domain.address import (
    AddressError,
    RepositoryAddress,
    parse_path,
    parse_repository,
    site_for_host,
)
from pullstate.server.context import Context
from pullstate.server.registry import ToolError
from pullstate.store import reading, writing
from pullstate.store.records import Depth, Interest, Repository

TOUCH_EVERY = timedelta(hours=1)  # interest from asking lasts a week: no write for each question


@dataclass(frozen=True, slots=True)
class Asked:
    """A stored repository, under the address it has now."""

    repository: Repository
    address: RepositoryAddress


def address_of(context: Context, text: str) -> RepositoryAddress:
    """The repository that a caller's spelling means. ToolError with the remedy for all else."""
    try:
        return parse_repository(text, context.sites)
    except AddressError as error:
        raise ToolError(f"repositoryUrl: {error.sentence}") from None


def path_of(context: Context, owner: str, repo: str, host: str) -> RepositoryAddress:
    """The repository that `owner`, `repo` and (optional) `host` mean."""
    try:
        site = site_for_host(host, context.sites) if host else context.default_site
    except AddressError as error:
        raise ToolError(f"host: {error.sentence}") from None
    try:
        return parse_path(f"{owner}/{repo}", site)
    except AddressError as error:
        raise ToolError(f"owner and repo: {error.sentence}{_other_hosts(context, host)}") from None


def _other_hosts(context: Context, host: str) -> str:
    """The hint for one who left `host` out and may have meant another forge."""
    if host or len(context.sites) < 2:
        return ""
    names = ", ".join(site.host for site in context.sites if site != context.default_site)
    return f" If it lies on another configured forge, send host ({names})."


async def asked_about(
    context: Context, address: RepositoryAddress, depth: Depth = Depth.OPEN
) -> Asked:
    """The stored repository; taken up to `depth` where nobody tracks it yet."""
    context.wisher.kick()
    known = await context.store.read(reading.find_repository, address)
    if known is None and (refusal := context.wisher.may_add()):
        raise ToolError(refusal)
    if known is None or _untouched(context, known, depth):
        known = await context.store.write(
            writing.track, address, depth, by=Interest.QUESTION, at=context.clock()
        )
    return Asked(known, RepositoryAddress(address.site, known.path))


def _untouched(context: Context, known: Repository, depth: Depth) -> bool:
    """Whether this question adds to the interest that is written down."""
    if known.tracked:
        return False
    return known.depth < depth or known.asked_at < context.clock() - TOUCH_EVERY
