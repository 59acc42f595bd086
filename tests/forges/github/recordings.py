"""Recorded answers of GitHub, if they lie beside this repository; nothing of them is in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SHARED = Path(__file__).parents[4] / "shared"
DATA = SHARED / "data" / "github"
MISSING = "the recorded answers are not beside this repository"


def recorded(name: str) -> Any:
    """A recorded file's content; of a cassette, the bodies of its answers."""
    text = (DATA / name).read_text()
    return cassette(text) if name.endswith((".yaml", ".yml")) else json.loads(text)


def cassette(text: str) -> list[Any]:
    """The JSON bodies in a recording of requests: they stand in single quotes, folded."""
    bodies = []
    for line in text.split("\n    body: '")[1:]:
        body = line[: line.index("'\n    headers")]
        bodies.append(json.loads(unfolded(body)))
    return bodies


def unfolded(quoted: str) -> str:
    """A single-quoted YAML scalar: quotes doubled, a line break a space, an empty line a break."""
    paragraphs = quoted.replace("''", "'").split("\n\n")
    return "\n".join(" ".join(part.strip() for part in each.split("\n")) for each in paragraphs)


def pull_requests(content: Any) -> list[dict[str, Any]]:
    """Every object in an answer or a webhook that is a pull request with its state."""
    found: list[dict[str, Any]] = []
    if isinstance(content, dict):
        if is_pull_request(content):
            found.append(content)
        for each in content.values():
            found += pull_requests(each)
    elif isinstance(content, list):
        for each in content:
            found += pull_requests(each)
    return found


def is_pull_request(content: dict[str, Any]) -> bool:
    """REST's has a merge stamp beside head and base, GraphQL's a head branch and a state."""
    rest = {"number", "state", "merged_at", "head", "base"}
    graphql = {"number", "state", "headRefName"}
    return rest <= content.keys() or graphql <= content.keys()
