"""GraphQL: fields of commits, check suites, check runs and statuses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

from tests.simulators.github.asking import FIELDS, Info, Rollup, answers, rollup
from tests.simulators.github.checks import CheckRun, CheckSuite, Commit, StatusContext, WorkflowRun
from tests.simulators.github.connections import Connection, connection, timestamp
from tests.simulators.github.model import PullRequest


@answers("Commit.statusCheckRollup")
def _rollup_of(commit: Commit, info: Info) -> Rollup | None:
    return rollup(commit, info.context)


@answers("Commit.checkSuites")
def _suites(
    commit: Commit,
    info: Info,
    filterBy: dict[str, Any] | None = None,
    **page: Any,
) -> Connection:
    found = [] if info.context.empty_rollups else commit.suites
    wanted = filterBy or {}
    if (app := wanted.get("appId")) is not None:
        found = [each for each in found if each.app.database_id == app]
    if name := wanted.get("checkName"):
        found = [each for each in found if any(run.name == name for run in each.runs)]
    return connection(found, **page)


@answers("Commit.author")
def _commit_author(commit: Commit, _: Info) -> SimpleNamespace:
    user = commit.author
    return SimpleNamespace(
        date=timestamp(commit.committed_date),
        name=user.login if user else "Somebody",
        user=user,
    )


@answers("Commit.messageHeadline")
def _headline(commit: Commit, _: Info) -> str:
    return commit.message.partition("\n")[0]


@answers("Commit.pushedDate")
def _never_pushed(_: Commit, __: Info) -> None:
    """GitHub has said null here since 2023."""
    return


@answers("StatusCheckRollup.contexts")
def _contexts(found: Rollup, _: Info, **page: Any) -> Connection:
    return connection(found.commit.contexts, **page)


@answers("StatusCheckRollupContextConnection.checkRunCount")
def _run_count(found: Connection, _: Info) -> int:
    return sum(isinstance(each, CheckRun) for each in found.everything)


@answers("StatusCheckRollupContextConnection.statusContextCount")
def _status_count(found: Connection, _: Info) -> int:
    return sum(isinstance(each, StatusContext) for each in found.everything)


@answers("StatusCheckRollupContextConnection.checkRunCountsByState")
def _runs_by_state(found: Connection, _: Info) -> list[SimpleNamespace]:
    runs = [each for each in found.everything if isinstance(each, CheckRun)]
    # What is merely requested has no state of its own here.
    return _counted(run.conclusion or run.status.replace("REQUESTED", "QUEUED") for run in runs)


@answers("StatusCheckRollupContextConnection.statusContextCountsByState")
def _statuses_by_state(found: Connection, _: Info) -> list[SimpleNamespace]:
    return _counted(each.state for each in found.everything if isinstance(each, StatusContext))


def _counted(states: Iterable[str]) -> list[SimpleNamespace]:
    return [SimpleNamespace(state=state, count=n) for state, n in Counter(states).items()]


@answers("CheckSuite.checkRuns")
def _runs(
    suite: CheckSuite,
    _: Info,
    filterBy: dict[str, Any] | None = None,
    **page: Any,
) -> Connection:
    wanted = filterBy or {}
    found = suite.latest_runs() if wanted.get("checkType") != "ALL" else suite.runs
    for field, attribute in (("checkName", "name"), ("status", "status")):
        if field in wanted:
            found = [each for each in found if getattr(each, attribute) == wanted[field]]
    for field, attribute in (("statuses", "status"), ("conclusions", "conclusion")):
        if field in wanted:
            found = [each for each in found if getattr(each, attribute) in wanted[field]]
    return connection(found, **page)


@answers("CheckRun.isRequired", "StatusContext.isRequired")
def _is_required(
    check: CheckRun | StatusContext,
    info: Info,
    pullRequestId: str | None = None,
    pullRequestNumber: int | None = None,
) -> bool:
    name = check.name if isinstance(check, CheckRun) else check.context
    commit = check.suite.commit if isinstance(check, CheckRun) else check.commit
    asked = info.context.world.nodes.get(pullRequestId) or commit.repository.pull_requests.get(
        pullRequestNumber or 0
    )
    if not isinstance(asked, PullRequest) or asked.rules is None:
        return False
    return name in asked.rules.required_status_check_contexts


@answers("CheckRun.permalink")
def _permalink(run: CheckRun, _: Info) -> str:
    return run.url


@answers("CheckRun.detailsUrl")
def _details(run: CheckRun, _: Info) -> str:
    return run.details_url or run.url


@answers("CheckRun.checkSuite", "WorkflowRun.checkSuite")
def _suite_of(run: CheckRun | WorkflowRun, _: Info) -> CheckSuite:
    return run.suite


def _of_suite(attribute: str) -> Any:
    return lambda run, _: getattr(run.suite, attribute)


FIELDS["WorkflowRun", "createdAt"] = _of_suite("created_at")
FIELDS["WorkflowRun", "updatedAt"] = _of_suite("updated_at")
