"""How much of a forge's quota we may spend: a share of what is left, the rest is the person's.

Pure: it is told what each answer said is left, and when. The quota belongs to the forge's user, so
what others spend shows as a smaller remainder and makes our share smaller with it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from pullstate.forges.forge import Quota
from pullstate.sync.schedule import UNFINISHED

MOST_A_REQUEST_COSTS = 10  # points; what else is missing was spent by somebody else
REST_SHARE = 0.1  # of our budget, for the old rows that only complete a picture
SWEEP_SHARE = 0.1  # of our budget, for first sweeps however busy upkeep is: it stretches instead
MINUTE = timedelta(minutes=1)
JITTER = timedelta(seconds=5)  # between two answers about one window's end
PER_MINUTE = {"https://gitlab.com": 80}  # GitLab.com Free is headed for 100 a minute


class Purpose(StrEnum):
    """What a request is for: upkeep goes before backfill, and both before the rest."""

    UPKEEP = "upkeep"
    BACKFILL = "backfill"
    REST = "rest"


@dataclass(frozen=True, slots=True)
class Window:
    """One resource's quota as the last answer told it, and what we spent of it so far."""

    quota: Quota
    since: datetime  # when we first saw this window
    spent: tuple[tuple[Purpose, int], ...] = ()
    spent_by_peers: int = 0  # by other readers of this process that are the same user

    def spent_on(self, *purposes: Purpose) -> int:
        """Points that we spent in this window."""
        return sum(points for purpose, points in self.spent if purpose in purposes)

    def budget(self, share: float) -> float:
        """Our part of what would be left if we had spent nothing."""
        return share * (self.quota.remaining + self.all_spent)

    def left(self, share: float) -> float:
        """What of our part is not spent yet."""
        return self.budget(share) - self.all_spent

    @property
    def all_spent(self) -> int:
        return self.spent_on(*Purpose) + self.spent_by_peers

    def is_same(self, other: Window) -> bool:
        """Whether two windows are one: two credentials of one user share a quota."""
        mine, theirs = self.quota, other.quota
        alike = (mine.resource, mine.limit) == (theirs.resource, theirs.limit)
        return alike and abs(mine.resets_at - theirs.resets_at) <= JITTER

    def upkeep_to_come(self, now: datetime, interval: timedelta) -> float:
        """What upkeep will want until the window ends, if it goes on as so far."""
        watched = max(now - self.since, interval * UNFINISHED)  # it comes in bursts
        return self.spent_on(Purpose.UPKEEP) * ((self.quota.resets_at - now) / watched)

    def after(self, quota: Quota, purpose: Purpose) -> Window:
        """The window after one more answer to a request of ours."""
        cost = min(max(self.quota.remaining - quota.remaining, 0), MOST_A_REQUEST_COSTS)
        spent = dict(self.spent)
        spent[purpose] = spent.get(purpose, 0) + cost
        return replace(self, quota=quota, spent=tuple(spent.items()))


class Ledger:
    """The windows of one reader, by resource."""

    def __init__(self, share: float, peers: list[Ledger] | None = None) -> None:
        """`peers`: the ledgers of the same site, to which this one adds itself."""
        self.share = share
        self._peers = [] if peers is None else peers
        self._peers.append(self)
        self._windows: dict[str, Window] = {}

    def settle(self, quotas: Iterable[Quota], purpose: Purpose, now: datetime) -> None:
        """Enter what the answer to one request of ours says is left."""
        for quota in quotas:
            known = self._windows.get(quota.resource)
            if known is None or known.quota.resets_at + JITTER < quota.resets_at:
                self._windows[quota.resource] = Window(quota, now)
            else:
                self._windows[quota.resource] = known.after(quota, purpose)
            for peer in self._peers:
                peer._hear(self._windows[quota.resource])

    def _hear(self, window: Window) -> None:
        """What another credential of the same user was told: the difference is not ours."""
        mine = self._windows.get(window.quota.resource)
        if mine and mine.is_same(window):
            self._windows[window.quota.resource] = replace(mine, quota=window.quota)

    def quotas(self) -> tuple[Quota, ...]:
        """What the last answers said, per resource."""
        return tuple(window.quota for window in self._windows.values())

    def stretched(self, interval: timedelta, now: datetime) -> timedelta:
        """The interval at which upkeep stays within our part until the window ends."""
        window = self._main(Purpose.UPKEEP, now)
        if window is None or not window.spent_on(Purpose.UPKEEP):
            return interval
        until_reset, left = window.quota.resets_at - now, window.left(self.share)
        if left < 1:
            return max(interval, until_reset)
        wanted = interval * (window.upkeep_to_come(now, interval) / left)
        return max(interval, min(wanted, until_reset))

    def allows(self, purpose: Purpose, interval: timedelta, now: datetime) -> bool:
        """Whether a request that can wait may be sent now."""
        return self.waits_until(purpose, interval, now) is None

    def waits_until(self, purpose: Purpose, interval: timedelta, now: datetime) -> datetime | None:
        """When a request that can wait may be tried again; None for now."""
        window = self._main(purpose, now)
        if window is None:
            return min((each.quota.resets_at for each in self._open(now)), default=None)
        affordable = self._affords(window, purpose, interval, now)
        return None if affordable else window.quota.resets_at

    def _main(self, purpose: Purpose, now: datetime) -> Window | None:
        """The window that decides: of those with something left, the one that pays for a purpose.

        A forge answers from another resource where the usual one is gone.
        """
        usable = (window for window in self._open(now) if window.quota.remaining > 0)
        return max(
            usable, key=lambda each: (each.spent_on(purpose), each.left(self.share)), default=None
        )

    def _affords(
        self, window: Window, purpose: Purpose, interval: timedelta, now: datetime
    ) -> bool:
        if window.left(self.share) < 1:
            return False
        if purpose is Purpose.UPKEEP:
            return True
        budget, spent = window.budget(self.share), window.spent_on(purpose) + 1
        if purpose is Purpose.REST and spent > REST_SHARE * budget:
            return False
        if purpose is Purpose.BACKFILL and spent <= SWEEP_SHARE * budget:
            return True
        return window.left(self.share) - 1 >= window.upkeep_to_come(now, interval)

    def _open(self, now: datetime) -> list[Window]:
        mine = [window for window in self._windows.values() if window.quota.resets_at > now]
        return [replace(w, spent_by_peers=self._spent_by_peers(w)) for w in mine]

    def _spent_by_peers(self, window: Window) -> int:
        others = (each for peer in self._peers if peer is not self for each in peer.windows())
        return sum(each.spent_on(*Purpose) for each in others if each.is_same(window))

    def windows(self) -> tuple[Window, ...]:
        """Every resource's window, as last told."""
        return tuple(self._windows.values())


class Pace:
    """At most so many requests in any minute; `per_minute` None is no bound."""

    def __init__(self, per_minute: int | None) -> None:
        self._sent: deque[datetime] = deque(maxlen=per_minute)

    def send(self, now: datetime) -> timedelta:
        """Enter one request; how long it has to wait first."""
        full = self._sent.maxlen is not None and len(self._sent) == self._sent.maxlen
        at = max(now, self._sent[0] + MINUTE) if full else now
        if self._sent.maxlen is not None:
            self._sent.append(at)
        return at - now
