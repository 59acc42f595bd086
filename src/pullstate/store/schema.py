"""The tables. Facts in a `pull_request` row carry no clock: when they were seen is in `freshness`.

A migration only adds within a major version; `REVISION` is the newest one's identifier.
"""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Index,
    Integer,
    LargeBinary,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
)

from pullstate.store.columns import ID, UtcTime
from pullstate.store.coordination import etag, lease, process, quota, refusal, wish
from pullstate.store.metadata import belonging_to, metadata

__all__ = [
    "READS_AS",
    "REVISION",
    "alias",
    "change",
    "etag",
    "facet",
    "feed",
    "freshness",
    "interest",
    "lease",
    "metadata",
    "note",
    "process",
    "pull_request",
    "quota",
    "refusal",
    "repository",
    "store",
    "sweep",
    "thread",
    "thread_reading",
    "wish",
]

REVISION = "0001"  # identifiers of revisions sort as they follow on each other
READS_AS = 1  # what `min_reader` and `min_writer` of a store are compared with

store = Table(
    "store",
    metadata,
    Column("one", Integer, primary_key=True, autoincrement=False),  # always 1
    Column("id", Text, nullable=False),  # random: cursors carry it
    Column("salt", LargeBinary, nullable=False),  # for fingerprints of credentials
    Column("min_reader", Integer, nullable=False),
    Column("min_writer", Integer, nullable=False),
    Column("created_at", UtcTime, nullable=False),
)

feed = Table(
    "feed",
    metadata,
    Column("one", Integer, primary_key=True, autoincrement=False),  # always 1
    Column("last", ID, nullable=False),  # number of the newest change
    Column("version", ID, nullable=False),  # moves with every write where no pragma tells
    Column("pruned", ID, nullable=False),  # changes up to this number are no longer kept
)

