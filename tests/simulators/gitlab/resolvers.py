"""GraphQL fields answered from the world; what is not here is the record's attribute."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from graphql import GraphQLError, GraphQLResolveInfo

from tests.simulators.gitlab import mergeability
from tests.simulators.gitlab.access import Caller
from tests.simulators.gitlab.connections import Connection, by_key, by_offset
from tests.simulators.gitlab.entities import Entities
from tests.simulators.gitlab.model import FileDiff, MergeRequest, Pipeline, Project, User
from tests.simulators.gitlab.world import World


@dataclass(frozen=True, slots=True)
class Context:
    world: World
    caller: Caller
    entities: Entities


@dataclass(frozen=True, slots=True)
class Involved:
    """A user as the author or a reviewer of one merge request."""

    user: User
    mr: MergeRequest


Resolve = Callable[..., Any]


def stamp(at: datetime | None) -> str | None:
    """GraphQL's Time has whole seconds, unlike REST's."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if at else None


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


def _mr_by_id(context: Context, gid: str) -> MergeRequest | None:
    number = gid.rpartition("/")[2]
    for project in context.world.projects.values():
        for mr in project.merge_requests.values():
            if str(mr.id) == number and context.caller.sees(project):
                return mr
    return None


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


def _pipeline(mr: MergeRequest, context: Context) -> Pipeline | None:
    return mergeability.pipeline_of_head(mr) if context.caller.may_read("pipelines") else None


def _approvers(mr: MergeRequest) -> list[User]:
    return [approval.user for approval in mr.approvals]


def _approved(mr: MergeRequest) -> bool:
    """False with nothing required and nobody's approval, where REST says true."""
    return bool(mr.approvals) and mergeability.approvals_left(mr) == 0


def _approvals(mr: MergeRequest, context: Context, value: int) -> int | None:
    return value if context.caller.may_read("approvals") else None


def _approval_rules(mr: MergeRequest) -> dict[str, Any]:
    required = mergeability.approvals_required(mr)
    rule = {
        "name": "All Members",
        "type": "ANY_APPROVER",
        "approvalsRequired": required,
        "approved": len(mr.approvals) >= required,
        "approvers": _approvers(mr),
    }
    return {"approvalRulesOverwritten": False, "rules": [rule]}


def _interaction(one: Involved) -> dict[str, Any]:
    state = one.mr.reviewers.get(one.user.username)
    return {
        "approved": one.user in _approvers(one.mr),
        "canMerge": True,
        "canUpdate": True,
        "reviewState": state,
        "reviewed": state not in (None, "UNREVIEWED", "REVIEW_STARTED"),
    }


def _threads(mr: MergeRequest, resolved: bool) -> int:
    threads = [each for each in mr.discussions if any(note.resolvable for note in each.notes)]
    done = [each for each in threads if all(n.resolved for n in each.notes if n.resolvable)]
    return len(done) if resolved else len(threads)


def _stats(files: list[FileDiff]) -> dict[str, int]:
    plus, minus = sum(f.additions for f in files), sum(f.deletions for f in files)
    return {"additions": plus, "deletions": minus, "changes": plus + minus, "fileCount": len(files)}


def _jobs(pipeline: Pipeline, statuses: Any = None, retried: Any = None, **p: Any) -> Connection:
    rows = [
        job
        for job in pipeline.jobs
        if (not statuses or job.status.upper() in statuses) and job.retried is bool(retried)
    ]
    return by_offset(rows, **p)


def _user_fields() -> dict[str, Resolve]:
    def user(one: Any) -> User:
        return one.user if isinstance(one, Involved) else one

    return {
        "id": lambda one, c: f"gid://gitlab/User/{user(one).id}",
        "bot": lambda one, c: False,
        "name": lambda one, c: user(one).name,
        "state": lambda one, c: user(one).state,
        "username": lambda one, c: user(one).username,
        "webPath": lambda one, c: f"/{user(one).username}",
        "webUrl": lambda one, c: f"{c.entities.base}/{user(one).username}",
        "mergeRequestInteraction": lambda one, c: _interaction(one),
    }


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

