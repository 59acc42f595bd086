"""A token goes to its own host, by whatever way it came in, and is found nowhere else."""

from __future__ import annotations

import base64
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.cli.shell import Shell
from tests.end_to_end.place import VARIABLE, Place, Server, eventually, place
from tests.simulators.github import World, faults, running
from tests.simulators.github.server import GitHub

pytestmark = pytest.mark.stdio

FACETS = "diffs,commits,notes,pipelines,conflicts,discussions"


@dataclass(frozen=True)
class Way:
    """How a token comes in: lines of its forge's table, variables, and the file that holds it.

    `TOKEN`, `FILE` and `HOST` stand for the token, the file's path and the forge's host and port.
    """

    lines: str = ""
    environ: tuple[tuple[str, str], ...] = ()


WAYS = {
    "variable": Way('token_env = "ONE"', (("ONE", "TOKEN"),)),
    "variable's file": Way('token_env = "TWO"', (("TWO_FILE", "FILE"),)),
    "file": Way('token_file = "FILE"'),
    "command": Way('token_command = ["cat", "FILE"]'),
    "owner's variable": Way('[[forge.token]]\nowner = "acme"\nenv = "FIVE"', (("FIVE", "TOKEN"),)),
    "usual variable": Way("", (("GH_ENTERPRISE_TOKEN", "TOKEN"), ("GH_HOST", "HOST"))),
    "gh": Way(),
}


def token_of(way: str) -> str:
    return f"ghp_s3cret+and/odd={way.title().replace(' ', '').replace(chr(39), '')}0042"


def spellings(token: str) -> tuple[str, ...]:
    """The token as it might leak."""
    encoded = base64.b64encode(token.encode()).decode().rstrip("=")
    return token, quote(token, safe=""), encoded, token.partition("=")[2]


ALL = tuple(spelling for way in WAYS for spelling in spellings(token_of(way)))


@dataclass
class Story:
    """What was sent where, and everything that was told or stored."""

    sent: dict[str, set[str | None]]
    told: str
    stderr: str
    stored_while_running: list[str]
    stored_after: list[str]
    status: str


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    """One server with a forge for each way; every tool asked, in good times and in bad ones."""
    with ExitStack() as stack:
        here = stack.enter_context(place(tmp_path_factory.mktemp("secrets")))
        forges = {way: stack.enter_context(running(_world(way))) for way in WAYS}
        environ = _settled(here, forges)
        environ["PULLSTATE_LOG"] = "DEBUG"
        server = stack.enter_context(here.serving(**environ))
        told = "".join(_asked(server, github, token_of(way)) for way, github in forges.items())
        while_running = _holding(here.folder)
        server.close_stdin()
        server.wait()
        shell = Shell(here.folder, {**here.environ, "PATH": os.environ["PATH"], **environ})
        shown = shell.run("status", "--json")
        yield Story(
            {way: _sent(github) for way, github in forges.items()},
            told,
            server.stderr.ended(),
            while_running,
            _holding(here.folder),
            shown.output + shown.errors,
        )


def _world(way: str) -> World:
    world = World()
    world.add_token(token_of(way))
    change = world.open_pull_request(world.create_repository("acme/rocket"))
    world.set_checks(change, build="FAILURE")
    world.open_thread(change, "alice")
    return world


def _settled(here: Place, forges: dict[str, GitHub]) -> dict[str, str]:
    """Write the configuration and the secrets' files; the variables that belong to them."""
    tables, environ = "", {VARIABLE: "", "PATH": _path_with_gh(here, forges["gh"])}
    for number, (way, github) in enumerate(forges.items()):
        file = here.folder / f"secret{number}"
        file.write_text(f"{token_of(way)}\n", encoding="utf-8")
        host = github.url.removeprefix("http://")
        known = {"TOKEN": token_of(way), "FILE": str(file), "HOST": host}
        lines = WAYS[way].lines.replace("FILE", str(file))
        tables += f'[[forge]]\nkind = "github"\nurl = "{github.url}"\n{lines}\n'
        environ |= {name: known[what] for name, what in WAYS[way].environ}
    here.configure(tables)
    return environ


