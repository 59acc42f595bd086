"""The REST routes: what each answers, without HTTP."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.simulators.github import check_payloads, payloads, verdicts
from tests.simulators.github.calls import Answer, Call, RestRefusal, missing
from tests.simulators.github.checks import CheckRun, Commit
from tests.simulators.github.model import PullRequest
from tests.simulators.github.tokens import CORE, GRAPHQL

Handler = Callable[[Call], Answer]
LATEST = "latest"

IN_REPOSITORY: dict[str, Handler] = {}
"""By what follows `/repos/{owner}/{name}` and `/repositories/{id}`."""
ELSEWHERE: dict[str, Handler] = {}


def within_repository(route: str) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        IN_REPOSITORY[route] = handler
        return handler

    return register


def elsewhere(route: str) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        ELSEWHERE[route] = handler
        return handler

    return register


@within_repository("")
def _repository(call: Call) -> Answer:
    return Answer.of(payloads.repository(call.found, call.api))


@within_repository("/pulls")
def _pulls(call: Call) -> Answer:
    if not call.found.pull_requests_enabled:
        raise missing()
    chosen = call.found.listing(_listing_key(call), lambda: _sorted_pulls(call))
    return call.page(chosen, payloads.pull_request)


def _listing_key(call: Call) -> tuple[str, ...]:
    asked = ("state", "sort", "direction", "head", "base")
    return "rest", *(call.wants(each) for each in asked)


def _sorted_pulls(call: Call) -> list[PullRequest]:
    state, sort = call.wants("state", "open"), call.wants("sort", "created")
    owner, colon, branch = call.wants("head").partition(":")
    chosen = [
        each
        for each in call.found.pull_requests.values()
        if (state == "all" or (each.state == "OPEN") == (state == "open"))
        # A `head` without an owner filters nothing.
        and (not colon or (each.head_owner.login, each.head_ref_name) == (owner, branch))
        and call.wants("base", each.base_ref_name) == each.base_ref_name
    ]
    direction = call.wants("direction", "desc" if sort == "created" else "asc")
    chosen.sort(key=lambda each: _sort_key(each, sort), reverse=direction == "desc")
    return chosen


def _sort_key(pull_request: PullRequest, sort: str) -> tuple[Any, int]:
    if sort == "updated":
        return pull_request.updated_at, pull_request.database_id
    if sort == "popularity":
        return len(pull_request.comments), pull_request.database_id
    return pull_request.created_at, pull_request.database_id


@within_repository("/pulls/{number}")
def _pull(call: Call) -> Answer:
    found = _pull_request(call)
    answer = Answer.of(payloads.whole_pull_request(found, call.api))
    if found.unknown_for:
        found.unknown_for -= 1
    return answer


@within_repository("/pulls/{number}/reviews")
def _reviews(call: Call) -> Answer:
    found = verdicts.visible_reviews(_pull_request(call), call.viewer)
    return call.page(found, payloads.review)


@within_repository("/pulls/{number}/comments")
def _review_comments(call: Call) -> Answer:
    threads = verdicts.visible_threads(_pull_request(call), call.viewer)
    said = [each for thread in threads for each in verdicts.visible_comments(thread, call.viewer)]
    return call.page(said, payloads.review_comment)


@within_repository("/pulls/{number}/files")
def _files(call: Call) -> Answer:
    return call.page(_pull_request(call).files, payloads.changed_file)


@within_repository("/pulls/{number}/commits")
def _commits(call: Call) -> Answer:
    return call.page(_pull_request(call).commits, payloads.commit)


@within_repository("/issues/{number}/comments")
def _comments(call: Call) -> Answer:
    return call.page(_pull_request(call).comments, payloads.issue_comment)


@within_repository("/commits/{ref:path}/check-runs")
def _check_runs(call: Call) -> Answer:
    suites = [] if call.finds_no_checks else _commit(call).suites
    latest = call.wants("filter", LATEST) == LATEST
    runs = [run for suite in suites for run in (suite.latest_runs() if latest else suite.runs)]
    for parameter, attribute in (("check_name", "name"), ("status", "status")):
        if wanted := call.wants(parameter):
            runs = [run for run in runs if getattr(run, attribute).lower() == wanted.lower()]
    return call.page(
        runs,
        check_payloads.check_run,
        lambda total, shown: {"total_count": total, "check_runs": shown},
    )


@within_repository("/commits/{ref:path}/check-suites")
def _check_suites(call: Call) -> Answer:
    return call.page(
        [] if call.finds_no_checks else _commit(call).suites,
        check_payloads.check_suite,
        lambda total, shown: {"total_count": total, "check_suites": shown},
    )


@within_repository("/actions/runs")
def _workflow_runs(call: Call) -> Answer:
    wanted, state = call.wants("head_sha"), call.wants("status").upper()
    runs = [
        suite
        for commit in call.found.commits.values()
        if not call.finds_no_checks and commit.oid == (wanted or commit.oid)
        for suite in commit.suites
        if suite.workflow_run and (not state or state in (suite.status, suite.conclusion))
    ]
    return call.page(
        runs,
        check_payloads.workflow_run,
        lambda total, shown: {"total_count": total, "workflow_runs": shown},
    )


@within_repository("/branches/{branch:path}")
def _branch(call: Call) -> Answer:
    tip = call.found.branches.get(call.variables["branch"])
    if tip is None:
        raise RestRefusal(404, "Branch not found")
    return Answer.of({"name": call.variables["branch"], "commit": {"sha": tip.oid}})


@within_repository("/commits/{ref:path}/status")
def _combined_status(call: Call) -> Answer:
    """Pending, with a count of 0, where there are no statuses at all."""
    commit = _commit(call)
    said = [each for each in commit.statuses.values() if each.state != "EXPECTED"]
    states = {each.state for each in said}
    state = "success" if states == {"SUCCESS"} else "pending"
    if states & {"FAILURE", "ERROR"}:
        state = "failure"
    return call.page(
        [] if call.finds_no_checks else said,
        check_payloads.status,
        lambda total, shown: {
            "state": state,
            "sha": commit.oid,
            "total_count": total,
            "statuses": shown,
        },
    )


@within_repository("/rules/branches/{branch:path}")
def _rules(call: Call) -> Answer:
    """An empty list for a branch without rules, and for one that does not exist."""
    return Answer.of(check_payloads.branch_rules(call.found.rules.get(call.variables["branch"])))


@within_repository("/actions/jobs/{job}/logs")
def _job_log(call: Call) -> Answer:
    """Redirects to another host, as GitHub does to its storage."""
    run = job(call)
    if run.status != "COMPLETED" or not run.log:
        raise missing()
    host = call.world.site.root.replace("127.0.0.1", "localhost")
    return Answer.of({}, 302, location=f"{host}/_job-logs/{run.database_id}?sig=secret")


def job(call: Call) -> CheckRun:
    """The run of this id, in the call's repository."""
    wanted = call.variables["job"]
    for commit in call.found.commits.values():
        for suite in commit.suites:
            for run in suite.runs:
                if str(run.database_id) == wanted:
                    return run
    raise missing()


