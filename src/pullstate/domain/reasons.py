"""Why a pull request is not merged yet: every condition that holds, and whose move each one is.

| code | about | whose move |
|---|---|---|
| draft | | author |
| conflict | | author |
| required_check_failing, checks_failing | the check's name, if known | author |
| changes_requested | who asks for them, if known | author |
| re_review_requested | who asked for changes and is asked again | reviewer |
| unresolved_conversations | how many, if known | author |
| behind | | author |
| approvals_missing | how many, if known | a requested reviewer; nobody requested: maintainer |
| code_owner_review | | reviewer |
| no_review | | reviewer |
| approval_not_on_head | | reviewer |
| workflow_approval_required | the workflow's name | maintainer |
| required_check_never_reported | the check's name | maintainer |
| checks_unreadable, review_unreadable | why | maintainer |
| cause_unknown | | maintainer |
| required_check_missing | the check's name: it may still report | forge; who must let it run |
| checks_pending | a workflow without jobs so far, if any | forge |
| checks_unread, checks_on_older_head, review_unread, mergeability_unknown | | forge |
| in_merge_queue | the position, if known | forge |

and GitLab's own words for what blocks (`gitlab_causes.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Set

from pullstate.domain.facts import Facts, Mover, Reason, is_ready
from pullstate.domain.gitlab_causes import GITLAB_CAUSES
from pullstate.domain.pull_request import Check, Checks, CheckVerdict, MergeVerdict, ReviewDecision


def reasons_of(facts: Facts) -> tuple[Reason, ...]:
    """Every reason, in the order in which the state's rules look; none of a finished one."""
    if facts.pull_request.finished:
        return ()
    plain = [reason for condition in CONDITIONS for reason in condition(facts)]
    found = (*plain, *forge_words(facts, {reason.code for reason in plain}))
    explains = _may_block if facts.mergeability is MergeVerdict.BLOCKED else _may_delay
    if is_ready(facts) or any(explains(reason, facts) for reason in found):
        return found
    return (*found, Reason("cause_unknown", "", Mover.MAINTAINER))


def draft(facts: Facts) -> Iterator[Reason]:
    if facts.pull_request.draft:
        yield Reason("draft", "", Mover.AUTHOR)


def conflict(facts: Facts) -> Iterator[Reason]:
    if facts.mergeability is MergeVerdict.CONFLICTING:
        yield Reason("conflict", "", Mover.AUTHOR)


def failing_checks(facts: Facts) -> Iterator[Reason]:
    if facts.checks is not CheckVerdict.FAILING or facts.head_checks is None:
        return
    for check in sorted(facts.head_checks.failing, key=lambda each: not _required(each, facts)):
        code = "required_check_failing" if _required(check, facts) else "checks_failing"
        yield Reason(code, check.name, Mover.AUTHOR)
    if not facts.head_checks.failing:
        yield Reason("checks_failing", "", Mover.AUTHOR)


def _required(check: Check, facts: Facts) -> bool:
    return check.required or check.name in facts.rules.required_checks


def unseen_checks(facts: Facts) -> Iterator[Reason]:
    """What is known of the checks is nothing, or not of this head, or only in part."""
    if facts.pull_request.checks is None:
        yield Reason("checks_unread", "", Mover.FORGE)
    elif facts.head_checks is None:
        yield Reason("checks_on_older_head", "", Mover.FORGE)
    elif facts.head_checks.unreadable:
        yield Reason("checks_unreadable", facts.head_checks.unreadable, Mover.MAINTAINER)


def workflow_approvals(facts: Facts) -> Iterator[Reason]:
    for workflow in facts.head_checks.approval_required if facts.head_checks else ():
        yield Reason("workflow_approval_required", workflow, Mover.MAINTAINER)


def required_checks(facts: Facts) -> Iterator[Reason]:
    """A required check without a result: it may still come, or everything else has settled."""
    checks = facts.head_checks
    if checks is None or checks.names is None or not facts.may_be_blocked:
        return
    for name in facts.rules.required_checks:
        if name not in checks.names:
            yield _missing_check(name, checks)


def _missing_check(name: str, checks: Checks) -> Reason:
    """Right after a push no check has reported; a run that waits for approval has none."""
    if checks.verdict is CheckVerdict.NONE or (
        checks.verdict is CheckVerdict.PENDING and _is_running(checks)
    ):
        return Reason("required_check_missing", name, Mover.FORGE)
    if checks.approval_required:
        return Reason("required_check_missing", name, Mover.MAINTAINER)
    return Reason("required_check_never_reported", name, Mover.MAINTAINER)


def pending_checks(facts: Facts) -> Iterator[Reason]:
    """Checks run by themselves; those that only wait for an approval or never report do not."""
    checks = facts.head_checks
    if checks is None or checks.verdict is not CheckVerdict.PENDING:
        return
    for workflow in checks.queued:
        yield Reason("checks_pending", workflow, Mover.FORGE)
    waits_for_people = checks.approval_required or any(required_checks(facts))
    if not checks.queued and (_is_running(checks) or not waits_for_people):
        yield Reason("checks_pending", "", Mover.FORGE)


_RUNNING = frozenset({"QUEUED", "IN_PROGRESS", "PENDING", "WAITING", "REQUESTED"})


def _is_running(checks: Checks) -> bool:
    """Whether something is at work that may still report."""
    counted = any(state in _RUNNING and count for state, count in checks.counts)
    return bool(checks.queued) or counted