def _path_with_gh(here: Place, github: GitHub) -> str:
    """A `gh` that keeps one login; with a variable of the environment it would only echo that."""
    tools = here.folder / "bin"
    tools.mkdir()
    gh, host = tools / "gh", github.url.removeprefix("http://")
    no_variable = 'test -z "$GH_TOKEN$GH_ENTERPRISE_TOKEN$GITHUB_TOKEN"'
    kept = here.folder / f"secret{list(WAYS).index('gh')}"
    script = f'#!/bin/sh\n{no_variable} && test "$4" = "{host}" && cat "{kept}"\n'
    gh.write_text(script, encoding="utf-8")
    gh.chmod(gh.stat().st_mode | stat.S_IXUSR)
    return f"{tools}{os.pathsep}{os.environ['PATH']}"


def _asked(server: Server, github: GitHub, token: str) -> str:
    url, host = f"{github.url}/acme/rocket", github.url.removeprefix("http://")
    named = {"owner": "acme", "repo": "rocket", "pull_number": 1, "host": host}
    told = [
        server.until_swept(url),
        server.list(url, maxAgeSeconds=0),
        server.structured("list_pull_request_review_threads", **named),
        server.structured("get_merge_request", url=f"{url}/pull/1", include=FACETS),
    ]
    for user in (f"octocat:{token}", token, f"x-access-token:{token}"):
        told.append(server.call("list_pull_requests", repositoryUrl=f"http://{user}@{host}/a"))
        elsewhere = f"https://{user}@elsewhere.example/a/b"
        told.append(server.call("list_pull_requests", repositoryUrl=elsewhere))
        told.append(server.call("get_merge_request", url=f"{elsewhere}/pull/1"))
    github.faults.add(faults.bad_credentials(times=None))
    told.append(eventually(lambda: server.list(url), lambda r: r["sync"]["state"] == "failing"))
    return repr(told)


def _sent(github: GitHub) -> set[str | None]:
    return {request.headers.get("authorization") for request in github.log.matching()}


def _holding(folder: Path) -> list[str]:
    """The files beside the secrets' own that hold one of them."""
    files = [each for each in folder.rglob("*") if each.is_file() and "secret" not in each.name]
    return [each.name for each in files if leaks(each.read_bytes().decode("latin-1"))]


def leaks(text: str) -> list[str]:
    return [spelling for spelling in ALL if spelling in text]


@pytest.mark.parametrize("way", WAYS)
def test_a_token_comes_in_by_its_way_and_goes_to_its_own_host_alone(story: Story, way: str) -> None:
    assert story.sent[way] == {f"Bearer {token_of(way)}"}


def test_no_token_is_in_an_answer(story: Story) -> None:
    assert story.told
    assert not leaks(story.told)


def test_no_token_is_logged(story: Story) -> None:
    assert not leaks(story.stderr)


def test_no_token_is_in_the_store_or_its_journal(story: Story) -> None:
    assert not story.stored_while_running
    assert not story.stored_after


def test_no_token_is_shown_by_status_which_names_where_each_was_found(story: Story) -> None:
    assert not leaks(story.status)
    for source in (
        "environment ONE",
        "file (TWO_FILE)",
        "file (token_file)",
        "command (token_command)",
        "environment FIVE for acme",
        "environment GH_ENTERPRISE_TOKEN",
        "gh auth token",
    ):
        assert f'"{source}"' in story.status


def test_without_a_token_a_public_repository_is_read_and_what_cannot_be_is_said(
    tmp_path: Path,
) -> None:
    with place(tmp_path, interval=60) as here:  # 60 requests an hour are few
        change = here.world.open_pull_request(here.world.create_repository("acme/rocket"))
        here.world.set_checks(change, build="FAILURE")
        here.world.open_thread(change, "alice")
        here.configure(token="")
        with here.serving(**{VARIABLE: ""}) as server:
            eventually(
                lambda: server.row(here.url(), 1),
                lambda row: row["state"] == "PULL_REQUEST_STATE_FAILING",
            )
            sync = server.sync(here.url())
            assert sync["state"] == "partial"
            assert "to a token only" in sync["facets"]["review"]
            threads = server.threads("acme", "rocket", 1)
            assert threads["truncated"] is True
            assert "to a token only" in threads["sync"]["facets"]["threads"]
        assert _sent(here.github) == {None}
        assert not here.github.log.matching("graphql")
