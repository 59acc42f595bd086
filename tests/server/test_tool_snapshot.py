"""What agents and clients know the tools by: changed on purpose only.

`PULLSTATE_UPDATE_SNAPSHOTS=1 pytest tests/server/test_tool_snapshot.py` writes the snapshot anew;
the difference belongs into the commit that made it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import tiktoken

from pullstate.server.registry import Published, Registry
from pullstate.server.tools import TOOLS

SNAPSHOT = Path(__file__).parents[1] / "snapshots" / "tools.json"
UPDATE = "PULLSTATE_UPDATE_SNAPSHOTS"
TABLES = "TIKTOKEN_CACHE_DIR"

MOST_TOKENS = 3_000
MOST_CHARACTERS = 12_000
MOST_OUTPUT_CHARACTERS = 20_000

PUBLISHED = Registry(TOOLS).published


def known_by(published: Published[Any]) -> dict[str, Any]:
    tool = published.tool
    return {
        "name": published.name,
        "title": tool.title,
        "description": tool.description,
        "readOnly": tool.read_only,
        "idempotent": tool.idempotent,
        "destructive": tool.destructive,
        "inputSchema": published.input_schema,
        "outputSchema": published.output_schema,
    }


def test_every_tools_schemas_are_as_in_the_snapshot() -> None:
    now = json.dumps([known_by(each) for each in PUBLISHED], ensure_ascii=False, indent=1) + "\n"
    if os.environ.get(UPDATE):
        SNAPSHOT.write_text(now, encoding="utf-8")
    assert json.loads(now) == json.loads(SNAPSHOT.read_text(encoding="utf-8")), (
        f"what the tools publish has changed: if that was meant, run this with {UPDATE}=1"
    )


def said() -> str:
    """What an agent is told of all tools before it calls any."""
    each = (
        {
            "name": published.name,
            "title": published.tool.title,
            "description": published.tool.description,
            "inputSchema": published.input_schema,
        }
        for published in PUBLISHED
    )
    return compact(list(each))


def compact(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def test_all_tools_together_are_short_in_characters() -> None:
    assert len(said()) < MOST_CHARACTERS
    assert sum(len(compact(each.output_schema)) for each in PUBLISHED) < MOST_OUTPUT_CHARACTERS


@pytest.mark.skipif(
    not os.environ.get(TABLES), reason=f"{TABLES} names no folder with the encoding's table"
)
def test_all_tools_together_are_short_in_tokens() -> None:
    """The table is downloaded into that folder where it is not there yet."""
    assert len(tiktoken.get_encoding("o200k_base").encode(said())) < MOST_TOKENS
