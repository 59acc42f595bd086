"""The REST endpoints that write, as far as anything here needs them."""

from __future__ import annotations

from typing import Any

from tests.simulators.gitlab.access import message, need_scope, not_found
from tests.simulators.gitlab.model import Discussion, MergeRequest, User
from tests.simulators.gitlab.routing import MERGE_REQUEST, Call, route

Json = dict[str, Any]
DISCUSSION = MERGE_REQUEST + r"/discussions/(?P<discussion>\w+)"


def _writer(call: Call) -> User | None:
    call.need_user()
    need_scope(call.caller, "api")
    return call.caller.user


def _discussion(call: Call) -> Discussion:
    for each in call.merge_request.discussions:
        if each.id == call.path["discussion"]:
            return each
    raise not_found("Discussion")


def _body(call: Call) -> str:
    body = call.given.get("body")
    if not body:
        raise message(400, "400 Bad request - body is missing")
    return str(body)


@route("POST", MERGE_REQUEST + "/notes", status=201)
def post_note(call: Call) -> Json:
    author, mr = _writer(call), call.merge_request
    made = call.world.note(mr, _body(call), author)
    return call.entities.note(made.notes[0], mr)


@route("POST", MERGE_REQUEST + "/discussions", status=201)
def post_discussion(call: Call) -> Json:
    author, mr = _writer(call), call.merge_request
    made = call.world.note(mr, _body(call), author, thread=True, on=call.given.get("position"))
    return call.entities.discussion(made, mr)


@route("POST", DISCUSSION + "/notes", status=201)
def post_reply(call: Call) -> Json:
    author, mr = _writer(call), call.merge_request
    return call.entities.note(call.world.reply(mr, _discussion(call), _body(call), author), mr)


@route("PUT", DISCUSSION)
def put_discussion(call: Call) -> Json:
    """Resolve a thread, or open it again."""
    who, mr, thread = _writer(call), call.merge_request, _discussion(call)
    wanted = str(call.given.get("resolved", "")).lower()
    if wanted not in ("true", "false"):
        raise message(400, "400 Bad request - resolved is missing")
    call.world.resolve(mr, thread, who, resolved=wanted == "true")
    return call.entities.discussion(thread, mr)


@route("POST", MERGE_REQUEST + "/approve", status=201)
def post_approval(call: Call) -> Json:
    who, mr = _writer(call), call.merge_request
    call.world.approve(mr, who or call.world.root)
    return call.entities.merge_request(mr)


@route("PUT", MERGE_REQUEST)
def put_merge_request(call: Call) -> Json:
    who, mr = _writer(call), call.merge_request
    _change(call, mr, who)
    return call.entities.whole_merge_request(mr, call.caller.may_read("pipelines"))


def _change(call: Call, mr: MergeRequest, who: User | None) -> None:
    given = call.given
    columns = {name: given[name] for name in ("title", "description") if name in given}
    if columns:
        call.world.edit(mr, **columns)
    if given.get("state_event") == "close":
        call.world.close(mr, who)
    if given.get("state_event") == "reopen":
        call.world.reopen(mr, who)


@route("PUT", MERGE_REQUEST + "/merge")
def put_merge(call: Call) -> Json:
    who, mr = _writer(call), call.merge_request
    if mr.state != "opened" or mr.merge_status == "cannot_be_merged":
        raise message(405, "405 Method Not Allowed")
    call.world.merge(mr, who)
    return call.entities.merge_request(mr)
