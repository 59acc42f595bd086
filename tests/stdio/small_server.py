"""A small server for the tests of the registry and of serving: `python small_server.py [PREFIX]`.

With the prefix `broken_` it fails to start.

Its tools do what real ones do to a server: answer, fail, wait, hang in a thread.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import anyio
import anyio.to_thread
from mcp.server.lowlevel import Server
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from pullstate.server.app import build
from pullstate.server.registry import Arguments, CamelArguments, Takes, Tool, ToolError
from pullstate.server.stdio import serve

log = logging.getLogger("small")


@dataclass
class World:
    """What the tools share."""

    greeting: str
    beats: int = 0


class Paging(CamelArguments):
    limit: Annotated[int, Field(ge=0, le=100, description="Rows, 0 to 100.")] = 20
    page_token: Annotated[str | None, Field(max_length=40)] = None


class Greet(CamelArguments):
    """A docstring for readers of the code."""

    user_name: Annotated[str, Field(max_length=20, description="Whom to greet.")]
    paging: Annotated[Paging, Field(description="Which rows.")] = Paging()
    loud: Annotated[bool | None, Field(description="In capitals.")] = None
    mood: Annotated[Literal["glad", "sad"], Field(description="glad or sad.")] = "glad"
    project: Annotated[str, Takes.NUMBER, Field(description="Id or path.")] = ""
    include: Annotated[str, Takes.LIST, Field(description="Parts, with commas between.")] = ""
    friends: Annotated[list[Paging], Field(max_length=2, default_factory=list)]
    words: Annotated[list[str], Field(default_factory=list)]
    patience: Annotated[float | None, Field(ge=0.5)] = None
    code: Annotated[str | None, Field(pattern="^[a-z]+$")] = None


class Greeting(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)

    text: str
    said_to: str | None
    arguments: dict[str, Any]
    hidden_chars: int = Field(default=0, description="Taken out.")


async def greet(world: World, arguments: Greet) -> Greeting:
    text = f"{world.greeting}, {arguments.user_name}!"
    return Greeting(
        text=text.upper() if arguments.loud else text,
        said_to=arguments.user_name if arguments.mood == "glad" else None,
        arguments=arguments.model_dump(exclude_unset=True),
    )


class Nothing(Arguments):
    pass


class Rows(BaseModel):
    rows: list[dict[str, Any]]


async def list_rows(world: World, _: Nothing) -> dict[str, Any]:
    """A finished object, with a null and with what JSON in text must not escape."""
    return {"rows": [{"n": n, "line": None, "title": "👩‍💻 <b> “x” & \\ \u3000"} for n in range(3)]}


async def refuse(world: World, _: Nothing) -> Rows:
    raise ToolError("cursor: it belongs to another question; send it to that one, or leave it out.")


async def crash(world: World, _: Nothing) -> Rows:
    try:
        raise KeyError("s3cr3t-inner")
    except KeyError as error:
        raise RuntimeError("s3cr3t-token in /home/somebody") from error


async def answer_with_half_a_pair(world: World, _: Nothing) -> dict[str, Any]:
    return {"rows": [{"title": "\ud83d"}]}


async def wait_forever(world: World, _: Nothing) -> Rows:
    log.warning("waiting")
    try:
        await anyio.sleep_forever()
    except anyio.get_cancelled_exc_class():
        log.warning("cancelled")
        raise
    raise AssertionError


async def hang_in_a_thread(world: World, _: Nothing) -> Rows:
    """What no cancellation reaches."""
    log.warning("hanging")
    await anyio.to_thread.run_sync(time.sleep, 3600)
    raise AssertionError


async def print_something(world: World, _: Nothing) -> Rows:
    print("printed by a handler", flush=True)  # noqa: T201
    return Rows(rows=[])


class Beats(BaseModel):
    beats: int


async def count_beats(world: World, _: Nothing) -> Beats:
    return Beats(beats=world.beats)


def _tool(run: Any, result: type[BaseModel] = Rows, arguments: Any = Nothing) -> Tool[World, Any]:
    title = run.__name__.replace("_", " ").capitalize()
    return Tool(run.__name__, title, f"{title}, for tests.", arguments, result, run)


TOOLS = [
    _tool(greet, Greeting, Greet),
    _tool(list_rows),
    _tool(refuse),
    _tool(crash),
    _tool(answer_with_half_a_pair),
    _tool(wait_forever),
    _tool(hang_in_a_thread),
    _tool(print_something),
    _tool(count_beats, Beats),
]


@asynccontextmanager
async def open_world() -> AsyncIterator[World]:
    try:
        yield World("Hello")
    finally:
        await anyio.lowlevel.checkpoint()  # works only where the closing is shielded
        log.warning("world closed")


async def beat(world: World) -> None:
    """Background work: one beat at once, then until the end."""
    world.beats += 1
    try:
        await anyio.sleep_forever()
    finally:
        log.warning("background ended")


async def fail_at_once(world: World) -> None:
    raise OSError("s3cr3t-path")


@asynccontextmanager
async def open_nothing() -> AsyncIterator[World]:
    raise OSError("s3cr3t-path")
    yield


def small_server(prefix: str = "", background: Any = beat) -> Server[World]:
    opening = open_nothing if prefix == "broken_" else open_world
    return build(TOOLS, opening, background, version="1.0", instructions="Greets.", prefix=prefix)


def main() -> int:
    logging.basicConfig(stream=sys.stderr, level="INFO", format="%(levelname)s %(message)s")
    return serve(small_server(*sys.argv[1:2]))


if __name__ == "__main__":
    sys.exit(main())
