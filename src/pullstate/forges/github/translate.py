"""GitHub's facts → the domain: details, mergeability, reviews, rules, and what was refused."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pullstate.domain.pull_request import (
    Base,
    Checks,
    CheckVerdict,
    Head,
    Mergeability,
    MergeVerdict,
    PullRequest,
    Queue,
    Review,
    ReviewDecision,
    Rules,
)
from pullstate.domain.review import GHOST
from pullstate.forges.github import payloads
from pullstate.forges.github.checks import checks_of_commit, rollup_verdict
from pullstate.forges.graphql import Refused

Gaps = tuple[tuple[str, str], ...]

_MERGE_STATES = {
    "CLEAN": MergeVerdict.CLEAN,
    "HAS_HOOKS": MergeVerdict.CLEAN,
    "UNSTABLE": MergeVerdict.UNSTABLE,
    "BEHIND": MergeVerdict.BEHIND,
    "BLOCKED": MergeVerdict.BLOCKED,
    "DRAFT": MergeVerdict.BLOCKED,
}
_DECISIONS = {
    "APPROVED": ReviewDecision.APPROVED,
    "CHANGES_REQUESTED": ReviewDecision.CHANGES_REQUESTED,
    "REVIEW_REQUIRED": ReviewDecision.PENDING,
}
_FACETS = {
    "statusCheckRollup": "checks",
    "counted": "checks",
    "contexts": "checks",
    "checkSuites": "checks",
    "commits": "checks",
    "reviewDecision": "review",
    "latestOpinionatedReviews": "review",
    "reviewRequests": "review",
    "requestedReviewer": "review",
    "refUpdateRule": "rules",
}


@dataclass(frozen=True, slots=True)
class Refusals:
    """The fields of one pull request that the forge refused, and why."""

    reasons: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, refused: Iterable[Refused]) -> Refusals:
        return cls(tuple((each.field, str(each.error())) for each in refused))

    def why(self, *fields: str) -> str | None:
        """Why one of the fields could not be read; None if all could."""
        return next((why for field, why in self.reasons if field in fields), None)

    def gaps(self) -> Gaps:
        """(facet, why), each facet once."""
        found = {_FACETS.get(field, "details"): why for field, why in reversed(self.reasons)}
        return tuple(sorted(found.items()))


NOTHING_REFUSED = Refusals()


def whole(
    seen: payloads.PullRequest,
    refusals: Refusals = NOTHING_REFUSED,
    contexts: Sequence[payloads.Context] | None = None,
    unread_names: str | None = None,
) -> PullRequest:
    """A pull request of which all facts were asked. `contexts` are those of its newest commit,
    where they were read; `unread_names` says why they were wanted and could not be."""
    return _pull_request(
        seen,
        checks=checks(seen, refusals, contexts, unread_names),
        mergeability=mergeability(seen),
        review=review(seen, refusals),
        rules=rules(seen, refusals),
        queue=queue(seen),
    )


def lean(seen: payloads.PullRequest, refusals: Refusals = NOTHING_REFUSED) -> PullRequest:
    """A row of a list. An unfinished one comes without observations: a list has too few of its
    facts. Of a finished one nothing moves any more, and what a list has is all that is kept."""
    if not is_finished(seen):
        return _pull_request(seen)
    return _pull_request(
        seen,
        checks=_listed_checks(seen, refusals),
        mergeability=mergeability(seen),
        review=review(seen, refusals),
    )


def is_finished(seen: payloads.PullRequest) -> bool:
    return seen.state in ("MERGED", "CLOSED") or bool(seen.merged_at or seen.closed_at)


def _pull_request(seen: payloads.PullRequest, **observations: object) -> PullRequest:
    merged_at = seen.merged_at
    if merged_at is None and seen.state == "MERGED":
        merged_at = seen.closed_at or seen.updated_at
    closed_at = seen.closed_at or (seen.updated_at if seen.state == "CLOSED" else None)
    return PullRequest(
        provider_id=seen.id,
        number=seen.number,
        url=seen.url,
        title=seen.title,
        author=login(seen.author),
        head=head(seen),
        base=base(seen),
        draft=seen.is_draft,
        opened_at=seen.created_at,
        changed_at=seen.updated_at,
        merged_at=merged_at,
        closed_at=closed_at,
        closed_at_is_estimated=closed_at is not None and seen.closed_at is None,
        **observations,
    )


def login(actor: payloads.Actor | None) -> str:
    """A deleted account is null, and shown as the ghost that GitHub itself puts there."""
    return (actor.login if actor else "") or GHOST


def head(seen: payloads.PullRequest) -> Head:
    """Where it comes from; the repository may be gone, and its owner too."""
    repository = seen.head_repository
    owner = seen.head_repository_owner or (repository.owner if repository else None)
    return Head(
        branch=seen.head_ref_name,
        sha=seen.head_ref_oid,
        owner=owner.login if owner else "",
        repository_url=repository.url if repository else "",
    )


def base(seen: payloads.PullRequest) -> Base:
    """The base branch's tip now, `baseRefOid` (the tip at the last push) where it is gone."""
    tip = seen.base_ref.target.oid if seen.base_ref and seen.base_ref.target else ""
    return Base(seen.base_ref_name, tip or seen.base_ref_oid)


