"""What a session remembers between its turns and may forget: nothing here is needed for truth."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime

EARLIER = "earlier"  # the origin of what another session noted

Gaps = tuple[tuple[str, str], ...]


def read_of(pull_request_id: int) -> str:
    """The origin of what a reading of one pull request could not read."""
    return f"read {pull_request_id}"


def threads_of(pull_request_id: int) -> str:
    """The origin of what a reading of one's threads could not read."""
    return f"threads {pull_request_id}"


@dataclass(slots=True)
class Memory:
    """All by our own ids; `held` by what is held back."""

    unknowns: Counter[int] = field(default_factory=Counter)  # UNKNOWN readings in a row
    quiet: Counter[int] = field(default_factory=Counter)  # deltas in a row without news
    sizes: dict[str, int] = field(default_factory=dict)  # of pages, where the usual is too much
    held: dict[tuple[str, int], datetime] = field(default_factory=dict)  # nothing before then
    unsettled: dict[int, datetime] = field(
        default_factory=dict
    )  # changes that threads were read on
    looked_at: set[int] = field(default_factory=set)  # finished ones' threads, since the last news
    logged: set[str] = field(default_factory=set)  # errors nobody foresaw, as they were logged
    _gaps: dict[int, dict[str, Gaps]] = field(default_factory=dict)

    def note_unknown(self, pull_request_id: int, unknown: bool) -> int:
        """Count one more reading; how many in a row said UNKNOWN."""
        if unknown:
            self.unknowns[pull_request_id] += 1
        else:
            self.unknowns.pop(pull_request_id, None)
        return self.unknowns[pull_request_id] if unknown else 0

    def note_delta(self, repository_id: int, *, news: bool) -> None:
        """Count one more delta. After news, finished ones are looked at for their threads."""
        self.quiet[repository_id] = 0 if news else self.quiet[repository_id] + 1
        if news:
            self.looked_at.discard(repository_id)

    def inherit(self, repository_id: int, gaps: Gaps) -> None:
        """What an earlier session could not read, until a roll-call has looked at everything."""
        if gaps and repository_id not in self._gaps:
            self.note_gaps(repository_id, EARLIER, gaps)

    def note_gaps(self, repository_id: int, origin: str, gaps: Gaps) -> None:
        """What `origin` (a kind of reading, and of what) could not read this time."""
        known = self._gaps.setdefault(repository_id, {})
        if gaps:
            known[origin] = gaps
        else:
            known.pop(origin, None)

    def forget(self, repository_id: int, pull_request_id: int) -> None:
        """One that is finished or gone leaves no gap: what is not known of it no longer moves."""
        known = self._gaps.get(repository_id, {})
        for origin in (read_of(pull_request_id), threads_of(pull_request_id)):
            known.pop(origin, None)
        self.unknowns.pop(pull_request_id, None)

    def gaps(self, repository_id: int) -> Gaps:
        """Every facet that some reading could not read, with the first reason given."""
        known = self._gaps.get(repository_id, {})
        merged: dict[str, str] = {}
        for gaps in known.values():
            for facet, why in gaps:
                merged.setdefault(facet, why)
        return tuple(sorted(merged.items()))

    def is_held(self, what: str, of: int, now: datetime) -> bool:
        """Whether something is held back at `now`."""
        return self.held.get((what, of), now) > now
