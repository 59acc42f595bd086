"""`list_pull_request_review_threads`: what the reviewers said, with the ids that resolve it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from pullstate.server.registry import Arguments, Tool
from pullstate.server.results import ThreadPage

if TYPE_CHECKING:
    from pullstate.server.opening import Opening

LARGEST_NUMBER = 2**31 - 1  # 32 bits in both forges' GraphQL schemas


class ListReviewThreads(Arguments):
    owner: Annotated[
        str,
        Field(
            min_length=1,
            max_length=1024,
            description="Who the repository belongs to; GitLab: the whole group path. At most "
            "1024 characters.",
        ),
    ]
    repo: Annotated[
        str,
        Field(
            min_length=1,
            max_length=255,
            description="The repository's name, at most 255 characters.",
        ),
    ]
    pull_number: Annotated[
        int,
        Field(
            ge=1,
            le=LARGEST_NUMBER,
            description=f"Its number (GitLab: iid), 1 to {LARGEST_NUMBER}.",
        ),
    ]
    is_resolved: Annotated[
        bool | None,
        Field(description="true: resolved ones only; false: unresolved only. Omit for all."),
    ] = None
    host: Annotated[
        str,
        Field(
            max_length=512,
            description="A configured host[:port][/path], at most 512 characters; when unset the "
            "only forge that the configuration names, else github.com.",
        ),
    ] = ""
    limit: Annotated[
        int, Field(ge=0, description="Threads a page: 50 when unset or 0, at most 100.")
    ] = 0
    cursor: Annotated[
        str,
        Field(
            max_length=2048,
            description="nextPageToken of the same question's last reply, at most 2048 characters.",
        ),
    ] = ""


async def run(opening: Opening, arguments: ListReviewThreads) -> dict[str, Any]:
    """Answer from the store; where the threads are not stored, after one wish."""
    from pullstate.server.review_threads import answer

    return await opening.answer(answer, arguments)


TOOL = Tool(
    name="list_pull_request_review_threads",
    title="List pull request review threads",
    description=(
        "The review threads of a pull request (GitLab: discussions on the code) with the ids that "
        "resolve and reply calls take, first and last comment, where they stand, and whether they "
        "are resolved or outdated. All of them, a page at a time, from the synced store; "
        "totalCount counts what matches the filter."
    ),
    arguments=ListReviewThreads,
    result=ThreadPage,
    run=run,
)
