"""The two lists through the SDK's own client, in memory, in both protocol eras."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import jsonschema
import pytest
from mcp import Client

from pullstate.server.app import build
from pullstate.server.opening import Opening
from pullstate.server.tools import TOOLS
from tests.server.office import LIST, ROCKET, THREADS, Office
from tests.server.threads import kept, thread

pytestmark = pytest.mark.anyio
ERAS = pytest.mark.parametrize("mode", ["legacy", "auto"])
OF_THREADS = {"owner": "acme", "repo": "rocket", "host": "demo.invalid", "pull_number": 1}


def served(office: Office) -> Any:
    """A server over the office's store."""

    @asynccontextmanager
    async def open_context() -> AsyncIterator[Opening]:
        yield office.opening

    return build(TOOLS, open_context, version="1.0", instructions="Lists.")


@ERAS
async def test_a_reply_is_complete_in_its_structure_and_in_its_text(office: Office, mode: str):
    kept(office, thread(1), thread(2, line=None, is_outdated=True))
    async with Client(served(office), mode=mode) as client:
        schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
        for name, arguments in (
            (LIST, {"repositoryUrl": ROCKET, "headBranch": "branch", "maxAgeSeconds": 0}),
            (LIST, {"repositoryUrl": ROCKET, "pagination": '{"limit": "1"}'}),
            (THREADS, OF_THREADS),
            (THREADS, OF_THREADS | {"is_resolved": "false", "limit": 1}),
        ):
            result = await client.call_tool(name, arguments)
            assert not result.is_error
            [block] = result.content
            assert json.loads(block.text) == result.structured_content
            jsonschema.validate(result.structured_content, schemas[name] or {})


@ERAS
async def test_an_error_tells_its_whole_story_in_the_text(office: Office, mode: str):
    async with Client(served(office), mode=mode) as client:
        for name, arguments in (
            (LIST, {"repositoryUrl": "https://nowhere.example/acme/rocket"}),
            (LIST, {}),
            (THREADS, OF_THREADS | {"cursor": "page2"}),
        ):
            result = await client.call_tool(name, arguments)
            assert result.is_error
            assert result.structured_content is None
            [block] = result.content
            assert block.text.endswith((".", ").")) and "\n" not in block.text


@ERAS
async def test_a_list_is_paged_to_its_end(office: Office, mode: str):
    project = office.project()
    office.world.populate(project, 45, unfinished=5)
    office.keep(project)
    found: list[int] = []
    cursor: str | None = None
    async with Client(served(office), mode=mode) as client:
        while cursor != "":
            page = {"limit": 20, "cursor": cursor}
            result = await client.call_tool(LIST, {"repositoryUrl": ROCKET, "pagination": page})
            reply = result.structured_content or {}
            found += [row["number"] for row in reply["pullRequests"]]
            cursor = reply.get("nextPageToken", "")
    assert found == list(range(45, 0, -1))


@ERAS
async def test_fifty_calls_at_once_are_answered_each_with_its_own(office: Office, mode: str):
    project = office.project()
    for n in range(50):
        office.world.open(project, "Change", f"b{n}")
    office.keep(project)

    async def ask(client: Client, n: int) -> None:
        arguments = {"repositoryUrl": ROCKET, "headBranch": f"b{n}"}
        result = await client.call_tool(LIST, arguments)
        [row] = (result.structured_content or {})["pullRequests"]
        assert row["number"] == n + 1

    async with Client(served(office), mode=mode) as client, anyio.create_task_group() as group:
        for n in range(50):
            group.start_soon(ask, client, n)
