"""What a GitLab is made of: mutable records without behaviour, changed through `World` alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(slots=True, eq=False)
class User:
    id: int
    username: str
    name: str
    state: str = "active"


@dataclass(slots=True)
class Token:
    """A credential. `may_read` lacks what its bearer's role does not allow."""

    secret: str
    user: User
    kind: str = "personal"
    """`personal` (PRIVATE-TOKEN or Bearer), `oauth` (Bearer) or `job` (JOB-TOKEN)."""
    scopes: tuple[str, ...] = ("api",)
    refused: frozenset[str] = frozenset()
    """Of `pipelines`, `approvals`, `merge_requests`: what this one may not read."""
    revoked: bool = False
    expires: datetime | None = None


@dataclass(slots=True, eq=False)
class FileDiff:
    """One file of a diff; `diff` is the text below the `---`/`+++` lines, as the API gives it."""

    new_path: str
    old_path: str
    diff: str = ""
    new_file: bool = False
    renamed_file: bool = False
    deleted_file: bool = False
    generated_file: bool = False
    collapsed: bool = False
    too_large: bool = False
    a_mode: str = "100644"
    b_mode: str = "100644"
    additions: int = 0
    deletions: int = 0


@dataclass(slots=True, eq=False)
class Commit:
    id: str
    title: str
    message: str
    author_name: str
    author_email: str
    at: datetime
    parent_ids: tuple[str, ...] = ()


@dataclass(slots=True, eq=False)
class DiffVersion:
    id: int
    head_sha: str
    base_sha: str
    start_sha: str
    created_at: datetime
    size: str
    state: str = "collected"


@dataclass(slots=True, eq=False)
class Job:
    id: int
    name: str
    stage: str
    status: str
    created_at: datetime
    allow_failure: bool = False
    trace: str = ""
    failure_reason: str | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    retried: bool = False
    project: Project | None = None  # its pipeline's, once it has one


@dataclass(slots=True, eq=False)
class Pipeline:
    id: int
    iid: int
    project: Project
    sha: str
    ref: str
    status: str
    source: str
    created_at: datetime
    updated_at: datetime
    user: User | None = None
    jobs: list[Job] = field(default_factory=list)
    started_at: datetime | None = None
    finished_at: datetime | None = None
    yaml_errors: str | None = None


@dataclass(slots=True, eq=False)
class Note:
    id: int
    body: str
    author: User | None
    created_at: datetime
    updated_at: datetime
    type: str | None = None
    """`DiffNote`, `DiscussionNote`, or `None` for a lone comment and for system notes."""
    system: bool = False
    resolvable: bool = False
    resolved: bool = False
    resolved_by: User | None = None
    resolved_at: datetime | None = None
    position: dict[str, Any] | None = None
    internal: bool = False


@dataclass(slots=True, eq=False)
class Discussion:
    id: str
    individual_note: bool
    notes: list[Note] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Approval:
    user: User
    at: datetime


@dataclass(slots=True, eq=False)
class Project:
    id: int
    path: str
    """The full path: `group/subgroup/name`."""
    created_at: datetime
    visibility: str = "private"
    members: set[str] | None = None
    """Usernames that see it; `None`: whoever has a token."""
    forked_from: Project | None = None
    default_branch: str = "main"
    branches: dict[str, str] = field(default_factory=dict)
    approvals_required: int = 0
    pipeline_must_succeed: bool = False
    discussions_must_be_resolved: bool = False
    merge_method: str = "merge"
    """`merge`, `rebase_merge` or `ff`; the last two ask for a rebase when behind."""
    reset_approvals_on_push: bool = False
    archived: bool = False
    merge_requests_enabled: bool = True
    deleted: bool = False
    merge_requests: dict[int, MergeRequest] = field(default_factory=dict)
    pipelines: dict[int, Pipeline] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def namespace(self) -> str:
        return self.path.rpartition("/")[0]


@dataclass(slots=True, eq=False)
class MergeRequest:
    id: int
    iid: int
    project: Project
    title: str
    source_branch: str
    target_branch: str
    author: User | None
    created_at: datetime
    updated_at: datetime
    sha: str
    base_sha: str
    start_sha: str
    source_project: Project | None
    description: str | None = ""
    state: str = "opened"
    draft: bool = False
    merged_at: datetime | None = None
    merged_by: User | None = None
    closed_at: datetime | None = None
    closed_by: User | None = None
    prepared_at: datetime | None = None
    merge_commit_sha: str | None = None
    merge_error: str | None = None
    merge_status: str = "can_be_merged"
    """As GitLab keeps it: `unchecked`, `checking`, `can_be_merged`, `cannot_be_merged`,
    `cannot_be_merged_recheck`, `cannot_be_merged_rechecking`, `preparing`."""
    conflicting_files: tuple[str, ...] = ()
    """What the next merge check will find; `merge_status` only follows it."""
    behind: int = 0
    """Commits of the target branch that the source branch lacks."""
    failing_rules: set[str] = field(default_factory=set)
    """Mergeability rules that fail for reasons outside this world: `locked_paths`, …"""
    detailed_status: str | None = None
    """Said instead of what the rules give: a spelling of another version."""
    labels: list[str] = field(default_factory=list)
    assignees: list[User] = field(default_factory=list)
    reviewers: dict[str, str] = field(default_factory=dict)
    """Username → review state, upper case."""
    approvals: list[Approval] = field(default_factory=list)
    approvals_required: int | None = None
    change_requesters: list[User] = field(default_factory=list)
    discussions: list[Discussion] = field(default_factory=list)
    pipelines: list[Pipeline] = field(default_factory=list)
    """Oldest first."""
    head_pipeline: Pipeline | None = None
    commits: list[Commit] = field(default_factory=list)
    """Newest first."""
    diffs: list[FileDiff] = field(default_factory=list)
    versions: list[DiffVersion] = field(default_factory=list)
    """Newest first."""
    changes_count: str | None = None
    """Said instead of the number of files: `1000+`, or nothing at all."""
    deleted: bool = False
