"""Small payloads as GitLab sends them, with what a test is about put in."""

from __future__ import annotations

from typing import Any

from pullstate.domain.pull_request import PullRequest
from pullstate.forges.gitlab.payloads import Facts, MergeRequest
from pullstate.forges.gitlab.place import Place
from pullstate.forges.gitlab.translate import Extra, extra_of, whole

PLACE = Place("https://gitlab.example.com/git", "101", "group/sub/tool")
HEAD, BASE, START = "a" * 40, "b" * 40, "c" * 40


def row(**more: Any) -> dict[str, Any]:
    """A single merge request of REST."""
    return {
        "id": 5001,
        "iid": 7,
        "project_id": 101,
        "title": "Add a probe",
        "state": "opened",
        "draft": False,
        "created_at": "2025-06-02T09:00:00.123Z",
        "updated_at": "2025-06-02T09:30:00.987Z",
        "merged_at": None,
        "closed_at": None,
        "web_url": "https://gitlab.example.com/git/group/sub/tool/-/merge_requests/7",
        "references": {"short": "!7", "full": "group/sub/tool!7"},
        "author": {"username": "ann"},
        "reviewers": [],
        "labels": ["bug"],
        "source_branch": "probe",
        "target_branch": "main",
        "source_project_id": 101,
        "target_project_id": 101,
        "sha": HEAD,
        "merge_status": "can_be_merged",
        "detailed_merge_status": "mergeable",
        "blocking_discussions_resolved": True,
        "has_conflicts": False,
        "diff_refs": {"base_sha": BASE, "head_sha": HEAD, "start_sha": START},
    } | more


def node(**more: Any) -> dict[str, Any]:
    """The same one of GraphQL."""
    return {
        "id": "gid://gitlab/MergeRequest/5001",
        "iid": "7",
        "title": "Add a probe",
        "state": "opened",
        "draft": False,
        "createdAt": "2025-06-02T09:00:00Z",
        "updatedAt": "2025-06-02T09:30:00Z",
        "mergedAt": None,
        "closedAt": None,
        "webUrl": "https://gitlab.example.com/git/group/sub/tool/-/merge_requests/7",
        "author": {"username": "ann"},
        "sourceBranch": "probe",
        "sourceProjectId": 101,
        "sourceProject": {"fullPath": "group/sub/tool"},
        "targetBranch": "main",
        "diffHeadSha": HEAD,
        "diffRefs": {"headSha": HEAD, "startSha": START, "baseSha": BASE},
        "mergeStatusEnum": "CAN_BE_MERGED",
        "detailedMergeStatus": "MERGEABLE",
        "mergeabilityChecks": [],
        "mergeableDiscussionsState": True,
        "approvalsLeft": 0,
        "approvedBy": {"nodes": []},
        "changeRequesters": {"nodes": []},
        "reviewers": {"nodes": []},
        "mergeTrainCar": None,
        "headPipeline": None,
    } | more


NOTHING_MORE = Extra()


def by_rest(extra: Extra = NOTHING_MORE, source: str = PLACE.path, **more: Any) -> PullRequest:
    return whole(MergeRequest.model_validate(row(**more)), PLACE, source, extra)


def by_graphql(*, required: bool = False, source: str = PLACE.path, **more: Any) -> PullRequest:
    seen = Facts.model_validate(node(**more))
    return whole(seen, PLACE, source, extra_of(seen, PLACE, pipeline_required=required))


def users(*names: str) -> dict[str, Any]:
    return {"nodes": [{"username": name} for name in names]}


def pipeline(status: str, *jobs: dict[str, Any]) -> dict[str, Any]:
    of_head = {"id": "gid://gitlab/Ci::Pipeline/9", "sha": HEAD, "status": status}
    return of_head | {"jobs": {"nodes": list(jobs)}}


def job(name: str, *, allow_failure: bool = False) -> dict[str, Any]:
    path = f"/git/group/sub/tool/-/jobs/{name}"
    return {"name": name, "allowFailure": allow_failure, "webPath": path}


def reviewer(username: str, state: str | None) -> dict[str, Any]:
    return {"username": username, "mergeRequestInteraction": {"reviewState": state}}
