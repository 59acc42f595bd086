"""The small file beside a store that names what is tracked: a damaged store is rebuilt from it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection

from pullstate.domain.site import ForgeKind
from pullstate.store.records import Depth


@dataclass(frozen=True, slots=True)
class TrackedAddress:
    """One repository that somebody named."""

    site_url: str
    kind: ForgeKind
    path: str
    depth: Depth
    by: str


def beside(path: Path) -> Path:
    """Where the file of a store lies."""
    return path.with_name(path.name + ".tracked.json")


def save(path: Path, addresses: Sequence[TrackedAddress]) -> None:
    """Write the file whole or not at all, for its owner alone."""
    rows = [
        {
            "site": address.site_url,
            "kind": address.kind.value,
            "path": address.path,
            "depth": address.depth.value,
            "by": address.by,
        }
        for address in addresses
    ]
    target = beside(path)
    draft = target.with_name(f"{target.name}.{os.getpid()}")
    with os.fdopen(os.open(draft, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
        json.dump(rows, file, indent=1)
    draft.replace(target)


def load(path: Path) -> list[TrackedAddress]:
    """What the file names; nothing where there is none. Rows that cannot be read are left out."""
    try:
        rows = json.loads(beside(path).read_text("utf-8"))
    except (OSError, ValueError):
        return []
    return [found for row in rows if (found := _read(row))] if isinstance(rows, list) else []


def _read(row: object) -> TrackedAddress | None:
    if not isinstance(row, dict):
        return None
    try:
        return TrackedAddress(
            str(row["site"]),
            ForgeKind(row["kind"]),
            str(row["path"]),
            Depth(row["depth"]),
            str(row["by"]),
        )
    except (KeyError, ValueError):
        return None


_MOVED = "pullstate_tracked"


def begin(connection: Connection) -> None:
    """A transaction begins: nothing was tracked or untracked in it yet."""
    connection.info[_MOVED] = False


def mark(connection: Connection) -> None:
    """The transaction tracks or untracks something: the file is to be written with it."""
    connection.info[_MOVED] = True


def moved(connection: Connection) -> bool:
    """Whether the transaction tracked or untracked something."""
    return connection.info[_MOVED]
