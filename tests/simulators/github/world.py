"""The simulated forge's whole state, and all that can happen in it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.simulators.github.ground import act
from tests.simulators.github.model import Repository
from tests.simulators.github.review_acts import ReviewActs
from tests.simulators.github.tokens import Budgets, Tokens, Viewer

TOKEN = "ghp_simulatedOctocatSimulatedOctocat0001"
"""The token that every world accepts; it belongs to `octocat` and sees everything."""


class World(ReviewActs):
    """A forge to open pull requests in, push to them, review, merge, break.

    `clock` is the wall clock unless another is given (`ManualClock`). `first_id` is where database
    ids begin: those of the real forge no longer fit into 32 bits. `without` names fields that this
    version does not have (`PullRequest.mergeQueueEntry`), as an older GitHub Enterprise Server.
    Every act is whole before or after any request; `with world.lock:` makes several of them one.
    """

    def __init__(self, *, without: Iterable[str] = (), **ground: Any) -> None:
        super().__init__(**ground)
        self.without = frozenset(without)
        self.tokens = Tokens()
        self.budgets = Budgets(self.now)
        self.limit_error_type = "RATE_LIMITED"
        """How GraphQL names an empty budget; api.github.com also says RATE_LIMIT."""
        self.version = "3.17.0"
        """What an Enterprise Server says its version is."""
        self.has_limits = True
        """Enterprise Servers have no rate limits unless somebody turned them on: no headers."""
        self.add_token(TOKEN)

    @act
    def add_token(
        self,
        token: str,
        user: str = "octocat",
        *,
        sees: Iterable[str] | None = None,
        forbids: Iterable[str] = (),
        reads_only: bool = False,
    ) -> Viewer:
        """Accept a token of `user`; `sees` limits it to these owners' repositories.

        `forbids` names what it may not read: GraphQL fields as `Commit.statusCheckRollup`, REST
        routes by their end as `check-runs`.
        """
        return self.tokens.add(token, self.account(user), sees, forbids, reads_only)

    @act
    def revoke_token(self, token: str) -> None:
        self.tokens.revoke(token)

    @act
    def set_budget(
        self, resource: str, remaining: int, *, user: str = "octocat", reset_in: float = 3600
    ) -> None:
        """What `user` has left of `core` or `graphql` (`""` is whoever has no token)."""
        self.budgets.set(user, resource, remaining=remaining, reset_in=reset_in)

    def visible(self, repository: Repository | None, viewer: Viewer) -> Repository | None:
        return repository if repository and viewer.may_see(repository) else None
