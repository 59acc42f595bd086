"""Every tool, in the order in which they are listed."""

from pullstate.server.tools import (
    get_merge_request,
    list_pull_request_review_threads,
    list_pull_requests,
)

TOOLS = (
    list_pull_requests.TOOL,
    list_pull_request_review_threads.TOOL,
    get_merge_request.TOOL,
)
