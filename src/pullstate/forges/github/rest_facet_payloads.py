"""What is read of REST's answers about one pull request, and how it says in GraphQL's words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pullstate.domain.pull_request import CheckVerdict
from pullstate.forges.github.checks import verdict_of
from pullstate.forges.github.facet_payloads import (
    ListedCommit,
    OnHead,
    Overview,
    Submitted,
)
from pullstate.forges.github.facet_payloads import (
    Said as GraphQLSaid,
)
from pullstate.forges.github.payloads import Moment, Text, Word
from pullstate.forges.github.rest_payloads import (
    CheckRun,
    End,
    Payload,
    PullRequest,
    Status,
    User,
    WorkflowRun,
    actor,
)


def overview_of(seen: PullRequest) -> Overview:
    """The overview; who has reviewed is not said by this answer."""
    told = seen.as_graphql()
    return Overview.model_validate(
        {
            "state": told.state,
            "body": seen.body,
            "changedFiles": seen.changed_files,
            "additions": seen.additions,
            "deletions": seen.deletions,
            "mergeable": told.mergeable,
            "mergeStateStatus": told.merge_state_status,
            "labels": {"nodes": [{"name": each.name} for each in seen.labels]},
            "reviewRequests": told.review_requests,
        }
    )


class Signature(Payload):
    name: str | None = None
    date: Moment


class Change(Payload):
    message: Text = ""
    author: Signature | None = None
    committer: Signature


class Commit(Payload):
    sha: Text = ""
    html_url: Text = ""
    commit: Change
    author: User | None = None

    def as_graphql(self) -> ListedCommit:
        signed = self.commit.author
        return ListedCommit.model_validate(
            {
                "oid": self.sha,
                "messageHeadline": self.commit.message.partition("\n")[0],
                "committedDate": self.commit.committer.date,
                "url": self.html_url,
                "author": {
                    "date": signed.date if signed else None,
                    "name": signed.name if signed else None,
                    "user": actor(self.author),
                },
            }
        )


class Said(Payload):
    """A comment, or a review."""

    id: int
    user: User | None = None
    body: Text = ""
    html_url: Text = ""
    created_at: Moment | None = None
    updated_at: Moment | None = None
    submitted_at: Moment | None = None
    state: Word = None

    def _words(self) -> dict[str, Any]:
        return {
            "databaseId": self.id,
            "author": actor(self.user),
            "body": self.body,
            "url": self.html_url,
        }

    def as_comment(self) -> GraphQLSaid:
        """REST does not say when it was edited, only when anything of it last changed."""
        edited = self.updated_at if self.updated_at != self.created_at else None
        more = {"createdAt": self.created_at, "lastEditedAt": edited}
        return GraphQLSaid.model_validate({**self._words(), **more})

    def as_review(self) -> Submitted:
        more = {"createdAt": self.submitted_at, "submittedAt": self.submitted_at}
        return Submitted.model_validate({**self._words(), **more, "state": self.state})


def on_head(
    head: End,
    checks: Sequence[CheckRun],
    statuses: Iterable[Status],
    runs: Iterable[WorkflowRun],
) -> OnHead:
    """The checks of a head by suite, as GraphQL lists them."""
    by_suite = {each.check_suite_id: each for each in runs}
    jobs: dict[int | None, list[CheckRun]] = {suite: [] for suite in by_suite}
    for each in checks:
        jobs.setdefault(each.check_suite.id if each.check_suite else None, []).append(each)
    suites = [_suite(suite, by_suite, found) for suite, found in jobs.items()]
    commit = {
        "oid": head.sha,
        "statusCheckRollup": {"contexts": {"nodes": [each.as_graphql() for each in statuses]}},
        "checkSuites": {"nodes": suites},
    }
    nodes = [{"commit": commit}]
    return OnHead.model_validate({"headRefName": head.ref, "commits": {"nodes": nodes}})


_SETTLED = {CheckVerdict.PASSING: "SUCCESS", CheckVerdict.FAILING: "FAILURE"}


def _suite(
    suite: int | None, runs: Mapping[int | None, WorkflowRun], jobs: Sequence[CheckRun]
) -> dict[str, Any]:
    """A workflow's suite; of another app's, REST says nothing but its checks."""
    contexts = [each.as_graphql(runs) for each in jobs]
    listed = {"checkRuns": {"nodes": contexts}}
    if suite in runs:
        return {**runs[suite].as_suite(), **listed}
    conclusion = _SETTLED.get(verdict_of(contexts))
    app = next((each.app for each in jobs if each.app), None)
    return {
        "databaseId": suite,
        "status": "COMPLETED" if conclusion else "IN_PROGRESS",
        "conclusion": conclusion,
        "app": {"name": app.name, "slug": app.slug} if app else None,
        "createdAt": min((each.started_at for each in jobs if each.started_at), default=None),
        **listed,
    }
