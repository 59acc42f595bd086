"""What the simulated forge knows: accounts, repositories, pull requests.

Plain mutable records. They are changed through `World`, which keeps `updatedAt` as GitHub does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from tests.simulators.github.identifiers import node_id

if TYPE_CHECKING:
    from tests.simulators.github.checks import Commit
    from tests.simulators.github.conversation import IssueComment, Review, Thread


@dataclass(slots=True)
class Site:
    """The web root that all addresses begin with; set once the server has a port."""

    root: str = "https://github.com"


@dataclass(slots=True, eq=False)
class Account:
    login: str
    """Without `[bot]`: GraphQL leaves it out and REST adds it."""
    database_id: int
    site: Site
    typename: str = "User"
    gone: bool = False
    """Deleted: GraphQL says null where it was the author, REST says `ghost`."""

    @property
    def id(self) -> str:
        prefix = {"User": "U", "Organization": "O", "Bot": "BOT"}.get(self.typename, "M")
        return node_id(prefix, self.database_id)

    @property
    def url(self) -> str:
        apps = "apps/" if self.typename == "Bot" else ""
        return f"{self.site.root}/{apps}{self.login}"

    @property
    def rest_login(self) -> str:
        return f"{self.login}[bot]" if self.typename == "Bot" else self.login


@dataclass(slots=True, eq=False)
class Team:
    typename: ClassVar = "Team"
    organization: Account
    slug: str
    database_id: int

    @property
    def id(self) -> str:
        return node_id("T", self.organization.database_id, self.database_id)

    @property
    def name(self) -> str:
        return self.slug

    @property
    def url(self) -> str:
        organization = self.organization
        return f"{organization.site.root}/orgs/{organization.login}/teams/{self.slug}"

    @property
    def combined_slug(self) -> str:
        return f"{self.organization.login}/{self.slug}"


@dataclass(slots=True)
class Label:
    typename: ClassVar = "Label"
    repository_id: int
    name: str
    database_id: int
    color: str = "ededed"

    @property
    def id(self) -> str:
        return node_id("LA", self.repository_id, self.database_id)


@dataclass(slots=True)
class BranchRules:
    """What the branch's protection and rulesets ask of a pull request, as GraphQL sums them up."""

    required_status_check_contexts: list[str] = field(default_factory=list)
    required_approving_review_count: int | None = None
    requires_code_owner_reviews: bool = False
    requires_conversation_resolution: bool = False
    requires_linear_history: bool = False
    requires_signatures: bool = False
    strict: bool = False
    """The branch must be up to date before merging."""
    merge_queue: bool = False
    pattern: str = ""


@dataclass(slots=True)
class MergeQueueEntry:
    pull_request: PullRequest
    position: int
    state: str
    enqueued_at: datetime
    enqueuer: Account | None
    database_id: int

    @property
    def id(self) -> str:
        return node_id("MQE", self.database_id)


@dataclass(slots=True)
class ChangedFile:
    path: str
    additions: int = 1
    deletions: int = 0
    change_type: str = "MODIFIED"
    previous_path: str | None = None
    patch: str | None = None
    """Unset, one with as many lines as are counted."""


@dataclass(slots=True, eq=False)
class Repository:
    typename: ClassVar = "Repository"
    site: Site
    owner: Account
    name: str
    database_id: int
    created_at: datetime
    is_private: bool = False
    is_fork: bool = False
    deleted: bool = False
    pull_requests_enabled: bool = True
    default_branch: str = "main"
    branches: dict[str, Commit] = field(default_factory=dict)
    commits: dict[str, Commit] = field(default_factory=dict)
    rules: dict[str, BranchRules] = field(default_factory=dict)
    pull_requests: dict[int, PullRequest] = field(default_factory=dict)
    next_number: int = 1
    id: str = field(init=False)
    _listings: dict[Any, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.id = node_id("R", self.database_id)

    @property
    def name_with_owner(self) -> str:
        return f"{self.owner.login}/{self.name}"

    @property
    def url(self) -> str:
        return f"{self.site.root}/{self.owner.login}/{self.name}"

    def listing(self, key: Any, make: Callable[[], Any]) -> Any:
        """What `make` gives, kept until something in this repository changes."""
        if key not in self._listings:
            self._listings[key] = make()
        return self._listings[key]

    def changed(self) -> None:
        self._listings.clear()


@dataclass(slots=True, eq=False)
class PullRequest:
    typename: ClassVar = "PullRequest"
    repository: Repository
    number: int
    database_id: int
    title: str
    author: Account
    head: Commit
    head_ref_name: str
    head_owner: Account
    head_repository: Repository | None
    base_ref_name: str
    base_ref_oid: str
    created_at: datetime
    updated_at: datetime
    id: str
    body: str = ""
    state: str = "OPEN"
    is_draft: bool = False
    closed_at: datetime | None = None
    merged_at: datetime | None = None
    merged_by: Account | None = None
    merge_commit: Commit | None = None
    mergeability: str = "MERGEABLE"
    """What the forge says once it has computed; UNKNOWN: it never does."""
    unknown_for: int = 0
    """So many requests that ask for `mergeable` are told UNKNOWN first."""
    forced_merge_state: str | None = None
    forced_review_decision: str | None = None
    """`NONE` forces null; unset, it follows from the branch's rules and the reviews."""
    merge_queue_entry: MergeQueueEntry | None = None
    author_association: str = "CONTRIBUTOR"
    additions: int = 1
    deletions: int = 0
    files: list[ChangedFile] = field(default_factory=list)
    commits: list[Commit] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    review_requests: list[Account | Team] = field(default_factory=list)
    reviews: list[Review] = field(default_factory=list)
    threads: list[Thread] = field(default_factory=list)
    comments: list[IssueComment] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"{self.repository.url}/pull/{self.number}"

    @property
    def is_cross_repository(self) -> bool:
        return self.head_repository is not self.repository

    @property
    def changed_files(self) -> int:
        return len(self.files) or 1

    @property
    def rules(self) -> BranchRules | None:
        return self.repository.rules.get(self.base_ref_name)
