"""The demo as the Inspector sees it, in both protocol eras."""

from __future__ import annotations

import pytest

from tests.stdio.client import python
from tests.stdio.inspector import TOOL_ERROR_STATUS, Era, call, inspect, missing

pytestmark = pytest.mark.stdio

DEMO = python("-m", "pullstate", "demo", "--serve")
ROCKET = "https://demo.invalid/acme/rocket"


@pytest.fixture(scope="module", autouse=True)
def inspector() -> None:
    """Skips, with the reason, where the Inspector cannot be run."""
    if reason := missing():
        pytest.skip(reason)


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_its_strict_reading_of_the_schemas_finds_no_fault(era: Era) -> None:
    inspected = inspect(DEMO, "--method", "tools/list", "--strict", era=era)
    assert inspected.status == 0, inspected.stderr
    names = [tool["name"] for tool in inspected.result["tools"]]
    assert names == ["list_pull_requests", "list_pull_request_review_threads", "get_merge_request"]


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_first_question_is_answered_whole(era: Era) -> None:
    inspected = call(DEMO, "list_pull_requests", {"repositoryUrl": ROCKET}, era)
    assert inspected.status == 0, inspected.stderr
    reply = inspected.result["structuredContent"]
    assert reply["sync"]["state"] == "ok"
    assert {row["number"] for row in reply["pullRequests"]} >= {1, 2, 3}


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_one_pull_request_is_shown_with_all_its_facets(era: Era) -> None:
    facets = "diffs,commits,notes,pipelines,conflicts,discussions"
    asked = {"url": f"{ROCKET}/pull/3", "include": facets}
    inspected = call(DEMO, "get_merge_request", asked, era)
    assert inspected.status == 0, inspected.stderr
    reply = inspected.result["structuredContent"]
    assert not [name for name in facets.split(",") if "error" in reply[name]]


def test_a_tool_s_error_is_seen_as_one() -> None:
    inspected = call(DEMO, "list_pull_requests", {"repositoryUrl": "https://github.com/a/b"})
    assert inspected.status == TOOL_ERROR_STATUS
    assert "demo.invalid" in inspected.result["content"][0]["text"]