_MERGE_REQUEST: dict[str, Resolve] = {
    "approvalState": lambda mr, c: _approval_rules(mr),
    "approvalsLeft": lambda mr, c: _approvals(mr, c, mergeability.approvals_left(mr)),
    "approvalsRequired": lambda mr, c: _approvals(mr, c, mergeability.approvals_required(mr)),
    "approved": lambda mr, c: _approved(mr),
    "approvedBy": lambda mr, c, **p: by_offset(_approvers(mr), **p),
    "author": lambda mr, c: Involved(mr.author, mr) if mr.author else None,
    "autoMergeEnabled": lambda mr, c: False,
    "changeRequesters": lambda mr, c, **p: by_offset(mr.change_requesters, **p),
    "closedAt": lambda mr, c: stamp(mr.closed_at),
    "commitCount": lambda mr, c: len(mr.commits),
    "conflicts": lambda mr, c: mr.merge_status == "cannot_be_merged",
    "createdAt": lambda mr, c: stamp(mr.created_at),
    "detailedMergeStatus": lambda mr, c: mergeability.detailed_enum(mr),
    "diffHeadSha": lambda mr, c: mr.sha,
    "diffRefs": lambda mr, c: {
        "baseSha": mr.base_sha,
        "headSha": mr.sha,
        "startSha": mr.start_sha,
    },
    "diffStats": lambda mr, c, path=None: [
        {"path": f.new_path, "additions": f.additions, "deletions": f.deletions}
        for f in mr.diffs
        if path in (None, f.new_path)
    ],
    "diffStatsSummary": lambda mr, c: _stats(mr.diffs),
    "discussionLocked": lambda mr, c: False,
    "divergedFromTargetBranch": lambda mr, c: mr.behind > 0,
    "headPipeline": _pipeline,
    "id": lambda mr, c: f"gid://gitlab/MergeRequest/{mr.id}",
    "iid": lambda mr, c: str(mr.iid),
    "labels": lambda mr, c, **p: by_offset([{"title": name} for name in sorted(mr.labels)], **p),
    "mergeOngoing": lambda mr, c: mr.state == "locked",
    "mergeStatus": lambda mr, c: mergeability.public_merge_status(mr),
    "mergeStatusEnum": lambda mr, c: mergeability.public_merge_status(mr).upper(),
    "mergeUser": lambda mr, c: mr.merged_by,
    "mergeabilityChecks": lambda mr, c: mergeability.checks(mr),
    "mergeable": lambda mr, c: mergeability.detailed(mr) == "mergeable",
    "mergeableDiscussionsState": lambda mr, c: mergeability.discussions_resolved(mr),
    "mergedAt": lambda mr, c: stamp(mr.merged_at),
    "name": lambda mr, c: mr.title,
    "preparedAt": lambda mr, c: stamp(mr.prepared_at),
    "projectId": lambda mr, c: mr.project.id,
    "rebaseInProgress": lambda mr, c: False,
    "reference": lambda mr, c, full=False: f"{mr.project.path if full else ''}!{mr.iid}",
    "resolvableDiscussionsCount": lambda mr, c: _threads(mr, resolved=False),
    "resolvedDiscussionsCount": lambda mr, c: _threads(mr, resolved=True),
    "reviewers": lambda mr, c, **p: by_offset(
        [Involved(c.world.user(name), mr) for name in mr.reviewers], **p
    ),
    "shouldBeRebased": lambda mr, c: mr.behind > 0 and mr.project.merge_method != "merge",
    "sourceBranchExists": lambda mr, c: mr.source_project is not None,
    "sourceProjectId": lambda mr, c: mr.source_project.id if mr.source_project else None,
    "targetProject": lambda mr, c: mr.project,
    "targetProjectId": lambda mr, c: mr.project.id,
    "updatedAt": lambda mr, c: stamp(mr.updated_at),
    "userNotesCount": lambda mr, c: sum(not n.system for d in mr.discussions for n in d.notes),
    "userPermissions": lambda mr, c: dict.fromkeys(
        ("canApprove", "canMerge", "createNote", "readMergeRequest", "updateMergeRequest"), True
    ),
    "webPath": lambda mr, c: f"/{mr.project.path}/-/merge_requests/{mr.iid}",
    "webUrl": lambda mr, c: c.entities.web(mr.project, "merge_requests", mr.iid),
}

_PIPELINE: dict[str, Resolve] = {
    "active": lambda p, c: p.status in mergeability.PIPELINE_ACTIVE,
    "complete": lambda p, c: p.finished_at is not None,
    "createdAt": lambda p, c: stamp(p.created_at),
    "detailedStatus": lambda p, c: dict.fromkeys(("group", "label", "name", "text"), p.status),
    "finishedAt": lambda p, c: stamp(p.finished_at),
    "id": lambda p, c: f"gid://gitlab/Ci::Pipeline/{p.id}",
    "iid": lambda p, c: str(p.iid),
    "jobs": lambda p, c, **given: _jobs(p, **given),
    "path": lambda p, c: f"/{p.project.path}/-/pipelines/{p.id}",
    "startedAt": lambda p, c: stamp(p.started_at),
    "status": lambda p, c: p.status.upper(),
    "updatedAt": lambda p, c: stamp(p.updated_at),
}

_JOB: dict[str, Resolve] = {
    "allowFailure": lambda job, c: job.allow_failure,
    "id": lambda job, c: f"gid://gitlab/Ci::Build/{job.id}",
    "manualJob": lambda job, c: job.status == "manual",
    "status": lambda job, c: job.status.upper(),
    "webPath": lambda job, c: f"/-/jobs/{job.id}",
}

_PROJECT: dict[str, Resolve] = {
    "fullPath": lambda project, c: project.path,
    "id": lambda project, c: f"gid://gitlab/Project/{project.id}",
    "isForked": lambda project, c: project.forked_from is not None,
    "mergeRequest": lambda project, c, iid: project.merge_requests.get(int(iid)),
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
}

FIELDS: dict[str, dict[str, Resolve]] = {
    "Query": _QUERY,
    "Project": _PROJECT,
    "MergeRequest": _MERGE_REQUEST,
    "Pipeline": _PIPELINE,
    "CiJob": _JOB,
    "ApprovalRule": {"approvedBy": lambda rule, c, **p: by_offset(rule["approvers"], **p)},
    **dict.fromkeys(
        ("CurrentUser", "UserCore", "MergeRequestAuthor", "MergeRequestReviewer"), _user_fields()
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
