"""The REST endpoints that read one merge request, its pipelines and its jobs."""

from __future__ import annotations

from typing import Any

from tests.simulators.gitlab import mergeability
from tests.simulators.gitlab.access import Refused, forbidden, message, not_found
from tests.simulators.gitlab.model import Pipeline
from tests.simulators.gitlab.routing import MERGE_REQUEST, PROJECT, Call, Reply, route
from tests.simulators.gitlab.shapes import stamp
from tests.simulators.gitlab.versions import review_state

Json = dict[str, Any]


@route("GET", MERGE_REQUEST)
def merge_request(call: Call) -> Json:
    mr = call.merge_request
    call.world.request_merge_check(mr)
    whole = call.entities.whole_merge_request(mr, call.caller.may_read("pipelines"))
    if call.flag("include_diverged_commits_count"):
        whole["diverged_commits_count"] = mr.behind
    if call.flag("include_rebase_in_progress"):
        whole["rebase_in_progress"] = False
    return whole


@route("GET", MERGE_REQUEST + "/discussions")
def discussions(call: Call) -> Reply:
    mr = call.merge_request
    return call.page(mr.discussions, lambda each: call.entities.discussion(each, mr))


@route("GET", MERGE_REQUEST + r"/discussions/(?P<discussion>\w+)")
def discussion(call: Call) -> Json:
    mr = call.merge_request
    for each in mr.discussions:
        if each.id == call.path["discussion"]:
            return call.entities.discussion(each, mr)
    raise not_found("Discussion")


@route("GET", MERGE_REQUEST + "/notes")
def notes(call: Call) -> Reply:
    mr = call.merge_request
    column = call.choice("order_by", "created_at", "created_at", "updated_at")
    rows = [note for each in mr.discussions for note in each.notes]
    down = call.choice("sort", "desc", "asc", "desc") == "desc"
    rows.sort(key=lambda note: (getattr(note, column), note.id), reverse=down)
    return call.page(rows, lambda note: call.entities.note(note, mr))


@route("GET", MERGE_REQUEST + "/approvals")
def approvals(call: Call) -> Json:
    mr = call.merge_request
    call.need("approvals")
    users = [approval.user for approval in mr.approvals]
    left = mergeability.approvals_left(mr)
    common = {
        "approved_by": [{"user": call.entities.user(each)} for each in users],
        "user_has_approved": call.caller.user in users,
        "user_can_approve": call.caller.user not in users,
        # With nothing required REST says true although nobody approved; GraphQL says false.
        "approved": left == 0,
    }
    if call.world.edition == "ce":
        return common
    return {
        "id": mr.id,
        "iid": mr.iid,
        "project_id": mr.project.id,
        "title": mr.title,
        "description": mr.description,
        "state": mr.state,
        "created_at": stamp(mr.created_at),
        "updated_at": stamp(mr.updated_at),
        "merge_status": mergeability.public_merge_status(mr),
        "approvals_required": mergeability.approvals_required(mr),
        "approvals_left": left,
        "require_password_to_approve": False,
        "suggested_approvers": [],
        "approvers": [],
        "approver_groups": [],
        "approval_rules_left": [{"id": 1, "name": "All Members"}] if left else [],
        "has_approval_rules": bool(mergeability.approvals_required(mr)),
        **common,
    }


@route("GET", MERGE_REQUEST + "/reviewers")
def reviewers(call: Call) -> list[Json]:
    """Who is asked to look; the states are REST's, in lower case."""
    mr, world = call.merge_request, call.world
    return [
        {
            "user": call.entities.user(world.user(name)),
            "state": str(review_state(state, world.version)).lower(),
            "created_at": stamp(mr.created_at),
        }
        for name, state in mr.reviewers.items()
    ]


@route("GET", MERGE_REQUEST + "/approval_state")
def approval_state(call: Call) -> Json:
    mr = call.merge_request
    if call.world.edition == "ce":
        raise Refused(404, {"error": "404 Not Found"})
    call.need("approvals")
    required = mergeability.approvals_required(mr)
    rule = {
        "id": 1,
        "name": "All Members",
        "rule_type": "any_approver",
        "eligible_approvers": [],
        "approvals_required": required,
        "users": [],
        "groups": [],
        "contains_hidden_groups": False,
        "section": None,
        "source_rule": None,
        "overridden": False,
        "code_owner": False,
        "approved_by": [call.entities.user(approval.user) for approval in mr.approvals],
        "approved": len(mr.approvals) >= required,
    }
    return {"approval_rules_overwritten": False, "rules": [rule]}


