"""Whether a site's GraphQL answers this credential, and which fields its version has.

Asked once, and again a day later, for an install may have been upgraded; where GraphQL is absent
or refused, again an hour later. Until then REST is asked alone.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

import anyio

from pullstate.forges.errors import Forbidden, NotTheApi, NotVisible, Unauthorized, Unexpected
from pullstate.forges.gitlab.tailoring import introspection, missing_from
from pullstate.forges.graphql import Result

ASKED_AGAIN = timedelta(days=1)
REFUSED_ASKED_AGAIN = timedelta(hours=1)
STRIKES = 2  # unexpected answers in a row after which REST is asked instead

REFUSALS = (Unauthorized, Forbidden, NotVisible, NotTheApi)


class NoGraphQL(Exception):
    """GraphQL does not answer here; REST may. The text says why, in our words."""


class Schema:
    """What is known of one site's GraphQL."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._lock = anyio.Lock()
        self._until: datetime | None = None
        self._missing: frozenset[str] | None = None
        self._refused: str | None = None
        self._strikes = 0

    def refused(self) -> str | None:
        """Why GraphQL is not asked now; None where it is, or was never tried."""
        return self._refused if self._is_fresh() else None

    async def missing(self, ask: Callable[[str], Awaitable[Result]]) -> frozenset[str]:
        """The optional fields that are not there. NoGraphQL where none answers."""
        async with self._lock:
            if not self._is_fresh():
                await self._learn(ask)
        if self._refused is not None:
            raise NoGraphQL(self._refused)
        return self._missing or frozenset()

    async def _learn(self, ask: Callable[[str], Awaitable[Result]]) -> None:
        try:
            known = await ask(introspection())
        except (*REFUSALS, Unexpected) as error:
            self.refuse(str(error))
            return
        self._missing, self._refused = missing_from(known.data), None
        self._until = self._clock() + ASKED_AGAIN

    def refuse(self, why: str) -> NoGraphQL:
        """GraphQL was refused: ask REST alone for an hour."""
        self._refused, self._strikes = f"GraphQL does not answer here: {why}", 0
        self._until = self._clock() + REFUSED_ASKED_AGAIN
        return NoGraphQL(self._refused)

    def strike(self) -> NoGraphQL | None:
        """An answer that cannot be read: look at the schema again, and after two give up."""
        self._strikes += 1
        if self._strikes >= STRIKES:
            return self.refuse("it failed twice in a row")
        self._until = None
        return None

    def answered(self) -> None:
        """It works."""
        self._strikes = 0

    def forget(self) -> None:
        """Ask anew: what refused it may have been the credential."""
        self._until = None

    def _is_fresh(self) -> bool:
        return self._until is not None and self._clock() < self._until
