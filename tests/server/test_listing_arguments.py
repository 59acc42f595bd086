"""`list_pull_requests`: every argument wrong in each way is one sentence with the remedy."""

from __future__ import annotations

from typing import Any

import pytest

from pullstate.store.records import Depth
from tests.server.office import LIST, ROCKET, SITES, THREADS, Office, numbers

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("arguments", [{}, {"repositoryUrl": ""}, {"repositoryUrl": None}])
async def test_a_missing_repository_is_asked_for(office: Office, arguments: dict[str, Any]):
    words = await office.refused(LIST, **arguments)
    assert words.startswith("repositoryUrl is missing; send text (")
    assert words.count("2048") == 1


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("https://nowhere.example/acme/rocket", 'The host "nowhere.example" is not configured.'),
        ("git@nowhere.example:acme/rocket.git", 'The host "nowhere.example" is not configured.'),
        ("https://bitbucket.org/acme/rocket", "bitbucket.org"),
        ("https://github.com/acme", "names no repository"),
        ("https://github.com/acme/rocket.wiki", "wiki"),
        ("acme/rocket#7", "one pull request"),
        ("rocket", ""),
        ("/home/ada/rocket", ""),
        ("   ", ""),
        ("https://github.com/acme/ro cket", ""),
        ("x" * 2049, "2049 characters are too many"),
        (5, "5 is not text"),
        (["https://github.com/acme/rocket"], "an array is not text"),
        ({"url": 1}, "an object is not text"),
        (True, "true is not text"),
    ],
)
async def test_what_is_no_repositorys_address_is_refused_and_nothing_is_stored(
    office: Office, url: Any, words: str
):
    said = await office.refused(LIST, repositoryUrl=url)
    assert said.startswith("repositoryUrl: ")
    assert words in said
    assert said.count("\n") == 0
    assert len(said) < 700
    assert office.repositories() == []


async def test_an_unknown_host_is_refused_with_the_configured_ones(office: Office):
    said = await office.refused(LIST, repositoryUrl="https://nowhere.example/acme/rocket")
    assert all(site.name in said for site in SITES)


async def test_a_secret_in_an_address_is_neither_stored_nor_echoed(office: Office):
    secret = "ghp_s3cr3ts3cr3ts3cr3t"
    for url in (f"https://ada:{secret}@nowhere.example/a/b", f"https://{secret}@github.com/a"):
        assert secret not in await office.refused(LIST, repositoryUrl=url)
    page = await office.list(f"https://oauth2:{secret}@demo.invalid/acme/rocket.git")
    assert page["repositoryUrl"] == ROCKET
    assert office.repositories()[0].url == ROCKET


@pytest.mark.parametrize("branch", [7, True, ["main"], {"name": "main"}, "x" * 513, "a\0b"])
async def test_what_is_no_branchs_name_is_refused(office: Office, branch: Any):
    said = await office.refused(LIST, repositoryUrl=ROCKET, headBranch=branch)
    assert said.startswith("headBranch: ")
    assert "512" in said


async def test_a_branch_of_512_characters_is_taken(office: Office):
    project = office.project()
    office.world.open(project, "Change", "枝" * 512)
    office.keep(project)
    assert numbers(await office.list(headBranch="枝" * 512)) == [1]


@pytest.mark.parametrize("pagination", [5, True, "next", [], "[1]", '{"limit": 5', "{]"])
async def test_what_is_no_pagination_is_refused(office: Office, pagination: Any):
    said = await office.refused(LIST, repositoryUrl=ROCKET, pagination=pagination)
    assert said.startswith("pagination: ")
    assert "send an object with limit, cursor, or leave it out." in said


@pytest.mark.parametrize("pagination", [None, "", {}, "{}", {"limit": None, "cursor": None}])
async def test_pagination_that_says_nothing_is_none(office: Office, pagination: Any):
    office.keep(office.project())
    assert (await office.list(pagination=pagination))["pullRequests"] == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"perPage": 5}, '"perPage" is no argument'),
        ({"headBranches": "x"}, "did you mean headBranch?"),
        ({"cursor": "x"}, "pagination.cursor"),
        ({"pagination": {"perPage": 5}}, '"perPage" is no argument of pagination'),
        ({"state": "open"}, '"state" is no argument'),
    ],
)
async def test_an_unknown_argument_is_refused_with_the_known_ones(
    office: Office, arguments: dict[str, Any], words: str
):
    said = await office.refused(LIST, repositoryUrl=ROCKET, **arguments)
    assert words in said
    assert "limit, cursor" in said
    assert office.repositories() == []


async def test_two_spellings_of_one_argument_may_not_differ(office: Office):
    office.keep(office.project())
    said = await office.refused(LIST, repositoryUrl=ROCKET, headBranch="a", head_branch="b")
    assert "head_branch and headBranch" in said or "headBranch and head_branch" in said
    page = await office.ask(LIST, repositoryUrl=ROCKET, repository_url=ROCKET)
    assert page["repositoryUrl"] == ROCKET


async def test_several_wrong_arguments_are_all_named_at_once(office: Office):
    said = await office.refused(
        LIST, repositoryUrl=5, headBranch=5, pagination={"limit": -1}, maxAgeSeconds="soon"
    )
    for name in ("repositoryUrl", "headBranch", "pagination.limit", "maxAgeSeconds"):
        assert f"{name}: " in said


# --- Taking up a repository by asking ------------------------------------------------------------


def url_of(n: int) -> str:
    return f"https://demo.invalid/acme/rocket-{n}"


async def test_a_process_takes_up_twenty_repositories_an_hour(office: Office):
    for n in range(20):
        await office.list(url_of(n))
    said = await office.refused(LIST, repositoryUrl=url_of(20))
    assert said.startswith(f"{url_of(20)} is not tracked")
    assert "20 repositories" in said
    assert f"`pullstate track {url_of(20)}`" in said
    assert "not tracked" in await office.refused(
        THREADS, owner="acme", repo="rocket-21", host="demo.invalid", pull_number=1
    )
    assert len(office.repositories()) == 20
    await office.list(url_of(7))  # what is known can be asked about
    office.advance(minutes=59)
    await office.refused(LIST, repositoryUrl=url_of(20))
    office.advance(minutes=1)
    await office.list(url_of(20))


async def test_what_others_track_and_what_is_wrong_counts_for_nothing(office: Office):
    for n in range(30):
        office.track(office.project(f"acme/rocket-{n}"))
        await office.list(url_of(n))
        await office.refused(LIST, repositoryUrl="https://nowhere.example/acme/rocket")
    for n in range(30, 50):
        await office.list(url_of(n))
    await office.refused(LIST, repositoryUrl=url_of(50))


async def test_another_process_has_an_hour_of_its_own(office: Office, tmp_path):
    for n in range(20):
        await office.list(url_of(n))
    other = Office.build(tmp_path)
    assert (await other.list(url_of(20)))["pullRequests"] == []
    other.store.close()


async def test_a_question_about_one_pull_request_wants_no_more_than_that(office: Office):
    await office.threads(1)
    [repository] = office.repositories()
    assert repository.depth is Depth.ONE
    await office.list()
    [repository] = office.repositories()
    assert repository.depth is Depth.OPEN
    await office.threads(1)
    [repository] = office.repositories()
    assert repository.depth is Depth.OPEN


async def test_that_somebody_asks_is_noted_once_an_hour(office: Office):
    asked = []
    for _ in range(4):
        await office.list()
        asked.append(office.repositories()[0].asked_at)
        office.advance(minutes=25)
    assert len(set(asked)) == 2
    assert asked[0] == asked[2] != asked[3]
