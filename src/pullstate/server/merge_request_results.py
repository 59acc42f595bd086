"""The shape of `get_merge_request`'s reply: what its output schema publishes."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from pullstate.server.results import State, Sync


class SnakeResult(BaseModel):
    """snake_case on the wire, as GitLab's own API speaks; a field with a default may be absent."""

    model_config = ConfigDict(extra="forbid")


class Facet(SnakeResult):
    """A facet that could not be read has `error` alone; one that is out of date has it too."""

    error: str = Field(default="", description="Why it is missing or out of date.")


class DiffStats(SnakeResult):
    additions: int
    deletions: int
    files: int
    at_least: bool = Field(default=False, description="The forge did not count all.")


class ChangedFile(SnakeResult):
    path: str
    old_path: str = ""
    status: Literal["added", "modified", "deleted", "renamed"]
    additions: int
    deletions: int
    patch: str = Field(default="", description="Whole; absent where the forge gives none.")
    hidden_chars: int = 0


class ExcludedFile(SnakeResult):
    path: str
    reason: str
    hidden_chars: int = 0


class Diffs(Facet):
    detail: Literal["none", "stats", "full_patch"] = "stats"
    stats: DiffStats = Field(
        default=None, validate_default=False, description="Of all files, excluded ones too."
    )
    files: list[ChangedFile] = []
    excluded_files: list[ExcludedFile] = []
    truncated: bool = Field(default=False, description="Not every file is named here.")
    not_named: int = Field(default=0, description="How many are not.")


class CommitRow(SnakeResult):
    sha: str
    title: str
    author: str
    authored_at: str
    web_url: str
    hidden_chars: int = 0


class Listing(Facet):
    truncated: bool = False
    not_shown: int = Field(default=0, description="Items left out for want of room.")


class Commits(Listing):
    items: list[CommitRow] = []


class PositionRow(SnakeResult):
    path: str | None
    old_path: str | None
    line: int | None
    old_line: int | None
    start_line: int | None


class NoteRow(SnakeResult):
    id: int
    body: str
    author: str
    created_at: str
    system: bool
    resolvable: bool
    resolved: bool
    discussion_id: str | None
    position: PositionRow = Field(
        default=None, validate_default=False, description="A reply's: absent if as the first's."
    )
    review_state: str = ""
    minimized: str = ""
    body_truncated: bool = False
    hidden_chars: int = 0


class NotesMetadata(SnakeResult):
    page: int
    per_page: int
    has_more: bool


class Notes(Listing):
    metadata: NotesMetadata = Field(default=None, validate_default=False)
    items: list[NoteRow] = []
    not_shown: int = Field(default=0, description="Of this page: send a smaller notes_per_page.")


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
    failed_jobs_not_shown: int = 0
    hidden_chars: int = 0


class Pipelines(Listing):
    items: list[PipelineRow] = []


class ConflictFile(SnakeResult):
    path: str


class Conflicts(Facet):
    has_conflicts: bool | None = None
    files: list[ConflictFile] = []
    reason: str | None = None
    not_shown: int = 0
    hidden_chars: int = 0


class DiscussionRow(SnakeResult):
    id: str
    resolvable: bool
    resolved: bool
    notes: list[NoteRow]
    notes_not_shown: int = Field(default=0, description="Between the first and the newest.")
    hidden_chars: int = 0


class Discussions(Listing):
    items: list[DiscussionRow] = []


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
    description: str | None = Field(description="null, as the next three: see sync.facets.")
    description_truncated: bool = False
    labels: list[str] | None
    labels_not_shown: int = 0
    reviewers: list[str] | None
    reviewers_not_shown: int = 0
    detailed_merge_status: str | None
    pull_request_state: State
    hidden_chars: int = 0
    diffs: Diffs = Field(default=None, validate_default=False)
    commits: Commits = Field(default=None, validate_default=False)
    notes: Notes = Field(default=None, validate_default=False)
    pipelines: Pipelines = Field(default=None, validate_default=False)
    conflicts: Conflicts = Field(default=None, validate_default=False)
    discussions: Discussions = Field(default=None, validate_default=False)
    sync: Sync
