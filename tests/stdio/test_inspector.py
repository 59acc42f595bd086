"""The registry as the Inspector sees it: a client that shares no code with the server."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stdio.client import python
from tests.stdio.inspector import TOOL_ERROR_STATUS, Era, call, inspect

pytestmark = [pytest.mark.stdio, pytest.mark.usefixtures("inspector")]

SERVER = python(Path(__file__).with_name("small_server.py"))


def test_its_strict_reading_of_the_schemas_finds_no_fault() -> None:
    inspected = inspect(SERVER, "--method", "tools/list", "--strict")
    assert inspected.status == 0, inspected.stderr
    assert "greet" in {tool["name"] for tool in inspected.result["tools"]}


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_it_gets_the_same_answer_in_each_era(era: Era) -> None:
    inspected = call(SERVER, "greet", {"user_name": "Ada", "paging": '{"limit": "3"}'}, era)
    assert inspected.status == 0, inspected.stderr
    assert inspected.result["structuredContent"] == {
        "text": "Hello, Ada!",
        "saidTo": "Ada",
        "arguments": {"user_name": "Ada", "paging": {"limit": 3}},
    }


def test_it_sees_a_tools_error_as_one() -> None:
    inspected = call(SERVER, "greet", {"user": "Ada"})
    assert inspected.status == TOOL_ERROR_STATUS
    assert "did you mean userName?" in inspected.result["content"][0]["text"]
