"""What people say on a pull request: reviews, review threads, comments."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from tests.simulators.github.identifiers import node_id

if TYPE_CHECKING:
    from tests.simulators.github.checks import Commit
    from tests.simulators.github.model import Account, PullRequest


@dataclass(slots=True, eq=False)
class Review:
    typename: ClassVar = "PullRequestReview"
    pull_request: PullRequest
    author: Account
    state: str
    body: str
    commit: Commit | None
    created_at: datetime
    updated_at: datetime
    submitted_at: datetime | None
    """`None` while pending: seen by its author alone."""
    database_id: int
    author_can_push_to_repository: bool = True
    author_association: str = "MEMBER"
    is_minimized: bool = False
    minimized_reason: str | None = None
    last_edited_at: datetime | None = None

    @property
    def id(self) -> str:
        return node_id("PRR", self.pull_request.repository.database_id, self.database_id)

    @property
    def url(self) -> str:
        return f"{self.pull_request.url}#pullrequestreview-{self.database_id}"

    @property
    def comments(self) -> list[ReviewComment]:
        threads = self.pull_request.threads
        return [said for thread in threads for said in thread.comments if said.review is self]


@dataclass(slots=True, eq=False)
class ReviewComment:
    typename: ClassVar = "PullRequestReviewComment"
    thread: Thread
    review: Review
    author: Account
    body: str
    created_at: datetime
    updated_at: datetime
    database_id: int
    author_association: str = "MEMBER"
    is_minimized: bool = False
    minimized_reason: str | None = None
    last_edited_at: datetime | None = None

    @property
    def id(self) -> str:
        repository = self.thread.pull_request.repository
        return node_id("PRRC", repository.database_id, self.database_id)

    @property
    def url(self) -> str:
        return f"{self.thread.pull_request.url}#discussion_r{self.database_id}"

    @property
    def state(self) -> str:
        return "PENDING" if self.review.state == "PENDING" else "SUBMITTED"

    @property
    def reply_to(self) -> ReviewComment | None:
        first = self.thread.comments[0]
        return None if first is self else first


@dataclass(slots=True, eq=False)
class Thread:
    typename: ClassVar = "PullRequestReviewThread"
    pull_request: PullRequest
    database_id: int
    path: str
    line: int | None
    start_line: int | None
    original_line: int | None
    original_start_line: int | None
    diff_side: str = "RIGHT"
    start_diff_side: str | None = None
    subject_type: str = "LINE"
    is_resolved: bool = False
    is_outdated: bool = False
    resolved_by: Account | None = None
    comments: list[ReviewComment] = field(default_factory=list)

    @property
    def id(self) -> str:
        return node_id("PRRT", self.pull_request.repository.database_id, self.database_id)


@dataclass(slots=True, eq=False)
class IssueComment:
    """A comment in the conversation, on no line."""

    typename: ClassVar = "IssueComment"
    pull_request: PullRequest
    author: Account
    body: str
    created_at: datetime
    updated_at: datetime
    database_id: int
    author_association: str = "MEMBER"
    is_minimized: bool = False
    minimized_reason: str | None = None
    last_edited_at: datetime | None = None

    @property
    def id(self) -> str:
        return node_id("IC", self.pull_request.repository.database_id, self.database_id)

    @property
    def url(self) -> str:
        return f"{self.pull_request.url}#issuecomment-{self.database_id}"