@route("GET", MERGE_REQUEST + "/commits")
def commits(call: Call) -> Reply:
    mr = call.merge_request
    return call.page(mr.commits, lambda each: call.entities.commit(each, mr.project))


@route("GET", MERGE_REQUEST + "/diffs", since="diffs")
def file_diffs(call: Call) -> Reply:
    return call.page(call.merge_request.diffs, call.entities.file_diff)


@route("GET", MERGE_REQUEST + "/changes")
def changes(call: Call) -> Json:
    """Deprecated since 15.7, and the only way before; `overflow` says that not all came."""
    mr, raw = call.merge_request, call.flag("access_raw_diffs")
    whole = call.entities.whole_merge_request(mr, call.caller.may_read("pipelines"))
    whole["changes"] = [call.entities.file_diff(file, raw) for file in mr.diffs]
    hidden = any(file.too_large or (file.collapsed and not raw) for file in mr.diffs)
    whole["overflow"] = hidden or str(mr.changes_count or "").endswith("+")
    return whole


@route("GET", MERGE_REQUEST + "/versions")
def diff_versions(call: Call) -> Reply:
    mr = call.merge_request
    return call.page(mr.versions, lambda each: call.entities.version(each, mr))


@route("GET", MERGE_REQUEST + r"/versions/(?P<version>\d+)")
def diff_version(call: Call) -> Json:
    mr = call.merge_request
    for each in mr.versions:
        if str(each.id) == call.path["version"]:
            return {
                **call.entities.version(each, mr),
                "commits": [call.entities.commit(commit, mr.project) for commit in mr.commits],
                "diffs": [call.entities.file_diff(file) for file in mr.diffs],
            }
    raise not_found()


@route("GET", MERGE_REQUEST + "/pipelines")
def pipelines_of_merge_request(call: Call) -> Reply:
    mr = call.merge_request
    call.need("pipelines")
    return call.page(mr.pipelines[::-1], call.entities.pipeline)


@route("GET", MERGE_REQUEST + "/conflicts")
def conflicts(call: Call) -> Json:
    """The web interface's answer; GitLab's REST API has no such endpoint unless told so."""
    if not call.world.conflicts_endpoint:
        raise Refused(404, {"error": "404 Not Found"})
    mr = call.merge_request
    if mr.merge_status != "cannot_be_merged":
        raise message(404, "The merge request has no conflicts")
    return {
        "target_branch": mr.target_branch,
        "source_branch": mr.source_branch,
        "commit_sha": mr.sha,
        "files": [{"old_path": path, "new_path": path} for path in mr.conflicting_files],
    }


@route("GET", PROJECT + "/pipelines")
def pipelines(call: Call) -> Reply:
    project, sha = call.project, call.query.get("sha")
    call.need("pipelines")
    rows = [each for each in project.pipelines.values() if sha in (None, each.sha)]
    return call.page(sorted(rows, key=lambda each: -each.id), call.entities.pipeline)


@route("GET", PROJECT + r"/pipelines/(?P<pipeline>\d+)")
def pipeline(call: Call) -> Json:
    return call.entities.whole_pipeline(_pipeline(call))


@route("GET", PROJECT + r"/pipelines/(?P<pipeline>\d+)/jobs")
def jobs(call: Call) -> Reply:
    of = _pipeline(call)
    scopes = call.listed("scope")
    rows = [
        job
        for job in sorted(of.jobs, key=lambda each: -each.id)
        if (scopes is None or job.status in scopes)
        and (not job.retried or call.flag("include_retried"))
    ]
    return call.page(rows, lambda each: call.entities.job(each, of))


@route("GET", PROJECT + r"/pipelines/(?P<pipeline>\d+)/bridges")
def bridges(call: Call) -> Reply:
    _pipeline(call)
    return call.page([], dict)


@route("GET", PROJECT + r"/jobs/(?P<job>\d+)/trace")
def trace(call: Call) -> str:
    project = call.project
    call.need("pipelines")
    for each in project.pipelines.values():
        for job in each.jobs:
            if str(job.id) == call.path["job"]:
                return job.trace
    raise not_found()


def _pipeline(call: Call) -> Pipeline:
    project = call.project
    if not call.caller.may_read("pipelines"):
        raise forbidden()
    found = project.pipelines.get(int(call.path["pipeline"]))
    if found is None:
        raise not_found()
    return found
