"""Serving a real process over its standard streams, in both protocol eras."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.stdio.client import (
    DEADLINE,
    LEGACY_VERSIONS,
    MODERN_VERSION,
    Client,
    RpcError,
    envelope,
    environment,
    python,
)

pytestmark = pytest.mark.stdio

SERVER = python(Path(__file__).with_name("small_server.py"))


@pytest.fixture
def client() -> Iterator[Client]:
    with Client(SERVER) as client:
        yield client


@pytest.fixture(params=["legacy", "modern"])
def ending(request: pytest.FixtureRequest) -> Iterator[Client]:
    """An open connection for a test that ends it."""
    with Client(SERVER, era=request.param) as client:
        client.open()
        yield client


@pytest.fixture(params=["legacy", "modern"], scope="module")
def opened(request: pytest.FixtureRequest) -> Iterator[Client]:
    """An open connection that tests share, one after another."""
    with Client(SERVER, era=request.param) as client:
        client.open()
        yield client


@pytest.mark.parametrize("version", LEGACY_VERSIONS)
def test_each_legacy_version_is_served_as_asked(client: Client, version: str) -> None:
    answer = client.open(version)
    assert answer["protocolVersion"] == version
    assert client.structured("greet", userName="Ada")["text"] == "Hello, Ada!"


def test_an_unknown_legacy_version_gets_the_newest_one(client: Client) -> None:
    assert client.open("2099-01-01")["protocolVersion"] == "2025-11-25"
    assert client.list_tools()


def test_what_is_served_is_advertised_and_nothing_else(client: Client) -> None:
    answer = client.open()
    assert set(answer["capabilities"]) == {"tools"}
    assert answer["serverInfo"] == {"name": "pullstate", "version": "1.0"}
    assert answer["instructions"].startswith("Greets. ")
    assert answer["instructions"].count("third parties") == 1


def test_the_modern_era_discovers_the_same() -> None:
    with Client(SERVER, era="modern") as client:
        answer = client.open()
        assert answer["supportedVersions"] == [MODERN_VERSION]
        assert set(answer["capabilities"]) == {"tools"}
        assert "third parties" in answer["instructions"]
        listed = client.request("tools/list")
        assert (listed["ttlMs"], listed["cacheScope"]) == (3_600_000, "public")


def test_the_modern_era_needs_no_opening() -> None:
    with Client(SERVER, era="modern") as client:
        assert client.structured("greet", userName="Ada")["text"] == "Hello, Ada!"


def test_an_unknown_modern_version_is_refused_with_those_served() -> None:
    with Client(SERVER, era="modern") as client:
        meta = envelope("2099-01-01")
        client.send({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}})
        error = client.answer_to(1)["error"]
        assert error["data"]["supported"] == [MODERN_VERSION]


def test_both_eras_list_and_answer_alike() -> None:
    seen: list[Any] = []
    for era in ("legacy", "modern"):
        with Client(SERVER, era=era) as client:
            client.open()
            result = client.call("list_rows")
            seen.append((client.list_tools(), result["content"], result["structuredContent"]))
    assert seen[0] == seen[1]


def test_nulls_and_every_character_arrive(opened: Client) -> None:
    row = opened.structured("list_rows")["rows"][2]
    assert row == {"n": 2, "line": None, "title": "👩‍💻 <b> “x” & \\ \u3000"}
    text = opened.call("list_rows")["content"][0]["text"]
    assert '"title":"👩‍💻 <b> “x”' in text


def test_characters_arrive_whatever_the_locale() -> None:
    env = {"PYTHONIOENCODING": "cp1252", "LC_ALL": "C"}
    with Client(SERVER, env=env) as client:
        client.open()
        assert client.structured("greet", userName="👩‍💻é")["text"] == "Hello, 👩‍💻é!"


def test_an_error_is_a_result_with_its_story_in_the_text(opened: Client) -> None:
    assert opened.error("refuse") == (
        "cursor: it belongs to another question; send it to that one, or leave it out."
    )


def test_an_unforeseen_failure_tells_a_reference_and_nothing_else(opened: Client) -> None:
    text = opened.error("crash")
    line = opened.stderr.wait_for("tool crash failed")
    reference = text.partition("reference ")[2].partition(",")[0]
    assert len(reference) == 8
    assert reference in line
    assert "RuntimeError at stdio/small_server.py:" in line
    assert "KeyError" in line
    for told in (text, *opened.stderr.read):
        assert "s3cr3t" not in told
    assert opened.structured("greet", userName="Ada")


def test_a_result_that_utf8_cannot_say_breaks_only_its_own_call(opened: Client) -> None:
    assert "not foreseen" in opened.error("answer_with_half_a_pair")
    assert opened.structured("greet", userName="Ada")


def test_an_unknown_tool_is_a_protocol_error_that_names_the_tools(opened: Client) -> None:
    with pytest.raises(RpcError, match=r'Unknown tool "gret"; the tools are: greet, ') as refused:
        opened.call("gret")
    assert refused.value.code == -32602


def test_arguments_that_are_no_object_are_a_protocol_error(opened: Client) -> None:
    with pytest.raises(RpcError) as refused:
        opened.request("tools/call", name="greet", arguments=[1])
    assert refused.value.code == -32602


def test_a_tool_list_has_no_second_page(opened: Client) -> None:
    with pytest.raises(RpcError, match="one page"):
        opened.request("tools/list", cursor="abc")


def test_a_method_that_is_not_served_is_said_to_be_unknown(opened: Client) -> None:
    for method in ("prompts/list", "resources/list", "no/such"):
        with pytest.raises(RpcError) as refused:
            opened.request(method)
        assert refused.value.code == -32601


def test_a_prefix_begins_every_name_and_changes_no_schema() -> None:
    with Client(SERVER) as plain, Client([*SERVER, "ps_"]) as prefixed:
        plain.open()
        prefixed.open()
        without, having = plain.list_tools(), prefixed.list_tools()
        assert [tool["name"] for tool in having] == [f"ps_{tool['name']}" for tool in without]
        assert [{**tool, "name": ""} for tool in having] == [
            {**tool, "name": ""} for tool in without
        ]
        assert prefixed.structured("ps_greet", userName="Ada")
        assert "ps_greet" in prefixed.error("ps_greet", user="Ada")


def test_a_cancelled_call_ends_and_is_never_answered(opened: Client) -> None:
    waiting = opened.start("tools/call", name="wait_forever", arguments={})
    opened.stderr.wait_for("waiting")
    opened.cancel(waiting)
    opened.stderr.wait_for("cancelled")
    assert opened.structured("greet", userName="Ada")
    assert not opened.is_answered(waiting)


def test_a_slow_call_holds_up_no_other(opened: Client) -> None:
    opened.start("tools/call", name="wait_forever", arguments={})
    started = [
        opened.start("tools/call", name="greet", arguments={"userName": str(n)}) for n in range(50)
    ]
    for n, number in enumerate(started):
        assert opened.result_of(number)["structuredContent"]["text"] == f"Hello, {n}!"


# --- Lines that are no message -------------------------------------------------------------------

NO_MESSAGES: list[tuple[str | bytes, Any, int | None]] = [
    ("not json", None, -32700),
    ('{"jsonrpc":"2.0","id":7,"method":"tools/ca', None, -32700),
    ('{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":"\\ud83d"}}', 7, -32700),
    ('{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":' + "9" * 5000 + "}}", None, -32700),
    ('{"id":8,"method":"ping"}', 8, -32600),
    ('{"jsonrpc":"2.0","id":"nine","method":"ping","params":[1]}', "nine", -32600),
    ('{"jsonrpc":"1.0","method":"ping"}', None, -32600),
    ('[{"jsonrpc":"2.0","id":1,"method":"ping"}]', None, -32600),
    ("17", None, -32600),
    (b"\xff\xfe{}", None, -32700),
    ("[" * 100_000, None, -32700),
    ("", None, None),
    ('{"jsonrpc":"2.0","id":10}', None, None),
]


@pytest.mark.parametrize("before_opening", [True, False])
def test_a_line_that_is_no_message_is_answered_and_hurts_nobody(
    client: Client, before_opening: bool
) -> None:
    if not before_opening:
        client.open()
    for line, number, code in NO_MESSAGES:
        client.send_line(line)
        if code is not None:
            assert client.answer_to(number)["error"]["code"] == code, line[:60]
    if before_opening:
        client.open()
    assert client.structured("greet", userName="Ada")
    assert not client.is_answered(None)


def test_a_huge_line_is_read_whole(opened: Client) -> None:
    text = opened.error("greet", userName="x" * 5_000_000)
    assert text.startswith("userName: 5000000 characters are too many; send text of at most 20")


# --- The end -------------------------------------------------------------------------------------


def test_the_end_of_stdin_ends_the_process_in_order(ending: Client) -> None:
    ending.start("tools/call", name="wait_forever", arguments={})
    ending.stderr.wait_for("waiting")
    ending.close_stdin()
    assert ending.wait() == 0
    assert "background ended" in ending.stderr.ended()
    assert "world closed" in ending.stderr.ended()


def test_a_client_that_never_says_a_word_is_let_go(client: Client) -> None:
    client.close_stdin()
    assert client.wait() == 0


def test_a_server_that_cannot_start_says_so_and_ends() -> None:
    with Client([*SERVER, "broken_"]) as client:
        assert client.wait() == 1
        assert "ERROR serving failed, reference " in client.stderr.ended()
        assert "OSError at stdio/small_server.py:" in client.stderr.ended()
        assert "s3cr3t" not in client.stderr.ended()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_process_in_order(ending: Client, number: signal.Signals) -> None:
    ending.structured("greet", userName="Ada")
    ending.signal(number)
    assert ending.wait() == 128 + number
    assert "background ended" in ending.stderr.ended()
    assert "world closed" in ending.stderr.ended()


@pytest.mark.parametrize("how", ["signal", "end of stdin"])
def test_a_thread_that_hangs_does_not_keep_the_process(ending: Client, how: str) -> None:
    ending.start("tools/call", name="hang_in_a_thread", arguments={})
    ending.stderr.wait_for("hanging")
    if how == "signal":
        ending.signal(signal.SIGTERM)
        assert ending.wait() == 128 + signal.SIGTERM
    else:
        ending.close_stdin()
        assert ending.wait() == 0


@pytest.mark.parametrize("stdin_too", [False, True])
def test_a_broken_stdout_ends_the_process_without_a_fuss(stdin_too: bool) -> None:
    with subprocess.Popen(
        SERVER,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdin and process.stdout and process.stderr
        say(process, "server/discover")
        assert process.stdout.readline()
        process.stdout.close()
        say(process, "tools/call", name="wait_forever", arguments={})
        assert b"waiting" in process.stderr.readline()
        if stdin_too:
            process.stdin.close()
        else:
            say(process, "server/discover")
        assert process.wait(DEADLINE) == 1
        said = process.stderr.read()
        assert b"world closed" in said
        assert b"Traceback" not in said


def say(process: subprocess.Popen[bytes], method: str, **params: Any) -> None:
    """Send a modern request down a bare pipe."""
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    params["_meta"] = envelope()
    assert process.stdin
    process.stdin.write(json.dumps(request).encode() + b"\n")
    process.stdin.flush()


def test_a_parent_that_is_gone_ends_the_process() -> None:
    """The pipes stay open in this process: only the parent's pid tells."""
    parent = "import subprocess, sys; sys.exit(subprocess.Popen(sys.argv[1:]).wait())"
    with Client(python("-c", parent, *SERVER)) as client:
        client.open()
        client.process.kill()
        assert "world closed" in client.stderr.ended()
        assert client.stdout.ended()


def test_handlers_that_print_do_not_reach_the_wire(opened: Client) -> None:
    assert opened.structured("print_something") == {"rows": []}
    opened.stderr.wait_for("printed by a handler")
