"""`list_pull_requests`: the pull requests of a repository, or of one branch, a page at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from pullstate.server.registry import CamelArguments, Tool
from pullstate.server.results import PullRequestPage

if TYPE_CHECKING:
    from pullstate.server.opening import Opening


class Pagination(CamelArguments):
    limit: Annotated[
        int, Field(ge=0, description="Rows a page: 20 when unset or 0, at most 100.")
    ] = 0
    cursor: Annotated[
        str,
        Field(
            max_length=2048,
            description="nextPageToken of the same question's last reply, at most 2048 characters.",
        ),
    ] = ""


class ListPullRequests(CamelArguments):
    repository_url: Annotated[
        str,
        Field(
            max_length=2048,
            description="As a git remote or web address spells it, at most 2048 characters.",
        ),
    ]
    head_branch: Annotated[
        str,
        Field(
            max_length=512,
            description="Exact branch name, at most 512 characters; owner:branch narrows to one "
            "head owner. Empty: all branches.",
        ),
    ] = ""
    pagination: Annotated[Pagination, Field(description="Which page.")] = Pagination()
    max_age_seconds: Annotated[
        int | None,
        Field(ge=0, description="0 or more: if older, refresh first (waits at most 5 s)."),
    ] = None


async def run(opening: Opening, arguments: ListPullRequests) -> dict[str, Any]:
    """Answer from the store; where it is too old or silent, after one wish."""
    # The store's libraries load at the first call: half of the time to tools/list otherwise.
    from pullstate.server.pull_requests import answer

    return await opening.answer(answer, arguments)


TOOL = Tool(
    name="list_pull_requests",
    title="List pull requests",
    description=(
        "Where a repository's pull requests (GitLab: merge requests) stand: state, CI checks, "
        "mergeability, review decision. Answers from a store that is kept in sync: no quota, "
        "milliseconds; `sync` says how fresh. Unfinished first, newest first. Name headBranch to "
        "find the pull request of your branch."
    ),
    arguments=ListPullRequests,
    result=PullRequestPage,
    run=run,
)