def checks(
    seen: payloads.PullRequest,
    refusals: Refusals = NOTHING_REFUSED,
    contexts: Sequence[payloads.Context] | None = None,
    unread_names: str | None = None,
) -> Checks:
    """The newest commit's checks. Its sha says whether they are the head's: GitHub may lag."""
    refused = refusals.why("statusCheckRollup", "commits")
    commit = seen.commit
    if commit is None or refused:
        why = refused or (None if seen.commits else "the forge gave no commit")
        return Checks(seen.head_ref_oid, CheckVerdict.NONE, unreadable=why)
    return checks_of_commit(commit, contexts, _unread(commit, refusals, unread_names))


def _unread(commit: payloads.Commit, refusals: Refusals, unread_names: str | None) -> str | None:
    """What of the checks is not known beside the verdict, and why."""
    if why := refusals.why("contexts") or unread_names:
        return f"names of checks: {why}"
    if why := refusals.why("checkSuites"):
        return f"check suites: {why}"
    more = commit.check_suites and commit.check_suites.page_info.has_next_page
    return "check suites: more than 100, of which the first were read" if more else None


def _listed_checks(seen: payloads.PullRequest, refusals: Refusals) -> Checks:
    rollup = seen.status_check_rollup
    refused = refusals.why("statusCheckRollup")
    if rollup is None or refused:
        return Checks(seen.head_ref_oid, CheckVerdict.NONE, unreadable=refused)
    oid = rollup.commit.oid if rollup.commit else seen.head_ref_oid
    return Checks(oid, rollup_verdict(rollup.state))


def mergeability(seen: payloads.PullRequest) -> Mergeability:
    """Whether it merges, of the head and base commit of the same answer."""
    return Mergeability(
        verdict=merge_verdict(seen.mergeable, seen.merge_state_status),
        raw=f"{seen.mergeable or 'UNKNOWN'}/{seen.merge_state_status or 'UNKNOWN'}",
        head_sha=seen.head_ref_oid,
        base_sha=base(seen).sha,
    )


def merge_verdict(mergeable: str | None, state: str | None) -> MergeVerdict:
    """`mergeable` and `mergeStateStatus` together; a word that is not known yet is UNKNOWN."""
    unknown = mergeable in (None, "UNKNOWN")
    if mergeable == "CONFLICTING" or (state == "DIRTY" and not unknown):
        return MergeVerdict.CONFLICTING
    if mergeable != "MERGEABLE":
        return MergeVerdict.UNKNOWN
    return _MERGE_STATES.get(state or "", MergeVerdict.UNKNOWN)


def review(seen: payloads.PullRequest, refusals: Refusals = NOTHING_REFUSED) -> Review:
    """GitHub's decision; where it makes none, what the writers' latest opinions come to.

    A comment clears no opinion and a dismissal does: GitHub lists the latest opinions so.
    """
    opinions = seen.latest_opinionated_reviews
    given = opinions.items if opinions else []
    decided = _DECISIONS.get(seen.review_decision or "")
    refused = refusals.why("reviewDecision", "latestOpinionatedReviews")
    return Review(
        decision=decided or decision_of(given),
        approved_by=_authors(given, "APPROVED"),
        changes_requested_by=_authors(given, "CHANGES_REQUESTED"),
        requested=requested(seen.review_requests),
        approval_on_head=_approval_on_head(given, seen.head_ref_oid),
        unreadable=None if decided else refused,
    )


def decision_of(opinions: Iterable[payloads.Opinion]) -> ReviewDecision:
    """Changes requested by anybody who may write, else an approval, else none."""
    states = {opinion.state for opinion in opinions}
    if "CHANGES_REQUESTED" in states:
        return ReviewDecision.CHANGES_REQUESTED
    return ReviewDecision.APPROVED if "APPROVED" in states else ReviewDecision.NONE


def _authors(opinions: Iterable[payloads.Opinion], state: str) -> tuple[str, ...]:
    return tuple(sorted({login(each.author) for each in opinions if each.state == state}))


def requested(
    requests: payloads.Connection[payloads.ReviewRequest] | None,
) -> tuple[str, ...]:
    """Who is asked to look: logins, and teams as `@team`; one whose account is gone is left out."""
    asked = [each.requested_reviewer for each in (requests.items if requests else ())]
    names = {f"@{who.slug}" if who.slug else who.login for who in asked if who}
    return tuple(sorted(names - {""}))


def _approval_on_head(opinions: Sequence[payloads.Opinion], head_sha: str) -> bool | None:
    approvals = [each for each in opinions if each.state == "APPROVED"]
    if not approvals:
        return None
    return any(each.commit is not None and each.commit.oid == head_sha for each in approvals)


def rules(seen: payloads.PullRequest, refusals: Refusals = NOTHING_REFUSED) -> Rules | None:
    """What the base branch requires; None where the branch is gone or that was refused."""
    rule = seen.base_ref.ref_update_rule if seen.base_ref else None
    if rule is None:
        unseen = seen.base_ref is None or refusals.why("refUpdateRule", "baseRef")
        return None if unseen else Rules()
    contexts = rule.required_status_check_contexts or ()
    return Rules(
        required_checks=tuple(sorted({name for name in contexts if name})),
        approvals=rule.required_approving_review_count or 0,
        code_owners=rule.requires_code_owner_reviews,
        conversations_resolved=rule.requires_conversation_resolution,
    )


def queue(seen: payloads.PullRequest) -> Queue | None:
    """Its place in the merge queue; a place that was not told is still a place."""
    entry = seen.merge_queue_entry
    if entry is None:
        return Queue(None, "") if seen.is_in_merge_queue else None
    return Queue(entry.position, entry.state)
