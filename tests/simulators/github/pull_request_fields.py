"""GraphQL: a pull request's fields."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tests.simulators.github import verdicts
from tests.simulators.github.asking import Info, Ref, Rollup, answers, ref, rollup
from tests.simulators.github.connections import Connection, connection
from tests.simulators.github.identifiers import node_id
from tests.simulators.github.model import Account, PullRequest, Repository, Team


@answers("PullRequest.baseRef")
def _base_ref(pull_request: PullRequest, _: Info) -> Ref | None:
    return ref(pull_request.repository, pull_request.base_ref_name)


@answers("PullRequest.headRef")
def _head_ref(pull_request: PullRequest, _: Info) -> Ref | None:
    return ref(pull_request.head_repository, pull_request.head_ref_name)


@answers("PullRequest.headRefOid")
def _head_oid(pull_request: PullRequest, _: Info) -> str:
    return pull_request.head.oid


@answers("PullRequest.headRepository")
def _head_repository(pull_request: PullRequest, info: Info) -> Repository | None:
    return info.context.world.visible(pull_request.head_repository, info.context.viewer)


@answers("PullRequest.headRepositoryOwner")
def _head_owner(pull_request: PullRequest, _: Info) -> Account | None:
    return None if pull_request.head_owner.gone else pull_request.head_owner


@answers("PullRequest.baseRepository")
def _base_repository(pull_request: PullRequest, _: Info) -> Repository:
    return pull_request.repository


@answers("PullRequest.closed")
def _closed(pull_request: PullRequest, _: Info) -> bool:
    return pull_request.state != "OPEN"


@answers("PullRequest.merged")
def _merged(pull_request: PullRequest, _: Info) -> bool:
    return pull_request.state == "MERGED"


@answers("PullRequest.mergeable")
def _mergeable(pull_request: PullRequest, info: Info) -> str:
    info.context.asked_mergeable.add(pull_request)
    return verdicts.mergeable(pull_request)


@answers("PullRequest.mergeStateStatus")
def _merge_state(pull_request: PullRequest, _: Info) -> str:
    return verdicts.merge_state(pull_request)


@answers("PullRequest.reviewDecision")
def _review_decision(pull_request: PullRequest, _: Info) -> str | None:
    return verdicts.review_decision(pull_request)


@answers("PullRequest.isInMergeQueue")
def _is_queued(pull_request: PullRequest, _: Info) -> bool:
    return pull_request.merge_queue_entry is not None


@answers("PullRequest.totalCommentsCount")
def _total_comments(pull_request: PullRequest, _: Info) -> int:
    return len(pull_request.comments) + sum(len(each.comments) for each in pull_request.threads)


@answers("PullRequest.lastEditedAt")
def _never_edited(pull_request: PullRequest, _: Info) -> None:
    return None


@answers("PullRequest.statusCheckRollup")
def _rollup_of_head(pull_request: PullRequest, info: Info) -> Rollup | None:
    return rollup(pull_request.head, info.context)


@answers("PullRequest.commits")
def _commits(pull_request: PullRequest, _: Info, **page: Any) -> Connection:
    found = connection(pull_request.commits, **page)
    found.nodes = [
        SimpleNamespace(
            id=f"PURC_{pull_request.database_id}_{each.oid}", commit=each, pull_request=pull_request
        )
        for each in found.nodes
    ]
    return found


@answers("PullRequest.labels")
def _labels(pull_request: PullRequest, _: Info, **page: Any) -> Connection:
    return connection(pull_request.labels, **page)


@answers("PullRequest.files")
def _files(pull_request: PullRequest, _: Info, **page: Any) -> Connection:
    return connection(pull_request.files, **page)


@answers("PullRequest.comments")
def _conversation(pull_request: PullRequest, _: Info, **page: Any) -> Connection:
    return connection(pull_request.comments, **page)


@answers("PullRequest.reviews")
def _reviews(
    pull_request: PullRequest,
    info: Info,
    author: str | None = None,
    states: list[str] | None = None,
    **page: Any,
) -> Connection:
    found = verdicts.visible_reviews(pull_request, info.context.viewer)
    if author:
        found = [each for each in found if each.author.login == author]
    if states:
        found = [each for each in found if each.state in states]
    return connection(found, **page)


@answers("PullRequest.latestReviews")
def _latest_reviews(pull_request: PullRequest, _: Info, **page: Any) -> Connection:
    return connection(verdicts.latest_reviews(pull_request), **page)


@answers("PullRequest.latestOpinionatedReviews")
def _opinionated(
    pull_request: PullRequest,
    _: Info,
    writersOnly: bool = False,
    **page: Any,
) -> Connection:
    found = verdicts.opinionated_reviews(pull_request, writers_only=writersOnly)
    return connection(found, **page)


@answers("PullRequest.reviewRequests")
def _review_requests(pull_request: PullRequest, _: Info, **page: Any) -> Connection:
    found = connection(pull_request.review_requests, **page)
    found.nodes = [_request(pull_request, each) for each in found.nodes]
    return found


def _request(pull_request: PullRequest, who: Account | Team) -> SimpleNamespace:
    request = node_id("RR", pull_request.database_id, who.database_id)
    gone = isinstance(who, Account) and who.gone
    return SimpleNamespace(
        id=request, as_code_owner=False, requested_reviewer=None if gone else who
    )


@answers("PullRequest.reviewThreads")
def _threads(pull_request: PullRequest, info: Info, **page: Any) -> Connection:
    return connection(verdicts.visible_threads(pull_request, info.context.viewer), **page)
