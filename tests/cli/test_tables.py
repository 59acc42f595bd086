"""The tables of `list` and `threads`, on screens that are too narrow for what strangers wrote."""

from __future__ import annotations

import io

import pytest
from rich.console import Console, RenderableType

from pullstate.cli import tables

LONG_BRANCH = "feature/JIRA-12345-" + "a-name-as-people-give-it-" * 4
THREAD = "PRRT_kwDOAAAD6s4AAAkSqWertyAsdfgh"


def printed(answer: RenderableType, width: int) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width).print(answer, crop=False)
    return out.getvalue().splitlines()


def pull_request(number: int, title: str, branch: str) -> dict[str, object]:
    return {
        "number": number,
        "title": title,
        "headBranch": branch,
        "state": "PULL_REQUEST_STATE_APPROVED_WAITING",
        "checks": "CHECKS_PASSING",
        "mergeability": "MERGEABILITY_CONFLICTING",
        "reviewDecision": "REVIEW_DECISION_CHANGES_REQUESTED",
    }


@pytest.mark.parametrize("width", [80, 100, 160])
def test_no_title_or_branch_takes_the_room_of_the_states(width: int) -> None:
    rows = [pull_request(300, "T" * 256, LONG_BRANCH), pull_request(4, "Short", "b")]
    reply = {"repositoryUrl": "https://x.example", "pullRequests": rows, "sync": {"state": "ok"}}
    _, head, long, short, _ = printed(tables.pull_requests(reply), width)
    assert head.split() == ["#", "STATE", "CHECKS", "MERGE", "REVIEW", "BRANCH", "TITLE"]
    said = ["approved", "waiting", "passing", "conflicting", "changes", "requested"]
    assert long.split()[:7] == ["300", *said]
    assert short.split()[:7] == ["4", *said]
    assert max(map(len, (head, long, short))) <= width


@pytest.mark.parametrize("width", [80, 160])
def test_an_id_is_never_broken_in_two(width: int) -> None:
    first = {"author": "alice-the-reviewer", "body": "many words " * 40}
    thread = {
        "id": THREAD,
        "isResolved": False,
        "isOutdated": False,
        "path": "src/some/long/path/" * 4 + "file.py",
        "line": 3,
        "originalLine": 3,
        "firstComment": first,
    }
    counts = {"totalCount": 1, "unresolvedCount": 1, "truncated": False}
    shown = printed(tables.threads({"threads": [thread], "sync": {"state": "ok"}, **counts}), width)
    assert sum(THREAD in line for line in shown) == 1
