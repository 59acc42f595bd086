"""The REST endpoints that read."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from tests.simulators.gitlab import mergeability
from tests.simulators.gitlab.access import Refused, forbidden, message, not_found
from tests.simulators.gitlab.entities import stamp
from tests.simulators.gitlab.model import MergeRequest, Pipeline
from tests.simulators.gitlab.routing import MERGE_REQUEST, PROJECT, Call, Reply, route

Json = dict[str, Any]
REVISION = "0123456789a"


@route("GET", "/version")
def version(call: Call) -> Json:
    call.need_user()
    return {"version": call.world.version, "revision": REVISION}


@route("GET", "/metadata", since="metadata")
def metadata(call: Call) -> Json:
    enterprise = {"enterprise": call.world.edition == "ee"}
    kas = {"enabled": False, "externalUrl": None, "version": None}
    return {**version(call), "kas": kas, **enterprise}


@route("GET", "/user")
def user(call: Call) -> Json:
    call.need_user()
    return {**(call.entities.user(call.caller.user) or {}), "bot": False, "is_admin": False}


@route("GET", "/personal_access_tokens/self")
def own_token(call: Call) -> Json:
    call.need_user()
    token = call.caller.token
    if token is None or token.kind != "personal":
        raise Refused(400, {"message": "400 Bad request - Token is not a personal access token"})
    return {
        "id": 1,
        "name": "simulated",
        "revoked": token.revoked,
        "created_at": stamp(call.world.now),
        "scopes": list(token.scopes),
        "user_id": token.user.id,
        "active": True,
        "expires_at": token.expires.date().isoformat() if token.expires else None,
    }


@route("GET", PROJECT)
def project(call: Call) -> Json:
    return call.entities.project(call.project)


@route("GET", PROJECT + "/merge_requests")
def merge_requests(call: Call) -> Reply:
    column = call.choice("order_by", "created_at", "created_at", "updated_at", "title", "merged_at")
    down = call.choice("sort", "desc", "asc", "desc") == "desc"
    rows = [mr for mr in _named(call) if _wanted(call, mr)]
    rows.sort(key=lambda mr: _sort_key(mr, column), reverse=down)
    if not call.flag("with_merge_status_recheck"):
        return call.page(rows, call.entities.merge_request, limited=True)

    def rechecked(mr: MergeRequest) -> Json:
        call.world.request_merge_check(mr)
        return call.entities.merge_request(mr)

    return call.page(rows, rechecked, limited=True)


def _sort_key(mr: MergeRequest, column: str) -> tuple[Any, int]:
    """`created_at` is the id, as in GitLab; the id breaks every tie, in the same direction."""
    value = mr.id if column == "created_at" else getattr(mr, column)
    if column == "merged_at":
        value = value.timestamp() if isinstance(value, datetime) else 0.0
    return value, mr.id


def _named(call: Call) -> list[MergeRequest]:
    everything = call.readable_project.merge_requests
    iids = call.listed("iids")
    if iids is None:
        return list(everything.values())
    return [everything[int(iid)] for iid in dict.fromkeys(iids) if int(iid) in everything]


def _wanted(call: Call, mr: MergeRequest) -> bool:
    state = call.choice("state", "all", "opened", "closed", "locked", "merged", "all")
    return state in ("all", mr.state) and _has_properties(call, mr) and _in_time(call, mr)


def _has_properties(call: Call, mr: MergeRequest) -> bool:
    query, author = call.query, mr.author.username if mr.author else None
    scope = call.choice("scope", "all", "all", "created_by_me", "assigned_to_me")
    me = call.caller.user
    return (
        query.get("source_branch") in (None, "", mr.source_branch)
        and query.get("target_branch") in (None, "", mr.target_branch)
        and query.get("author_username") in (None, "", author)
        and not (scope == "created_by_me" and mr.author is not me)
        and not (scope == "assigned_to_me" and me not in mr.assignees)
    )


def _in_time(call: Call, mr: MergeRequest) -> bool:
    """Both ends belong to the window."""
    for column in ("updated", "created"):
        at = getattr(mr, f"{column}_at")
        after, before = call.time(f"{column}_after"), call.time(f"{column}_before")
        if (after and at < after) or (before and at > before):
            return False
    return True


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
    call.need("pipelines")
    sha = call.query.get("sha")
    rows = [each for each in call.project.pipelines.values() if sha in (None, each.sha)]
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
