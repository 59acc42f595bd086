"""Readers: a site and a credential that reads it. Which one reads a repository."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from pullstate.domain.site import Site
from pullstate.forges.forge import Forge
from pullstate.store.lease import reader_key

ANONYMOUS = "anonymous"  # in the place of a credential's fingerprint


@dataclass(frozen=True, slots=True)
class ReaderName:
    """How other processes see a reader; it stands in the store as text."""

    site_url: str
    fingerprint: str  # of the credential, keyed by the store: never the credential itself
    owner: str = ""  # set where the credential reads this owner's repositories alone

    @property
    def key(self) -> str:
        """What its lease, its quota and its ETags are kept under."""
        return reader_key(self.site_url, self.fingerprint)

    @property
    def anonymous(self) -> bool:
        return self.fingerprint == ANONYMOUS

    def __str__(self) -> str:
        return f"{self.key} {self.owner}".rstrip()

    @classmethod
    def parse(cls, text: str) -> ReaderName:
        """The name that `str` wrote."""
        site_url, fingerprint, *owner = text.split(" ", 2)
        return cls(site_url, fingerprint, *owner)


@dataclass(frozen=True, slots=True)
class Reader:
    """A reader that this process is: it holds the credential, in `forge`."""

    name: ReaderName
    forge: Forge

    @property
    def key(self) -> str:
        return self.name.key

    @property
    def site(self) -> Site:
        return self.forge.site


class ForgeSource(Protocol):
    """Where a process's readers come from. Credentials come, change and are refused."""

    async def readers(self) -> Sequence[Reader]:
        """Every reader that this process is now; the same credential gives the same `Forge`."""
        ...

    async def set_aside(self, reader: Reader) -> bool:
        """The forge refused its credential: try the next. False when the site has none left."""
        ...

    async def reconsider(self, site: Site) -> None:
        """Try what the forge refused once more."""
        ...

    async def aclose(self) -> None:
        """Close every forge."""
        ...


def chosen(
    path: str, site_url: str, live: Iterable[ReaderName], refused: Collection[str]
) -> str | None:
    """The key of the one live reader that reads a repository; every process chooses alike.

    One bound to the repository's owner goes before one that is not, a credential before none, and
    the rest is spread by a hash that keeps its choice as others come and go. Where every reader
    was refused, one of them goes on asking.
    """
    able = [n for n in live if n.site_url == site_url and _reads(n, path)]
    willing = [name for name in able if name.key not in refused] or able
    best = min(willing, key=lambda name: _rank(name, path), default=None)
    return best.key if best else None


def _reads(name: ReaderName, path: str) -> bool:
    return not name.owner or path.casefold().startswith(f"{name.owner.casefold()}/")


def _rank(name: ReaderName, path: str) -> tuple[bool, bool, bytes]:
    spread = hashlib.sha256(f"{name.key}\n{path.casefold()}".encode()).digest()
    return (not name.owner, name.anonymous, spread)
