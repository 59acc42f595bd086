"""What is read of a merge request: a row of REST's lists, REST's single one, GraphQL's.

Enum values stay text: what they mean is decided in `verdicts`, and a word of another version is
kept raw. Fields that a version lacks have defaults. The three have the same names for the same
things.
"""

from __future__ import annotations

from datetime import datetime

from pydantic import AliasChoices, Field

from pullstate.forges.gitlab.values import (
    Connection,
    Flag,
    Moment,
    Names,
    Node,
    Number,
    Payload,
    Record,
    Records,
    Text,
    Word,
)


class User(Payload):
    username: Text = ""


class DiffRefs(Payload):
    """The commits between which a diff lies; `start_sha` is the target branch's tip."""

    base_sha: Text = Field("", validation_alias=AliasChoices("base_sha", "baseSha"))
    head_sha: Text = Field("", validation_alias=AliasChoices("head_sha", "headSha"))
    start_sha: Text = Field("", validation_alias=AliasChoices("start_sha", "startSha"))


class References(Payload):
    full: Text = ""


class Pipeline(Payload):
    id: Number = None
    project_id: Number = None
    sha: Text = ""
    ref: Text = ""
    status: Word = None
    source: Text = ""
    web_url: Text = ""
    created_at: Moment = None


class MergeRequest(Payload):
    """A row of REST's lists, and with the keys at the end a single one."""

    id: Number = None
    iid: int
    project_id: Number = None
    title: Text = ""
    description: Text = ""
    state: Word = None
    draft: Flag = None
    work_in_progress: Flag = None
    created_at: Moment = None
    updated_at: Moment = None
    merged_at: Moment = None
    closed_at: Moment = None
    web_url: Text = ""
    references: Record[References] = None
    author: Record[User] = None
    reviewers: Records[User] = Field(default_factory=list)
    labels: Names = Field(default_factory=list)
    source_branch: Text = ""
    source_project_id: Number = None
    target_branch: Text = ""
    target_project_id: Number = None
    sha: Text = ""
    merge_status: Word = None
    detailed_merge_status: Word = None
    blocking_discussions_resolved: Flag = None
    has_conflicts: Flag = None
    diff_refs: Record[DiffRefs] = None
    changes_count: Text = ""
    pipeline: Record[Pipeline] = None
    head_pipeline: Record[Pipeline] = None

    @property
    def is_draft(self) -> bool:
        """`work_in_progress` is the flag's name before 14.8."""
        return bool(self.work_in_progress if self.draft is None else self.draft)

    @property
    def head_sha(self) -> str:
        return self.sha or (self.diff_refs.head_sha if self.diff_refs else "")

    @property
    def full_path(self) -> str:
        """The project's path, where the version gives full references."""
        path, mark, _ = (self.references.full if self.references else "").rpartition("!")
        return path if mark else ""


class Job(Node):
    name: Text = ""
    allow_failure: Flag = None
    web_path: Text = ""
    web_url: Text = Field("", validation_alias="web_url")


class HeadPipeline(Node):
    id: Text = ""
    sha: Text = ""
    status: Word = None
    jobs: Record[Connection[Job]] = None


class Interaction(Node):
    review_state: Word = None


class Reviewer(Node):
    username: Text = ""
    merge_request_interaction: Record[Interaction] = None

    @property
    def state(self) -> str:
        """REVIEWED, REQUESTED_CHANGES, …; UNREVIEWED where the version does not say."""
        seen = self.merge_request_interaction
        return ((seen.review_state if seen else None) or "UNREVIEWED").upper()


class MergeabilityCheck(Node):
    identifier: Text = ""
    status: Text = ""


class TrainCar(Node):
    index: Number = None
    status: Text = ""


class SourceProject(Node):
    full_path: Text = ""


class Facts(Node):
    """A merge request of GraphQL, with all its facts."""

    id: Text
    iid: int
    title: Text = ""
    state: Word = None
    draft: Flag = None
    created_at: Moment = None
    updated_at: Moment = None
    merged_at: Moment = None
    closed_at: Moment = None
    web_url: Text = ""
    author: Record[User] = None
    source_branch: Text = ""
    source_project_id: Number = None
    source_project: Record[SourceProject] = None
    target_branch: Text = ""
    diff_head_sha: Text = ""
    diff_refs: Record[DiffRefs] = None
    merge_status_enum: Word = None
    legacy_merge_status: Word = Field(None, validation_alias="mergeStatus")
    detailed_merge_status: Word = None
    mergeability_checks: Records[MergeabilityCheck] = Field(default_factory=list)
    mergeable_discussions_state: Flag = None
    approvals_left: Number = None
    approved_by: Record[Connection[User]] = None
    change_requesters: Record[Connection[User]] = None
    reviewers: Record[Connection[Reviewer]] = None
    merge_train_car: Record[TrainCar] = None
    head_pipeline: Record[HeadPipeline] = None

    @property
    def is_draft(self) -> bool:
        return bool(self.draft)

    @property
    def head_sha(self) -> str:
        return self.diff_head_sha or (self.diff_refs.head_sha if self.diff_refs else "")

    @property
    def merge_status(self) -> str | None:
        return self.merge_status_enum or self.legacy_merge_status


class Approvals(Payload):
    """REST's approvals; the community edition gives no count. `approved` is never read."""

    approvals_left: Number = None
    approved_by: Records[Approval] = Field(default_factory=list)


class Approval(Payload):
    user: Record[User] = None


class AskedReviewer(Payload):
    """One of REST's reviewers of a merge request, with the state of the review."""

    user: Record[User] = None
    state: Word = None


class Project(Payload):
    id: int
    path_with_namespace: Text
    merge_requests_enabled: Flag = None
    merge_requests_access_level: Word = None
    builds_access_level: Word = None
    only_allow_merge_if_pipeline_succeeds: Flag = None

    @property
    def has_merge_requests(self) -> bool:
        """False where the project has turned them off."""
        return (
            self.merge_requests_enabled is not False
            and self.merge_requests_access_level != "disabled"
        )


Either = MergeRequest | Facts


def newest(seen: MergeRequest) -> datetime | None:
    """When it was last changed, as exactly as REST says."""
    return seen.updated_at or seen.created_at


Approvals.model_rebuild()
