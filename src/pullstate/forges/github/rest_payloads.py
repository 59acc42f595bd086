"""What is read of GitHub's REST answers, and how it says in GraphQL's words.

One mapping decides what facts mean (`translate`, `checks`); REST's are spelled as GraphQL's first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict

from pullstate.forges.github import payloads
from pullstate.forges.github.payloads import Flag, Moment, Text, Word

_MERGEABLE = {None: "UNKNOWN", True: "MERGEABLE", False: "CONFLICTING"}


class Payload(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class User(Payload):
    login: Text = ""
    type: Text = ""

    @property
    def name(self) -> str:
        """The login as GraphQL gives it: without the `[bot]` that REST adds to an app's."""
        return self.login.removesuffix("[bot]") if self.type == "Bot" else self.login


class Team(Payload):
    slug: Text = ""


class Source(Payload):
    """A repository, as a head or base names it."""

    html_url: Text = ""
    node_id: Text = ""
    full_name: Text = ""
    owner: User | None = None


class Repository(Payload):
    """A repository as it is named now."""

    node_id: str
    full_name: str
    has_pull_requests: bool | None = None  # older servers do not say


class Tip(Payload):
    sha: Text = ""


class Branch(Payload):
    commit: Tip = Tip()


class End(Payload):
    """A head or a base."""

    ref: Text = ""
    sha: Text = ""
    user: User | None = None
    repo: Source | None = None


class Named(Payload):
    name: Text = ""
    slug: Text = ""


Listed = Annotated[list[Named], BeforeValidator(lambda value: value or [])]


class PullRequest(Payload):
    node_id: str
    number: int
    html_url: Text = ""
    title: Text = ""
    body: Text = ""
    state: Word = None
    draft: Flag = False
    user: User | None = None
    created_at: Moment
    updated_at: Moment
    merged_at: Moment | None = None
    closed_at: Moment | None = None
    head: End = End()
    base: End = End()
    mergeable: bool | None = None
    mergeable_state: Word = None  # absent in lists, which say nothing of merging
    requested_reviewers: list[User] | None = None
    requested_teams: list[Team] | None = None
    labels: Listed = []
    changed_files: int | None = None
    additions: int | None = None
    deletions: int | None = None

    def as_graphql(self, base_tip: str | None = None) -> payloads.PullRequest:
        """The same in GraphQL's words. `base_tip` is the base branch's, where it was asked."""
        owner = self.head.user or (self.head.repo.owner if self.head.repo else None)
        return payloads.PullRequest.model_validate(
            {
                "id": self.node_id,
                "number": self.number,
                "url": self.html_url,
                "title": self.title,
                "state": "MERGED" if self.merged_at else self.state,
                "isDraft": self.draft,
                "createdAt": self.created_at,
                "updatedAt": self.updated_at,
                "mergedAt": self.merged_at,
                "closedAt": self.closed_at,
                "author": actor(self.user),
                "headRefName": self.head.ref,
                "headRefOid": self.head.sha,
                "headRepositoryOwner": actor(owner),
                "headRepository": {"url": self.head.repo.html_url} if self.head.repo else None,
                "baseRefName": self.base.ref,
                "baseRefOid": self.base.sha,
                "baseRef": {"target": {"oid": base_tip}} if base_tip else None,
                "mergeable": _MERGEABLE[self.mergeable],
                "mergeStateStatus": self.mergeable_state,
                "reviewRequests": {"nodes": self._requests()},
            }
        )

    def _requests(self) -> list[dict]:
        users = [{"login": each.name} for each in self.requested_reviewers or ()]
        teams = [{"slug": each.slug} for each in self.requested_teams or ()]
        return [{"requestedReviewer": each} for each in (*users, *teams)]


def actor(user: User | None) -> dict | None:
    return {"login": user.name} if user else None


class SuiteId(Payload):
    id: int | None = None


class CheckRun(Payload):
    name: Text = ""
    status: Word = None
    conclusion: Word = None
    started_at: Moment | None = None
    completed_at: Moment | None = None
    details_url: str | None = None
    html_url: str | None = None
    check_suite: SuiteId | None = None
    app: Named | None = None

    def as_graphql(self, runs: Mapping[int | None, WorkflowRun]) -> payloads.Context:
        """A context, with the workflow of its suite where the commit's runs were read."""
        suite = self.check_suite.id if self.check_suite else None
        run = runs.get(suite)
        return payloads.Context.model_validate(
            {
                "__typename": "CheckRun",
                "name": self.name,
                "status": self.status,
                "conclusion": self.conclusion,
                "startedAt": self.started_at,
                "completedAt": self.completed_at,
                "detailsUrl": self.details_url or self.html_url,
                "checkSuite": None
                if suite is None
                else {
                    "databaseId": suite,
                    "app": {"slug": self.app.slug if self.app else ""},
                    "workflowRun": run.as_graphql() if run else None,
                },
            }
        )


class Status(Payload):
    context: Text = ""
    state: Word = None
    target_url: str | None = None
    created_at: Moment | None = None

    def as_graphql(self) -> payloads.Context:
        return payloads.Context.model_validate(
            {
                "__typename": "StatusContext",
                "context": self.context,
                "state": self.state,
                "targetUrl": self.target_url,
                "createdAt": self.created_at,
            }
        )


class WorkflowRun(Payload):
    id: int | None = None
    name: Text = ""
    event: Text = ""
    status: Word = None
    conclusion: Word = None
    run_number: int | None = None
    check_suite_id: int | None = None
    head_branch: str | None = None
    head_repository: Source | None = None
    html_url: Text = ""
    created_at: Moment | None = None

    def as_graphql(self) -> dict:
        return {
            "event": self.event,
            "runNumber": self.run_number,
            "databaseId": self.id,
            "workflow": {"name": self.name},
            "url": self.html_url,
        }

    def as_suite(self) -> dict:
        return {
            "databaseId": self.check_suite_id,
            "status": self.status,
            "conclusion": self.conclusion,
            "workflowRun": self.as_graphql(),
            "createdAt": self.created_at,
        }

    def is_of(self, head: End) -> bool:
        """Whether it ran for this head, and not for another branch with the same commit.

        A run's own list of pull requests is empty for those of forks.
        """
        if self.head_repository is None or head.repo is None or not self.head_branch:
            return True
        return (self.head_repository.full_name, self.head_branch) == (head.repo.full_name, head.ref)


def commit_of(oid: str, rollup: str | None, runs: Iterable[WorkflowRun]) -> payloads.Commit:
    """A commit as GraphQL would tell it: its roll-up's state, and a suite for each workflow run."""
    return payloads.Commit.model_validate(
        {
            "oid": oid,
            "statusCheckRollup": {"state": rollup} if rollup else None,
            "checkSuites": {"nodes": [each.as_suite() for each in runs]},
        }
    )
