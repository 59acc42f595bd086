"""GraphQL fields of a merge request, its people and its pipelines."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from tests.simulators.gitlab import mergeability
from tests.simulators.gitlab.asking import Context, Involved, Resolve, stamp
from tests.simulators.gitlab.connections import Connection, by_offset
from tests.simulators.gitlab.model import FileDiff, MergeRequest, Pipeline, User
from tests.simulators.gitlab.versions import review_state


def _pipeline(mr: MergeRequest, context: Context) -> Pipeline | None:
    return mergeability.pipeline_of_head(mr) if context.caller.may_read("pipelines") else None


def _pipelines(mr: MergeRequest, context: Context, **paging: Any) -> Connection:
    """Newest first; none where they may not be read."""
    rows = mr.pipelines[::-1] if context.caller.may_read("pipelines") else []
    return by_offset(rows, **paging)


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


def _interaction(one: Involved, context: Context) -> dict[str, Any]:
    state = one.mr.reviewers.get(one.user.username)
    return {
        "approved": one.user in _approvers(one.mr),
        "canMerge": True,
        "canUpdate": True,
        "reviewState": review_state(state, context.world.version),
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


def _path(context: Context, *more: Any) -> str:
    """An address on this host: the install's subpath is in it."""
    return urlsplit(context.entities.web(*more)).path


def user_fields() -> dict[str, Resolve]:
    def user(one: Any) -> User:
        return one.user if isinstance(one, Involved) else one

    return {
        "id": lambda one, c: f"gid://gitlab/User/{user(one).id}",
        "bot": lambda one, c: False,
        "name": lambda one, c: user(one).name,
        "state": lambda one, c: user(one).state,
        "username": lambda one, c: user(one).username,
        "webPath": lambda one, c: f"{urlsplit(c.entities.base).path}/{user(one).username}",
        "webUrl": lambda one, c: f"{c.entities.base}/{user(one).username}",
        "mergeRequestInteraction": lambda one, c: _interaction(one, c),
    }


MERGE_REQUEST: dict[str, Resolve] = {
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
    "detailedMergeStatus": lambda mr, c: mergeability.detailed_enum(mr, c.world.version),
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
    "mergeabilityChecks": lambda mr, c: mergeability.checks(mr, c.world.version),
    "mergeable": lambda mr, c: mergeability.detailed(mr, c.world.version) == "mergeable",
    "mergeableDiscussionsState": lambda mr, c: mergeability.discussions_resolved(mr),
    "mergedAt": lambda mr, c: stamp(mr.merged_at),
    "name": lambda mr, c: mr.title,
    "pipelines": _pipelines,
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
    "webPath": lambda mr, c: _path(c, mr.project, "merge_requests", mr.iid),
    "webUrl": lambda mr, c: c.entities.web(mr.project, "merge_requests", mr.iid),
}

PIPELINE: dict[str, Resolve] = {
    "active": lambda p, c: p.status in mergeability.PIPELINE_ACTIVE,
    "complete": lambda p, c: p.finished_at is not None,
    "createdAt": lambda p, c: stamp(p.created_at),
    "detailedStatus": lambda p, c: dict.fromkeys(("group", "label", "name", "text"), p.status),
    "finishedAt": lambda p, c: stamp(p.finished_at),
    "id": lambda p, c: f"gid://gitlab/Ci::Pipeline/{p.id}",
    "iid": lambda p, c: str(p.iid),
    "jobs": lambda p, c, **given: _jobs(p, **given),
    "path": lambda p, c: _path(c, p.project, "pipelines", p.id),
    "startedAt": lambda p, c: stamp(p.started_at),
    "status": lambda p, c: p.status.upper(),
    "updatedAt": lambda p, c: stamp(p.updated_at),
}

JOB: dict[str, Resolve] = {
    "allowFailure": lambda job, c: job.allow_failure,
    "id": lambda job, c: f"gid://gitlab/Ci::Build/{job.id}",
    "manualJob": lambda job, c: job.status == "manual",
    "status": lambda job, c: job.status.upper(),
    "webPath": lambda job, c: _path(c, job.project, "jobs", job.id),
}
