"""Who syncs: a lease row per reader, and the table of live processes.

A reader is a site and a credential's fingerprint (`reader_key`). Expiry is by the server's clock
on PostgreSQL and by wall time on SQLite, where a clock that was set back must not hold a lease for
ever: an expiry further ahead than the lease time, and a second for a nudged clock, is void.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, bindparam, case, func, literal_column, or_, select

from pullstate.store.columns import UtcTime
from pullstate.store.rows import dumps, loads
from pullstate.store.schema import lease, process
from pullstate.store.upserts import insert_into

LIVE = timedelta(seconds=45)  # a process whose last heartbeat is older counts as dead
_FORGOTTEN = timedelta(days=1)
_NUDGE = 1.0


@dataclass(frozen=True, slots=True)
class Fence:
    """A lease as its holder has it. The token grows whenever it passes to another holder."""

    key: str
    holder: str
    token: int


@dataclass(frozen=True, slots=True)
class Leader:
    """Who holds a lease, whether it still runs, and who asks for it."""

    holder: str
    token: int
    expires_at: datetime
    held: bool
    wanted_by: str | None


@dataclass(frozen=True, slots=True)
class Process:
    """A running pullstate. `readers` are those it could be; one that does not sync has none."""

    id: str
    pid: int
    version: str
    readers: tuple[str, ...]
    started_at: datetime
    beat_at: datetime


def reader_key(site_url: str, fingerprint: str) -> str:
    """The name of a reader: a site and the keyed fingerprint of a credential, or "anonymous"."""
    return f"{site_url} {fingerprint}"


def site_of(reader: str) -> str:
    """The site of a reader."""
    return reader.partition(" ")[0]


def take(
    connection: Connection,
    key: str,
    holder: str,
    lease_time: float,
    *,
    now: datetime | None = None,
) -> Fence | None:
    """Take or renew a lease for `lease_time` seconds, in one statement; None where it is held.

    `now` is wall time unless given, and not looked at on PostgreSQL.
    """
    clock = _clock(connection, now)
    end = _end(connection, clock, lease_time)
    insert = insert_into(connection, lease).values(
        key=key, holder=holder, token=1, expires_at=end, wanted_by=None
    )
    mine = lease.c.holder == holder
    void = lease.c.expires_at > _end(connection, clock, lease_time + _NUDGE)
    expired = or_(lease.c.expires_at < clock, void)
    upsert = insert.on_conflict_do_update(
        index_elements=[lease.c.key],
        set_={
            "holder": holder,
            "expires_at": end,
            "token": case((mine, lease.c.token), else_=lease.c.token + 1),
            "wanted_by": case((mine, lease.c.wanted_by), else_=None),
        },
        where=or_(mine, expired),
    ).returning(lease.c.token)
    token = connection.execute(upsert).scalar()
    return None if token is None else Fence(key, holder, token)


_HOLDS = (
    lease.update()
    .where(
        lease.c.key == bindparam("the_key"),
        lease.c.token == bindparam("the_token"),
        lease.c.holder == bindparam("the_holder"),
    )
    .values(token=lease.c.token)
)


def holds(connection: Connection, fence: Fence) -> bool:
    """Prove a lease inside a transaction: nobody can take it before the commit."""
    given = {"the_key": fence.key, "the_token": fence.token, "the_holder": fence.holder}
    return connection.execute(_HOLDS, given).rowcount == 1


def release(connection: Connection, fence: Fence) -> bool:
    """Give a lease up, so that the next contender need not wait; False if it was lost before."""
    past = datetime(1970, 1, 1, tzinfo=UTC)
    held = (
        lease.update()
        .where(
            lease.c.key == fence.key,
            lease.c.token == fence.token,
            lease.c.holder == fence.holder,
        )
        .values(expires_at=past, holder="", wanted_by=None)
    )
    return connection.execute(held).rowcount == 1


def want(connection: Connection, key: str, process_id: str) -> None:
    """Ask the holder of a lease to yield it: a newer version does."""
    connection.execute(lease.update().where(lease.c.key == key).values(wanted_by=process_id))


def leader(
    connection: Connection, key: str, lease_time: float = 15.0, *, now: datetime | None = None
) -> Leader | None:
    """Who holds a lease, or held it last; None where nobody ever did. A read, for contenders."""
    clock = _clock(connection, now)
    end = _end(connection, clock, lease_time + _NUDGE)
    row = connection.execute(
        select(
            lease.c.holder,
            lease.c.token,
            lease.c.expires_at,
            case((lease.c.expires_at.between(clock, end), 1), else_=0),
            lease.c.wanted_by,
        ).where(lease.c.key == key)
    ).first()
    if row is None:
        return None
    holder, token, expires_at, held, wanted_by = row
    return Leader(holder, token, expires_at, bool(held), wanted_by)


def enroll(
    connection: Connection,
    process_id: str,
    pid: int,
    version: str,
    readers: Iterable[str],
    at: datetime,
) -> None:
    """Enter a process among the live ones, or correct its entry; the long dead are dropped."""
    values = {"pid": pid, "version": version, "readers": dumps(list(readers)), "beat_at": at}
    insert = insert_into(connection, process)
    connection.execute(
        insert.values(process_id=process_id, started_at=at, **values).on_conflict_do_update(
            index_elements=[process.c.process_id], set_=values
        )
    )
    connection.execute(process.delete().where(process.c.beat_at < at - _FORGOTTEN))


def beat(connection: Connection, process_id: str, at: datetime) -> bool:
    """Say that a process still runs; False if it is not enrolled (any more)."""
    alive = process.update().where(process.c.process_id == process_id).values(beat_at=at)
    return connection.execute(alive).rowcount == 1


def leave(connection: Connection, process_id: str) -> None:
    """Strike a process off."""
    connection.execute(process.delete().where(process.c.process_id == process_id))


_LIVE = (
    select(
        process.c.process_id,
        process.c.pid,
        process.c.version,
        process.c.readers,
        process.c.started_at,
        process.c.beat_at,
    )
    .where(process.c.beat_at >= bindparam("since"))
    .order_by(process.c.started_at, process.c.process_id)
)


def live(connection: Connection, now: datetime, within: timedelta = LIVE) -> list[Process]:
    """The processes that gave a sign of life lately, the oldest first."""
    rows = connection.execute(_LIVE, {"since": now - within})
    return [
        Process(id_, pid, version, tuple(loads(readers)), started_at, beat_at)
        for id_, pid, version, readers, started_at, beat_at in rows
    ]


def served_sites(connection: Connection, now: datetime) -> frozenset[str]:
    """The sites that some live process can sync."""
    return frozenset(
        site_of(reader) for running in live(connection, now) for reader in running.readers
    )


def _clock(connection: Connection, now: datetime | None) -> Any:
    if connection.dialect.name == "postgresql":
        return func.clock_timestamp()
    return bindparam(None, now or datetime.now(UTC), UtcTime())


def _end(connection: Connection, clock: Any, lease_time: float) -> Any:
    if connection.dialect.name == "postgresql":
        return clock + literal_column(f"interval '{float(lease_time)} seconds'")
    return bindparam(None, clock.value + timedelta(seconds=lease_time), UtcTime())
