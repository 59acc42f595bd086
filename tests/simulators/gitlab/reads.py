"""The REST endpoints that read the instance, the token, a project and its list."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from tests.simulators.gitlab.access import Refused
from tests.simulators.gitlab.model import MergeRequest
from tests.simulators.gitlab.routing import PROJECT, Call, Reply, route
from tests.simulators.gitlab.shapes import stamp

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
