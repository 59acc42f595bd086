"""How far a repository's reads have come: one row each, written with the page it speaks of."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, bindparam, select

from pullstate.domain.freshness import Fault, FaultKind
from pullstate.store.records import Sweep
from pullstate.store.rows import dumps, loads
from pullstate.store.schema import sweep as table
from pullstate.store.upserts import Upsert

_PLAIN = (
    "stage",
    "swept",
    "cursor",
    "watermark",
    "began_at",
    "as_of",
    "next_delta_at",
    "next_roll_call_at",
    "roll_call_cursor",
    "roll_call_began_at",
    "probes_skipped",
    "failures",
    "reader",
)
_FAULT = ("fault_kind", "fault_since", "fault_retry_at", "fault_detail")
_COLUMNS = (*_PLAIN, "interval_ms", "gaps", *_FAULT)
_SELECT = select(*(table.c[name] for name in _COLUMNS)).where(
    table.c.repository_id == bindparam("repository_id")
)
_UPSERT = Upsert(table, ["repository_id"], _COLUMNS)


def sweep(connection: Connection, repository_id: int) -> Sweep:
    """How far the reads of a repository have come; a blank one before the first."""
    row = connection.execute(_SELECT, {"repository_id": repository_id}).first()
    if row is None:
        return Sweep()
    plain = dict(zip(_PLAIN, row, strict=False))
    interval_ms, gaps, kind, since, retry_at, detail = row[len(_PLAIN) :]
    return Sweep(
        **plain,
        interval=timedelta(milliseconds=interval_ms),
        gaps=gaps_of(gaps),
        fault=fault_of(kind, since, retry_at, detail),
    )


def gaps_of(text: str | None) -> tuple[tuple[str, str], ...]:
    """The column `gaps`."""
    return tuple((facet, why) for facet, why in loads(text)) if text else ()


def fault_of(
    kind: str | None, since: datetime, retry_at: datetime | None, detail: str | None
) -> Fault | None:
    """The columns `fault_…`."""
    return None if kind is None else Fault(_kind(kind), since, retry_at, detail or "")


def save_sweep(connection: Connection, repository_id: int, sweep: Sweep) -> None:
    """Keep a sweep; the row is left alone where nothing differs."""
    fault = sweep.fault
    values: dict[str, Any] = {name: getattr(sweep, name) for name in _PLAIN}
    values |= {
        "repository_id": repository_id,
        "interval_ms": sweep.interval // timedelta(milliseconds=1),
        "gaps": dumps(sweep.gaps) if sweep.gaps else None,
        "fault_kind": fault and fault.kind.value,
        "fault_since": fault and fault.since,
        "fault_retry_at": fault and fault.retry_at,
        "fault_detail": fault and fault.detail,
    }
    _UPSERT.run(connection, [values])


def set_fault(connection: Connection, repository_id: int, fault: Fault | None) -> None:
    """Record why the last attempt failed, or with None that it did not."""
    known = sweep(connection, repository_id)
    save_sweep(connection, repository_id, replace(known, fault=fault))


def _kind(text: str) -> FaultKind:
    """A newer version may know more kinds."""
    try:
        return FaultKind(text)
    except ValueError:
        return FaultKind.UNEXPECTED
