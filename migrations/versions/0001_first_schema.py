"""The first schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from pullstate.store import columns

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "feed",
        sa.Column("one", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("last", columns.ID, nullable=False),
        sa.Column("version", columns.ID, nullable=False),
        sa.Column("pruned", columns.ID, nullable=False),
        sa.PrimaryKeyConstraint("one", name=op.f("pk_feed")),
    )
    op.create_table(
        "lease",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("token", columns.ID, nullable=False),
        sa.Column("expires_at", columns.UtcTime(), nullable=False),
        sa.Column("wanted_by", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_lease")),
    )
    op.create_table(
        "process",
        sa.Column("process_id", sa.Text(), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("readers", sa.Text(), nullable=False),
        sa.Column("started_at", columns.UtcTime(), nullable=False),
        sa.Column("beat_at", columns.UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("process_id", name=op.f("pk_process")),
    )
    op.create_table(
        "quota",
        sa.Column("reader", sa.Text(), nullable=False),
        sa.Column("resource", sa.Text(), nullable=False),
        sa.Column("limit", sa.Integer(), nullable=True),
        sa.Column("remaining", sa.Integer(), nullable=True),
        sa.Column("resets_at", columns.UtcTime(), nullable=True),
        sa.Column("not_before", columns.UtcTime(), nullable=True),
        sa.PrimaryKeyConstraint("reader", "resource", name=op.f("pk_quota")),
    )
    op.create_table(
        "repository",
        sa.Column("id", columns.ID, nullable=False),
        sa.Column("site_url", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("path_key", sa.Text(), nullable=True),
        sa.Column("forge_id", sa.Text(), nullable=True),
        sa.Column("added_at", columns.UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_repository")),
        sa.UniqueConstraint("site_url", "forge_id", name=op.f("uq_repository_site_url_forge_id")),
        sa.UniqueConstraint("site_url", "path_key", name=op.f("uq_repository_site_url_path_key")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "store",
        sa.Column("one", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("salt", sa.LargeBinary(), nullable=False),
        sa.Column("min_reader", sa.Integer(), nullable=False),
        sa.Column("min_writer", sa.Integer(), nullable=False),
        sa.Column("created_at", columns.UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("one", name=op.f("pk_store")),
    )
    op.create_table(
        "alias",
        sa.Column("site_url", sa.Text(), nullable=False),
        sa.Column("path_key", sa.Text(), nullable=False),
        sa.Column("repository_id", columns.ID, autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(
            ["repository_id"],
            ["repository.id"],
            name=op.f("fk_alias_repository_id_repository"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("site_url", "path_key", name=op.f("pk_alias")),
    )
    op.create_index(op.f("ix_alias_repository_id"), "alias", ["repository_id"], unique=False)

    op.create_table(
        "etag",
        sa.Column("repository_id", columns.ID, autoincrement=False, nullable=False),
        sa.Column("reader", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("etag", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["repository_id"],
            ["repository.id"],
            name=op.f("fk_etag_repository_id_repository"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("repository_id", "reader", "url", name=op.f("pk_etag")),
    )
    op.create_table(
        "interest",
        sa.Column("repository_id", columns.ID, autoincrement=False, nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("depth", sa.Text(), nullable=False),
        sa.Column("since", columns.UtcTime(), nullable=False),
        sa.Column("asked_at", columns.UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["repository_id"],
            ["repository.id"],
            name=op.f("fk_interest_repository_id_repository"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("repository_id", "by", "depth", name=op.f("pk_interest")),
    )
    op.create_table(
        "pull_request",
        sa.Column("id", columns.ID, nullable=False),
        sa.Column("handle", sa.Text(), nullable=False),
        sa.Column("repository_id", columns.ID, autoincrement=False, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("provider_id", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("head_branch", sa.Text(), nullable=False),
        sa.Column("shown_branch", sa.Text(), nullable=False),
        sa.Column("head_sha", sa.Text(), nullable=False),
        sa.Column("head_owner", sa.Text(), nullable=False),
        sa.Column("head_repository_url", sa.Text(), nullable=False),
        sa.Column("base_branch", sa.Text(), nullable=False),
        sa.Column("base_sha", sa.Text(), nullable=False),
        sa.Column("draft", sa.Boolean(), nullable=False),
        sa.Column("opened_at", columns.UtcTime(), nullable=False),
        sa.Column("changed_at", columns.UtcTime(), nullable=False),
        sa.Column("merged_at", columns.UtcTime(), nullable=True),
        sa.Column("closed_at", columns.UtcTime(), nullable=True),
        sa.Column("closed_at_is_estimated", sa.Boolean(), nullable=False),
        sa.Column("queue_position", sa.Integer(), nullable=True),
        sa.Column("queue_state", sa.Text(), nullable=True),
        sa.Column("checks_sha", sa.Text(), nullable=True),
        sa.Column("checks_verdict", sa.Text(), nullable=True),
        sa.Column("checks_detail", sa.Text(), nullable=True),
        sa.Column("mergeability_verdict", sa.Text(), nullable=True),
        sa.Column("mergeability_raw", sa.Text(), nullable=True),
        sa.Column("mergeability_head_sha", sa.Text(), nullable=True),
        sa.Column("mergeability_base_sha", sa.Text(), nullable=True),
        sa.Column("mergeability_recheck_due", sa.Boolean(), nullable=True),
        sa.Column("mergeability_last_known", sa.Text(), nullable=True),
        sa.Column("review_decision", sa.Text(), nullable=True),
        sa.Column("review_detail", sa.Text(), nullable=True),
        sa.Column("rules", sa.Text(), nullable=True),
        sa.Column("unresolved_threads", sa.Integer(), nullable=True),
        sa.Column("unfinished", sa.SmallInteger(), nullable=False),
        sa.Column("first_seen_at", columns.UtcTime(), nullable=False),
        sa.Column("backfilled", sa.Boolean(), nullable=False),
        sa.Column("gone_at", columns.UtcTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["repository_id"],
            ["repository.id"],
            name=op.f("fk_pull_request_repository_id_repository"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pull_request")),
        sa.UniqueConstraint(
            "repository_id", "number", name=op.f("uq_pull_request_repository_id_number")
        ),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_pull_request_branch",
        "pull_request",
        ["repository_id", "shown_branch", "unfinished", "opened_at", "number"],
        unique=False,
        sqlite_where=sa.text("gone_at IS NULL"),
        postgresql_where=sa.text("gone_at IS NULL"),
    )
    op.create_index(
        "ix_pull_request_order",
        "pull_request",
        ["repository_id", "unfinished", "opened_at", "number"],
        unique=False,
        sqlite_where=sa.text("gone_at IS NULL"),
        postgresql_where=sa.text("gone_at IS NULL"),
    )

    op.create_table(
        "refusal",
        sa.Column("repository_id", columns.ID, autoincrement=False, nullable=False),
        sa.Column("reader", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("at", columns.UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["repository_id"],
            ["repository.id"],
            name=op.f("fk_refusal_repository_id_repository"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("repository_id", "reader", name=op.f("pk_refusal")),
    )
    op.create_table(
        "sweep",
        sa.Column("repository_id", columns.ID, autoincrement=False, nullable=False),
        sa.Column("stage", sa.Text(), nullable=False),
        sa.Column("swept", sa.Boolean(), nullable=False),
        sa.Column("cursor", sa.Text(), nullable=True),
        sa.Column("watermark", columns.UtcTime(), nullable=True),
        sa.Column("began_at", columns.UtcTime(), nullable=True),
        sa.Column("as_of", columns.UtcTime(), nullable=True),
        sa.Column("next_delta_at", columns.UtcTime(), nullable=True),
        sa.Column("next_roll_call_at", columns.UtcTime(), nullable=True),
        sa.Column("roll_call_cursor", sa.Text(), nullable=True),
        sa.Column("roll_call_began_at", columns.UtcTime(), nullable=True),
        sa.Column("probes_skipped", sa.Integer(), nullable=False),
        sa.Column("interval_ms", columns.ID, nullable=False),
        sa.Column("gaps", sa.Text(), nullable=True),
        sa.Column("fault_kind", sa.Text(), nullable=True),
        sa.Column("fault_since", columns.UtcTime(), nullable=True),
        sa.Column("fault_retry_at", columns.UtcTime(), nullable=True),
        sa.Column("fault_detail", sa.Text(), nullable=True),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("reader", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["repository_id"],
            ["repository.id"],
            name=op.f("fk_sweep_repository_id_repository"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("repository_id", name=op.f("pk_sweep")),
    )
    op.create_table(
        "wish",
        sa.Column("id", columns.ID, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("repository_id", columns.ID, autoincrement=False, nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("wanted_at", columns.UtcTime(), nullable=False),
        sa.Column("deadline", columns.UtcTime(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=True),
        sa.Column("detail", sa.Text(), nullable=True),
        sa.Column("answered_at", columns.UtcTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["repository_id"],
            ["repository.id"],
            name=op.f("fk_wish_repository_id_repository"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_wish")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_wish_deadline"), "wish", ["deadline"], unique=False)
    op.create_index(
        op.f("ix_wish_repository_id_kind_target"),
        "wish",
        ["repository_id", "kind", "target"],
        unique=False,
    )

    op.create_table(
        "change",
        sa.Column("seq", columns.ID, autoincrement=False, nullable=False),
        sa.Column("repository_id", columns.ID, autoincrement=False, nullable=False),
        sa.Column("pull_request_id", columns.ID, autoincrement=False, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("old", sa.Text(), nullable=True),
        sa.Column("new", sa.Text(), nullable=True),
        sa.Column("names", sa.Text(), nullable=True),
        sa.Column("at", columns.UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["pull_request_id"],
            ["pull_request.id"],
            name=op.f("fk_change_pull_request_id_pull_request"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["repository_id"],
            ["repository.id"],
            name=op.f("fk_change_repository_id_repository"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_change")),
    )
    op.create_index(
        op.f("ix_change_pull_request_id_seq"), "change", ["pull_request_id", "seq"], unique=False
    )
    op.create_index(
        op.f("ix_change_repository_id_seq"), "change", ["repository_id", "seq"], unique=False
    )

    op.create_table(
        "facet",
        sa.Column("pull_request_id", columns.ID, autoincrement=False, nullable=False),
        sa.Column("facet", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=True),
        sa.Column("head_sha", sa.Text(), nullable=False),
        sa.Column("changed_at_when_read", columns.UtcTime(), nullable=True),
        sa.Column("observed_at", columns.UtcTime(), nullable=True),
        sa.Column("fault", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["pull_request_id"],
            ["pull_request.id"],
            name=op.f("fk_facet_pull_request_id_pull_request"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("pull_request_id", "facet", name=op.f("pk_facet")),
    )
    op.create_table(
        "freshness",
        sa.Column("pull_request_id", columns.ID, autoincrement=False, nullable=False),
        sa.Column("repository_id", columns.ID, autoincrement=False, nullable=False),
        sa.Column("details_at", columns.UtcTime(), nullable=True),
        sa.Column("checks_at", columns.UtcTime(), nullable=True),
        sa.Column("mergeability_at", columns.UtcTime(), nullable=True),
        sa.Column("review_at", columns.UtcTime(), nullable=True),
        sa.Column("threads_at", columns.UtcTime(), nullable=True),
        sa.Column("head_seen_at", columns.UtcTime(), nullable=True),
        sa.Column("base_moved_at", columns.UtcTime(), nullable=True),
        sa.Column("due_at", columns.UtcTime(), nullable=True),
        sa.Column("asked_at", columns.UtcTime(), nullable=True),
        sa.Column("ready", sa.Boolean(), nullable=False),
        sa.Column("missing_at", columns.UtcTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["pull_request_id"],
            ["pull_request.id"],
            name=op.f("fk_freshness_pull_request_id_pull_request"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["repository_id"],
            ["repository.id"],
            name=op.f("fk_freshness_repository_id_repository"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("pull_request_id", name=op.f("pk_freshness")),
    )
    op.create_index(
        op.f("ix_freshness_repository_id_due_at"),
        "freshness",
        ["repository_id", "due_at"],
        unique=False,
    )

    op.create_table(
        "note",
        sa.Column("pull_request_id", columns.ID, autoincrement=False, nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("note_id", columns.ID, autoincrement=False, nullable=False),
        sa.Column("created_at", columns.UtcTime(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["pull_request_id"],
            ["pull_request.id"],
            name=op.f("fk_note_pull_request_id_pull_request"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("pull_request_id", "source", "note_id", name=op.f("pk_note")),
    )
    op.create_index(
        op.f("ix_note_pull_request_id_created_at_source_note_id"),
        "note",
        ["pull_request_id", "created_at", "source", "note_id"],
        unique=False,
    )

    op.create_table(
        "thread",
        sa.Column("id", columns.ID, nullable=False),
        sa.Column("pull_request_id", columns.ID, autoincrement=False, nullable=False),
        sa.Column("thread_id", sa.Text(), nullable=False),
        sa.Column("is_resolved", sa.Boolean(), nullable=False),
        sa.Column("opened_at", columns.UtcTime(), nullable=False),
        sa.Column("is_outdated", sa.Boolean(), nullable=False),
        sa.Column("path", sa.Text(), nullable=True),
        sa.Column("line", sa.Integer(), nullable=True),
        sa.Column("start_line", sa.Integer(), nullable=True),
        sa.Column("original_line", sa.Integer(), nullable=True),
        sa.Column("original_start_line", sa.Integer(), nullable=True),
        sa.Column("side", sa.Text(), nullable=True),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("resolved_by", sa.Text(), nullable=True),
        sa.Column("comments", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["pull_request_id"],
            ["pull_request.id"],
            name=op.f("fk_thread_pull_request_id_pull_request"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_thread")),
        sa.UniqueConstraint(
            "pull_request_id", "thread_id", name=op.f("uq_thread_pull_request_id_thread_id")
        ),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_thread_order", "thread", ["pull_request_id", "opened_at", "thread_id"], unique=False
    )
    op.create_index(
        "ix_thread_resolved",
        "thread",
        ["pull_request_id", "is_resolved", "opened_at", "thread_id"],
        unique=False,
    )

    op.create_table(
        "thread_reading",
        sa.Column("pull_request_id", columns.ID, autoincrement=False, nullable=False),
        sa.Column("observed_at", columns.UtcTime(), nullable=True),
        sa.Column("changed_at_when_read", columns.UtcTime(), nullable=True),
        sa.Column("gap", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["pull_request_id"],
            ["pull_request.id"],
            name=op.f("fk_thread_reading_pull_request_id_pull_request"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("pull_request_id", name=op.f("pk_thread_reading")),
    )


def downgrade() -> None:
    op.drop_table("thread_reading")
    op.drop_index("ix_thread_resolved", table_name="thread")
    op.drop_index("ix_thread_order", table_name="thread")

    op.drop_table("thread")
    op.drop_index("ix_note_pull_request_id_created_at_source_note_id", table_name="note")

    op.drop_table("note")
    op.drop_index("ix_freshness_repository_id_due_at", table_name="freshness")

    op.drop_table("freshness")
    op.drop_table("facet")
    op.drop_index("ix_change_repository_id_seq", table_name="change")
    op.drop_index("ix_change_pull_request_id_seq", table_name="change")

    op.drop_table("change")
    op.drop_index("ix_wish_repository_id_kind_target", table_name="wish")
    op.drop_index("ix_wish_deadline", table_name="wish")

    op.drop_table("wish")
    op.drop_table("sweep")
    op.drop_table("refusal")
    op.drop_index(
        "ix_pull_request_order",
        table_name="pull_request",
        sqlite_where=sa.text("gone_at IS NULL"),
        postgresql_where=sa.text("gone_at IS NULL"),
    )
    op.drop_index(
        "ix_pull_request_branch",
        table_name="pull_request",
        sqlite_where=sa.text("gone_at IS NULL"),
        postgresql_where=sa.text("gone_at IS NULL"),
    )

    op.drop_table("pull_request")
    op.drop_table("interest")
    op.drop_table("etag")
    op.drop_index("ix_alias_repository_id", table_name="alias")

    op.drop_table("alias")
    op.drop_table("store")
    op.drop_table("repository")
    op.drop_table("quota")
    op.drop_table("process")
    op.drop_table("lease")
    op.drop_table("feed")
