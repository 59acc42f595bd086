"""The floor: a low-level server of the same SDK that returns one result from memory."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import anyio
from mcp import types as t
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from pydantic_core import from_json


def build(result: dict[str, Any], tools: list[t.Tool]) -> Server[Any]:
    """A server that lists `tools` and answers every call with `result`."""

    async def list_tools(ctx: Any, params: Any) -> t.ListToolsResult:
        return t.ListToolsResult(tools=tools)

    async def call_tool(ctx: Any, params: Any) -> dict[str, Any]:
        return result

    return Server("floor", on_list_tools=list_tools, on_call_tool=call_tool)  # type: ignore[arg-type]


async def main(result: Path | None, tools: Path | None) -> None:
    listed = from_json(tools.read_bytes()) if tools else []
    answer = from_json(result.read_bytes()) if result else {}
    server = build(answer, [t.Tool.model_validate(each) for each in listed])
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


if __name__ == "__main__":
    given = [Path(name) for name in sys.argv[1:]]
    anyio.run(main, given[0] if given else None, given[1] if given[1:] else None)
