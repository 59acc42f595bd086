"""GitLab's facts → the domain: details, checks, mergeability, reviews."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from pullstate.domain.pull_request import (
    Base,
    CheckVerdict,
    Head,
    Mergeability,
    PullRequest,
    Queue,
    Review,
)
from pullstate.domain.review import GHOST
from pullstate.forges.errors import Unexpected
from pullstate.forges.gitlab.checks import Pipeline, checks, head_pipeline
from pullstate.forges.gitlab.payloads import Facts, MergeRequest, User
from pullstate.forges.gitlab.place import Place
from pullstate.forges.gitlab.values import Connection, nodes
from pullstate.forges.gitlab.verdicts import MergeFacts, merge_verdict, review_decision

Gaps = tuple[tuple[str, str], ...]
Either = MergeRequest | Facts

_DRAFT_TITLE = re.compile(r"\s*(?:\[(?:draft|wip)\]|\(draft\)|(?:draft|wip):)", re.IGNORECASE)
_NOT_LOOKED = frozenset({"UNREVIEWED", "REVIEW_STARTED", "UNAPPROVED"})


@dataclass(frozen=True, slots=True)
class Extra:
    """What a merge request's own record does not say, and why some of that is not known."""

    pipeline: Pipeline | None = None
    checks_unreadable: str | None = None
    pipeline_required: bool = False
    approvals_left: int | None = None
    approved_by: tuple[str, ...] = ()
    change_requesters: tuple[str, ...] = ()
    reviewers: tuple[tuple[str, str], ...] = ()  # (username, state of the review)
    review_unreadable: str | None = None


def details(seen: Either, place: Place, source: str) -> PullRequest:
    """A merge request without its observations. `source` is the path of the project it comes
    from, "" where that is gone or hidden. Times are whole seconds: GraphQL has no other.

    Unexpected where it has no time at all.
    """
    opened_at = whole_second(seen.created_at or seen.updated_at)
    changed_at = whole_second(seen.updated_at or seen.created_at)
    if opened_at is None or changed_at is None:
        raise Unexpected("a merge request without a time")
    merged_at = whole_second(seen.merged_at)
    closed_at = whole_second(seen.closed_at) if _ended(seen) else None
    if seen.state == "merged" and merged_at is None:
        merged_at = closed_at or changed_at
    ended = merged_at or closed_at or (changed_at if seen.state == "closed" else None)
    return PullRequest(
        provider_id=provider_id(seen),
        number=seen.iid,
        url=seen.web_url or f"{place.url}/-/merge_requests/{seen.iid}",
        title=seen.title,
        author=username(seen.author),
        head=_head(seen, place, source),
        base=Base(seen.target_branch, seen.diff_refs.start_sha if seen.diff_refs else ""),
        draft=is_draft(seen),
        opened_at=opened_at,
        changed_at=changed_at,
        merged_at=merged_at,
        closed_at=ended,
        closed_at_is_estimated=ended is not None and not (seen.merged_at or closed_at),
    )


def whole(seen: Either, place: Place, source: str, extra: Extra) -> PullRequest:
    """A merge request with all facts; of one answer, so that they belong to one head."""
    made = details(seen, place, source)
    observed = checks(seen.head_sha, extra.pipeline, extra.checks_unreadable)
    return replace(
        made,
        checks=observed,
        mergeability=mergeability(seen, extra, observed.verdict),
        review=review(seen, extra),
        queue=None if made.finished else queue(seen),
    )


def is_finished(seen: Either) -> bool:
    """Merged or closed; `locked` is a merge under way, and any new state is open."""
    return seen.merged_at is not None or seen.state in ("merged", "closed")


def _ended(seen: Either) -> bool:
    """A reopened one may still say when it was closed."""
    return is_finished(seen) or seen.state is None


def whole_second(moment: datetime | None) -> datetime | None:
    return moment and moment.replace(microsecond=0)


def provider_id(seen: Either) -> str:
    """The global id, which GraphQL spells out."""
    if isinstance(seen, Facts):
        return seen.id
    return f"gid://gitlab/MergeRequest/{seen.id if seen.id is not None else ''}"


def username(user: User | None) -> str:
    """A deleted account is null, or the ghost that GitLab itself puts there."""
    return (user.username if user else "") or GHOST


def is_draft(seen: Either) -> bool:
    """The flag, by whichever name the version has for it; the title where it has none."""
    flag = seen.draft
    if flag is None and isinstance(seen, MergeRequest):
        flag = seen.work_in_progress
    return bool(_DRAFT_TITLE.match(seen.title)) if flag is None else flag


