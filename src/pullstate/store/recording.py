"""Recording readings of pull requests: what differs is written, dated, and told as events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, bindparam, func, null, select

from pullstate.domain.changes import Change, ChangeKind, events, known_first
from pullstate.domain.classifier import checks_of, ready
from pullstate.domain.observing import facets_read, observe
from pullstate.domain.pull_request import CheckVerdict, PullRequest
from pullstate.store import feed
from pullstate.store.believing import had_checks
from pullstate.store.errors import Untracked
from pullstate.store.records import Recorded, StoredPullRequest
from pullstate.store.rows import COLUMNS, handle_of, stored_of, values_of
from pullstate.store.schema import freshness, interest, pull_request, repository
from pullstate.store.texts import storable
from pullstate.store.upserts import Upsert

REGISTERING = timedelta(seconds=90)  # for so long checks of a new head may not be there yet

_KEPT = ("handle", "first_seen_at", "backfilled")
_KEY = ("repository_id", "number")
_UPSERT = Upsert(
    pull_request,
    _KEY,
    [column.name for column in pull_request.c if column.name not in ("id", *_KEY, *_KEPT)],
    kept=_KEPT,
)
_TIMES = (
    "details_at",
    "checks_at",
    "mergeability_at",
    "review_at",
    "head_seen_at",
    "base_moved_at",
)


def _dates(new: Any) -> dict[str, Any]:
    """What was not read keeps its time; what was seen is not missing."""
    times = {name: func.coalesce(new[name], freshness.c[name]) for name in _TIMES}
    return {**times, "ready": new.ready, "missing_at": null()}


_DATE = Upsert(
    freshness,
    ["pull_request_id"],
    [*_TIMES, "ready"],
    kept=["repository_id"],
    corrected=_dates,
)

_SITE = select(repository.c.site_url).where(
    repository.c.id == bindparam("id"),
    select(interest.c.by).where(interest.c.repository_id == repository.c.id).exists(),
)
_KNOWN = (
    select(*COLUMNS, pull_request.c.backfilled, freshness.c.ready)
    .outerjoin(freshness, freshness.c.pull_request_id == pull_request.c.id)
    .where(
        pull_request.c.repository_id == bindparam("repository_id"),
        pull_request.c.number.in_(bindparam("numbers", expanding=True)),
    )
)
_IDS = select(pull_request.c.number, pull_request.c.id).where(
    pull_request.c.repository_id == bindparam("repository_id"),
    pull_request.c.number.in_(bindparam("numbers", expanding=True)),
)


def record(
    connection: Connection,
    repository_id: int,
    seen: Sequence[PullRequest],
    at: datetime,
    *,
    backfill: bool = False,
    opened_since: datetime | None = None,
) -> Recorded:
    """Merge readings into what is known, write the rows that differ, date every reading.

    Change events go into the same transaction. Rows first seen by a backfill make none; nor do
    those that were opened before `opened_since`, which are history that a delta came upon.
    Raises Untracked where nobody wants the repository any more.
    """
    writer = _Recording(connection, repository_id, at, backfill, opened_since)
    return writer.record([storable(reading) for reading in seen])


@dataclass(slots=True)
class _Row:
    """One pull request of a recording: what was known before it, and what is known now."""

    stored: StoredPullRequest | None
    was_ready: bool
    backfilled: bool
    now: PullRequest | None
    read: dict[str, datetime]
    ready: bool = False
    id: int | None = None
    differs: bool = False

    @property
    def before(self) -> PullRequest | None:
        return self.stored.pull_request if self.stored else None

    def compare(self) -> None:
        """Whether there is something to write; one that was gone is back."""
        stored = self.stored
        self.differs = (
            stored is None or self.now != stored.pull_request or stored.gone_at is not None
        )


class _Recording:
    """One call of `record`."""

    def __init__(
        self,
        connection: Connection,
        repository_id: int,
        at: datetime,
        backfill: bool,
        opened_since: datetime | None,
    ) -> None:
        self._connection = connection
        self._repository_id = repository_id
        self._at = at
        self._backfill = backfill
        self._opened_since = opened_since
        self._had_checks: bool | None = None

    def record(self, seen: Sequence[PullRequest]) -> Recorded:
        site_url = self._wanted_site()
        rows = self._known({reading.number for reading in seen})
        for reading in seen:
            self._observe(rows, reading)
        for row in rows.values():
            row.compare()
        differing = [row for row in rows.values() if row.differs]
        self._write(differing, site_url)
        for row in rows.values():
            self._tell(row)
        self._date(rows.values())
        inserted = sum(row.stored is None for row in differing)
        return Recorded(
            inserted,
            len(differing) - inserted,
            len(rows) - len(differing),
            tuple(rows[reading.number].id for reading in seen),  # type: ignore[misc]
        )

    def _wanted_site(self) -> str:
        site_url = self._connection.execute(_SITE, {"id": self._repository_id}).scalar()
        if site_url is None:
            raise Untracked("The repository is no longer tracked.")
        return site_url

    def _known(self, numbers: set[int]) -> dict[int, _Row]:
        if not numbers:
            return {}
        given = {"repository_id": self._repository_id, "numbers": list(numbers)}
        rows = {}
        for *columns, backfilled, was_ready in self._connection.execute(_KNOWN, given).all():
            stored = stored_of(columns)
            known = stored.pull_request
            rows[known.number] = _Row(stored, bool(was_ready), backfilled, known, {}, id=stored.id)
        return rows

    def _observe(self, rows: dict[int, _Row], reading: PullRequest) -> None:
        row = rows.get(reading.number)
        if row is None:
            row = rows[reading.number] = _Row(None, False, self._is_history(reading), None, {})
        row.read.update((f"{facet}_at", self._at) for facet in facets_read(row.now, reading))
        after = observe(row.now, reading)
        if row.now is None or after.head.sha != row.now.head.sha:
            row.read["head_seen_at"] = self._head_seen_at(row, after)
        elif row.now.base.sha and after.base != row.now.base:  # "": no list has told it so far
            row.read["base_moved_at"] = self._at
        row.now = after

    def _is_history(self, reading: PullRequest) -> bool:
        since = self._opened_since
        return self._backfill or (since is not None and reading.opened_at < since)

    def _head_seen_at(self, row: _Row, after: PullRequest) -> datetime:
        """A head that a backfill finds has been there since the last change, if not longer."""
        fresh = row.now is not None or not row.backfilled
        return self._at if fresh else min(self._at, after.changed_at)

    def _write(self, rows: list[_Row], site_url: str) -> None:
        if not rows:
            return
        _UPSERT.run(self._connection, [self._values(row, site_url) for row in rows])
        new = {row.now.number: row for row in rows if row.id is None}  # type: ignore[union-attr]
        if new:
            given = {"repository_id": self._repository_id, "numbers": list(new)}
            for number, id_ in self._connection.execute(_IDS, given):
                new[number].id = id_

    def _values(self, row: _Row, site_url: str) -> dict[str, Any]:
        now = row.now
        assert now is not None
        values = values_of(now)
        values["repository_id"] = self._repository_id
        values["handle"] = row.stored.handle if row.stored else handle_of(site_url, now.provider_id)
        values["first_seen_at"] = self._at
        values["backfilled"] = row.backfilled
        values["gone_at"] = None
        return values

    def _tell(self, row: _Row) -> None:
        """Events, and whether the pull request now counts as ready."""
        after = row.now
        assert after is not None
        row.ready = row.was_ready if not row.differs else False
        if (row.differs or _may_become_ready(row)) and not after.finished:
            row.ready = ready(after) and self._believable(row, after)
        if row.stored is None and row.backfilled:
            return
        if row.differs or row.ready != row.was_ready:
            told = self._events(row, after)
            feed.gather(self._connection, self._repository_id, row.id, told, self._at)

    def _events(self, row: _Row, after: PullRequest) -> list[Change]:
        before, was_ready = row.before, row.was_ready
        if before is not None and row.backfilled:
            before = known_first(before, after)
            was_ready = was_ready or ready(before)
        told = list(events(before, after, was_ready=was_ready))
        if not row.ready:
            told = [event for event in told if event.kind is not ChangeKind.READY]
        return told

    def _believable(self, row: _Row, after: PullRequest) -> bool:
        """No checks at all: not before they had time to register, where there are checks."""
        if checks_of(after) is not CheckVerdict.NONE:
            return True
        seen_at = row.read.get("head_seen_at") or (row.stored and row.stored.observed.head)
        if seen_at is not None and self._at - seen_at >= REGISTERING:
            return True
        if self._had_checks is None:
            self._had_checks = had_checks(self._connection, self._repository_id)
        return not self._had_checks

    def _date(self, rows: Any) -> None:
        blank = {**dict.fromkeys(_TIMES), "repository_id": self._repository_id}
        dated = [
            {**blank, **row.read, "pull_request_id": row.id, "ready": row.ready} for row in rows
        ]
        _DATE.run(self._connection, dated)


def _may_become_ready(row: _Row) -> bool:
    """Only time can make an unchanged one ready: the time in which checks register."""
    checks = row.now.checks if row.now else None
    return not row.was_ready and checks is not None and checks.verdict is CheckVerdict.NONE
