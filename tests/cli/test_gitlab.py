"""A merge request in a nested group of a GitLab under a subpath, read from the shell."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.cli.shell import Shell, shell
from tests.simulators.gitlab import DEFAULT_TOKEN, Running, World, diffs, position, running
from tests.simulators.gitlab.model import MergeRequest

PATH = "group/sub/rocket"
FACETS = "diffs,commits,notes,pipelines,conflicts,discussions"
LEFT_OUT = {
    "web/app/yarn.lock": "generated/lockfile",
    "dist/app.js": "vendored",
    "logo.png": "binary",
    "dump.sql": "too_large",
}


@pytest.fixture(scope="module")
def gitlab() -> Iterator[Running]:
    world = World()
    project = world.project(PATH)
    ordinary = [diffs.modified(f"src/module_{n}.py", plus=20, minus=10) for n in range(56)]
    others = [
        diffs.modified("web/app/yarn.lock", plus=400, minus=300),
        diffs.renamed("dist/app.js", "src/app.js"),
        diffs.binary("logo.png", new_file=True),
        diffs.sized("dump.sql", 2_000_000),
    ]
    made = world.open_merge_request(project, "topic", files=[*ordinary, *others], commits=3)
    say(world, made)
    world.pipeline(made, "failed", jobs=["build:success", "lint:failed"])
    with running(world, "/gitlab") as served:
        yield served


def say(world: World, made: MergeRequest) -> None:
    """45 discussions of the code with two notes each, every other one resolved, and 30 notes."""
    for n in range(45):
        where = position(made, "src/module_1.py", new_line=1)
        opened = world.note(made, f"Why {n}?", "ann", on=where)
        world.reply(made, opened, f"Because {n}.", "bob")
        if n % 2:
            world.resolve(made, opened, "ann")
    for n in range(30):
        world.note(made, f"Plain {n}", "bob")


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory, gitlab: Running) -> Shell:
    forge = f'[[forge]]\nkind = "gitlab"\nurl = "{gitlab.url}"\ntoken_env = "SIMULATED"\n'
    return shell(tmp_path_factory.mktemp("here"), forge, SIMULATED=DEFAULT_TOKEN)


@pytest.fixture
def url(gitlab: Running) -> str:
    return f"{gitlab.url}/{PATH}/-/merge_requests/1"


def asked(here: Shell, **arguments: Any) -> dict[str, Any]:
    done = here.run("call", "get_merge_request", json.dumps(arguments))
    assert done.status == 0, done.errors
    assert len(done.output.strip().encode()) <= 48_000
    return done.json


def test_sixty_files_of_which_four_are_left_out(here: Shell, url: str):
    made = asked(here, url=f"{url}/diffs#note_1", include="diffs")["diffs"]
    assert made["stats"] == {"additions": 21_322, "deletions": 860, "files": 60}
    assert len(made["files"]) == 56
    assert {each["path"]: each["reason"] for each in made["excluded_files"]} == LEFT_OUT
    assert made["truncated"] is False


def test_patches_come_whole_within_the_budget(here: Shell, url: str):
    made = asked(here, url=url, include="diffs", detail="full_patch")["diffs"]
    assert len(made["files"]) + len(made["excluded_files"]) == 60
    assert made["files"][0]["patch"].count("\n+new") == made["files"][0]["additions"] == 20


def test_every_discussion_in_one_reply(here: Shell, url: str):
    made = asked(here, url=url, include="discussions")["discussions"]
    assert made["truncated"] is False
    assert len(made["items"]) == 75
    of_the_code = [each for each in made["items"] if each["resolvable"]]
    assert [len(each["notes"]) for each in of_the_code] == [2] * 45
    assert sum(each["resolved"] for each in of_the_code) == 22


def test_120_notes_in_disjoint_pages(here: Shell, url: str):
    pages = [
        asked(here, url=url, include="notes", notes_page=page, notes_per_page=50)["notes"]
        for page in (1, 2, 3)
    ]
    assert [page["metadata"]["has_more"] for page in pages] == [True, True, False]
    ids = [each["id"] for page in pages for each in page["items"]]
    assert len(ids) == len(set(ids)) == 120
    assert ids == sorted(ids)


def test_all_facets_by_the_numeric_id(here: Shell, gitlab: Running):
    project = gitlab.world.find(PATH)
    reply = asked(here, project_id=project.id, merge_request_iid=1, include=FACETS)
    assert [reply[facet].get("error") for facet in FACETS.split(",")] == [None] * 6
    assert reply["web_url"].endswith(f"/gitlab/{PATH}/-/merge_requests/1")
    assert reply["pipelines"]["items"][0]["failed_jobs"][0]["name"] == "lint"
    assert reply["commits"]["items"][0]["title"] == "Step 3 of topic"
    tracked = here.run("status", "--json").output
    assert f"/gitlab/{PATH}" in tracked
    assert f"/gitlab/{project.id}" not in tracked


def test_missing_and_hidden_get_the_same_words(here: Shell, gitlab: Running, url: str):
    words = "not found, or not visible to the configured token"
    hidden = gitlab.url + "/no/where/-/merge_requests/1"
    for given in ({"url": hidden}, {"url": f"{url}99"}, {"project_id": 9, "merge_request_iid": 1}):
        done = here.run("call", "get_merge_request", json.dumps(given))
        assert done.status != 0
        assert words in done.errors


def test_a_person_reads_it(here: Shell, url: str):
    shown = here.run("show", url, "--include", "pipelines,diffs").output
    assert "!1 Change number 1\n" in shown
    assert "  failed: lint  " in shown
    assert "left out (vendored): dist/app.js\n" in shown
