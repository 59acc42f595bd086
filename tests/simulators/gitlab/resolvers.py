"""GraphQL fields answered from the world; what is not here is the record's attribute."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from graphql import GraphQLError, GraphQLResolveInfo

from tests.simulators.gitlab.asking import Context, Resolve
from tests.simulators.gitlab.connections import Connection, by_key, by_offset
from tests.simulators.gitlab.merge_request_fields import JOB, MERGE_REQUEST, PIPELINE, user_fields
from tests.simulators.gitlab.model import MergeRequest, Project


def _time(value: str) -> datetime:
    try:
        at = datetime.fromisoformat(value)
    except ValueError as error:
        raise GraphQLError(f'Could not coerce value "{value}" to Time') from error
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _project(context: Context, full_path: str) -> Project | None:
    """Former paths are not followed here, and what may not be seen is null."""
    project = None if full_path.isdigit() else context.world.find(full_path)
    return project if project and context.caller.sees(project) else None


def _projects(context: Context, ids: list[str] | None = None, **paging: Any) -> Connection:
    """Those that the caller sees, by their global ids; the others are left out."""
    wanted = None if ids is None else {gid.rpartition("/")[2] for gid in ids}
    rows = [
        project
        for project in context.world.projects.values()
        if (wanted is None or str(project.id) in wanted) and context.caller.sees(project)
    ]
    return by_offset(rows, **paging)


def _mr_by_id(context: Context, gid: str) -> MergeRequest | None:
    number = gid.rpartition("/")[2]
    for project in context.world.projects.values():
        for mr in project.merge_requests.values():
            if str(mr.id) == number and context.caller.sees(project):
                return mr
    return None


def _by_iid(project: Project, context: Context, iid: str) -> MergeRequest | None:
    readable = context.caller.may_read("merge_requests") and iid.isdigit()
    return project.merge_requests.get(int(iid)) if readable else None


def _merge_requests(project: Project, context: Context, **given: Any) -> Connection:
    paging = {key: given.pop(key, None) for key in ("after", "before", "first", "last")}
    sort = given.pop("sort", None) or "created_desc"
    rows: list[MergeRequest] = []
    if context.caller.may_read("merge_requests") and project.merge_requests_enabled:
        rows = [mr for mr in _candidates(project, given) if _matches(mr, given)]
    return by_key(rows, sort, **paging)


def _candidates(project: Project, given: dict[str, Any]) -> list[MergeRequest]:
    wanted = given.pop("iids", None)
    if wanted is None:
        return list(project.merge_requests.values())
    found = (project.merge_requests.get(int(iid)) for iid in dict.fromkeys(wanted) if iid.isdigit())
    return [mr for mr in found if mr]


_MATCHING: dict[str, Callable[[MergeRequest, Any], bool]] = {
    "state": lambda mr, value: value in ("all", mr.state),
    "draft": lambda mr, value: mr.draft is value,
    "sourceBranches": lambda mr, value: mr.source_branch in value,
    "targetBranches": lambda mr, value: mr.target_branch in value,
    "authorUsername": lambda mr, value: bool(mr.author and mr.author.username == value),
    "updatedAfter": lambda mr, value: mr.updated_at >= _time(value),
    "updatedBefore": lambda mr, value: mr.updated_at <= _time(value),
    "createdAfter": lambda mr, value: mr.created_at >= _time(value),
    "createdBefore": lambda mr, value: mr.created_at <= _time(value),
}


def _matches(mr: MergeRequest, given: dict[str, Any]) -> bool:
    return all(value is None or _MATCHING[name](mr, value) for name, value in given.items())


_CONNECTION: dict[str, Resolve] = {
    "nodes": lambda page, c: page.rows,
    "edges": lambda page, c: [
        {"node": row, "cursor": cursor} for row, cursor in zip(page.rows, page.cursors, strict=True)
    ],
    "count": lambda page, c, **_: page.count,
    "pageInfo": lambda page, c: {
        "hasNextPage": page.has_next,
        "hasPreviousPage": page.has_previous,
        "startCursor": page.cursors[0] if page.cursors else None,
        "endCursor": page.cursors[-1] if page.cursors else None,
    },
}

_PROJECT: dict[str, Resolve] = {
    "fullPath": lambda project, c: project.path,
    "id": lambda project, c: f"gid://gitlab/Project/{project.id}",
    "isForked": lambda project, c: project.forked_from is not None,
    "mergeRequest": lambda project, c, iid: _by_iid(project, c, iid),
    "mergeRequests": _merge_requests,
    "mergeRequestsEnabled": lambda project, c: project.merge_requests_enabled,
    "mergeRequestsFfOnlyEnabled": lambda project, c: project.merge_method == "ff",
    "nameWithNamespace": lambda project, c: " / ".join(project.path.split("/")),
    "onlyAllowMergeIfAllDiscussionsAreResolved": (
        lambda project, c: project.discussions_must_be_resolved
    ),
    "onlyAllowMergeIfAllStatusChecksPassed": lambda project, c: False,
    "onlyAllowMergeIfPipelineSucceeds": lambda project, c: project.pipeline_must_succeed,
    "openMergeRequestsCount": lambda project, c: sum(
        mr.state == "opened" for mr in project.merge_requests.values()
    ),
    "path": lambda project, c: project.name,
    "webUrl": lambda project, c: c.entities.web(project),
}

_QUERY: dict[str, Resolve] = {
    "currentUser": lambda _, c: c.caller.user,
    "mergeRequest": lambda _, c, id: _mr_by_id(c, id),
    "metadata": lambda _, c: {
        "enterprise": c.world.edition == "ee",
        "revision": "0123456789a",
        "version": c.world.version,
    },
    "project": lambda _, c, fullPath: _project(c, fullPath),
    "projects": lambda _, c, **given: _projects(c, **given),
}

FIELDS: dict[str, dict[str, Resolve]] = {
    "Query": _QUERY,
    "Project": _PROJECT,
    "MergeRequest": MERGE_REQUEST,
    "Pipeline": PIPELINE,
    "CiJob": JOB,
    "ApprovalRule": {"approvedBy": lambda rule, c, **p: by_offset(rule["approvers"], **p)},
    **dict.fromkeys(
        ("CurrentUser", "UserCore", "MergeRequestAuthor", "MergeRequestReviewer"), user_fields()
    ),
}


def resolve(source: Any, info: GraphQLResolveInfo, **arguments: Any) -> Any:
    """The resolver of every field."""
    owner, name = info.parent_type.name, info.field_name
    known = _CONNECTION if isinstance(source, Connection) else FIELDS.get(owner, {})
    if name in known:
        return known[name](source, info.context, **arguments)
    return source.get(name) if isinstance(source, dict) else getattr(source, _snake(name))


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
