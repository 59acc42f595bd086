"""A token goes to its own host, by whatever way it came in, and is found nowhere else."""

from __future__ import annotations

import base64
import os
import stat
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.cli.shell import Shell
from tests.end_to_end.place import VARIABLE, Place, Server, eventually, place
from tests.simulators.github import World, faults, running

pytestmark = pytest.mark.stdio

TOKEN = "ghp_s3cretOf0urOwn+and/odd=Characters0042"
SPELLINGS = (
    TOKEN,
    quote(TOKEN, safe=""),
    base64.b64encode(TOKEN.encode()).decode().rstrip("="),
    TOKEN[4:24],
)


def by_variable(here: Place) -> dict[str, str]:
    return {VARIABLE: TOKEN}


def by_variable_s_file(here: Place) -> dict[str, str]:
    return {VARIABLE: "", f"{VARIABLE}_FILE": secret_file(here)}


def by_file(here: Place) -> dict[str, str]:
    here.configure(token=f'token_file = "{secret_file(here)}"')
    return {VARIABLE: ""}


def by_command(here: Place) -> dict[str, str]:
    here.configure(token=f'token_command = ["cat", "{secret_file(here)}"]')
    return {VARIABLE: ""}


def by_owner(here: Place) -> dict[str, str]:
    here.configure(token=f'[[forge.token]]\nowner = "acme"\nenv = "{VARIABLE}"')
    return {VARIABLE: TOKEN}


def by_enterprise_variable(here: Place) -> dict[str, str]:
    here.configure(token="")
    return {VARIABLE: "", "GH_ENTERPRISE_TOKEN": TOKEN}


def by_gh(here: Place) -> dict[str, str]:
    """A login that gh keeps; it would echo a variable of the environment instead."""
    here.configure(token="")
    tools = here.folder / "bin"
    tools.mkdir()
    gh = tools / "gh"
    script = 'test -z "$GH_TOKEN$GH_ENTERPRISE_TOKEN$GITHUB_TOKEN" && cat "$HOME/secret"'
    gh.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    gh.chmod(gh.stat().st_mode | stat.S_IXUSR)
    secret_file(here)
    return {VARIABLE: "", "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}


def secret_file(here: Place) -> str:
    file = here.folder / "secret"
    file.write_text(f"{TOKEN}\n", encoding="utf-8")
    return str(file)


WAYS: dict[str, Callable[[Place], dict[str, str]]] = {
    each.__name__.replace("_", " "): each
    for each in (
        by_variable,
        by_variable_s_file,
        by_file,
        by_command,
        by_owner,
        by_enterprise_variable,
        by_gh,
    )
}


def open_one(here: Place) -> None:
    change = here.world.open_pull_request(here.world.create_repository("acme/rocket"))
    here.world.set_checks(change, build="FAILURE")
    here.world.open_thread(change, "alice")


def asked_everything(server: Server, here: Place) -> str:
    """All that the tools have to say, in good times and in bad ones."""
    facets = "diffs,commits,notes,pipelines,conflicts,discussions"
    told = [
        server.until_swept(here.url()),
        server.list(here.url(), maxAgeSeconds=0),
        server.threads("acme", "rocket", 1),
        server.structured("get_merge_request", url=here.url("acme/rocket/pull/1"), include=facets),
    ]
    here.github.faults.add(faults.bad_credentials(times=None))
    told.append(server.list(here.url(), maxAgeSeconds=0))
    host = here.github.url.removeprefix("http://")
    for user in (f"octocat:{TOKEN}", TOKEN, f"x-access-token:{TOKEN}"):
        told.append(server.call("list_pull_requests", repositoryUrl=f"http://{user}@{host}/a/b"))
        elsewhere = f"https://{user}@elsewhere.example/a/b"
        told.append(server.call("list_pull_requests", repositoryUrl=elsewhere))
        told.append(server.call("get_merge_request", url=f"{elsewhere}/pull/1"))
    return repr(told)


def is_told(text: str) -> list[str]:
    return [spelling for spelling in SPELLINGS if spelling in text]


def is_stored(folder: Path) -> list[str]:
    """The files beside the secret's own that hold it."""
    kept = [file for file in folder.rglob("*") if file.is_file() and file.name != "secret"]
    return [file.name for file in kept if is_told(file.read_bytes().decode("latin-1"))]


@pytest.mark.parametrize("way", WAYS)
def test_a_token_is_sent_to_its_host_and_found_nowhere_else(here: Place, way: str) -> None:
    here.world.add_token(TOKEN)
    open_one(here)
    environ = WAYS[way](here)
    with here.serving(PULLSTATE_LOG="DEBUG", **environ) as server:
        answers = asked_everything(server, here)
        assert not is_stored(here.folder), "while it runs: its journal too"
        server.close_stdin()
        server.wait()
        errors = server.stderr.ended()
    assert TOKEN in {request.notes.get("token") for request in here.github.log.matching()}
    assert not is_told(answers)
    assert not is_told(errors), errors
    assert not is_stored(here.folder)
    shell = Shell(here.folder, {**here.environ, "PATH": os.environ["PATH"], **environ})
    shown = shell.run("status", "--json", PULLSTATE_LOG="DEBUG")
    assert not is_told(shown.output + shown.errors)


def test_no_host_gets_another_host_s_token(tmp_path: Path) -> None:
    with place(tmp_path) as here, running(World()) as other:
        other.world.open_pull_request(other.world.create_repository("acme/rocket"))
        open_one(here)
        here.configure(f'[[forge]]\nkind = "github"\nurl = "{other.url}"\n')
        environ = {"GH_TOKEN": TOKEN, "GITHUB_TOKEN": TOKEN, "GITLAB_TOKEN": TOKEN}
        with here.serving(**environ) as server:
            assert server.rows(here.url())
            assert server.rows(f"{other.url}/acme/rocket")
        sent = {request.headers.get("authorization") for request in other.log.matching()}
        assert sent == {None}
        tokens = {request.notes.get("token") for request in here.github.log.matching()}
        assert TOKEN not in tokens


def test_without_a_token_a_public_repository_is_read_and_what_cannot_be_is_said(
    tmp_path: Path,
) -> None:
    with place(tmp_path, interval=60) as here:  # 60 requests an hour are few
        open_one(here)
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
        sent = {request.headers.get("authorization") for request in here.github.log.matching()}
        assert sent == {None}
        assert not here.github.log.matching("graphql")
