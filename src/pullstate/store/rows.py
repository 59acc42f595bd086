"""Rows ↔ domain. Rows are taken apart by the position of their columns: it is a hot path."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from pullstate.domain.pull_request import (
    Base,
    Check,
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
from pullstate.domain.text import clean_line
from pullstate.store.records import FacetTimes, ListedPullRequest, StoredPullRequest
from pullstate.store.schema import freshness, pull_request

_CHECK_VERDICTS = {verdict.value: verdict for verdict in CheckVerdict}
_MERGE_VERDICTS = {verdict.value: verdict for verdict in MergeVerdict}
_DECISIONS = {decision.value: decision for decision in ReviewDecision}

_CACHED = 4096  # frozen observations that were read lately

_OURS = (
    "id",
    "handle",
    "repository_id",
    "shown_branch",
    "unfinished",
    "first_seen_at",
    "backfilled",
    "gone_at",
)
FACTS = tuple(column for column in pull_request.c if column.name not in _OURS)
TIMES = (
    freshness.c.details_at,
    freshness.c.checks_at,
    freshness.c.mergeability_at,
    freshness.c.review_at,
    freshness.c.threads_at,
    freshness.c.head_seen_at,
    freshness.c.base_moved_at,
)
LISTED = (pull_request.c.id, pull_request.c.handle, *FACTS)
COLUMNS = (
    pull_request.c.id,
    pull_request.c.handle,
    pull_request.c.repository_id,
    pull_request.c.first_seen_at,
    pull_request.c.gone_at,
    freshness.c.asked_at,
    *TIMES,
    *FACTS,
)
_FACTS_AT = len(COLUMNS) - len(FACTS)

dumps = json.JSONEncoder(separators=(",", ":")).encode
scan = json.JSONDecoder().raw_decode  # what `dumps` wrote, and the index where it ends


def loads(text: str) -> Any:
    """What `dumps` wrote: no white space around it is looked for."""
    return scan(text)[0]


def handle_of(site_url: str, provider_id: str) -> str:
    """Our name for a pull request: the same in every store, from the forge's own id."""
    digest = hashlib.sha256(f"{site_url}\n{provider_id}".encode("utf-8", "replace")).digest()
    return "pr_" + base64.b32encode(digest[:15]).decode().lower()


def listed_of(row: Sequence[Any]) -> ListedPullRequest:
    """A row of LISTED → the pull request, for a list."""
    return ListedPullRequest(row[0], row[1], pull_request_of(row[2:]))


def stored_of(row: Sequence[Any]) -> StoredPullRequest:
    """A row of COLUMNS → the pull request and what the store knows of it."""
    id_, handle, repository_id, first_seen_at, gone_at, asked_at, *times = row[:_FACTS_AT]
    known, observed = pull_request_of(row[_FACTS_AT:]), FacetTimes(*times)
    return StoredPullRequest(
        id_, handle, repository_id, known, first_seen_at, gone_at, observed, asked_at
    )


def pull_request_of(row: Sequence[Any]) -> PullRequest:
    """The values of FACTS → the pull request."""
    (
        number, provider_id, url, title, author,
        head_branch, head_sha, head_owner, head_repository_url,
        base_branch, base_sha, draft, opened_at, changed_at, merged_at, closed_at,
        closed_at_is_estimated, queue_position, queue_state,
        checks_sha, checks_verdict, checks_detail,
        merge_verdict, merge_raw, merge_head, merge_base, recheck_due, last_known,
        review_decision, review_detail, rules, unresolved_threads,
    ) = row  # fmt: skip
    return PullRequest(
        provider_id,
        number,
        url,
        title,
        author,
        Head(head_branch, head_sha, head_owner, head_repository_url),
        Base(base_branch, base_sha),
        draft,
        opened_at,
        changed_at,
        merged_at,
        closed_at,
        closed_at_is_estimated,
        None if queue_state is None else Queue(queue_position, queue_state),
        None if checks_verdict is None else _checks(checks_sha, checks_verdict, checks_detail),
        None
        if merge_verdict is None
        else Mergeability(
            _MERGE_VERDICTS[merge_verdict],
            merge_raw,
            merge_head,
            merge_base,
            recheck_due,
            None if last_known is None else _MERGE_VERDICTS[last_known],
        ),
        None if review_decision is None else _review(review_decision, review_detail),
        None if rules is None else _rules(rules),
        unresolved_threads,
    )


