"""Commits of the simulated forge and the checks on them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from tests.simulators.github.identifiers import node_id

if TYPE_CHECKING:
    from tests.simulators.github.model import Account, Repository

UNFINISHED = frozenset({"QUEUED", "IN_PROGRESS", "PENDING", "WAITING", "REQUESTED"})
HARMLESS = frozenset({"SUCCESS", "NEUTRAL", "SKIPPED"})


@dataclass(slots=True, eq=False)
class App:
    """A GitHub App that checks; `github-actions` is the one with workflows."""

    typename: ClassVar = "App"
    slug: str
    name: str
    database_id: int

    @property
    def id(self) -> str:
        return node_id("A", self.database_id)


@dataclass(slots=True, eq=False)
class Workflow:
    typename: ClassVar = "Workflow"
    name: str
    database_id: int

    @property
    def id(self) -> str:
        return node_id("W", self.database_id)


@dataclass(slots=True, eq=False)
class WorkflowRun:
    typename: ClassVar = "WorkflowRun"
    suite: CheckSuite
    workflow: Workflow
    event: str
    run_number: int
    database_id: int
    run_attempt: int = 1

    @property
    def id(self) -> str:
        return node_id("WFR", self.suite.commit.repository.database_id, self.database_id)

    @property
    def url(self) -> str:
        return f"{self.suite.commit.repository.url}/actions/runs/{self.database_id}"


@dataclass(slots=True, eq=False)
class CheckRun:
    typename: ClassVar = "CheckRun"
    suite: CheckSuite
    name: str
    status: str
    conclusion: str | None
    started_at: datetime | None
    completed_at: datetime | None
    database_id: int
    title: str | None = None
    summary: str | None = None
    details_url: str | None = None
    log: str = ""
    """What the job wrote, as the Actions log endpoint gives it."""
    superseded: bool = False
    """Run again since: of two jobs that only share a name neither is."""

    @property
    def id(self) -> str:
        return node_id("CR", self.suite.commit.repository.database_id, self.database_id)

    @property
    def url(self) -> str:
        repository = self.suite.commit.repository
        if self.suite.workflow_run is None:
            return f"{repository.url}/runs/{self.database_id}"
        return f"{self.suite.workflow_run.url}/job/{self.database_id}"


@dataclass(slots=True, eq=False)
class CheckSuite:
    """What one app has to say of one commit; a workflow run is one suite of `github-actions`."""

    typename: ClassVar = "CheckSuite"
    commit: Commit
    app: App
    status: str
    conclusion: str | None
    created_at: datetime
    updated_at: datetime
    database_id: int
    workflow_run: WorkflowRun | None = None
    runs: list[CheckRun] = field(default_factory=list)
    head_branch: str | None = None
    """What a workflow ran for; another pull request may have the same head commit."""
    head_repository: str | None = None

    @property
    def id(self) -> str:
        return node_id("CS", self.commit.repository.database_id, self.database_id)

    @property
    def url(self) -> str:
        return f"{self.commit.url}/checks?check_suite_id={self.database_id}"

    def latest_runs(self) -> list[CheckRun]:
        """The runs that were not run again."""
        return [run for run in self.runs if not run.superseded]

    def settle(self, at: datetime) -> None:
        """Take status and conclusion from the latest runs."""
        runs = self.latest_runs()
        self.updated_at = at
        if any(run.status != "COMPLETED" for run in runs):
            started = any(run.status != "QUEUED" for run in runs)
            self.status, self.conclusion = ("IN_PROGRESS" if started else "QUEUED"), None
            return
        bad = [run.conclusion for run in runs if run.conclusion not in HARMLESS]
        self.status, self.conclusion = "COMPLETED", (bad[0] if bad else "SUCCESS")


@dataclass(slots=True, eq=False)
class StatusContext:
    """A legacy commit status; a later one of the same context replaces it."""

    typename: ClassVar = "StatusContext"
    commit: Commit
    context: str
    state: str
    created_at: datetime
    database_id: int
    description: str | None = None
    target_url: str | None = None
    creator: Account | None = None

    @property
    def id(self) -> str:
        return node_id("SC", self.commit.repository.database_id, self.database_id)


@dataclass(slots=True, eq=False)
class Commit:
    typename: ClassVar = "Commit"
    repository: Repository
    oid: str
    committed_date: datetime
    message: str = "Change things"
    author: Account | None = None
    suites: list[CheckSuite] = field(default_factory=list)
    statuses: dict[str, StatusContext] = field(default_factory=dict)
    forced_rollup: str | None = None
    """The rollup's state where a test wants another one than the contexts give."""

    @property
    def id(self) -> str:
        return f"C_{self.oid}"

    @property
    def url(self) -> str:
        return f"{self.repository.url}/commit/{self.oid}"

    @property
    def contexts(self) -> list[CheckRun | StatusContext]:
        """The latest runs of all suites, then statuses. A suite without runs adds nothing."""
        runs = [run for suite in self.suites for run in suite.latest_runs()]
        return [*runs, *self.statuses.values()]

    @property
    def rollup_state(self) -> str | None:
        """As GitHub rolls up: a failure beats what is pending; nothing at all is `None`."""
        if self.forced_rollup or not (self.suites or self.statuses):
            return self.forced_rollup
        states = {_run_state(run) for suite in self.suites for run in suite.latest_runs()}
        states |= {status.state for status in self.statuses.values()}
        order = ("FAILURE", "ERROR", "PENDING", "EXPECTED", "SUCCESS")
        return next((state for state in order if state in states), None)


def _run_state(run: CheckRun) -> str:
    if run.status != "COMPLETED" or run.conclusion == "STALE":
        return "PENDING"
    return "SUCCESS" if run.conclusion in HARMLESS else "FAILURE"
