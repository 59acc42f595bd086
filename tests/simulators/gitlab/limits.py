"""The rate limit of a minute and token, in GitLab's headers."""

from __future__ import annotations

import email.utils
from collections import Counter
from datetime import UTC, datetime

from tests.simulators.gitlab.access import Caller
from tests.simulators.gitlab.world import World

WINDOW = 60


class RateLimit:
    def __init__(self, world: World) -> None:
        self.world = world
        self._counted: Counter[str] = Counter()
        self._window = 0

    def count(self, caller: Caller) -> tuple[bool, dict[str, str]]:
        """Whether this request is one too many, and the RateLimit headers."""
        limit = self.world.rate_limit
        if limit is None:
            return False, {}
        seconds = int(self.world.now.timestamp())
        if seconds // WINDOW != self._window:
            self._window, self._counted = seconds // WINDOW, Counter()
        bearer = caller.user.username if caller.user else "unauthenticated"
        self._counted[bearer] += 1
        return self._counted[bearer] > limit, self._headers(limit, self._counted[bearer], seconds)

    def _headers(self, limit: int, observed: int, seconds: int) -> dict[str, str]:
        reset = (self._window + 1) * WINDOW
        headers = {
            "RateLimit-Name": "throttle_authenticated_api",
            "RateLimit-Limit": str(limit),
            "RateLimit-Observed": str(observed),
            "RateLimit-Remaining": str(max(0, limit - observed)),
            "RateLimit-Reset": str(reset),
            "RateLimit-ResetTime": email.utils.format_datetime(
                datetime.fromtimestamp(reset, UTC), usegmt=True
            ),
        }
        return headers | ({"Retry-After": str(reset - seconds)} if observed > limit else {})
