"""What is read of GitHub's GraphQL answers, as it comes: nulls and new enum values are taken.

Enum values stay text: what they mean is decided in `translate` and `checks`, and a word of next
year is kept raw. Fields that a question did not ask for have defaults.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Generic, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

Item = TypeVar("Item")


def _utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _word(value: object) -> object:
    return value.upper() if isinstance(value, str) else value


Moment = Annotated[datetime, AfterValidator(_utc)]
Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
Flag = Annotated[bool, BeforeValidator(bool)]
Word = Annotated[str | None, BeforeValidator(_word)]
"""An enum's value in capitals: REST writes the same words in lower case."""


class Payload(BaseModel):
    model_config = ConfigDict(
        extra="ignore", frozen=True, alias_generator=to_camel, populate_by_name=True
    )


class PageInfo(Payload):
    has_next_page: bool = False
    end_cursor: str | None = None
    has_previous_page: bool = False
    start_cursor: str | None = None


class Connection(Payload, Generic[Item]):
    nodes: list[Item | None] | None = None
    page_info: PageInfo = PageInfo()
    total_count: int | None = None

    @property
    def items(self) -> list[Item]:
        """The nodes that are there: one that was refused is null."""
        return [node for node in self.nodes or () if node is not None]


class Actor(Payload):
    login: Text = ""
    slug: Text = ""  # a team's
    kind: str | None = Field(default=None, alias="__typename")


class Named(Payload):
    name: Text = ""
    slug: Text = ""


class Identity(Payload):
    """A repository as it is named now."""

    id: str
    name_with_owner: str


class Oid(Payload):
    oid: Text = ""


class WorkflowRun(Payload):
    event: Text = ""
    run_number: int | None = None
    database_id: int | None = None
    workflow: Named | None = None
    url: Text = ""


class CheckSuite(Payload):
    database_id: int | None = None
    status: Word = None
    conclusion: Word = None
    app: Named | None = None
    workflow_run: WorkflowRun | None = None
    created_at: Moment | None = None
    url: Text = ""
    check_runs: Connection[Context] | None = None


class Context(Payload):
    """A check run, or a legacy commit status (which has a `state`)."""

    kind: str | None = Field(default=None, alias="__typename")
    name: str | None = None
    context: str | None = None
    status: Word = None
    conclusion: Word = None
    state: Word = None
    started_at: Moment | None = None
    completed_at: Moment | None = None
    created_at: Moment | None = None
    details_url: str | None = None
    target_url: str | None = None
    is_required: Flag = False
    check_suite: CheckSuite | None = None


class Count(Payload):
    state: Word = None
    count: int = 0


class Contexts(Connection[Context]):
    check_run_counts_by_state: list[Count] | None = None
    status_context_counts_by_state: list[Count] | None = None


class Rollup(Payload):
    state: Word = None
    contexts: Contexts | None = None
    commit: Oid | None = None


class Commit(Payload):
    oid: Text = ""
    status_check_rollup: Rollup | None = None
    counted: Rollup | None = None  # the same roll-up, of which only the counts were asked
    check_suites: Connection[CheckSuite] | None = None

    @property
    def counts(self) -> list[Count]:
        """How many contexts are in each state, where that was told."""
        told = self.counted.contexts if self.counted else None
        if told is None:
            return []
        runs, statuses = told.check_run_counts_by_state, told.status_context_counts_by_state
        return [*(runs or ()), *(statuses or ())]


class CommitNode(Payload):
    commit: Commit | None = None


class Rule(Payload):
    required_approving_review_count: int | None = None
    required_status_check_contexts: list[str | None] | None = None
    requires_code_owner_reviews: Flag = False
    requires_conversation_resolution: Flag = False


class BaseRef(Payload):
    target: Oid | None = None
    ref_update_rule: Rule | None = None


class Repository(Payload):
    url: Text = ""
    name_with_owner: Text = ""
    owner: Actor | None = None


class QueueEntry(Payload):
    position: int | None = None
    state: Text = ""


class Opinion(Payload):
    state: Word = None
    author: Actor | None = None
    commit: Oid | None = None


class ReviewRequest(Payload):
    requested_reviewer: Actor | None = None


class Checked(Payload):
    """A pull request of which only the checks were asked."""

    commits: Connection[CommitNode] | None = None

    @property
    def commit(self) -> Commit | None:
        """The newest commit, if it was asked for and may be seen."""
        nodes = self.commits.items if self.commits else []
        return nodes[-1].commit if nodes else None


class PullRequest(Checked):
    id: str
    number: int
    url: Text = ""
    repository: Repository | None = None
    title: Text = ""
    state: Word = None
    is_draft: Flag = False
    created_at: Moment
    updated_at: Moment
    merged_at: Moment | None = None
    closed_at: Moment | None = None
    author: Actor | None = None
    head_ref_name: Text = ""
    head_ref_oid: Text = ""
    head_repository_owner: Actor | None = None
    head_repository: Repository | None = None
    base_ref_name: Text = ""
    base_ref_oid: Text = ""
    base_ref: BaseRef | None = None
    mergeable: Word = None
    merge_state_status: Word = None
    review_decision: Word = None
    is_in_merge_queue: Flag = False
    merge_queue_entry: QueueEntry | None = None
    latest_opinionated_reviews: Connection[Opinion] | None = None
    review_requests: Connection[ReviewRequest] | None = None
    status_check_rollup: Rollup | None = None  # in lists: without contexts and suites


CheckSuite.model_rebuild()
