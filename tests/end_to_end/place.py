"""A place of its own for a real server: a configuration, a store, and the forge that it names.

with place(folder) as here:
    rocket = here.world.create_repository("acme/rocket")
    with here.server() as server:
        server.structured("list_pull_requests", repositoryUrl=here.url("acme/rocket"))
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, TypeVar

from jsonschema import Draft202012Validator

from tests.simulators.github import TOKEN, World, running
from tests.simulators.github.model import PullRequest
from tests.simulators.github.server import GitHub
from tests.stdio.client import Client, Message, python

INTERVAL = 0.5  # seconds
SOON = 20.0  # seconds: a machine that runs many tests at once is slow
VARIABLE = "SIMULATED_TOKEN"
PLENTY = 1_000_000  # requests an hour: as much at this interval as 5,000 at one of a minute

T = TypeVar("T")


def eventually(
    look: Callable[[], T], holds: Callable[[T], object] = bool, *, within: float = SOON
) -> T:
    """What `look` sees once it `holds`; AssertionError with what it saw last."""
    deadline = time.monotonic() + within
    while not holds(seen := look()):
        assert time.monotonic() < deadline, f"still {seen!r:.2000} after {within:g} s"
        time.sleep(0.05)
    return seen


class Server(Client):
    """A real server process, with the questions that tests ask again and again."""

    _validators: dict[str, Draft202012Validator] | None = None

    def structured(self, tool: str, /, **arguments: Any) -> Message:
        """A tool's answer, which must be valid against the schema that the server publishes."""
        reply = super().structured(tool, **arguments)
        if self._validators is None:
            listed = self.list_tools()
            self._validators = {
                each["name"]: Draft202012Validator(each["outputSchema"]) for each in listed
            }
        self._validators[tool].validate(reply)
        return reply

    def list(self, url: str, **arguments: Any) -> Message:
        """What `list_pull_requests` answers."""
        return self.structured("list_pull_requests", repositoryUrl=url, **arguments)

    def rows(self, url: str, **arguments: Any) -> dict[int, Message]:
        """Its rows, by number."""
        return {row["number"]: row for row in self.list(url, **arguments)["pullRequests"]}

    def row(self, url: str, number: int, **arguments: Any) -> Message:
        """One of them; empty where it is not listed."""
        return self.rows(url, **arguments).get(number, {})

    def whole(self, url: str) -> list[Message]:
        """Every row, page after page."""
        page = {"limit": 100}
        rows: list[Message] = []
        while True:
            reply = self.list(url, pagination=page)
            rows += reply["pullRequests"]
            if "nextPageToken" not in reply:
                return rows
            page = {"limit": 100, "cursor": reply["nextPageToken"]}

    def sync(self, url: str) -> Message:
        """What the answer says of its own age and gaps."""
        return self.list(url)["sync"]

    def until_swept(self, url: str) -> Message:
        """The list, once the first sweep is complete."""
        return eventually(lambda: self.list(url), lambda reply: reply["sync"]["state"] != "unread")

    def threads(self, owner: str, repo: str, number: int, **more: Any) -> Message:
        """What `list_pull_request_review_threads` answers."""
        given = {"owner": owner, "repo": repo, "pull_number": number, **more}
        return self.structured("list_pull_request_review_threads", **given)


@dataclass(frozen=True, slots=True)
class Place:
    """`folder` holds all that the processes may read and write."""

    folder: Path
    github: GitHub
    environ: dict[str, str]

    @property
    def world(self) -> World:
        return self.github.world

    @property
    def store(self) -> Path:
        return self.folder / "store.db"

    def url(self, path: str = "acme/rocket") -> str:
        """The address of a repository on the forge."""
        return f"{self.github.url}/{path}"

    def server(
        self, *arguments: str, era: Literal["legacy", "modern"] = "legacy", **environ: str
    ) -> Server:
        """`pullstate serve ARGUMENTS`, not opened yet. A variable that is `""` is left out."""
        return Server(
            python("-m", "pullstate", "serve", *arguments),
            era=era,
            env={name: text for name, text in {**self.environ, **environ}.items() if text},
            cwd=self.folder,
        )

    @contextmanager
    def serving(self, *arguments: str, **environ: str) -> Iterator[Server]:
        """The same with the connection open."""
        with self.server(*arguments, **environ) as server:
            server.open()
            yield server

    def moved(self, folder: Path) -> Place:
        """Another place at the same forge, with its own configuration written."""
        own = {
            "HOME": str(folder),
            "PULLSTATE_CONFIG": str(folder / "config.toml"),
            "PULLSTATE_STORE": str(folder / "store.db"),
        }
        there = replace(self, folder=folder, environ=self.environ | own)
        there.configure()
        return there

    def configure(self, text: str = "", *, token: str = f'token_env = "{VARIABLE}"') -> None:
        """Write the configuration file: the forge, where its token is, and `text`."""
        forge = f'[[forge]]\nkind = "github"\nurl = "{self.github.url}"\n{token}\n'
        (self.folder / "config.toml").write_text(forge + text, encoding="utf-8")


@contextmanager
def place(
    folder: Path, world: World | None = None, *, interval: float = INTERVAL
) -> Iterator[Place]:
    """A place in `folder`, whose forge runs while the block does."""
    with running(world) as github:
        github.world.budgets.limits = {"core": PLENTY, "graphql": PLENTY}
        environ = {"PULLSTATE_SYNC_INTERVAL": f"{interval:g}", VARIABLE: TOKEN}
        yield Place(folder, github, environ).moved(folder)
        github.faults.clear()


def wire(server: Client) -> list[Message]:
    """Every line of standard output so far, each of which must be a JSON-RPC message."""
    messages = [json.loads(line) for line in server.stdout.read]
    assert all(message["jsonrpc"] == "2.0" for message in messages)
    return messages


def agrees(row: Message, change: PullRequest) -> bool:
    """Whether a row says of a pull request what the forge's world says."""
    told = (row["providerId"], row["url"], row["title"], row["headBranch"], row["headSha"])
    true = (change.id, change.url, change.title, change.head_ref_name, change.head.oid)
    dates = [(row["openedAt"], change.created_at), (row["changedAt"], change.updated_at)]
    if change.merged_at:
        dates.append((row["mergedAt"], change.merged_at))
    return (
        told == true
        and row["baseBranch"] == change.base_ref_name
        and row["draft"] is change.is_draft
        and (row["state"] == "PULL_REQUEST_STATE_MERGED") is (change.state == "MERGED")
        and all(datetime.fromisoformat(text) == at for text, at in dates)
    )
