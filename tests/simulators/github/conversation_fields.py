"""GraphQL: fields of reviews, threads and comments; the writes that concern threads."""

from __future__ import annotations

from datetime import datetime
from types import SimpleNamespace
from typing import Any

from tests.simulators.github import verdicts
from tests.simulators.github.asking import FIELDS, Asking, Info, answers
from tests.simulators.github.connections import Connection, connection
from tests.simulators.github.conversation import Review, ReviewComment, Thread
from tests.simulators.github.errors import Refusal, not_found
from tests.simulators.github.model import Account, PullRequest
from tests.simulators.github.query_fields import find_node

COMMENT = "PullRequestReviewComment"


def author_of(said: Any, _: Info) -> Account | None:
    """A deleted author is null."""
    return None if said.author.gone else said.author


for _type in ("PullRequest", "PullRequestReview", COMMENT, "IssueComment"):
    FIELDS[_type, "author"] = author_of


@answers("PullRequestReviewThread.comments")
def _thread_comments(thread: Thread, info: Info, **page: Any) -> Connection:
    return connection(verdicts.visible_comments(thread, info.context.viewer), **page)


@answers("PullRequestReviewThread.isCollapsed")
def _is_collapsed(thread: Thread, _: Info) -> bool:
    return thread.is_resolved


@answers("PullRequestReviewThread.viewerCanReply")
def _can_reply(_: Thread, __: Info) -> bool:
    return True


@answers("PullRequestReviewThread.viewerCanResolve")
def _can_resolve(thread: Thread, _: Info) -> bool:
    return not thread.is_resolved


@answers("PullRequestReviewThread.viewerCanUnresolve")
def _can_unresolve(thread: Thread, _: Info) -> bool:
    return thread.is_resolved


@answers("PullRequestReview.comments")
def _review_comments(review: Review, _: Info, **page: Any) -> Connection:
    return connection(review.comments, **page)


@answers(f"{COMMENT}.pullRequestReview")
def _review_of(comment: ReviewComment, _: Info) -> Review:
    return comment.review


@answers(f"{COMMENT}.pullRequest")
def _pull_request_of(comment: ReviewComment, _: Info) -> PullRequest:
    return comment.thread.pull_request


@answers(f"{COMMENT}.publishedAt")
def _published_at(comment: ReviewComment, _: Info) -> datetime | None:
    return None if comment.state == "PENDING" else comment.created_at


@answers(f"{COMMENT}.outdated")
def _is_outdated(comment: ReviewComment, _: Info) -> bool:
    return comment.thread.is_outdated


@answers(f"{COMMENT}.diffHunk")
def _hunk(comment: ReviewComment, _: Info) -> str:
    line = comment.thread.original_line or 1
    return f"@@ -{line},1 +{line},1 @@"


def _of_thread(attribute: str) -> Any:
    return lambda comment, _: getattr(comment.thread, attribute)


for _field, _attribute in {
    "path": "path",
    "line": "line",
    "startLine": "start_line",
    "originalLine": "original_line",
    "originalStartLine": "original_start_line",
    "subjectType": "subject_type",
}.items():
    FIELDS[COMMENT, _field] = _of_thread(_attribute)


@answers("Mutation.resolveReviewThread")
def _resolve(_: Any, info: Info, input: dict[str, Any]) -> SimpleNamespace:
    asking: Asking = info.context
    thread = _thread(asking, input["threadId"])
    asking.world.resolve(thread, asking.viewer.payer)
    return SimpleNamespace(thread=thread, client_mutation_id=input.get("clientMutationId"))


@answers("Mutation.unresolveReviewThread")
def _unresolve(_: Any, info: Info, input: dict[str, Any]) -> SimpleNamespace:
    thread = _thread(info.context, input["threadId"])
    info.context.world.unresolve(thread)
    return SimpleNamespace(thread=thread, client_mutation_id=input.get("clientMutationId"))


@answers("Mutation.addPullRequestReviewThreadReply")
def _reply(_: Any, info: Info, input: dict[str, Any]) -> SimpleNamespace:
    asking: Asking = info.context
    thread = _thread(asking, input["pullRequestReviewThreadId"])
    said = asking.world.reply(thread, asking.viewer.payer, input["body"])
    return SimpleNamespace(comment=said, client_mutation_id=input.get("clientMutationId"))


def _thread(asking: Asking, node: str) -> Thread:
    found = find_node(asking, node)
    if not isinstance(found, Thread):
        raise not_found("PullRequestReviewThread node", f"global id of '{node}'")
    if asking.viewer.reads_only:
        raise Refusal("FORBIDDEN", "Resource not accessible by personal access token")
    return found
