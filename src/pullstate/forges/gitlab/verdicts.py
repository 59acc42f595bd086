"""GitLab's words → our verdicts. REST spells them in lower case, GraphQL in upper case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pullstate.domain.pull_request import CheckVerdict, MergeVerdict, ReviewDecision

CONFLICTING = {"conflict", "broken_status"}
BLOCKED = {
    "ci_must_pass",
    "ci_still_running",
    "discussions_not_resolved",
    "draft_status",
    "not_approved",
    "requested_changes",
    "merge_request_blocked",
    "blocked_status",
    "status_checks_must_pass",
    "external_status_checks",
    "security_policy_violations",
    "security_policies_violations",
    "policies_denied",
    "security_policy_pipeline_check",
    "code_owners_approval",
    "jira_association_missing",
    "jira_association",
    "locked_paths",
    "locked_lfs_files",
    "merge_time",
    "title_regex",
    "title_not_matching",
    "commits_status",
}
# Their merge_status lags behind: it says nothing of the branches as they are now.
_MERGE_STATUS_LAGS = {"commits_status", "not_open"}
_APPROVAL_MISSING = {"not_approved", "code_owners_approval"}
_PIPELINES = {
    "success": CheckVerdict.PASSING,
    "failed": CheckVerdict.FAILING,
    "canceled": CheckVerdict.FAILING,
    "skipped": CheckVerdict.NONE,
}
_GREEN = (CheckVerdict.PASSING, CheckVerdict.NONE)


@dataclass(frozen=True, slots=True)
class MergeFacts:
    """What GitLab says about merging; None is what this version or this token cannot say."""

    detailed_status: str | None
    merge_status: str | None
    mergeability_checks: tuple[tuple[str, str], ...] = ()  # (identifier, status)
    approvals_left: int | None = None
    discussions_resolved: bool | None = None  # the blocking ones
    pipeline_required: bool = False


def checks_verdict(status: str | None, *, failed_job: bool = False) -> CheckVerdict:
    """A head pipeline's status; `failed_job`: one failed that is not allowed to.

    A pipeline that waits for a manual job hides that another job failed: sortie#805.
    """
    if status is None:
        return CheckVerdict.NONE
    word = status.lower()
    if word == "manual" and failed_job:
        return CheckVerdict.FAILING
    return _PIPELINES.get(word, CheckVerdict.PENDING)


def merge_verdict(facts: MergeFacts, checks: CheckVerdict) -> MergeVerdict:
    """Whether GitLab would merge now.

    The detailed status names only the first rule that fails and asks about conflicts last, so
    `merge_status` and the single checks refine it.
    """
    if facts.detailed_status is None:
        return _before_15_6(facts, checks)
    detailed, status = facts.detailed_status.lower(), _lower(facts.merge_status)
    if status == "cannot_be_merged" and detailed not in _MERGE_STATUS_LAGS:
        return MergeVerdict.CONFLICTING
    if detailed not in _MERGE_STATUS_LAGS and (refined := _by_checks(facts.mergeability_checks)):
        return refined
    return _by_word(detailed, checks)


def _by_word(detailed: str, checks: CheckVerdict) -> MergeVerdict:
    if detailed == "mergeable":
        return MergeVerdict.CLEAN if checks in _GREEN else MergeVerdict.UNSTABLE
    if detailed in CONFLICTING:
        return MergeVerdict.CONFLICTING
    if detailed == "need_rebase":
        return MergeVerdict.BEHIND
    return MergeVerdict.BLOCKED if detailed in BLOCKED else MergeVerdict.UNKNOWN


def _by_checks(checks: Sequence[tuple[str, str]]) -> MergeVerdict | None:
    failed = {identifier.lower() for identifier, status in checks if status.lower() == "failed"}
    if "conflict" in failed:
        return MergeVerdict.CONFLICTING
    if "need_rebase" in failed:
        return MergeVerdict.BEHIND
    if failed:
        return MergeVerdict.BLOCKED
    if any(status.lower() == "checking" for _, status in checks):
        return MergeVerdict.UNKNOWN
    return None


def _before_15_6(facts: MergeFacts, checks: CheckVerdict) -> MergeVerdict:
    status = _lower(facts.merge_status)
    if status == "cannot_be_merged":
        return MergeVerdict.CONFLICTING
    if status != "can_be_merged":
        return MergeVerdict.UNKNOWN
    waits = (
        bool(facts.approvals_left)
        or facts.discussions_resolved is False
        or (facts.pipeline_required and checks is not CheckVerdict.PASSING)
    )
    return MergeVerdict.BLOCKED if waits else MergeVerdict.CLEAN


def review_decision(
    *,
    reviewer_states: Sequence[str],
    change_requesters: Sequence[str],
    approved_by: Sequence[str],
    approvals_left: int | None,
    detailed_status: str | None,
) -> ReviewDecision:
    """What the reviews come to.

    `approved` is never read: with nothing required REST says true and GraphQL false for the same
    one, with nobody having approved.
    """
    word = _lower(detailed_status)
    objected = "requested_changes" in map(str.lower, reviewer_states)
    if objected or change_requesters or word == "requested_changes":
        return ReviewDecision.CHANGES_REQUESTED
    if (approvals_left or 0) > 0 or word in _APPROVAL_MISSING:
        return ReviewDecision.PENDING
    return ReviewDecision.APPROVED if approved_by else ReviewDecision.NONE


def _lower(word: str | None) -> str | None:
    return None if word is None else word.lower()
