"""GitHub's REST payloads of checks and of the rules that ask for them."""

from __future__ import annotations

from tests.simulators.github.checks import App, CheckRun, CheckSuite, StatusContext
from tests.simulators.github.connections import timestamp
from tests.simulators.github.model import BranchRules
from tests.simulators.github.payloads import Payload, account


def app(found: App) -> Payload:
    return {"id": found.database_id, "node_id": found.id, "slug": found.slug, "name": found.name}


def check_run(found: CheckRun, api: str) -> Payload:
    return {
        "id": found.database_id,
        "node_id": found.id,
        "name": found.name,
        "head_sha": found.suite.commit.oid,
        "status": found.status.lower(),
        "conclusion": found.conclusion.lower() if found.conclusion else None,
        "started_at": timestamp(found.started_at),
        "completed_at": timestamp(found.completed_at),
        "html_url": found.url,
        "details_url": found.details_url or found.url,
        "output": {"title": found.title, "summary": found.summary, "text": None},
        "check_suite": {"id": found.suite.database_id},
        "app": app(found.suite.app),
        "pull_requests": [],
    }


def check_suite(found: CheckSuite, api: str) -> Payload:
    return {
        "id": found.database_id,
        "node_id": found.id,
        "head_sha": found.commit.oid,
        "status": found.status.lower(),
        "conclusion": found.conclusion.lower() if found.conclusion else None,
        "created_at": timestamp(found.created_at),
        "updated_at": timestamp(found.updated_at),
        "latest_check_runs_count": len(found.latest_runs()),
        "app": app(found.app),
        "pull_requests": [],
    }


def workflow_run(found: CheckSuite, api: str) -> Payload:
    """A suite of Actions as its run. Runs of forks name no pull requests, and so none does here."""
    run, commit = found.workflow_run, found.commit
    assert run is not None
    return {
        "id": run.database_id,
        "node_id": run.id,
        "name": run.workflow.name,
        "workflow_id": run.workflow.database_id,
        "event": run.event,
        "status": found.status.lower(),
        "conclusion": found.conclusion.lower() if found.conclusion else None,
        "run_number": run.run_number,
        "run_attempt": run.run_attempt,
        "check_suite_id": found.database_id,
        "head_sha": commit.oid,
        "head_branch": found.head_branch,
        "head_repository": {"full_name": found.head_repository} if found.head_repository else None,
        "pull_requests": [],
        "html_url": run.url,
        "created_at": timestamp(found.created_at),
        "updated_at": timestamp(found.updated_at),
    }


def status(found: StatusContext, api: str) -> Payload:
    return {
        "id": found.database_id,
        "node_id": found.id,
        "context": found.context,
        "state": found.state.lower(),
        "description": found.description,
        "target_url": found.target_url,
        "created_at": timestamp(found.created_at),
        "updated_at": timestamp(found.created_at),
        "creator": account(found.creator, api) if found.creator else None,
    }


def branch_rules(found: BranchRules | None) -> list[Payload]:
    """The active rules of a branch, one of each type that asks for something."""
    if found is None:
        return []
    rules: dict[str, Payload | None] = {
        "required_status_checks": _required_checks(found),
        "pull_request": _required_reviews(found),
        "merge_queue": {"merge_method": "MERGE"} if found.merge_queue else None,
        "required_linear_history": {} if found.requires_linear_history else None,
        "required_signatures": {} if found.requires_signatures else None,
    }
    source = {"ruleset_source_type": "Repository", "ruleset_id": 1}
    return [
        {"type": kind, **source, **({"parameters": given} if given else {})}
        for kind, given in rules.items()
        if given is not None
    ]


def _required_checks(found: BranchRules) -> Payload | None:
    contexts = found.required_status_check_contexts
    if not contexts:
        return None
    return {
        "strict_required_status_checks_policy": found.strict,
        "required_status_checks": [{"context": each} for each in contexts],
    }


def _required_reviews(found: BranchRules) -> Payload | None:
    asked = (
        found.required_approving_review_count,
        found.requires_code_owner_reviews,
        found.requires_conversation_resolution,
    )
    if not any(asked):
        return None
    return {
        "required_approving_review_count": found.required_approving_review_count or 0,
        "require_code_owner_review": found.requires_code_owner_reviews,
        "required_review_thread_resolution": found.requires_conversation_resolution,
        "dismiss_stale_reviews_on_push": False,
        "require_last_push_approval": False,
    }
