"""How many merge requests one question may be about: what a slow install can answer in time."""

from __future__ import annotations


class BatchSize:
    """Fifty, until that is too much; the size that worked is remembered."""

    def __init__(self, most: int) -> None:
        self.now = most
        self._most = most
        self._worked = 0

    def worked(self, asked: int) -> None:
        """A question about so many was answered. After an outage the size grows again."""
        if asked >= self.now:
            self._worked = asked
            self.now = min(self._most, self.now * 2)

    def too_much(self, asked: int) -> None:
        """The forge says that it was too much."""
        self._most = self.now = max(1, asked // 2)

    def lost(self, asked: int) -> None:
        """No answer came: an outage, or more than the forge can do in time. It is the latter where
        less has worked before."""
        if 0 < self._worked < asked:
            self._most = self._worked
        self.now = min(self._most, max(1, asked // 2))
