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
    refreshed: bool = Field(default=False, description="Whether the asked refresh came in time.")
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
    subject: Literal["line", "file", "image"]
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


class SnakeResult(BaseModel):
    """snake_case on the wire, as GitLab's own API speaks."""

    model_config = ConfigDict(extra="forbid")


class DiffStats(SnakeResult):
    additions: int
    deletions: int
    files: int


class ChangedFile(SnakeResult):
    path: str
    old_path: str = ""
    status: Literal["added", "modified", "deleted", "renamed"]
    additions: int
    deletions: int
    patch: str = ""
    hidden_chars: int = 0


class ExcludedFile(SnakeResult):
    path: str
    reason: str
    hidden_chars: int = 0


class Facet(SnakeResult):
    """A facet that could not be read has `error` alone; one that is out of date has it too."""

    error: str = ""


class Diffs(Facet):
    detail: Literal["none", "stats", "full_patch"] = "stats"
    stats: DiffStats = Field(default=None, validate_default=False)
    files: list[ChangedFile] = []
    excluded_files: list[ExcludedFile] = []
    truncated: bool = False


class CommitRow(SnakeResult):
    sha: str
    title: str
    author: str
    authored_at: str
    web_url: str
    hidden_chars: int = 0


class Commits(Facet):
    items: list[CommitRow] = []
    truncated: bool = False


class PositionRow(SnakeResult):
    path: str | None
    old_path: str | None
    line: int | None
    old_line: int | None


class NoteRow(SnakeResult):
    id: int
    body: str
    author: str
    created_at: str
    system: bool
    resolvable: bool
    resolved: bool
    discussion_id: str | None
    position: PositionRow = Field(default=None, validate_default=False)
    review_state: str = ""
    body_truncated: bool = False
    hidden_chars: int = 0


class NotesMetadata(SnakeResult):
    page: int
    per_page: int
    has_more: bool


class Notes(Facet):
    metadata: NotesMetadata = Field(default=None, validate_default=False)
    items: list[NoteRow] = []
    truncated: bool = False


class FailedJobRow(SnakeResult):
    name: str
    web_url: str
    allow_failure: bool


class PipelineRow(SnakeResult):
    id: str
    status: str
    ref: str
    sha: str
    source: str
    web_url: str
    created_at: str | None
    failed_jobs: list[FailedJobRow]
    hidden_chars: int = 0


class Pipelines(Facet):
    items: list[PipelineRow] = []
    truncated: bool = False


class ConflictFile(SnakeResult):
    path: str


class Conflicts(Facet):
    has_conflicts: bool | None = None
    files: list[ConflictFile] = []
    reason: str | None = None
    hidden_chars: int = 0


class DiscussionRow(SnakeResult):
    id: str
    resolvable: bool
    resolved: bool
    notes: list[NoteRow]


class Discussions(Facet):
    items: list[DiscussionRow] = []
    truncated: bool = False


class MergeRequest(SnakeResult):
    iid: int
    title: str
    state: Literal["opened", "closed", "merged", "locked"]
    author: str
    source_branch: str
    target_branch: str
    web_url: str
    draft: bool
    sha: str
    created_at: str
    updated_at: str
    merged_at: str | None
    closed_at: str | None
    description: str
    description_truncated: bool = False
    labels: list[str]
    reviewers: list[str]
    detailed_merge_status: str
    pull_request_state: State
    hidden_chars: int = 0
    diffs: Diffs = Field(default=None, validate_default=False)
    commits: Commits = Field(default=None, validate_default=False)
    notes: Notes = Field(default=None, validate_default=False)
    pipelines: Pipelines = Field(default=None, validate_default=False)
    conflicts: Conflicts = Field(default=None, validate_default=False)
    discussions: Discussions = Field(default=None, validate_default=False)
    sync: Sync
