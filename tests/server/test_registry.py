"""One shape of result and error, whatever a tool does."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from pullstate.server.registry import (
    Arguments,
    CamelArguments,
    Registry,
    Reply,
    Tool,
    ToolError,
    UnknownTool,
)

pytestmark = pytest.mark.anyio


class Greet(CamelArguments):
    user_name: str


class Greeting(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)

    greeted_by: str
    line: int | None
    merged_at: str = ""


def tool(run: Any, name: str = "greet_user", **more: Any) -> Tool[str, Greet]:
    return Tool(name, "Greet user", "Greets.", Greet, Greeting, run, **more)


async def greet(context: str, arguments: Greet) -> Greeting:
    return Greeting(greeted_by=f"{context} → {arguments.user_name}", line=None)


async def call(run: Any, **arguments: Any) -> Reply:
    return await Registry([tool(run)]).call("me", "greet_user", arguments or {"userName": "Ada"})


async def test_a_result_is_an_object_and_the_same_in_text() -> None:
    reply = await call(greet)
    assert reply == Reply('{"greetedBy":"me → Ada","line":null}', json.loads(reply.text))
    assert not reply.is_error


async def test_what_a_model_leaves_unset_is_absent_and_what_is_null_is_null() -> None:
    reply = await call(greet)
    assert reply.structured == {"greetedBy": "me → Ada", "line": None}


async def test_a_finished_object_is_passed_on_as_it_is() -> None:
    finished = {"greetedBy": "“me”", "line": None}

    async def run(context: str, arguments: Greet) -> dict[str, Any]:
        return finished

    reply = await call(run)
    assert reply.structured is finished
    assert reply.text == '{"greetedBy":"“me”","line":null}'


async def test_an_error_for_the_caller_is_its_text() -> None:
    async def run(context: str, arguments: Greet) -> Greeting:
        raise ToolError("cursor: damaged; leave it out to begin again.")

    assert await call(run) == Reply("cursor: damaged; leave it out to begin again.")


async def test_arguments_that_do_not_fit_never_reach_the_tool() -> None:
    async def run(context: str, arguments: Greet) -> Greeting:
        pytest.fail("the tool ran")

    reply = await call(run, user="Ada")
    assert reply.is_error
    assert '"user" (did you mean userName?) is no argument of greet_user' in reply.text


async def test_no_arguments_are_no_object_or_an_empty_one() -> None:
    class Nothing(Arguments):
        pass

    async def run(context: str, _: Nothing) -> dict[str, Any]:
        return {}

    registry = Registry([Tool("rest", "Rest", "Rests.", Nothing, Greeting, run)])
    for nothing in (None, {}):
        assert (await registry.call("me", "rest", nothing)).structured == {}


async def test_what_nobody_foresaw_is_one_sentence_with_a_reference_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def run(context: str, arguments: Greet) -> Greeting:
        try:
            raise KeyError("s3cr3t")
        except KeyError as error:
            raise ExceptionGroup("s3cr3t", [OSError("s3cr3t"), ValueError("s3cr3t")]) from error

    reply = await call(run)
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    reference = reply.text.partition("reference ")[2].partition(",")[0]
    assert f"tool greet_user failed, reference {reference}: " in record.message
    assert "ExceptionGroup (OSError, ValueError) at server/test_registry.py:" in record.message
    assert "from KeyError at server/test_registry.py:" in record.message
    assert "\n" not in record.getMessage()
    assert record.exc_info is None
    assert "s3cr3t" not in reply.text + caplog.text
    assert "Error" not in reply.text


async def test_two_failures_have_two_references() -> None:
    async def run(context: str, arguments: Greet) -> Greeting:
        raise RuntimeError

    assert (await call(run)).text != (await call(run)).text


async def test_cancellation_passes_through() -> None:
    started = asyncio.Event()

    async def run(context: str, arguments: Greet) -> Greeting:
        started.set()
        await asyncio.Event().wait()
        raise AssertionError

    waiting = asyncio.create_task(call(run))
    await started.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_an_unknown_tool_is_told_apart_and_names_the_tools() -> None:
    registry = Registry([tool(greet), tool(greet, "greet_all")], prefix="ps_")
    with pytest.raises(UnknownTool) as unknown:
        await registry.call("me", "greet_user", {})
    assert str(unknown.value) == (
        'Unknown tool "greet_user"; the tools are: ps_greet_user, ps_greet_all.'
    )


async def test_a_prefix_is_in_every_name_and_in_errors() -> None:
    registry = Registry([tool(greet)], prefix="ps_")
    assert [published.name for published in registry.published] == ["ps_greet_user"]
    assert "of ps_greet_user" in (await registry.call("me", "ps_greet_user", {"x": 1})).text


@pytest.mark.parametrize("prefix", ["p s_", "ps.", "é", "x" * 55, "ps\n"])
async def test_a_prefix_that_makes_names_clients_refuse_is_refused(prefix: str) -> None:
    with pytest.raises(ValueError, match="cannot be a tool's name"):
        Registry([tool(greet)], prefix=prefix)


async def test_a_name_used_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="two tools are named greet_user"):
        Registry([tool(greet), tool(greet)])
