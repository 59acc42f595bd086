"""GitLab's own words for what keeps a merge request from merging → a reason's code and its mover.

They are the values of `detailed_merge_status` that mean BLOCKED, older spellings included; `draft`
and `requested_changes` are left out, for the flag and the reviews say the same.
https://docs.gitlab.com/api/merge_requests/#merge-status
"""

from __future__ import annotations

from pullstate.domain.facts import Mover

GITLAB_CAUSES: dict[str, tuple[str, Mover]] = {
    "ci_must_pass": ("required_check_missing", Mover.AUTHOR),
    "ci_still_running": ("checks_pending", Mover.FORGE),
    "discussions_not_resolved": ("unresolved_conversations", Mover.AUTHOR),
    "not_approved": ("approvals_missing", Mover.REVIEWER),
    "code_owners_approval": ("code_owner_review", Mover.REVIEWER),
    "merge_request_blocked": ("blocked_by_another", Mover.AUTHOR),
    "blocked_status": ("blocked_by_another", Mover.AUTHOR),
    "status_checks_must_pass": ("external_status_checks", Mover.FORGE),
    "external_status_checks": ("external_status_checks", Mover.FORGE),
    "security_policy_violations": ("security_policy", Mover.MAINTAINER),
    "security_policies_violations": ("security_policy", Mover.MAINTAINER),
    "policies_denied": ("security_policy", Mover.MAINTAINER),
    "security_policy_pipeline_check": ("security_policy_pipeline", Mover.FORGE),
    "jira_association_missing": ("jira_association", Mover.AUTHOR),
    "jira_association": ("jira_association", Mover.AUTHOR),
    "locked_paths": ("locked_paths", Mover.MAINTAINER),
    "locked_lfs_files": ("locked_lfs_files", Mover.MAINTAINER),
    "merge_time": ("merge_time", Mover.FORGE),
    "title_regex": ("title_regex", Mover.AUTHOR),
    "title_not_matching": ("title_regex", Mover.AUTHOR),
    "commits_status": ("commits_status", Mover.AUTHOR),
}
