"""The commands that change the store. Each takes a connection of `Store.write` first."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import Connection, bindparam, select

from pullstate.domain.changes import Change, ChangeKind
from pullstate.store import feed
from pullstate.store.facets import record_facet
from pullstate.store.feed import prune_changes
from pullstate.store.identity import identify
from pullstate.store.interest import (
    drop_interest,
    ensure_wanted,
    expire_interest,
    forget_unidentified,
    purge,
    track,
    untrack,
)
from pullstate.store.quotas import forgive, refuse, set_etag, set_limit
from pullstate.store.recording import record
from pullstate.store.records import Depth, Interest, Recorded, Sweep
from pullstate.store.schema import freshness, pull_request
from pullstate.store.sweeps import save_sweep, set_fault
from pullstate.store.threads import record_threads

__all__ = [
    "Depth",
    "Interest",
    "Recorded",
    "Sweep",
    "asked",
    "drop_interest",
    "ensure_wanted",
    "expire_interest",
    "forget_unidentified",
    "forgive",
    "identify",
    "prune_changes",
    "purge",
    "record",
    "record_facet",
    "record_threads",
    "refuse",
    "retire",
    "save_sweep",
    "schedule",
    "set_etag",
    "set_fault",
    "set_limit",
    "track",
    "untrack",
]

_SCHEDULE = (
    freshness.update()
    .where(freshness.c.pull_request_id == bindparam("id"))
    .values(due_at=bindparam("due"))
)
_RETIRING = (
    select(freshness.c.missing_at, pull_request.c.gone_at, pull_request.c.repository_id)
    .join(freshness, freshness.c.pull_request_id == pull_request.c.id)
    .where(pull_request.c.id == bindparam("id"))
)


def schedule(connection: Connection, due: Iterable[tuple[int, datetime | None]]) -> None:
    """Set when pull requests are to be read again, by our ids; None: not before they change."""
    rows = [{"id": id_, "due": due_at} for id_, due_at in due]
    if rows:
        connection.execute(_SCHEDULE, rows)


def asked(connection: Connection, pull_request_id: int, at: datetime) -> None:
    """Note that somebody asked about a pull request: it is kept hot for a day."""
    row = freshness.update().where(freshness.c.pull_request_id == pull_request_id)
    connection.execute(row.values(asked_at=at))


def retire(connection: Connection, pull_request_id: int, at: datetime) -> bool:
    """The forge said that it does not exist. The second time makes it gone; True if it is now.

    It is kept, not listed, and answered by number with that fact; being seen again undoes it.
    """
    row = connection.execute(_RETIRING, {"id": pull_request_id}).first()
    if row is None or row.gone_at is not None:
        return False
    if row.missing_at is None:
        missing = freshness.update().where(freshness.c.pull_request_id == pull_request_id)
        connection.execute(missing.values(missing_at=at))
        return False
    gone = pull_request.update().where(pull_request.c.id == pull_request_id)
    connection.execute(gone.values(gone_at=at))
    feed.gather(connection, row.repository_id, pull_request_id, [Change(ChangeKind.GONE)], at)
    return True
