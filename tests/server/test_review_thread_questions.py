"""`list_pull_request_review_threads`: of which pull request, and what is no such question."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pullstate.domain.address import GITHUB_COM, GITLAB_COM
from tests.server.office import THREADS, Office
from tests.server.threads import kept, thread

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("site", "path", "ids"),
    [(GITHUB_COM, "acme/rocket", "PRRT_"), (GITLAB_COM, "group/sub/rocket", "6f4a")],
)
async def test_each_forge_is_asked_in_its_own_words(tmp_path: Path, site, path: str, ids: str):
    office = Office.build(tmp_path, site)
    project = office.project(path)
    office.world.open(project, "Change", "branch")
    id_ = office.keep(project, site=site)
    project.threads[1] = [replace(thread(), id=f"{ids}e1")]
    office.keep_threads(id_, project, 1)
    owner, _, repo = path.rpartition("/")
    page = await office.threads(1, owner=owner, repo=repo, host=site.host)
    [row] = page["threads"]
    assert row["id"] == f"{ids}e1"
    assert isinstance(row["firstComment"]["id"], int)
    office.store.close()


async def test_without_a_host_the_default_one_is_meant(tmp_path: Path):
    office = Office.build(tmp_path, GITHUB_COM)
    project = office.project()
    office.world.open(project, "Change", "branch")
    office.keep(project, site=GITHUB_COM)
    await office.threads(1, host=None)
    assert [each.url for each in office.repositories()] == ["https://github.com/acme/rocket"]
    office.store.close()


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("example.com/gitlab", "https://example.com/gitlab/group/sub/rocket"),
        ("https://example.com/gitlab/", "https://example.com/gitlab/group/sub/rocket"),
        ("gitlab.com", "https://gitlab.com/group/sub/rocket"),
        ("GitLab.com:443", "https://gitlab.com/group/sub/rocket"),
    ],
)
async def test_a_group_path_is_an_owner_on_a_gitlab(office: Office, host: str, url: str):
    await office.threads(1, host=host, owner="group/sub", repo="rocket")
    assert [each.url for each in office.repositories()] == [url]


@pytest.mark.parametrize("owner", ["group/sub", "group/sub/", "/a/b/c"])
async def test_a_group_path_without_a_gitlab_host_is_told_to_send_it(office: Office, owner: str):
    words = await office.no_threads(1, owner=owner, host=None)
    assert words.startswith(f'owner: "{owner}" is the path of a GitLab group')
    assert "send its host too (gitlab.com, example.com/gitlab)" in words
    assert office.repositories() == []


@pytest.mark.parametrize("parts", [{"owner": " 20 "}, {"owner": "http:/"}, {"repo": "rocket/sub"}])
async def test_what_is_no_path_is_told_to_be_sent_in_parts_and_not_as_an_address(
    office: Office, parts: dict[str, str]
):
    words = await office.no_threads(1, **parts)
    assert "send the two parts apart" in words
    assert "https://" not in words
    assert "alone" not in words


async def test_a_wiki_is_told_to_be_its_repository(office: Office):
    words = await office.no_threads(1, repo="rocket.wiki")
    assert words.startswith('owner and repo: "rocket.wiki" is a wiki')
    assert "apart" not in words


@pytest.mark.parametrize("host", ["+5", "git hub.com", "github.com:x", "[::1", "github.com:99999"])
async def test_a_host_that_is_none_is_told_its_form(office: Office, host: str):
    words = await office.no_threads(1, host=host)
    assert "write HOST[:PORT][/PATH]" in words
    assert "OWNER" not in words


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"owner": None}, "owner is missing"),
        ({"owner": ""}, "owner is missing"),
        ({"repo": None}, "repo is missing"),
        ({"owner": "x" * 1025}, "owner: "),
        ({"repo": "x" * 256}, "repo: "),
        ({"owner": 5}, "owner: "),
        ({"repo": ["rocket"]}, "repo: "),
        ({"owner": "ac me"}, "owner and repo: "),
        ({"owner": ".."}, "owner and repo: "),
        ({"owner": "https://github.com/acme"}, "owner and repo: "),
        ({"owner": "-acme"}, "owner and repo: "),
        ({"repo": "rocket/sub"}, "owner and repo: "),
        ({"repo": "rocket#7"}, "owner and repo: "),
        ({"repo": "."}, "owner and repo: "),
        ({"pull_number": None}, "pull_number is missing"),
        ({"pull_number": "seven"}, "pull_number: "),
        ({"pull_number": 0}, "pull_number: "),
        ({"pull_number": -7}, "pull_number: "),
        ({"pull_number": 7.5}, "pull_number: "),
        ({"pull_number": True}, "pull_number: "),
        ({"pull_number": 2**31}, "pull_number: "),
        ({"pull_number": "#7"}, "pull_number: "),
        ({"limit": -1}, "limit: "),
        ({"limit": True}, "limit: "),
        ({"limit": "many"}, "limit: "),
        ({"host": "nowhere.example"}, "host: "),
        ({"host": "   "}, "host: "),
        ({"host": "github.com/sub"}, "host: "),
        ({"host": "x" * 513}, "host: "),
        ({"host": 5}, "host: "),
        ({"number": 7}, '"number" (did you mean pull_number?) is no argument'),
        ({"pullNumber": 8}, "pull_number: "),  # beside pull_number 1
    ],
)
async def test_every_wrong_argument_is_named_with_the_remedy(
    office: Office, given: dict[str, Any], words: str
):
    named = {"owner": "acme", "repo": "rocket", "pull_number": 1}
    said = await office.refused(THREADS, **(named | given))
    assert said.startswith(words)
    assert "\n" not in said
    assert len(said) < 700
    assert office.repositories() == []


async def test_an_unknown_host_is_told_the_configured_ones(office: Office):
    words = await office.no_threads(1, host="nowhere.example")
    for name in ("github.com", "gitlab.com", "demo.invalid", "example.com/gitlab"):
        assert name in words


@pytest.mark.parametrize("number", [1, "1", 1.0, " 1 ", "01"])
async def test_a_number_is_taken_as_it_is_meant(office: Office, number: Any):
    kept(office, thread())
    assert len((await office.threads(number))["threads"]) == 1
    named = {"owner": "acme", "repo": "rocket", "host": "demo.invalid", "pullNumber": number}
    page = await office.ask(THREADS, **named)
    assert len(page["threads"]) == 1
