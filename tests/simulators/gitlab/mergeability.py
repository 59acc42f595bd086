"""GitLab's rules of mergeability: which hold, and which of the failing ones is named.

The order is that of `MergeRequest.all_mergeability_checks` with the enterprise edition's before
them: cheap ones first, conflicts and the rebase last, the pipeline after all others (that is why
the detailed status of a draft or of an unapproved one hides a conflict).
"""

from __future__ import annotations

from collections.abc import Callable

from tests.simulators.gitlab.model import MergeRequest, Pipeline
from tests.simulators.gitlab.versions import has

PIPELINE_ACTIVE = frozenset(
    {"created", "waiting_for_resource", "preparing", "waiting_for_callback", "pending", "running"}
)

OTHER_SPELLING = {
    "merge_request_blocked": "blocked_status",
    "status_checks_must_pass": "external_status_checks",
    "security_policy_violations": "security_policies_violations",
    "jira_association_missing": "jira_association",
    "title_regex": "title_not_matching",
}
"""How GraphQL, and REST before `RENAMED`, call a failing rule."""
RENAMED = "16.11"
BEFORE_RENAMED = {"conflict": "broken_status", "security_policy_violations": "policies_denied"}

RULE_SINCE = {
    "need_rebase": "16.4",
    "requested_changes": "16.10",
    "commits_status": "16.11",
    "locked_paths": "16.11",
    "locked_lfs_files": "17.1",
    "merge_time": "17.5",
    "title_regex": "17.10",
}
"""Rule → the first version that knows it; sooner it holds nothing up."""


def approvals_left(mr: MergeRequest) -> int:
    return max(0, approvals_required(mr) - len(mr.approvals))


def approvals_required(mr: MergeRequest) -> int:
    own = mr.approvals_required
    return mr.project.approvals_required if own is None else own


def discussions_resolved(mr: MergeRequest) -> bool:
    """`blocking_discussions_resolved`: true where the project does not ask for it."""
    return not mr.project.discussions_must_be_resolved or not any(
        note.resolvable and not note.resolved for each in mr.discussions for note in each.notes
    )


def pipeline_of_head(mr: MergeRequest) -> Pipeline | None:
    """`diff_head_pipeline`: the head pipeline if it ran for the head commit."""
    pipeline = mr.head_pipeline
    if pipeline is None:
        return None
    merged_results = pipeline.ref in (
        f"refs/merge-requests/{mr.iid}/merge",
        f"refs/merge-requests/{mr.iid}/train",
    )
    return pipeline if pipeline.sha == mr.sha or merged_results else None


def _pipeline_passes(mr: MergeRequest) -> bool:
    if not mr.project.pipeline_must_succeed:
        return True
    pipeline = pipeline_of_head(mr)
    return pipeline is not None and pipeline.status == "success"


def _rebase_needed(mr: MergeRequest) -> bool:
    return mr.behind > 0 and mr.project.merge_method in ("rebase_merge", "ff")


_BUILT_IN: dict[str, Callable[[MergeRequest], bool]] = {
    "not_open": lambda mr: mr.state != "opened",
    "merge_time": lambda mr: False,
    "requested_changes": lambda mr: bool(mr.change_requesters),
    "not_approved": lambda mr: approvals_left(mr) > 0,
    "merge_request_blocked": lambda mr: False,
    "jira_association_missing": lambda mr: False,
    "security_policy_violations": lambda mr: False,
    "status_checks_must_pass": lambda mr: False,
    "locked_paths": lambda mr: False,
    "draft_status": lambda mr: mr.draft,
    "commits_status": lambda mr: not mr.commits,
    "discussions_not_resolved": lambda mr: not discussions_resolved(mr),
    "locked_lfs_files": lambda mr: False,
    "title_regex": lambda mr: False,
    "conflict": lambda mr: mr.merge_status.startswith("cannot_be_merged"),
    "need_rebase": _rebase_needed,
    "ci_must_pass": lambda mr: not _pipeline_passes(mr),
}
"""Rule → whether it fails; in the order in which the first failing one is named."""


def failing(mr: MergeRequest, version: str) -> list[str]:
    """Every failing rule, in order; of `failing_rules` the unknown ones first."""
    known = [
        name
        for name, fails in _BUILT_IN.items()
        if has(version, RULE_SINCE.get(name, "0.0")) and (name in mr.failing_rules or fails(mr))
    ]
    return sorted(mr.failing_rules - set(_BUILT_IN)) + known


def public_merge_status(mr: MergeRequest) -> str:
    """`merge_status`; a recheck that waits (`cannot_be_merged_recheck`) is told apart from one
    that runs."""
    hidden = ("preparing", "cannot_be_merged_rechecking")
    return "checking" if mr.merge_status in hidden else mr.merge_status


def detailed(mr: MergeRequest, version: str) -> str:
    """REST's `detailed_merge_status` as this version spells it."""
    value = _detailed(mr, version)
    if has(version, RENAMED) or mr.detailed_status is not None:
        return value
    return BEFORE_RENAMED.get(value) or OTHER_SPELLING.get(value, value)


def _detailed(mr: MergeRequest, version: str) -> str:
    if mr.detailed_status is not None:
        return mr.detailed_status
    if mr.merge_status in ("preparing", "checking", "unchecked"):
        return mr.merge_status
    if mr.merge_status == "cannot_be_merged_rechecking":
        return "checking"
    rules = failing(mr, version)
    if not rules:
        return "mergeable"
    return _pipeline_verdict(mr) if rules[0] == "ci_must_pass" else rules[0]


def _pipeline_verdict(mr: MergeRequest) -> str:
    pipeline = pipeline_of_head(mr)
    running = pipeline is not None and pipeline.status in PIPELINE_ACTIVE
    return "ci_still_running" if running else "ci_must_pass"


def detailed_enum(mr: MergeRequest, version: str) -> str:
    """GraphQL's `detailedMergeStatus`."""
    value = detailed(mr, version)
    return OTHER_SPELLING.get(value, value).upper()


def checks(mr: MergeRequest, version: str) -> list[dict[str, str]]:
    """GraphQL's `mergeabilityChecks`: every rule with its status."""
    fails = set(failing(mr, version))
    unknown = public_merge_status(mr) in ("checking", "unchecked")

    def status(name: str) -> str:
        if name in ("conflict", "need_rebase") and unknown:
            return "CHECKING"
        if name in fails:
            return "FAILED"
        return "SUCCESS" if _applies(mr, name) else "INACTIVE"

    known = [name for name in _BUILT_IN if has(version, RULE_SINCE.get(name, "0.0"))]
    return [{"identifier": name.upper(), "status": status(name)} for name in known]


def _applies(mr: MergeRequest, name: str) -> bool:
    asked_for = {
        "ci_must_pass": mr.project.pipeline_must_succeed,
        "discussions_not_resolved": mr.project.discussions_must_be_resolved,
        "not_approved": approvals_required(mr) > 0,
        "need_rebase": mr.project.merge_method != "merge",
        "commits_status": True,
        "conflict": True,
        "draft_status": True,
        "not_open": True,
    }
    return asked_for.get(name, False)
