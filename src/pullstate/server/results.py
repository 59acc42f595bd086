"""The shapes of replies: what the output schemas publish."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class Result(BaseModel):
    """camelCase on the wire; a field with a default may be absent."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")


State = Literal[
    "PULL_REQUEST_STATE_UNREAD",
    "PULL_REQUEST_STATE_NONE",
    "PULL_REQUEST_STATE_OPEN",
    "PULL_REQUEST_STATE_APPROVED",
    "PULL_REQUEST_STATE_CHANGES_REQUESTED",
    "PULL_REQUEST_STATE_DRAFT",
    "PULL_REQUEST_STATE_MERGED",
    "PULL_REQUEST_STATE_CLOSED",
    "PULL_REQUEST_STATE_FAILING",
    "PULL_REQUEST_STATE_APPROVED_WAITING",
    "PULL_REQUEST_STATE_CONFLICTING",
]
ReviewDecision = Literal[
    "REVIEW_DECISION_NONE",
    "REVIEW_DECISION_PENDING",
    "REVIEW_DECISION_APPROVED",
    "REVIEW_DECISION_CHANGES_REQUESTED",
]
Checks = Literal["CHECKS_NONE", "CHECKS_PENDING", "CHECKS_PASSING", "CHECKS_FAILING"]
Mergeability = Literal[
    "MERGEABILITY_UNKNOWN",
    "MERGEABILITY_CLEAN",
    "MERGEABILITY_UNSTABLE",
    "MERGEABILITY_BLOCKED",
    "MERGEABILITY_BEHIND",
    "MERGEABILITY_CONFLICTING",
]


class Sync(Result):
    """How fresh the answer is."""

    state: Literal["unread", "failing", "paused", "stale", "partial", "ok"]
    as_of: str = Field(default="", description="When the picture was last known to be complete.")
    age_seconds: int = 0
    reason: str = ""
    next_at: str = Field(default="", description="When it is read next.")
    refreshed: bool = Field(default=False, description="true when the answer is as fresh as asked.")
    facets: dict[str, str] = Field(
        default={}, description="Facet → why it is unreadable or incomplete."
    )


class PullRequest(Result):
    id: str
    forge: Literal["github", "gitlab", "demo"]
    provider_id: str
    url: str
    repository_url: str
    head_repository_url: str = Field(description="Empty when the forge no longer has it.")
    number: int
    title: str
    head_branch: str
    head_sha: str
    base_branch: str
    base_sha: str
    draft: bool
    state: State
    opened_at: str
    changed_at: str
    merged_at: str = ""
    closed_at: str = ""
    review_decision: ReviewDecision
    checks: Checks
    mergeability: Mergeability
    hidden_chars: int = Field(default=0, description="Invisible characters removed.")


class PullRequestPage(Result):
    repository_url: str
    pull_requests: list[PullRequest]
    next_page_token: str = Field(default="", description="Absent on the last page.")
    branch_state: State = Field(
        default="PULL_REQUEST_STATE_NONE", description="Of the named branch: UNREAD ≠ NONE."
    )
    moved_while_paging: int = Field(
        default=0, description="How many closed or reopened since the first page."
    )
    sync: Sync


class Comment(Result):
    id: int = Field(description="Numeric: what a reply call takes.")
    author: str
    body: str
    created_at: str
    url: str
    body_truncated: bool = False
    minimized: str = Field(default="", description="Why the forge hides it.")


class Thread(Result):
    id: str = Field(description="What a resolve call takes.")
    is_resolved: bool
    is_outdated: bool
    path: str | None
    line: int | None = Field(description="null on an outdated thread and on a whole file's.")
    start_line: int | None
    original_line: int | None
    original_start_line: int | None
    side: Literal["LEFT", "RIGHT"] | None
    subject: Literal["line", "file", "image"] = Field(
        description="file too where path is null: it is on the pull request as a whole."
    )
    resolved_by: str | None
    comment_count: int
    first_comment: Comment | None
    last_comment: Comment = Field(
        default=None, description="When it is not the first.", validate_default=False
    )
    hidden_chars: int = Field(default=0, description="Invisible characters removed.")


class ThreadPage(Result):
    threads: list[Thread]
    total_count: int = Field(description="Of all threads that match the filter.")
    truncated: bool = Field(description="More follow, or not every thread could be read.")
    next_page_token: str = Field(default="", description="Absent on the last page.")
    unresolved_count: int = Field(description="Of the whole pull request, whatever the filter.")
    sync: Sync
