"""Whoever syncs, as the store shows it: another process that lives and answers wishes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from pullstate.store import lease, wishes
from pullstate.store.wishes import WishKind
from pullstate.sync.readers import ReaderName
from pullstate.sync.wishing import Wisher
from tests.server.office import DEMO, Office, opening_of


class Leader:
    """Answers each wish with the next of its outcomes, while the asker sleeps; then no more.

    It is the asker's clock too, so that nobody waits in real time.
    """

    def __init__(
        self, office: Office, outcomes: tuple[tuple[str, ...], ...], act: Callable[[], None]
    ) -> None:
        self.wishes: list[tuple[WishKind, str]] = []
        self._seen: set[int] = set()
        self._office = office
        self._outcomes = list(outcomes)
        self._act = act

    def now(self) -> datetime:
        return self._office.clock.now()

    async def sleep(self, seconds: float) -> None:
        await self._office.clock.sleep(seconds)
        store, now = self._office.store, self.now()
        for wish in store.read_now(wishes.open_wishes, DEMO.url, now):
            if wish.id not in self._seen:
                self._seen.add(wish.id)
                self.wishes.append((wish.kind, wish.target))
            if self._outcomes:
                self._act()
                outcome = self._outcomes.pop(0)
                where = (wish.kind, wish.repository_id, wish.target)
                store.write_now(wishes.fulfil, *where, now, *outcome)


def leading(
    office: Office, *outcomes: tuple[str, ...], act: Callable[[], None] = lambda: None
) -> Leader:
    """Let somebody sync: `act` is what each read brings, `outcomes` how the reads end."""
    name = str(ReaderName(DEMO.url, "demo"))
    office.store.write_now(lease.enroll, "leader", 1, "1", [name], office.clock.now())
    leader = Leader(office, outcomes, act)
    wisher = Wisher(office.store, clock=leader)
    office.context = replace(office.context, wisher=wisher)
    office.opening = opening_of(office.context)
    return leader
