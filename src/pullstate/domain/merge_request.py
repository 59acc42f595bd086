"""What `get_merge_request` shows beyond the pull request: facets, each read when asked for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from pullstate.domain.review import Comment


class Facet(StrEnum):
    """The parts of a merge request that are read on demand and kept; `OVERVIEW` is the base's."""

    OVERVIEW = "overview"
    DIFFS = "diffs"
    COMMITS = "commits"
    NOTES = "notes"
    PIPELINES = "pipelines"
    CONFLICTS = "conflicts"
    DISCUSSIONS = "discussions"


@dataclass(frozen=True, slots=True)
class Overview:
    """What the base shows and a list does not need."""

    state: str  # as GitLab spells it: opened, closed, merged, locked
    description: str
    labels: tuple[str, ...]
    reviewers: tuple[str, ...]
    detailed_merge_status: str  # the forge's own word


@dataclass(frozen=True, slots=True)
class FileDiff:
    """One changed file. `patch` is None where the forge gave none; `flaw` says why."""

    path: str
    old_path: str | None
    status: str  # added, modified, deleted, renamed
    additions: int
    deletions: int
    patch: str | None = None
    generated: bool = False  # the forge's own flag
    binary: bool = False
    too_large: bool = False  # collapsed or over the forge's limit: the counts may be unknown


@dataclass(frozen=True, slots=True)
class Diffs:
    """Every file that the forge would show; `truncated` when it shows fewer than there are."""

    files: tuple[FileDiff, ...]
    truncated: bool = False
    total_files: int | None = None  # the forge's own count where it has one
    total_additions: int | None = None
    total_deletions: int | None = None


@dataclass(frozen=True, slots=True)
class Commit:
    sha: str
    title: str
    author: str
    authored_at: datetime
    web_url: str


@dataclass(frozen=True, slots=True)
class Commits:
    """Newest first."""

    items: tuple[Commit, ...]
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Position:
    """Where on the diff a note stands."""

    path: str | None
    old_path: str | None
    line: int | None
    old_line: int | None
    start_line: int | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """One note of the conversation; on GitHub also a submitted review that has a body."""

    comment: Comment
    system: bool = False
    resolvable: bool = False
    resolved: bool = False
    discussion_id: str | None = None
    position: Position | None = None
    review_state: str | None = None  # GitHub: APPROVED, CHANGES_REQUESTED, COMMENTED, DISMISSED


@dataclass(frozen=True, slots=True)
class Notes:
    """Oldest first."""

    items: tuple[Note, ...]
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class FailedJob:
    name: str
    web_url: str
    allow_failure: bool = False


@dataclass(frozen=True, slots=True)
class Pipeline:
    id: str
    status: str
    ref: str
    sha: str
    source: str
    web_url: str
    created_at: datetime | None
    failed_jobs: tuple[FailedJob, ...] = ()


@dataclass(frozen=True, slots=True)
class Pipelines:
    """Newest first."""

    items: tuple[Pipeline, ...]
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Discussion:
    id: str
    resolvable: bool
    resolved: bool
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class Discussions:
    items: tuple[Discussion, ...]
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Conflicts:
    """`has_conflicts` is None, with the reason, where the forge cannot say."""

    has_conflicts: bool | None
    files: tuple[str, ...] = ()
    reason: str | None = None


FacetBody = Overview | Diffs | Commits | Notes | Pipelines | Conflicts | Discussions
