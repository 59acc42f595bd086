"""What every tool call has at hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from pullstate.domain.address import Site
from pullstate.domain.diff_exclusion import DiffExclusionPolicy
from pullstate.store.engine import Store
from pullstate.store.wishes import WishKind


@dataclass(frozen=True, slots=True)
class Granted:
    """How a wish ended: `fulfilled`, and if not, `why` in words for the caller."""

    fulfilled: bool
    outcome: str = ""  # "read", "nothing", "not_found", "failed"; empty when not fulfilled
    why: str | None = None


class Wisher(Protocol):
    """Asks whoever syncs for a read that begins now, and waits for it, bounded."""

    async def wish(
        self, kind: WishKind, repository_id: int, target: str, timeout: float
    ) -> Granted: ...

    def may_add(self) -> str | None:
        """None when one more repository may be taken up by asking; else why not, in words."""
        ...

    def kick(self) -> None:
        """Something is wanted: look now."""
        ...


@dataclass(frozen=True, slots=True)
class Context:
    """The store, the configured sites, and the way to ask the loop for more."""

    store: Store
    sites: tuple[Site, ...]
    wisher: Wisher
    clock: Callable[[], datetime]
    default_site: Site  # where owner/repo lives when no host is named
    default_gitlab: Site
    exclusion: DiffExclusionPolicy
    patience: float = 5.0  # seconds that a call waits for the loop at most