repository = Table(
    "repository",
    metadata,
    Column("id", ID, primary_key=True),
    Column("site_url", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("path", Text, nullable=False),  # as the forge spells it
    Column("path_key", Text),  # case-folded; null once another repository lives at the address
    Column("forge_id", Text),  # null until the forge was asked
    Column("added_at", UtcTime, nullable=False),
    UniqueConstraint("site_url", "path_key"),
    UniqueConstraint("site_url", "forge_id"),
    sqlite_autoincrement=True,
)

alias = Table(
    "alias",
    metadata,
    Column("site_url", Text, primary_key=True),
    Column("path_key", Text, primary_key=True),
    belonging_to("repository"),
    Index(None, "repository_id"),
)

interest = Table(
    "interest",
    metadata,
    belonging_to("repository", primary_key=True),
    Column("by", Text, primary_key=True),  # command, configuration, remote, question
    Column("depth", Text, primary_key=True),
    Column("since", UtcTime, nullable=False),
    Column("asked_at", UtcTime, nullable=False),  # the last time
)

sweep = Table(
    "sweep",
    metadata,
    belonging_to("repository", primary_key=True),
    Column("stage", Text, nullable=False),
    Column("swept", Boolean, nullable=False),
    Column("cursor", Text),
    Column("watermark", UtcTime),
    Column("began_at", UtcTime),
    Column("as_of", UtcTime),
    Column("next_delta_at", UtcTime),
    Column("next_roll_call_at", UtcTime),
    Column("roll_call_cursor", Text),
    Column("roll_call_began_at", UtcTime),
    Column("probes_skipped", Integer, nullable=False),
    Column("interval_ms", ID, nullable=False),
    Column("gaps", Text),
    Column("fault_kind", Text),
    Column("fault_since", UtcTime),
    Column("fault_retry_at", UtcTime),
    Column("fault_detail", Text),
    Column("failures", Integer, nullable=False),
    Column("reader", Text),
)

pull_request = Table(
    "pull_request",
    metadata,
    Column("id", ID, primary_key=True),
    Column("handle", Text, nullable=False),
    belonging_to("repository"),
    Column("number", Integer, nullable=False),
    Column("provider_id", Text, nullable=False),
    Column("url", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("author", Text, nullable=False),
    Column("head_branch", Text, nullable=False),
    Column("shown_branch", Text, nullable=False),  # the same as tools show it
    Column("head_sha", Text, nullable=False),
    Column("head_owner", Text, nullable=False),
    Column("head_repository_url", Text, nullable=False),
    Column("base_branch", Text, nullable=False),
    Column("base_sha", Text, nullable=False),
    Column("draft", Boolean, nullable=False),
    Column("opened_at", UtcTime, nullable=False),
    Column("changed_at", UtcTime, nullable=False),
    Column("merged_at", UtcTime),
    Column("closed_at", UtcTime),
    Column("closed_at_is_estimated", Boolean, nullable=False),
    Column("queue_position", Integer),
    Column("queue_state", Text),  # null: in no queue
    Column("checks_sha", Text),
    Column("checks_verdict", Text),  # null: never read
    Column("checks_detail", Text),
    Column("mergeability_verdict", Text),
    Column("mergeability_raw", Text),
    Column("mergeability_head_sha", Text),
    Column("mergeability_base_sha", Text),
    Column("mergeability_recheck_due", Boolean),
    Column("mergeability_last_known", Text),
    Column("review_decision", Text),
    Column("review_detail", Text),
    Column("rules", Text),
    Column("unresolved_threads", Integer),
    Column("unfinished", SmallInteger, nullable=False),  # 1: open or draft, as in the order
    Column("first_seen_at", UtcTime, nullable=False),
    Column("backfilled", Boolean, nullable=False),  # first seen by a backfill: no `opened` event
    Column("gone_at", UtcTime),
    UniqueConstraint("repository_id", "number"),
    sqlite_autoincrement=True,
)

# An index scanned backwards serves an order that is descending in every column.
_listed = pull_request.c.gone_at.is_(None)
by_order = Index(
    "ix_pull_request_order",
    pull_request.c.repository_id,
    pull_request.c.unfinished,
    pull_request.c.opened_at,
    pull_request.c.number,
    sqlite_where=_listed,
    postgresql_where=_listed,
)
by_branch = Index(
    "ix_pull_request_branch",
    pull_request.c.repository_id,
    pull_request.c.shown_branch,
    pull_request.c.unfinished,
    pull_request.c.opened_at,
    pull_request.c.number,
    sqlite_where=_listed,
    postgresql_where=_listed,
)

freshness = Table(
    "freshness",
    metadata,
    belonging_to("pull_request", primary_key=True),
    belonging_to("repository"),
    Column("details_at", UtcTime),
    Column("checks_at", UtcTime),
    Column("mergeability_at", UtcTime),
    Column("review_at", UtcTime),
    Column("threads_at", UtcTime),
    Column("head_seen_at", UtcTime),  # when this head was first seen
    Column("base_moved_at", UtcTime),  # when the base's tip was last seen to move
    Column("due_at", UtcTime),
    Column("asked_at", UtcTime),  # the last question about this one
    Column("ready", Boolean, nullable=False),  # as last told by a `ready` event
    Column("missing_at", UtcTime),  # the first NOT_FOUND; a second makes it gone
    Index(None, "repository_id", "due_at"),
)

thread = Table(
    "thread",
    metadata,
    Column("id", ID, primary_key=True),
    belonging_to("pull_request"),
    Column("thread_id", Text, nullable=False),
    Column("is_resolved", Boolean, nullable=False),
    Column("opened_at", UtcTime, nullable=False),  # the first comment's time
    Column("is_outdated", Boolean, nullable=False),
    Column("path", Text),
    Column("line", Integer),
    Column("start_line", Integer),
    Column("original_line", Integer),
    Column("original_start_line", Integer),
    Column("side", Text),
    Column("subject", Text, nullable=False),
    Column("resolved_by", Text),
    Column("comments", Text, nullable=False),
    UniqueConstraint("pull_request_id", "thread_id"),
    Index("ix_thread_order", "pull_request_id", "opened_at", "thread_id"),
    Index("ix_thread_resolved", "pull_request_id", "is_resolved", "opened_at", "thread_id"),
    sqlite_autoincrement=True,
)

thread_reading = Table(
    "thread_reading",
    metadata,
    belonging_to("pull_request", primary_key=True),
    Column("observed_at", UtcTime),  # of the last complete one
    Column("changed_at_when_read", UtcTime),
    Column("gap", Text),  # why the last one was incomplete
)

facet = Table(
    "facet",
    metadata,
    belonging_to("pull_request", primary_key=True),
    Column("facet", Text, primary_key=True),
    Column("body", Text),
    Column("head_sha", Text, nullable=False),
    Column("changed_at_when_read", UtcTime),
    Column("observed_at", UtcTime),
    Column("fault", Text),  # why the last attempt failed
)

note = Table(
    "note",
    metadata,
    belonging_to("pull_request", primary_key=True),
    Column("source", Text, primary_key=True),  # "comment" or "review": their ids may collide
    Column("note_id", ID, primary_key=True, autoincrement=False),
    Column("created_at", UtcTime, nullable=False),
    Column("body", Text, nullable=False),  # the whole note
    Index(None, "pull_request_id", "created_at", "source", "note_id"),
)

change = Table(
    "change",
    metadata,
    Column("seq", ID, primary_key=True, autoincrement=False),  # numbers of `feed`
    belonging_to("repository"),
    belonging_to("pull_request"),
    Column("kind", Text, nullable=False),
    Column("old", Text),
    Column("new", Text),
    Column("names", Text),
    Column("at", UtcTime, nullable=False),
    Index(None, "repository_id", "seq"),
    Index(None, "pull_request_id", "seq"),
)
