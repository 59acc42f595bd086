"""The server through the SDK's own client, in memory, in both protocol eras."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import jsonschema
import pytest
from mcp import Client, MCPError

from pullstate.server.app import CLOSE_SECONDS, build
from tests.stdio.small_server import TOOLS, World, fail_at_once, small_server

pytestmark = pytest.mark.anyio
ERAS = pytest.mark.parametrize("mode", ["legacy", "auto"])


@ERAS
async def test_tools_are_listed_with_schemas_and_hints(mode: str) -> None:
    async with Client(small_server(), mode=mode) as client:
        listed = (await client.list_tools()).tools
    assert [tool.name for tool in listed] == [tool.name for tool in TOOLS]
    greet = listed[0]
    assert greet.title == "Greet"
    assert greet.input_schema["required"] == ["userName"]
    assert greet.output_schema and greet.output_schema["required"]
    assert greet.annotations is not None
    assert greet.annotations.model_dump(exclude_none=True) == {
        "read_only_hint": True,
        "idempotent_hint": True,
        "destructive_hint": False,
        "open_world_hint": False,
    }


@ERAS
async def test_a_reply_is_valid_against_the_tools_own_schema(mode: str) -> None:
    async with Client(small_server(), mode=mode) as client:
        schema = (await client.list_tools()).tools[0].output_schema
        for mood in ("glad", "sad"):
            result = await client.call_tool("greet", {"userName": "Ada", "mood": mood})
            jsonschema.validate(result.structured_content, schema or {})
            assert result.structured_content["saidTo"] == ("Ada" if mood == "glad" else None)
            assert not result.is_error


@ERAS
async def test_an_error_result_has_no_structured_content(mode: str) -> None:
    async with Client(small_server(), mode=mode) as client:
        result = await client.call_tool("refuse", {})
    assert result.is_error
    assert result.structured_content is None


@ERAS
async def test_an_unknown_tool_is_a_protocol_error(mode: str) -> None:
    async with Client(small_server(), mode=mode) as client:
        with pytest.raises(MCPError, match="Unknown tool") as unknown:
            await client.call_tool("nope", {})
    assert unknown.value.code == -32602


@ERAS
async def test_background_work_runs_beside_the_tools(mode: str) -> None:
    async with Client(small_server(), mode=mode) as client:
        result = await client.call_tool("count_beats", {})
    assert result.structured_content == {"beats": 1}


@ERAS
async def test_background_work_that_fails_leaves_the_tools_answering(
    mode: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with Client(small_server(background=fail_at_once), mode=mode) as client:
        assert not (await client.call_tool("greet", {"userName": "Ada"})).is_error
    assert "background work failed, reference" in caplog.text
    assert "s3cr3t" not in caplog.text


@ERAS
async def test_the_context_is_closed_after_background_work_has_ended(mode: str) -> None:
    order: list[str] = []

    @asynccontextmanager
    async def open_context() -> AsyncIterator[World]:
        order.append("opened")
        try:
            yield World("Hello")
        finally:
            await anyio.lowlevel.checkpoint()
            order.append("closed")

    async def background(_: World) -> None:
        order.append("began")
        try:
            await anyio.sleep_forever()
        finally:
            order.append("ended")

    server = build(TOOLS, open_context, background, version="1", instructions="")
    async with Client(server, mode=mode) as client:
        await client.call_tool("greet", {"userName": "Ada"})
    assert order == ["opened", "began", "ended", "closed"]


async def test_a_context_that_does_not_close_is_left_after_a_second() -> None:
    left = anyio.Event()

    @asynccontextmanager
    async def open_context() -> AsyncIterator[World]:
        try:
            yield World("Hello")
        finally:
            try:
                await anyio.sleep_forever()
            finally:
                left.set()

    server = build(TOOLS, open_context, version="1", instructions="")
    with anyio.fail_after(CLOSE_SECONDS * 20):
        async with Client(server) as client:
            await client.list_tools()
    assert left.is_set()


async def test_the_instructions_say_once_whose_the_text_is() -> None:
    async with Client(small_server()) as client:
        assert client.instructions is not None
        assert client.instructions.count("third parties") == 1
