"""`get_merge_request`: one merge request (or GitHub pull request), and the facets asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from pullstate.server.merge_request_results import MergeRequest
from pullstate.server.registry import Arguments, Takes, Tool

if TYPE_CHECKING:
    from pullstate.server.opening import Opening


class GetMergeRequest(Arguments):
    url: Annotated[
        str,
        Field(
            max_length=2048,
            description="Web address of the merge request or GitHub pull request, at most 2048 "
            "characters. Or send project_id and merge_request_iid.",
        ),
    ] = ""
    project_id: Annotated[
        str,
        Takes.NUMBER,
        Field(
            max_length=1024,
            description="Integer or string: numeric id or full path (group/sub/project, / or %2F), "
            "at most 1024 characters.",
        ),
    ] = ""
    merge_request_iid: Annotated[
        int | None, Field(ge=1, description="Its iid, 1 or more; with project_id.")
    ] = None
    host: Annotated[
        str,
        Field(
            max_length=512,
            description="Of project_id: a configured host, at most 512 characters; when unset the "
            "only GitLab that the configuration names, else gitlab.com.",
        ),
    ] = ""
    include: Annotated[
        str,
        Takes.LIST,
        Field(
            max_length=200,
            description="Facets, separated by commas, at most 200 characters. diffs: {stats, "
            "files: [{path, additions, deletions}], excluded_files}. commits: {items: [{sha, "
            "title, author}]}. notes: {metadata, items: [{id, body, author}]}, a page. pipelines: "
            "{items: [{status, failed_jobs}]}. conflicts: {has_conflicts, files, reason}. "
            "discussions: {items: [{id, resolved, notes}]}.",
        ),
    ] = ""
    detail: Annotated[
        Literal["none", "stats", "full_patch"],
        Field(
            description="Of diffs: none (totals), stats (and counts per file), full_patch (and "
            "patches)."
        ),
    ] = "stats"
    notes_page: Annotated[int, Field(ge=1, description="Of notes: 1 or more.")] = 1
    notes_per_page: Annotated[int, Field(ge=1, le=100, description="Of notes: 1 to 100.")] = 20


async def run(opening: Opening, arguments: GetMergeRequest) -> dict[str, Any]:
    """Answer from the store; facets that are not stored are wished for."""
    from pullstate.server.merge_requests import answer

    return await opening.answer(answer, arguments)


TOOL = Tool(
    name="get_merge_request",
    title="Get merge request",
    description=(
        "One merge request (or GitHub pull request) and, on request, its diffs, commits, notes, "
        "pipelines, conflicts or discussions. From the synced store; a facet not stored yet is "
        "read first (at most 5 s). Lockfiles, generated, vendored and binary files are left out "
        "of diffs, named in excluded_files and still counted."
    ),
    arguments=GetMergeRequest,
    result=MergeRequest,
    run=run,
)
