"""Who may ask: tokens, what each one sees, and the budgets of their users."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from tests.simulators.github.model import Account, Repository

CORE, GRAPHQL = "core", "graphql"
WINDOW = timedelta(hours=1)
ANONYMOUS_LIMIT = 60


@dataclass(frozen=True, slots=True)
class Viewer:
    """Whoever sent a request: a token of a user, or nobody."""

    token: str = ""
    user: Account | None = None
    sees: frozenset[str] | None = None
    """The owners whose repositories it sees, in lower case; `None`: all."""
    forbids: frozenset[str] = frozenset()
    """What it may not read: `Commit.statusCheckRollup`, or the end of a REST route."""

    reads_only: bool = False

    @property
    def payer(self) -> str:
        """Whose budget a request costs: two tokens of one user share theirs."""
        return self.user.login if self.user else ""

    def may_see(self, repository: Repository) -> bool:
        if repository.deleted:
            return False
        if self.user is None:
            return not repository.is_private
        return self.sees is None or repository.owner.login.lower() in self.sees


NOBODY = Viewer()


class Tokens:
    """The tokens that are accepted."""

    def __init__(self) -> None:
        self._viewers: dict[str, Viewer] = {}

    def add(
        self,
        token: str,
        user: Account,
        sees: Iterable[str] | None = None,
        forbids: Iterable[str] = (),
        reads_only: bool = False,
    ) -> Viewer:
        owners = None if sees is None else frozenset(owner.lower() for owner in sees)
        self._viewers[token] = Viewer(token, user, owners, frozenset(forbids), reads_only)
        return self._viewers[token]

    def revoke(self, token: str) -> None:
        self._viewers.pop(token, None)

    def viewer(self, token: str) -> Viewer | None:
        return self._viewers.get(token)


@dataclass(slots=True)
class Budget:
    limit: int
    used: int
    reset_at: datetime

    @property
    def remaining(self) -> int:
        return max(0, self.limit - self.used)


class Budgets:
    """Points and requests left, for each user and resource, in windows of an hour."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._budgets: dict[tuple[str, str], Budget] = {}
        self.limits = {CORE: 5000, GRAPHQL: 5000}

    def of(self, payer: str, resource: str) -> Budget:
        found = self._budgets.get((payer, resource))
        if found is None or found.reset_at <= self._clock():
            limit = self.limits[resource] if payer else ANONYMOUS_LIMIT
            found = Budget(limit, 0, self._clock() + WINDOW)
            self._budgets[payer, resource] = found
        return found

    def set(self, payer: str, resource: str, *, remaining: int, reset_in: float = 3600) -> None:
        """Leave so much; the window ends after `reset_in` seconds."""
        budget = self.of(payer, resource)
        budget.used = budget.limit - remaining
        budget.reset_at = self._clock() + timedelta(seconds=reset_in)