def _head(seen: Either, place: Place, source: str) -> Head:
    return Head(
        branch=seen.source_branch,
        sha=seen.head_sha,
        owner=source.rpartition("/")[0],
        repository_url=f"{place.root}/{source}" if source else "",
    )


def mergeability(seen: Either, extra: Extra, verdict: CheckVerdict) -> Mergeability:
    """Whether it merges, of the head and the target branch's tip of the same answer."""
    facts = MergeFacts(
        detailed_status=seen.detailed_merge_status,
        merge_status=seen.merge_status,
        mergeability_checks=_single_checks(seen),
        approvals_left=extra.approvals_left,
        discussions_resolved=_discussions_resolved(seen),
        pipeline_required=extra.pipeline_required,
    )
    return Mergeability(
        verdict=merge_verdict(facts, verdict),
        raw=_raw(facts, verdict),
        head_sha=seen.head_sha,
        base_sha=seen.diff_refs.start_sha if seen.diff_refs else "",
    )


def _single_checks(seen: Either) -> tuple[tuple[str, str], ...]:
    if isinstance(seen, MergeRequest):
        return ()
    return tuple((each.identifier, each.status) for each in seen.mergeability_checks)


def _discussions_resolved(seen: Either) -> bool | None:
    if isinstance(seen, MergeRequest):
        return seen.blocking_discussions_resolved
    return seen.mergeable_discussions_state


def _raw(facts: MergeFacts, verdict: CheckVerdict) -> str:
    """GitLab's words: the statuses, then every single rule that fails. Before 15.6 the rules that
    other fields show to fail, in the words of later versions."""
    words = [facts.detailed_status or "", facts.merge_status or ""]
    failed = [name for name, status in facts.mergeability_checks if status.lower() == "failed"]
    if facts.detailed_status is None:
        failed = [word for word, fails in _rules_before_15_6(facts, verdict) if fails]
    return " ".join(["/".join(filter(None, words)), *failed]).strip()


def _rules_before_15_6(facts: MergeFacts, verdict: CheckVerdict) -> Iterable[tuple[str, bool]]:
    yield "not_approved", bool(facts.approvals_left)
    yield "discussions_not_resolved", facts.discussions_resolved is False
    yield "ci_must_pass", facts.pipeline_required and verdict is not CheckVerdict.PASSING


def review(seen: Either, extra: Extra) -> Review:
    """What the reviews come to, and who is still asked to look."""
    objectors = [name for name, state in extra.reviewers if state == "REQUESTED_CHANGES"]
    waited_for = [name for name, state in extra.reviewers if state in _NOT_LOOKED]
    return Review(
        decision=review_decision(
            reviewer_states=[state for _, state in extra.reviewers],
            change_requesters=extra.change_requesters,
            approved_by=extra.approved_by,
            approvals_left=extra.approvals_left,
            detailed_status=seen.detailed_merge_status,
        ),
        approved_by=_sorted(extra.approved_by),
        changes_requested_by=_sorted([*extra.change_requesters, *objectors]),
        requested=_sorted(name for name in waited_for if name not in extra.approved_by),
        approvals_left=extra.approvals_left,
        unreadable=extra.review_unreadable,
    )


def _sorted(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(names) - {""}))


def queue(seen: Either) -> Queue | None:
    """Its place in the merge train, counted from 1."""
    car = seen.merge_train_car if isinstance(seen, Facts) else None
    if car is None or car.status.upper() in ("MERGED", "SKIP_MERGED"):
        return None
    return Queue(None if car.index is None else car.index + 1, car.status)


def extra_of(
    seen: Facts,
    place: Place,
    *,
    pipeline_required: bool,
    checks_unreadable: str | None = None,
    review_unreadable: str | None = None,
) -> Extra:
    """What GraphQL says in the same answer. `checks_unreadable`: why a missing pipeline may be
    one that the token may not see."""
    pipeline = head_pipeline(seen, place, required=pipeline_required)
    return Extra(
        pipeline=pipeline,
        checks_unreadable=None if pipeline else checks_unreadable,
        pipeline_required=pipeline_required,
        approvals_left=seen.approvals_left,
        approved_by=_usernames(seen.approved_by),
        change_requesters=_usernames(seen.change_requesters),
        reviewers=tuple((each.username, each.state) for each in nodes(seen.reviewers)),
        review_unreadable=review_unreadable,
    )


def _usernames(users: Connection[User] | None) -> tuple[str, ...]:
    return tuple(username(each) for each in nodes(users))