@elsewhere("/user")
def _user(call: Call) -> Answer:
    if call.viewer.user is None:
        raise RestRefusal(401, "Requires authentication")
    return Answer.of(payloads.account(call.viewer.user, call.api))


@elsewhere("/meta")
def _meta(call: Call) -> Answer:
    """An Enterprise Server says its version; github.com has none."""
    version = {"installed_version": call.world.version} if call.api.endswith("/api/v3") else {}
    return Answer.of({"verifiable_password_authentication": False, **version})


@elsewhere("/rate_limit")
def rate_limit(call: Call) -> Answer:
    """Free of charge."""
    resources = {}
    for resource in (CORE, GRAPHQL):
        budget = call.world.budgets.of(call.viewer.payer, resource)
        anonymous_graphql = resource == GRAPHQL and call.viewer.user is None
        resources[resource] = {
            "limit": 0 if anonymous_graphql else budget.limit,
            "used": budget.used,
            "remaining": 0 if anonymous_graphql else budget.remaining,
            "reset": int(budget.reset_at.timestamp()),
        }
    return Answer.of({"resources": resources, "rate": resources[CORE]})


def _pull_request(call: Call) -> PullRequest:
    number = call.variables["number"]
    found = call.found.pull_requests.get(int(number)) if number.isdigit() else None
    if found is None or not call.found.pull_requests_enabled:
        raise missing()
    return found


def _commit(call: Call) -> Commit:
    """By hash or by branch."""
    ref = call.variables["ref"]
    found = call.found.commits.get(ref) or call.found.branches.get(ref)
    if found is None:
        raise RestRefusal(422, f"No commit found for SHA: {ref}")
    return found
