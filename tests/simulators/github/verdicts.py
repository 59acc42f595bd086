"""What the forge works out of what it knows: mergeability, review decision, who sees what."""

from __future__ import annotations

from tests.simulators.github.checks import HARMLESS, CheckRun, Commit
from tests.simulators.github.conversation import IssueComment, Review, ReviewComment, Thread
from tests.simulators.github.model import BranchRules, PullRequest
from tests.simulators.github.tokens import Viewer

OPINIONS = frozenset({"APPROVED", "CHANGES_REQUESTED", "DISMISSED"})


def mergeable(pull_request: PullRequest) -> str:
    return "UNKNOWN" if pull_request.unknown_for else pull_request.mergeability


def merge_state(pull_request: PullRequest) -> str:
    """`mergeStateStatus`, which agrees with `mergeable` unless it is forced."""
    if pull_request.forced_merge_state:
        return pull_request.forced_merge_state
    computed = mergeable(pull_request)
    if computed == "UNKNOWN":
        return "UNKNOWN"
    if computed == "CONFLICTING":
        return "DIRTY"
    return "DRAFT" if pull_request.is_draft else _mergeable_state(pull_request)


def _mergeable_state(pull_request: PullRequest) -> str:
    rules = pull_request.rules
    if rules and is_blocked(pull_request, rules):
        return "BLOCKED"
    tip = pull_request.repository.branches.get(pull_request.base_ref_name)
    if rules and rules.strict and tip and tip.oid != pull_request.base_ref_oid:
        return "BEHIND"
    return "CLEAN" if pull_request.head.rollup_state in (None, "SUCCESS") else "UNSTABLE"


def is_blocked(pull_request: PullRequest, rules: BranchRules) -> bool:
    """Whether something that the branch asks for is missing."""
    threads = pull_request.threads
    return (
        any(not is_green(pull_request.head, each) for each in rules.required_status_check_contexts)
        or review_decision(pull_request) in ("REVIEW_REQUIRED", "CHANGES_REQUESTED")
        or (
            rules.requires_conversation_resolution and any(not each.is_resolved for each in threads)
        )
    )


def is_green(commit: Commit, context: str) -> bool:
    """Whether the newest check of this name on the commit passed."""
    if context in commit.statuses:
        return commit.statuses[context].state == "SUCCESS"
    runs: list[CheckRun] = [
        run for suite in commit.suites for run in suite.latest_runs() if run.name == context
    ]
    return bool(runs) and all(run.conclusion in HARMLESS for run in runs)


def review_decision(pull_request: PullRequest) -> str | None:
    """Null unless the branch asks for reviews; then what the writers' latest opinions come to."""
    if forced := pull_request.forced_review_decision:
        return None if forced == "NONE" else forced
    rules = pull_request.rules
    if rules is None or not (
        rules.required_approving_review_count or rules.requires_code_owner_reviews
    ):
        return None
    states = [each.state for each in opinionated_reviews(pull_request, writers_only=True)]
    if "CHANGES_REQUESTED" in states:
        return "CHANGES_REQUESTED"
    enough = states.count("APPROVED") >= (rules.required_approving_review_count or 1)
    return "APPROVED" if enough else "REVIEW_REQUIRED"


def opinionated_reviews(pull_request: PullRequest, *, writers_only: bool) -> list[Review]:
    """The latest approval, refusal or dismissal of each reviewer; a comment changes nothing."""
    latest = {
        review.author: review
        for review in pull_request.reviews
        if review.state in OPINIONS and (review.author_can_push_to_repository or not writers_only)
    }
    return list(latest.values())


def latest_reviews(pull_request: PullRequest) -> list[Review]:
    """The latest review of each reviewer, without those who were asked again."""
    latest = {each.author: each for each in pull_request.reviews if each.state != "PENDING"}
    return [each for who, each in latest.items() if who not in pull_request.review_requests]


def visible_reviews(pull_request: PullRequest, viewer: Viewer) -> list[Review]:
    """All but the pending ones of others."""
    return [
        each
        for each in pull_request.reviews
        if each.state != "PENDING" or each.author is viewer.user
    ]


def visible_comments(thread: Thread, viewer: Viewer) -> list[ReviewComment]:
    return [
        each for each in thread.comments if each.state != "PENDING" or each.author is viewer.user
    ]


def visible_threads(pull_request: PullRequest, viewer: Viewer) -> list[Thread]:
    """Threads with a comment to see; one of pending comments alone is its author's."""
    return [each for each in pull_request.threads if visible_comments(each, viewer)]


def is_visible(said: Review | ReviewComment | IssueComment, viewer: Viewer) -> bool:
    return getattr(said, "state", "") != "PENDING" or said.author is viewer.user
