"""What is read of GitHub's answers about one pull request: threads, comments, facets."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from pullstate.forges.github.payloads import (
    Actor,
    Checked,
    Connection,
    Flag,
    Moment,
    Opinion,
    Payload,
    ReviewRequest,
    Text,
    Word,
)


class Said(Payload):
    """A comment, wherever it stands."""

    database_id: int | None = None
    full_database_id: int | None = None
    author: Actor | None = None
    body: Text = ""
    created_at: Moment
    last_edited_at: Moment | None = None
    url: Text = ""
    is_minimized: Flag = False
    minimized_reason: str | None = None
    state: Word = None  # a review's, or a review comment's: PENDING, SUBMITTED


class Submitted(Said):
    """A review."""

    submitted_at: Moment | None = None


class ReviewComment(Said):
    pull_request_review: Opinion | None = None


class Thread(Payload):
    id: str
    is_resolved: Flag = False
    is_outdated: Flag = False
    path: str | None = None
    line: int | None = None
    start_line: int | None = None
    original_line: int | None = None
    original_start_line: int | None = None
    diff_side: Word = None
    subject_type: Word = None
    resolved_by: Actor | None = None
    comments: Connection[ReviewComment] = Connection[ReviewComment]()


class OnHead(Checked):
    """A pull request of which the check suites were asked."""

    head_ref_name: Text = ""


class ChangedFile(BaseModel):
    """A file as REST lists it."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    filename: str
    previous_filename: str | None = None
    status: Text = ""
    additions: int = 0
    deletions: int = 0
    patch: str | None = None
    sha: str | None = None


class Label(Payload):
    name: Text = ""


class Overview(Payload):
    state: Word = None
    body: Text = ""
    changed_files: int | None = None
    additions: int | None = None
    deletions: int | None = None
    mergeable: Word = None
    merge_state_status: Word = None
    labels: Connection[Label] | None = None
    review_requests: Connection[ReviewRequest] | None = None
    latest_reviews: Connection[Opinion] | None = None


class Signature(Payload):
    date: Moment | None = None
    name: str | None = None
    user: Actor | None = None


class ListedCommit(Payload):
    oid: Text = ""
    message_headline: Text = ""
    committed_date: Moment
    url: Text = ""
    author: Signature | None = None


class ListedCommitNode(Payload):
    commit: ListedCommit | None = None
