"""The REST endpoints that read the instance, the token, a project and its list."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from tests.simulators.gitlab.access import Refused, invalid
from tests.simulators.gitlab.model import MergeRequest
from tests.simulators.gitlab.routing import PROJECT, Call, Reply, route
from tests.simulators.gitlab.shapes import stamp

Json = dict[str, Any]
Condition = Callable[[MergeRequest], bool]
REVISION = "0123456789a"
MINE = ("created_by_me", "assigned_to_me")


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
    named, wanted = _named(call), _conditions(call)
    rows = [mr for mr in named if all(holds(mr) for holds in wanted)]
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
    if not all(iid.isdigit() for iid in iids):
        raise invalid("iids")
    return [everything[int(iid)] for iid in dict.fromkeys(iids) if int(iid) in everything]


def _conditions(call: Call) -> list[Condition]:
    """What the query asks of a row, each part parsed once."""
    state = call.choice("state", "all", "opened", "closed", "locked", "merged", "all")
    wanted: list[Condition] = [] if state == "all" else [lambda mr: mr.state == state]
    return [*wanted, *_of_properties(call.query), *_of_scope(call), *_of_time(call)]


def _of_properties(query: dict[str, str]) -> Iterator[Condition]:
    if source := query.get("source_branch"):
        yield lambda mr: mr.source_branch == source
    if target := query.get("target_branch"):
        yield lambda mr: mr.target_branch == target
    if author := query.get("author_username"):
        yield lambda mr: mr.author is not None and mr.author.username == author


def _of_scope(call: Call) -> Iterator[Condition]:
    me, scope = call.caller.user, call.choice("scope", "all", "all", *MINE)
    if scope == "created_by_me":
        yield lambda mr: mr.author is me
    if scope == "assigned_to_me":
        yield lambda mr: me in mr.assignees


def _of_time(call: Call) -> Iterator[Condition]:
    """Both ends belong to the window."""
    after, before = call.time("updated_after"), call.time("updated_before")
    since, until = call.time("created_after"), call.time("created_before")
    if after:
        yield lambda mr: mr.updated_at >= after
    if before:
        yield lambda mr: mr.updated_at <= before
    if since:
        yield lambda mr: mr.created_at >= since
    if until:
        yield lambda mr: mr.created_at <= until