@lru_cache(_CACHED)
def _checks(sha: str, verdict: str, detail: str | None) -> Checks:
    if detail is None:
        return Checks(sha, _CHECK_VERDICTS[verdict])
    failing, queued, approval, names, counts, unreadable = loads(detail)
    return Checks(
        sha,
        _CHECK_VERDICTS[verdict],
        tuple(Check(*check) for check in failing),
        tuple(queued),
        tuple(approval),
        None if names is None else tuple(names),
        tuple((name, count) for name, count in counts),
        unreadable,
    )


@lru_cache(_CACHED)
def _review(decision: str, detail: str | None) -> Review:
    if detail is None:
        return Review(_DECISIONS[decision])
    approved, changes, requested, on_head, left, unreadable = loads(detail)
    return Review(
        _DECISIONS[decision],
        tuple(approved),
        tuple(changes),
        tuple(requested),
        on_head,
        left,
        unreadable,
    )


@lru_cache(_CACHED)
def _rules(text: str) -> Rules:
    required, approvals, code_owners, conversations = loads(text)
    return Rules(tuple(required), approvals, code_owners, conversations)


def values_of(known: PullRequest) -> dict[str, Any]:
    """The columns of a pull request's facts, for an insert or update."""
    head, base, queue = known.head, known.base, known.queue
    return {
        "number": known.number,
        "provider_id": known.provider_id,
        "url": known.url,
        "title": known.title,
        "author": known.author,
        "head_branch": head.branch,
        "shown_branch": clean_line(head.branch).text,
        "head_sha": head.sha,
        "head_owner": head.owner,
        "head_repository_url": head.repository_url,
        "base_branch": base.branch,
        "base_sha": base.sha,
        "draft": known.draft,
        "opened_at": known.opened_at,
        "changed_at": known.changed_at,
        "merged_at": known.merged_at,
        "closed_at": known.closed_at,
        "closed_at_is_estimated": known.closed_at_is_estimated,
        "queue_position": None if queue is None else queue.position,
        "queue_state": None if queue is None else queue.state,
        **_checks_values(known.checks),
        **_mergeability_values(known.mergeability),
        **_review_values(known.review),
        "rules": _rules_text(known.rules),
        "unresolved_threads": known.unresolved_threads,
        "unfinished": 0 if known.finished else 1,
    }


_NO_CHECKS = {"checks_sha": None, "checks_verdict": None, "checks_detail": None}


def _checks_values(checks: Checks | None) -> dict[str, Any]:
    if checks is None:
        return _NO_CHECKS
    failing = [(check.name, check.url, check.required) for check in checks.failing]
    detail = (
        failing,
        checks.queued,
        checks.approval_required,
        checks.names,
        checks.counts,
        checks.unreadable,
    )
    plain = not any(detail) and checks.names is None
    return {
        "checks_sha": checks.sha,
        "checks_verdict": checks.verdict.value,
        "checks_detail": None if plain else dumps(detail),
    }


_NO_MERGEABILITY = dict.fromkeys(
    (
        "mergeability_verdict",
        "mergeability_raw",
        "mergeability_head_sha",
        "mergeability_base_sha",
        "mergeability_recheck_due",
        "mergeability_last_known",
    )
)


def _mergeability_values(mergeability: Mergeability | None) -> dict[str, Any]:
    if mergeability is None:
        return _NO_MERGEABILITY
    last_known = mergeability.last_known
    return {
        "mergeability_verdict": mergeability.verdict.value,
        "mergeability_raw": mergeability.raw,
        "mergeability_head_sha": mergeability.head_sha,
        "mergeability_base_sha": mergeability.base_sha,
        "mergeability_recheck_due": mergeability.recheck_due,
        "mergeability_last_known": None if last_known is None else last_known.value,
    }


_NO_REVIEW = {"review_decision": None, "review_detail": None}


def _review_values(review: Review | None) -> dict[str, Any]:
    if review is None:
        return _NO_REVIEW
    detail = (
        review.approved_by,
        review.changes_requested_by,
        review.requested,
        review.approval_on_head,
        review.approvals_left,
        review.unreadable,
    )
    plain = not any(detail[:3]) and all(value is None for value in detail[3:])
    return {
        "review_decision": review.decision.value,
        "review_detail": None if plain else dumps(detail),
    }


def _rules_text(rules: Rules | None) -> str | None:
    if rules is None:
        return None
    return dumps(
        (
            rules.required_checks,
            rules.approvals,
            rules.code_owners,
            rules.conversations_resolved,
        )
    )
