"""Facets over REST, for whoever has no token, or no GraphQL quota left."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from pullstate.domain.merge_request import (
    Commits,
    Conflicts,
    Diffs,
    Facet,
    FacetBody,
    Notes,
    Overview,
    Pipelines,
)
from pullstate.forges.forge import Target
from pullstate.forges.github import facet_payloads, rest_payloads
from pullstate.forges.github import facet_translate as translate
from pullstate.forges.github import rest_facet_payloads as shown
from pullstate.forges.github.api import Api, read, route
from pullstate.forges.github.conversation import notes
from pullstate.forges.github.facets import files_of

MOST_COMMITS = 250  # as many as REST lists


async def overview(api: Api, target: Target) -> Overview:
    return translate.overview(shown.overview_of(await _pull_request(api, target)))


async def conflicts(api: Api, target: Target) -> Conflicts:
    return translate.conflicts(shown.overview_of(await _pull_request(api, target)))


async def diffs(api: Api, target: Target) -> Diffs:
    seen = await _pull_request(api, target)
    files = await files_of(api, target)
    return translate.diffs(files, seen.changed_files, seen.additions, seen.deletions)


async def commits(api: Api, target: Target) -> Commits:
    """Newest first; REST lists the oldest 250, oldest first."""
    found, _ = await api.items(f"{_pull(target)}/commits", {})
    seen = [read(shown.Commit, each).as_graphql() for each in reversed(found)]
    return translate.commits(seen, truncated=len(found) >= MOST_COMMITS)


async def conversation(api: Api, target: Target) -> Notes:
    issue = f"{route(target.repository.path)}/issues/{target.number}/comments"
    said, more = await api.items(issue, {})
    reviewed, others = await api.items(f"{_pull(target)}/reviews", {})
    comments = [read(shown.Said, each).as_comment() for each in said]
    reviews = [_review(each) for each in reviewed]
    return Notes(notes(comments, [each for each in reviews if each]), truncated=more or others)


def _review(json: Any) -> facet_payloads.Submitted | None:
    """A review; a pending one has no time, and is nobody else's business."""
    seen = read(shown.Said, json)
    return seen.as_review() if seen.submitted_at else None


async def pipelines(api: Api, target: Target) -> Pipelines:
    """The workflow runs of the head, each with its failed jobs, and the legacy statuses."""
    seen = await _pull_request(api, target)
    commit = f"{route(target.repository.path)}/commits/{seen.head.sha}"
    ran, more = await api.items(f"{commit}/check-runs", {}, "check_runs")
    said, others = await api.items(f"{commit}/status", {}, "statuses")
    runs_path = f"{route(target.repository.path)}/actions/runs"
    runs, rest = await api.items(runs_path, {"head_sha": seen.head.sha}, "workflow_runs")
    page = shown.on_head(
        seen.head,
        [read(rest_payloads.CheckRun, each) for each in ran],
        [read(rest_payloads.Status, each) for each in said],
        [read(rest_payloads.WorkflowRun, each) for each in runs],
    )
    return translate.pipelines([page], truncated=more or others or rest)


READERS: dict[Facet, Callable[[Api, Target], Awaitable[FacetBody]]] = {
    Facet.OVERVIEW: overview,
    Facet.DIFFS: diffs,
    Facet.COMMITS: commits,
    Facet.NOTES: conversation,
    Facet.PIPELINES: pipelines,
    Facet.CONFLICTS: conflicts,
}


def _pull(target: Target) -> str:
    return f"{route(target.repository.path)}/pulls/{target.number}"


async def _pull_request(api: Api, target: Target) -> rest_payloads.PullRequest:
    return read(rest_payloads.PullRequest, (await api.get(_pull(target))).json)
