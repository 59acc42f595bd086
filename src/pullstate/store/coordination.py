"""The tables by which processes share the work: leases, live processes, wishes, quotas."""

from __future__ import annotations

from sqlalchemy import Column, Index, Integer, Table, Text

from pullstate.store.columns import ID, UtcTime
from pullstate.store.metadata import belonging_to, metadata

etag = Table(
    "etag",
    metadata,
    belonging_to("repository", primary_key=True),
    Column("reader", Text, primary_key=True),
    Column("url", Text, primary_key=True),
    Column("etag", Text, nullable=False),
)

quota = Table(
    "quota",
    metadata,
    Column("reader", Text, primary_key=True),
    Column("resource", Text, primary_key=True),
    Column("limit", Integer),
    Column("remaining", Integer),
    Column("resets_at", UtcTime),
    Column("not_before", UtcTime),
)

refusal = Table(
    "refusal",
    metadata,
    belonging_to("repository", primary_key=True),
    Column("reader", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("at", UtcTime, nullable=False),
)

lease = Table(
    "lease",
    metadata,
    Column("key", Text, primary_key=True),
    Column("holder", Text, nullable=False),
    Column("token", ID, nullable=False),
    Column("expires_at", UtcTime, nullable=False),
    Column("wanted_by", Text),
)

process = Table(
    "process",
    metadata,
    Column("process_id", Text, primary_key=True),
    Column("pid", Integer, nullable=False),
    Column("version", Text, nullable=False),
    Column("readers", Text, nullable=False),
    Column("started_at", UtcTime, nullable=False),
    Column("beat_at", UtcTime, nullable=False),
)

wish = Table(
    "wish",
    metadata,
    Column("id", ID, primary_key=True),
    Column("kind", Text, nullable=False),
    belonging_to("repository"),
    Column("target", Text, nullable=False),
    Column("wanted_at", UtcTime, nullable=False),
    Column("deadline", UtcTime, nullable=False),
    Column("outcome", Text),  # null: open
    Column("detail", Text),
    Column("answered_at", UtcTime),
    Index(None, "repository_id", "kind", "target"),
    Index(None, "deadline"),
    sqlite_autoincrement=True,
)
