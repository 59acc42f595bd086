"""What every act in the simulated world stands on: one lock, one clock, numbers, accounts."""

from __future__ import annotations

import functools
import itertools
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from tests.simulators.github.model import Account, PullRequest, Site, Team

Act = TypeVar("Act", bound=Callable[..., Any])

ORGANIZATION, BOT = "Organization", "Bot"


class ManualClock:
    """A clock that stands still until it is told to go on."""

    def __init__(self, start: datetime | None = None) -> None:
        self.time = start or datetime(2026, 10, 1, 10, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time

    def advance(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


def act(method: Act) -> Act:
    """Mark a method as an act: whole before or after any request, and callable over HTTP."""

    @functools.wraps(method)
    def whole(self: Ground, *args: Any, **kwargs: Any) -> Any:
        with self.lock:
            return method(self, *args, **kwargs)

    whole.is_act = True  # type: ignore[attr-defined]
    return whole  # type: ignore[return-value]


class Ground:
    """Times are aware, in UTC and whole seconds, as the forge's are."""

    def __init__(self, clock: Callable[[], datetime] | None = None, first_id: int = 1000) -> None:
        self.lock = threading.RLock()
        self.site = Site()
        self.clock = clock or (lambda: datetime.now(UTC))
        self._ids = itertools.count(first_id)
        self.accounts: dict[str, Account] = {}
        self.teams: dict[str, Team] = {}
        self.nodes: dict[str, Any] = {}
        """What `node(id:)` finds: repositories, pull requests, threads, reviews, comments."""

    def now(self) -> datetime:
        return self.clock().replace(microsecond=0)

    def next_id(self) -> int:
        return next(self._ids)

    def known(self, thing: Any) -> Any:
        """Make a thing addressable by its node id."""
        self.nodes[thing.id] = thing
        return thing

    @act
    def account(self, login: str, typename: str = "User") -> Account:
        """The account of this login, made when it is new; `name[bot]` makes a bot."""
        if login.endswith("[bot]"):
            login, typename = login.removesuffix("[bot]"), BOT
        if login not in self.accounts:
            self.accounts[login] = Account(login, self.next_id(), self.site, typename)
        return self.accounts[login]

    @act
    def team(self, combined_slug: str) -> Team:
        """The team `organization/slug`, made when it is new."""
        if combined_slug not in self.teams:
            organization, _, slug = combined_slug.partition("/")
            owner = self.account(organization, ORGANIZATION)
            self.teams[combined_slug] = Team(owner, slug, self.next_id())
        return self.teams[combined_slug]

    @act
    def delete_account(self, login: str) -> None:
        """The account is gone; what it wrote stays, by `null` (GraphQL) or `ghost` (REST)."""
        self.account(login).gone = True

    def touch(self, pull_request: PullRequest) -> datetime:
        """Bump `updatedAt`, as what people and pushes do to a pull request does."""
        pull_request.updated_at = self.now()
        pull_request.repository.changed()
        return pull_request.updated_at