def changes_requested(facts: Facts) -> Iterator[Reason]:
    """Whoever asked for changes and is asked to look again has the move; else the author has."""
    if facts.review is not ReviewDecision.CHANGES_REQUESTED:
        return
    reviews = facts.reviews
    for reviewer in reviews.changes_requested_by or reviews.requested or ("",):
        if reviewer in reviews.requested:
            yield Reason("re_review_requested", reviewer, Mover.REVIEWER)
        else:
            yield Reason("changes_requested", reviewer, Mover.AUTHOR)


def unseen_review(facts: Facts) -> Iterator[Reason]:
    if facts.pull_request.review is None:
        yield Reason("review_unread", "", Mover.FORGE)
    elif facts.reviews.unreadable:
        yield Reason("review_unreadable", facts.reviews.unreadable, Mover.MAINTAINER)


def missing_approvals(facts: Facts) -> Iterator[Reason]:
    """Approvals are required and missing; where nobody is asked for one, a maintainer must be."""
    left = _approvals_left(facts)
    if left or (facts.review is ReviewDecision.PENDING and not facts.rules.code_owners):
        mover = Mover.REVIEWER if facts.reviews.requested else Mover.MAINTAINER
        yield Reason("approvals_missing", str(left or ""), mover)


def _approvals_left(facts: Facts) -> int:
    """How many approvals are missing; 0 where none is, or where nobody says how many."""
    undecided = facts.review is ReviewDecision.PENDING or (
        facts.review is ReviewDecision.NONE and facts.may_be_blocked and facts.pull_request.review
    )
    if not undecided:
        return 0
    if facts.reviews.approvals_left is not None:
        return facts.reviews.approvals_left
    return max(0, facts.rules.approvals - len(facts.reviews.approved_by))


def code_owners(facts: Facts) -> Iterator[Reason]:
    """Code owners must approve, and the decision is still open."""
    undecided = facts.review in (ReviewDecision.PENDING, ReviewDecision.NONE)
    if facts.rules.code_owners and undecided and facts.may_be_blocked:
        yield Reason("code_owner_review", "", Mover.REVIEWER)


def nobody_reviewed(facts: Facts) -> Iterator[Reason]:
    """No review decision is what keeps an open one from APPROVED. A draft asks for none."""
    seen = facts.pull_request.review
    asked = seen and not seen.unreadable and not facts.pull_request.draft
    if asked and facts.review is ReviewDecision.NONE:
        yield Reason("no_review", "", Mover.REVIEWER)


def stale_approval(facts: Facts) -> Iterator[Reason]:
    if facts.review is ReviewDecision.APPROVED and facts.reviews.approval_on_head is False:
        yield Reason("approval_not_on_head", "", Mover.REVIEWER)


def open_conversations(facts: Facts) -> Iterator[Reason]:
    unresolved = facts.pull_request.unresolved_threads
    if facts.rules.conversations_resolved and facts.may_be_blocked and unresolved:
        yield Reason("unresolved_conversations", str(unresolved), Mover.AUTHOR)


def behind(facts: Facts) -> Iterator[Reason]:
    if facts.mergeability is MergeVerdict.BEHIND:
        yield Reason("behind", "", Mover.AUTHOR)


def unknown_mergeability(facts: Facts) -> Iterator[Reason]:
    if facts.mergeability is MergeVerdict.UNKNOWN:
        yield Reason("mergeability_unknown", "", Mover.FORGE)


def queued(facts: Facts) -> Iterator[Reason]:
    if queue := facts.pull_request.queue:
        position = "" if queue.position is None else str(queue.position)
        yield Reason("in_merge_queue", position, Mover.FORGE)


def forge_words(facts: Facts, said: Set[str]) -> Iterator[Reason]:
    """What GitLab's own word for BLOCKED says, unless a condition above has said it."""
    seen = facts.pull_request.mergeability
    if seen is None or facts.mergeability is not MergeVerdict.BLOCKED:
        return
    for word in dict.fromkeys(re.findall(r"\w+", seen.raw.lower())):
        code, mover = GITLAB_CAUSES.get(word, ("", Mover.MAINTAINER))
        told = code in said or (word.startswith("ci_") and not said.isdisjoint(_OF_CHECKS))
        if code and not told:
            yield Reason(code, _count_of(code, facts), mover)


_OF_CHECKS = {"required_check_failing", "checks_failing", "checks_pending"}


def _count_of(code: str, facts: Facts) -> str:
    unresolved = facts.pull_request.unresolved_threads
    return str(unresolved) if code == "unresolved_conversations" and unresolved else ""


CONDITIONS: tuple[Callable[[Facts], Iterator[Reason]], ...] = (
    draft,
    conflict,
    failing_checks,
    changes_requested,
    missing_approvals,
    code_owners,
    nobody_reviewed,
    stale_approval,
    open_conversations,
    workflow_approvals,
    required_checks,
    behind,
    queued,
    pending_checks,
    unseen_checks,
    unseen_review,
    unknown_mergeability,
)

_NEVER_DELAYING = frozenset({"approval_not_on_head", "no_review"})
_NEVER_BLOCKING = _NEVER_DELAYING | {
    "checks_on_older_head",
    "checks_unread",
    "checks_unreadable",
    "in_merge_queue",
    "review_unread",
    "review_unreadable",
}


def _may_delay(reason: Reason, facts: Facts) -> bool:
    """Whether a reason explains that a pull request which nothing blocks is not ready."""
    return reason.code not in _NEVER_DELAYING


def _may_block(reason: Reason, facts: Facts) -> bool:
    """Whether a reason explains BLOCKED. A check that is not known to be required may not."""
    if reason.code == "checks_failing":
        return facts.pull_request.rules is None
    if reason.code == "checks_pending":
        return facts.pull_request.rules is None or bool(facts.rules.required_checks)
    return reason.code not in _NEVER_BLOCKING
