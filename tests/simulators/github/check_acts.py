"""Acts of what checks commits. None of them bumps a pull request's `updatedAt`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.simulators.github.checks import (
    UNFINISHED,
    App,
    CheckRun,
    CheckSuite,
    Commit,
    StatusContext,
    Workflow,
    WorkflowRun,
)
from tests.simulators.github.ground import act
from tests.simulators.github.model import PullRequest
from tests.simulators.github.repository_acts import RepositoryActs

ACTIONS = "github-actions"


class CheckActs(RepositoryActs):
    def __init__(self, **ground: Any) -> None:
        super().__init__(**ground)
        self._apps: dict[str, App] = {}
        self._workflows: dict[tuple[int, str], Workflow] = {}
        self._workflow_runs = 0

    @act
    def set_checks(
        self,
        target: PullRequest | Commit,
        checks: Mapping[str, str] | None = None,
        *,
        workflow: str = "CI",
        event: str = "pull_request",
        **more: str,
    ) -> CheckSuite:
        """One workflow's runs on a head, as `name="SUCCESS"` or `{"a name": "IN_PROGRESS"}`.

        A value is a conclusion or, of a run that has not ended, its status. Called again it
        replaces what this workflow said before.
        """
        self.clear_checks(target, workflow=workflow)
        suite = self.add_suite(target, workflow=workflow, event=event)
        for name, outcome in {**(checks or {}), **more}.items():
            self.add_check_run(suite, name, outcome)
        return suite

    @act
    def add_suite(
        self,
        target: PullRequest | Commit,
        *,
        workflow: str | None = "CI",
        event: str = "pull_request",
        status: str = "QUEUED",
        conclusion: str | None = None,
        app: str = ACTIONS,
    ) -> CheckSuite:
        """A suite without runs: a workflow that has no jobs yet, or (`workflow=None`) an app's."""
        commit, at = _commit(target), self.now()
        made_by = self._app(app if workflow is None else ACTIONS)
        suite = CheckSuite(commit, made_by, status, conclusion, at, at, self.next_id())
        if workflow is not None:
            suite.workflow_run = self._workflow_run(suite, workflow, event)
        if isinstance(target, PullRequest):
            suite.head_branch = target.head_ref_name
            source = target.head_repository
            suite.head_repository = source.name_with_owner if source else None
        commit.suites.append(self.known(suite))
        commit.repository.changed()
        return suite

    @act
    def add_check_run(
        self, suite: CheckSuite, name: str, outcome: str, *, log: str = "", **more: Any
    ) -> CheckRun:
        """One more job in a suite; two may share a name, and then both count."""
        at, done = self.now(), outcome not in UNFINISHED
        run = CheckRun(
            suite,
            name,
            "COMPLETED" if done else outcome,
            outcome if done else None,
            started_at=None if outcome == "QUEUED" else at,
            completed_at=at if done else None,
            database_id=self.next_id(),
            log=log,
        )
        for attribute, value in more.items():
            setattr(run, attribute, value)
        suite.runs.append(self.known(run))
        suite.settle(at)
        suite.commit.repository.changed()
        return run

    @act
    def finish_check_run(self, run: CheckRun, conclusion: str) -> None:
        run.status, run.conclusion, run.completed_at = "COMPLETED", conclusion, self.now()
        run.started_at = run.started_at or run.completed_at
        run.suite.settle(run.completed_at)
        run.suite.commit.repository.changed()

    @act
    def run_again(self, run: CheckRun, outcome: str = "QUEUED") -> CheckRun:
        """A new run in the place of one that ended; `event`, suite and name stay."""
        run.superseded = True
        if run.suite.workflow_run:
            run.suite.workflow_run.run_attempt += 1
        return self.add_check_run(run.suite, run.name, outcome)

    @act
    def set_status(
        self, target: PullRequest | Commit, context: str, state: str, *, by: str | None = None
    ) -> StatusContext:
        """A legacy commit status: SUCCESS, FAILURE, ERROR, PENDING, or EXPECTED (GraphQL alone)."""
        commit = _commit(target)
        status = StatusContext(commit, context, state, self.now(), self.next_id())
        status.creator = self.account(by) if by else None
        commit.statuses[context] = self.known(status)
        commit.repository.changed()
        return status

    @act
    def set_rollup(self, target: PullRequest | Commit, state: str | None) -> None:
        """Say another rollup state than the contexts give; `None` ends that."""
        _commit(target).forced_rollup = state

    @act
    def clear_checks(self, target: PullRequest | Commit, workflow: str | None = None) -> None:
        """No checks on this head, or none of this workflow."""
        commit = _commit(target)
        if workflow is None:
            commit.statuses.clear()
        commit.suites = [each for each in commit.suites if not _is_of(each, workflow)]
        commit.repository.changed()

    def _app(self, slug: str) -> App:
        if slug not in self._apps:
            self._apps[slug] = App(slug, slug.replace("-", " ").title(), self.next_id())
        return self._apps[slug]

    def _workflow_run(self, suite: CheckSuite, name: str, event: str) -> WorkflowRun:
        key = (suite.commit.repository.database_id, name)
        if key not in self._workflows:
            self._workflows[key] = Workflow(name, self.next_id())
        self._workflow_runs += 1
        return WorkflowRun(suite, self._workflows[key], event, self._workflow_runs, self.next_id())


def _commit(target: PullRequest | Commit) -> Commit:
    return target.head if isinstance(target, PullRequest) else target


def _is_of(suite: CheckSuite, workflow: str | None) -> bool:
    run = suite.workflow_run
    return workflow is None or (run is not None and run.workflow.name == workflow)
