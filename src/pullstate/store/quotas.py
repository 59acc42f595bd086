"""What the forges allow: ETags, limits and refusals, by reader."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, select

from pullstate.store.records import Limit, Refusal
from pullstate.store.schema import etag as etags
from pullstate.store.schema import quota, refusal
from pullstate.store.upserts import put


def etag(connection: Connection, repository_id: int, reader: str, url: str) -> str | None:
    """The ETag that a URL last had for a reader."""
    found = select(etags.c.etag).where(
        etags.c.repository_id == repository_id, etags.c.reader == reader, etags.c.url == url
    )
    return connection.execute(found).scalar()


def set_etag(
    connection: Connection, repository_id: int, reader: str, url: str, value: str | None
) -> None:
    """Keep an ETag, in the transaction of what it vouches for; None forgets it."""
    key = {"repository_id": repository_id, "reader": reader, "url": url}
    if value is not None:
        put(connection, etags, key, {"etag": value})
        return
    condition = (etags.c[name] == part for name, part in key.items())
    connection.execute(etags.delete().where(*condition))


def set_limit(
    connection: Connection,
    reader: str,
    resource: str,
    limit: int | None,
    remaining: int | None,
    resets_at: datetime | None,
    not_before: datetime | None,
) -> None:
    """Keep what is left of a resource, and until when nothing of it may be asked."""
    values = {
        "limit": limit,
        "remaining": remaining,
        "resets_at": resets_at,
        "not_before": not_before,
    }
    put(connection, quota, {"reader": reader, "resource": resource}, values)


def limits(connection: Connection, reader: str) -> dict[str, Limit]:
    """What is left for a reader, by resource."""
    found = select(
        quota.c.resource, quota.c.limit, quota.c.remaining, quota.c.resets_at, quota.c.not_before
    ).where(quota.c.reader == reader)
    return {row[0]: Limit(*row) for row in connection.execute(found)}


def refuse(
    connection: Connection, repository_id: int, reader: str, kind: str, at: datetime
) -> None:
    """Record that a reader was refused a repository, and how."""
    key = {"repository_id": repository_id, "reader": reader}
    put(connection, refusal, key, {"kind": kind, "at": at})


def forgive(connection: Connection, repository_id: int, reader: str | None = None) -> None:
    """Forget a refusal, or with None all of a repository's: the reader may try again."""
    condition = refusal.c.repository_id == repository_id
    if reader is not None:
        condition &= refusal.c.reader == reader
    connection.execute(refusal.delete().where(condition))


def refusals(connection: Connection, repository_id: int) -> list[Refusal]:
    """The readers that were refused a repository."""
    found = select(refusal.c.reader, refusal.c.kind, refusal.c.at).where(
        refusal.c.repository_id == repository_id
    )
    return [Refusal(*row) for row in connection.execute(found.order_by(refusal.c.at))]
