"""What one answer of a forge becomes in the store: each function is one transaction's body.

Every one first makes sure that the answer is about the repository as it is known now.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection

from pullstate.domain.pull_request import PullRequest
from pullstate.forges.forge import Page
from pullstate.store import agenda, reading, writing
from pullstate.store.agenda import Charge
from pullstate.store.errors import Untracked
from pullstate.store.records import Recorded, StoredPullRequest
from pullstate.sync.memory import Gaps, Memory
from pullstate.sync.schedule import Motion, mergeability_unknown, read_again_at, settles_late


@dataclass(frozen=True, slots=True)
class Seen:
    """Rows of one repository from one answer to a question asked at `at`."""

    repository_id: int
    forge_id: str
    rows: Sequence[PullRequest]
    at: datetime


def seen_in(repository_id: int, page: Page, at: datetime) -> Seen:
    """The rows of a page."""
    return Seen(repository_id, page.repository.forge_id, page.rows, at)


@dataclass(frozen=True, slots=True)
class Recorder:
    """Records readings, and plans when each pull request is due again."""

    reader: str
    interval: timedelta
    memory: Memory

    def full(self, conn: Connection, seen: Seen, *, backfill: bool = False) -> Recorded:
        """Record rows with all facts."""
        charge = _prove_known(conn, seen)
        fresh = replace(seen, rows=_not_overtaken(conn, seen))
        recorded = _record(conn, charge, fresh, backfill=backfill)
        known = agenda.by_ids(conn, recorded.ids)
        self._forget(seen, (each.id for each in known if each.pull_request.finished))
        due = [(each.id, self._due(charge, each, seen.at)) for each in known]
        writing.schedule(conn, due)
        for base in {e.pull_request.base for e in known if _base_moved(e, seen.at)}:
            self._nudge(conn, seen, base.branch, base.sha)
        return recorded

    def lean(self, conn: Connection, seen: Seen, *, backfill: bool = False) -> Recorded:
        """Record rows of a list. Unfinished ones that are news are due at once, with all facts."""
        charge = _prove_known(conn, seen)
        news = _news(conn, seen)
        recorded = _record(conn, charge, seen, backfill=backfill)
        ids = dict(zip((row.number for row in seen.rows), recorded.ids, strict=True))
        self._forget(seen, (ids[row.number] for row in seen.rows if row.finished))
        due = [(ids[number], seen.at) for number in news]
        due += [(ids[r.number], _settles_at(charge, r, seen.at)) for r in seen.rows if r.finished]
        writing.schedule(conn, [each for each in due if each[1] or not backfill])
        for branch in {row.base.branch for row in seen.rows if _merged_lately(row, seen.at)}:
            self._nudge(conn, seen, branch)
        return recorded

    def amend(self, conn: Connection, repository_id: int, **changes: Any) -> None:
        """Change fields of a repository's sweep after an answer: it is not failing."""
        writing.forgive(conn, repository_id, self.reader)
        well = {"fault": None, "failures": 0, "reader": self.reader}
        amend(conn, repository_id, gaps=self._gaps(conn, repository_id), **well | changes)

    def note(self, conn: Connection, repository_id: int) -> None:
        """Write down what cannot be read at present."""
        amend(conn, repository_id, gaps=self._gaps(conn, repository_id))

    def _gaps(self, conn: Connection, repository_id: int) -> Gaps:
        self.memory.inherit(repository_id, reading.sweep(conn, repository_id).gaps)
        return self.memory.gaps(repository_id)

    def _forget(self, seen: Seen, finished: Iterable[int]) -> None:
        for id_ in finished:
            self.memory.forget(seen.repository_id, id_)

    def _due(self, charge: Charge, stored: StoredPullRequest, at: datetime) -> datetime | None:
        known = stored.pull_request
        unknown = mergeability_unknown(known) and not known.finished
        motion = Motion(
            head_since=stored.observed.head,
            base_moved=_base_moved(stored, at),
            unknowns=self.memory.note_unknown(stored.id, unknown),
            settles_late=_settles_late(charge),
        )
        return read_again_at(known, at, self.interval, motion)

    def _nudge(self, conn: Connection, seen: Seen, branch: str, tip: str | None = None) -> None:
        """A base moved: whatever else is on it is read within an interval."""
        until = seen.at + self.interval
        agenda.bring_forward(conn, seen.repository_id, branch, until, unless_at=tip)


def amend(conn: Connection, repository_id: int, **changes: Any) -> None:
    """Change fields of a repository's sweep; the row is written only where they differ."""
    before = reading.sweep(conn, repository_id)
    after = replace(before, **changes)
    if after != before:
        writing.save_sweep(conn, repository_id, after)


def _record(conn: Connection, charge: Charge, seen: Seen, *, backfill: bool) -> Recorded:
    """What was opened before the backfill began is history, whoever comes upon it."""
    began_at = charge.sweep.began_at
    return writing.record(
        conn,
        seen.repository_id,
        seen.rows,
        seen.at,
        backfill=backfill or began_at is None,
        opened_since=began_at,
    )


def _prove_known(conn: Connection, seen: Seen) -> Charge:
    """The repository as it is now.

    Untracked where nobody wants the repository any more, or its address is another's now.
    """
    known = agenda.charge(conn, seen.repository_id)
    if known.repository.forge_id not in (None, seen.forge_id):
        raise Untracked("the address belongs to another repository now")
    return known


def _not_overtaken(conn: Connection, seen: Seen) -> list[PullRequest]:
    """The rows without those that a question asked later has been answered for already."""
    known = agenda.by_numbers(conn, seen.repository_id, [row.number for row in seen.rows])
    return [row for row in seen.rows if not _read_since(known.get(row.number), seen.at)]


def _read_since(stored: StoredPullRequest | None, at: datetime) -> bool:
    if stored is None:
        return False
    times = (stored.observed.details, stored.observed.checks, stored.observed.mergeability)
    return any(time is not None and time > at for time in times)


def _news(conn: Connection, seen: Seen) -> list[int]:
    """Numbers of the unfinished rows of a list that differ from what is known, or are new."""
    unfinished = [row for row in seen.rows if not row.finished]
    known = agenda.by_numbers(conn, seen.repository_id, [row.number for row in unfinished])
    return [row.number for row in unfinished if _is_news(row, known.get(row.number))]


def _is_news(row: PullRequest, stored: StoredPullRequest | None) -> bool:
    if stored is None or stored.gone_at or stored.observed.mergeability is None:
        return True
    known = stored.pull_request
    return known.finished or (known.changed_at, known.head) != (row.changed_at, row.head)


def _base_moved(stored: StoredPullRequest, at: datetime) -> bool:
    """Whether the reading that began at `at` found another tip of the base."""
    return stored.observed.base is not None and stored.observed.base >= at


def _settles_late(charge: Charge) -> bool:
    return settles_late(charge.repository.kind)


def _settles_at(charge: Charge, finished: PullRequest, at: datetime) -> datetime | None:
    motion = Motion(settles_late=_settles_late(charge))
    return read_again_at(finished, at, timedelta(0), motion)


def _merged_lately(row: PullRequest, at: datetime) -> bool:
    return row.merged_at is not None and at - row.merged_at < timedelta(hours=1)
