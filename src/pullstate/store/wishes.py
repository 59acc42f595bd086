"""Wishes: what a tool wants read, for whoever syncs; one read fulfils all that came before it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from sqlalchemy import Connection, bindparam, select

from pullstate.store.schema import repository
from pullstate.store.schema import wish as table
from pullstate.store.texts import storable_text


class WishKind(StrEnum):
    """What can be wished for. `target` is a branch, a number, or a number and a facet."""

    BRANCH = "branch"
    NUMBER = "number"
    REFRESH = "refresh"
    THREADS = "threads"
    FACET = "facet"


_KEPT = timedelta(minutes=10)  # how long an outcome can be asked for
_KINDS = [kind.value for kind in WishKind]


@dataclass(frozen=True, slots=True)
class Wish:
    """An open wish, to be fulfilled by a read that begins after `wanted_at`."""

    id: int
    kind: WishKind
    repository_id: int
    target: str
    wanted_at: datetime
    deadline: datetime


@dataclass(frozen=True, slots=True)
class Granted:
    """How a wish ended: `fulfilled`, and if not, `why` in words for the caller."""

    fulfilled: bool
    outcome: str = ""  # "read", "nothing", "not_found", "failed"; empty when nobody answered
    why: str | None = None


@dataclass(frozen=True, slots=True)
class WishOutcome:
    """What became of a wish: "read", "nothing", "not_found" or "failed", with why in `detail`."""

    outcome: str
    detail: str
    answered_at: datetime


def wish(
    connection: Connection,
    kind: WishKind,
    repository_id: int,
    target: str,
    deadline: datetime,
    *,
    wanted_at: datetime | None = None,
) -> int:
    """Wish for a read that begins from now on; the wish's id. Nobody looks after the deadline."""
    values = {
        "kind": WishKind(kind).value,
        "repository_id": repository_id,
        "target": storable_text(target),
        "wanted_at": wanted_at or datetime.now(UTC),
        "deadline": deadline,
    }
    made = table.insert().values(**values).returning(table.c.id)
    return connection.execute(made).scalar_one()


_OPEN = (
    select(
        table.c.id,
        table.c.kind,
        table.c.repository_id,
        table.c.target,
        table.c.wanted_at,
        table.c.deadline,
    )
    .join(repository, repository.c.id == table.c.repository_id)
    .where(
        repository.c.site_url == bindparam("site_url"),
        table.c.deadline >= bindparam("now"),
        table.c.outcome.is_(None),
        table.c.kind.in_(_KINDS),
    )
    .order_by(table.c.wanted_at, table.c.id)
)


def open_wishes(connection: Connection, site_url: str, now: datetime) -> list[Wish]:
    """What is wished of a site and still waited for, oldest first; unknown kinds are not ours."""
    rows = connection.execute(_OPEN, {"site_url": site_url, "now": now})
    return [Wish(id_, WishKind(kind), *rest) for id_, kind, *rest in rows]


def fulfil(
    connection: Connection,
    kind: WishKind,
    repository_id: int,
    target: str,
    began_at: datetime,
    outcome: str,
    detail: str = "",
    *,
    at: datetime | None = None,
) -> int:
    """Answer every open wish that a read satisfies, which is each made before it began."""
    answered = (
        table.update()
        .where(
            table.c.repository_id == repository_id,
            table.c.kind == WishKind(kind).value,
            table.c.target == storable_text(target),
            table.c.outcome.is_(None),
            table.c.wanted_at <= began_at,
        )
        .values(outcome=outcome, detail=detail, answered_at=at or datetime.now(UTC))
    )
    return connection.execute(answered).rowcount


_OUTCOME = select(table.c.outcome, table.c.detail, table.c.answered_at).where(
    table.c.id == bindparam("id"), table.c.outcome.is_not(None)
)


def outcome(connection: Connection, wish_id: int) -> WishOutcome | None:
    """What became of a wish; None while it is open."""
    row = connection.execute(_OUTCOME, {"id": wish_id}).first()
    return None if row is None else WishOutcome(*row)


def drop_expired(connection: Connection, now: datetime) -> int:
    """Delete wishes that nobody waits for any more, and old outcomes; how many."""
    unanswered = table.c.outcome.is_(None) & (table.c.deadline < now)
    answered = table.c.deadline < now - _KEPT
    return connection.execute(table.delete().where(unanswered | answered)).rowcount
