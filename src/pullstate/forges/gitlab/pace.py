"""How fast one may ask: at most so many requests in any minute."""

from __future__ import annotations

from collections import deque
from datetime import datetime, timedelta

MINUTE = timedelta(minutes=1)
# GitLab.com Free is headed for 100 requests a minute; the rest is the person's own.
# https://docs.gitlab.com/user/gitlab_com/#rate-limits-on-gitlabcom
PER_MINUTE = {"https://gitlab.com": 80}


class Pace:
    """A site's requests of the last minute; `per_minute` None is no bound."""

    def __init__(self, per_minute: int | None) -> None:
        self._sent: deque[datetime] = deque(maxlen=per_minute)
        self._bounded = per_minute is not None

    def enter(self, now: datetime) -> timedelta:
        """Enter one request; how long it has to wait first."""
        if not self._bounded:
            return timedelta(0)
        full = len(self._sent) == self._sent.maxlen
        at = max(now, self._sent[0] + MINUTE) if full else now
        self._sent.append(at)
        return at - now
