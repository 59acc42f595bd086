"""Whose a workflow run is that waits for a maintainer's approval.

Check suites belong to a commit, and two forks may offer the same one: then only the pull request
whose branch the run is for waits. GraphQL does not say it, and a run of a fork lists no pull
requests (kenn-io/forge#158); REST names its head repository and branch, which never change.
"""

from __future__ import annotations

from collections.abc import Sequence

from pullstate.forges.errors import ForgeError
from pullstate.forges.github import payloads, rest_payloads
from pullstate.forges.github.api import Api, read, route

MOST_REMEMBERED = 1000
Head = tuple[str, str]
"""A repository's `owner/name` in lower case, and a branch."""


class RunHeads:
    """The heads of workflow runs by check suite, each asked once."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._known: dict[int, Head | None] = {}

    async def own(self, seen: payloads.PullRequest) -> payloads.PullRequest:
        """A pull request without the suites that wait for the approval of another one's run.

        What cannot be told stays: a run of an unknown head counts.
        """
        waiting = [each for each in _suites(seen) if each.conclusion == "ACTION_REQUIRED"]
        head = _head(seen)
        if not waiting or head is None:
            return seen
        await self._learn(seen, [each.database_id for each in waiting if each.database_id])
        others = {
            each.database_id
            for each in waiting
            if (known := self._known.get(each.database_id or 0)) is not None and known != head
        }
        return _without(seen, others) if others else seen

    async def _learn(self, seen: payloads.PullRequest, suites: Sequence[int]) -> None:
        unknown = [each for each in suites if each not in self._known]
        if not unknown or seen.commit is None or seen.repository is None:
            return
        path = f"{route(seen.repository.name_with_owner)}/actions/runs"
        asked = {"head_sha": seen.commit.oid, "status": "action_required"}
        try:
            found, _ = await self._api.items(path, asked, "workflow_runs", pages=3)
            runs = [read(rest_payloads.WorkflowRun, each) for each in found]
        except ForgeError:
            return
        if len(self._known) > MOST_REMEMBERED:
            self._known.clear()
        self._known |= dict.fromkeys(unknown)
        self._known |= {each.check_suite_id: _head_of(each) for each in runs if each.check_suite_id}


def _suites(seen: payloads.PullRequest) -> list[payloads.CheckSuite]:
    commit = seen.commit
    return commit.check_suites.items if commit and commit.check_suites else []


def _head(seen: payloads.PullRequest) -> Head | None:
    source = seen.head_repository
    if source is None or not source.name_with_owner:
        return None
    return source.name_with_owner.lower(), seen.head_ref_name


def _head_of(run: rest_payloads.WorkflowRun) -> Head | None:
    if run.head_repository is None or not run.head_branch:
        return None
    return run.head_repository.full_name.lower(), run.head_branch


def _without(seen: payloads.PullRequest, suites: set[int | None]) -> payloads.PullRequest:
    commit = seen.commit
    if commit is None or commit.check_suites is None:
        return seen
    kept = [each for each in commit.check_suites.items if each.database_id not in suites]
    listed = commit.check_suites.model_copy(update={"nodes": kept})
    node = payloads.CommitNode(commit=commit.model_copy(update={"check_suites": listed}))
    commits = payloads.Connection[payloads.CommitNode](nodes=[node])
    return seen.model_copy(update={"commits": commits})
