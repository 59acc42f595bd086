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

from sqlalchemy import Connection, Float, bindparam, case, func, literal_column, or_, select

from pullstate.store.columns import UtcTime
from pullstate.store.rows import dumps, loads
from pullstate.store.schema import lease, process
from pullstate.store.upserts import insert_of, put

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


@dataclass(frozen=True, slots=True)
class _Clock:
    """Moments as a database knows them: now, the end of a lease, and the first that is void."""

    now: Any
    end: Any
    void: Any


def _server_clock() -> _Clock:
    now = func.clock_timestamp()
    return _Clock(
        now,
        now + func.make_interval(0, 0, 0, 0, 0, 0, bindparam("seconds", type_=Float())),
        now + func.make_interval(0, 0, 0, 0, 0, 0, bindparam("void_seconds", type_=Float())),
    )


_CLOCKS = {
    "sqlite": _Clock(*(bindparam(name, type_=UtcTime()) for name in ("now", "end", "void"))),
    "postgresql": _server_clock(),
}


def _times(now: datetime | None, lease_time: float) -> dict[str, Any]:
    """What the clocks of either database are given; a parameter too many does no harm."""
    at = now or datetime.now(UTC)
    return {
        "now": at,
        "end": at + timedelta(seconds=lease_time),
        "void": at + timedelta(seconds=lease_time + _NUDGE),
        "seconds": lease_time,
        "void_seconds": lease_time + _NUDGE,
    }


def _take_by(dialect: str, clock: _Clock) -> Any:
    holder = bindparam("the_holder", type_=lease.c.holder.type)
    mine = lease.c.holder == holder
    insert = insert_of(dialect, lease).values(
        key=bindparam("the_key"), holder=holder, token=1, expires_at=clock.end, wanted_by=None
    )
    return insert.on_conflict_do_update(
        index_elements=[lease.c.key],
        set_={
            "holder": holder,
            "expires_at": clock.end,
            "token": case((mine, lease.c.token), else_=lease.c.token + 1),
            "wanted_by": case((mine, lease.c.wanted_by), else_=None),
        },
        where=or_(mine, lease.c.expires_at < clock.now, lease.c.expires_at > clock.void),
    ).returning(lease.c.token)


def _leader_by(clock: _Clock) -> Any:
    held = lease.c.expires_at.between(clock.now, clock.void)
    return select(
        lease.c.holder,
        lease.c.token,
        lease.c.expires_at,
        case((held, 1), else_=0),
        lease.c.wanted_by,
    ).where(lease.c.key == bindparam("the_key"))


_TAKE = {dialect: _take_by(dialect, clock) for dialect, clock in _CLOCKS.items()}
_LEADER = {dialect: _leader_by(clock) for dialect, clock in _CLOCKS.items()}


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
    given = {"the_key": key, "the_holder": holder, **_times(now, lease_time)}
    token = connection.execute(_TAKE[connection.dialect.name], given).scalar()
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
    given = {"the_key": key, **_times(now, lease_time)}
    row = connection.execute(_LEADER[connection.dialect.name], given).first()
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
    put(
        connection,
        process,
        {"process_id": process_id},
        {"pid": pid, "version": version, "readers": dumps(list(readers)), "beat_at": at},
        first={"started_at": at},
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


LISTED_READERS = (
    select(func.aggregate_strings(process.c.readers, literal_column("','")))
    .where(process.c.beat_at >= bindparam("alive_since"))
    .scalar_subquery()
)


def serves(listed_readers: str | None, site_url: str) -> bool:
    """Whether some live process can sync a site, by what LISTED_READERS came to."""
    lists = loads(f"[{listed_readers or ''}]")
    return any(site_of(reader) == site_url for readers in lists for reader in readers)
