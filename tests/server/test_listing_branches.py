"""`list_pull_requests` of one branch: which rows are its, and what is known where there is none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pullstate.forges.demo import Project
from pullstate.store.records import Depth
from tests.server.office import LIST, ROCKET, Office, numbers

pytestmark = pytest.mark.anyio

NONE = "PULL_REQUEST_STATE_NONE"
UNREAD = "PULL_REQUEST_STATE_UNREAD"


def opened_by(office: Office, project: Project, owner: str, branch: str) -> int:
    """A pull request from a fork; its number."""
    number = office.world.open(project, "Change", branch)
    seen = project.pull_requests[number]
    head = replace(seen.head, owner=owner, repository_url=f"https://demo.invalid/{owner}/rocket")
    project.pull_requests[number] = replace(seen, head=head)
    return number


# --- Which rows ----------------------------------------------------------------------------------


async def test_a_branch_is_matched_by_its_whole_name_and_case(office: Office):
    project = office.project()
    for branch in ("fix", "fix", "Fix", "fix/2", "prefix", "fi", "f_x", "f%x", "release.1"):
        office.world.open(project, "Change", branch)
    office.keep(project)
    for branch, expected in {
        "fix": [2, 1],
        "Fix": [3],
        "fix/2": [4],
        "f_x": [7],
        "f%x": [8],
        "f*x": [],
        " fix": [],
        "release.1": [9],
        "refs/heads/fix": [],
    }.items():
        assert numbers(await office.list(headBranch=branch)) == expected, branch


async def test_two_branches_at_one_commit_are_two_branches(office: Office):
    project = office.project()
    for branch in ("one", "two"):
        number = office.world.open(project, "Change", branch)
        seen = project.pull_requests[number]
        project.pull_requests[number] = replace(seen, head=replace(seen.head, sha="a" * 40))
    office.keep(project)
    assert numbers(await office.list(headBranch="one")) == [1]


async def test_the_live_one_is_first_whatever_came_after_it(office: Office):
    project = office.project()
    for _ in range(3):
        office.advance(minutes=1)
        office.world.open(project, "Change", "branch")
    office.world.merge(project, 3)
    office.world.close(project, 2)
    office.keep(project)
    page = await office.list(headBranch="branch")
    assert numbers(page) == [1, 3, 2]
    assert page["branchState"] == "PULL_REQUEST_STATE_OPEN"


async def test_every_one_ever_opened_from_the_branch_is_listed_whatever_its_state(office: Office):
    project = office.project()
    for n in range(45):
        office.world.open(project, "Change", "branch" if n % 3 else "other")
        if n % 2:
            office.world.merge(project, n + 1)
    office.keep(project)
    pages = await office.pages(headBranch="branch", limit=4)
    assert len(numbers(*pages)) == 30
    assert {page["branchState"] for page in pages} == {"PULL_REQUEST_STATE_OPEN"}


async def test_a_fork_may_have_called_its_branch_like_the_default_one(office: Office):
    project = office.project()
    number = opened_by(office, project, "mallory", "main")
    office.keep(project)
    assert numbers(await office.list(headBranch="main")) == [number]


async def test_owner_and_branch_narrow_to_that_head_owner_in_any_case(office: Office):
    project = office.project()
    mine = opened_by(office, project, "Grace", "main")
    office.keep(project)
    theirs = opened_by(office, project, "mallory", "main")
    office.keep(project)
    assert numbers(await office.list(headBranch="main")) == [theirs, mine]
    for owner in ("Grace", "grace", "GRACE"):
        assert numbers(await office.list(headBranch=f"{owner}:main")) == [mine]
    page = await office.list(headBranch="grace:main")
    assert page["pullRequests"][0]["headBranch"] == "main"
    nobody = await office.list(headBranch="nobody:main")
    assert (numbers(nobody), nobody["branchState"]) == ([], NONE)


async def test_a_gitlab_owner_is_a_whole_group_path(office: Office):
    project = office.project()
    mine = opened_by(office, project, "group/sub", "main")
    opened_by(office, project, "group", "main")
    office.keep(project)
    assert numbers(await office.list(headBranch="group/sub:main")) == [mine]


async def test_the_pages_of_an_owners_branch_are_its_own(office: Office):
    project = office.project()
    for n in range(9):
        opened_by(office, project, "grace" if n % 2 else "mallory", "main")
    office.keep(project)
    assert numbers(*await office.pages(headBranch="grace:main", limit=1)) == [8, 6, 4, 2]


@pytest.mark.parametrize("head", [":", ":main", "grace:", "a:b:c", "::"])
async def test_what_is_neither_a_branch_nor_an_owner_and_a_branch_is_refused(
    office: Office, head: str
):
    words = await office.refused(LIST, repositoryUrl=ROCKET, headBranch=head)
    assert words.startswith(f'headBranch: "{head}" ')
    assert "OWNER:BRANCH" in words
    assert office.repositories() == []


# --- As it was shown -----------------------------------------------------------------------------


async def test_a_branch_is_found_as_the_forge_has_it_and_as_it_was_shown(office: Office):
    project = office.project()
    hidden = "fea\u200bture\u202e/1"
    number = office.world.open(project, "Change", hidden)
    other = office.world.open(project, "Change", "feature")
    office.keep(project)
    [row] = (await office.list(headBranch=hidden))["pullRequests"]
    assert (row["number"], row["headBranch"], row["hiddenChars"]) == (number, "feature/1", 2)
    assert numbers(await office.list(headBranch=row["headBranch"])) == [number]
    assert numbers(await office.list(headBranch="fea\u200bture/1")) == []
    assert numbers(await office.list(headBranch="feature")) == [other]
    assert numbers(await office.list(headBranch="acme:feature/1")) == [number]


async def test_what_is_called_and_what_is_shown_alike_is_listed_in_one_order(office: Office):
    project = office.project()
    for n in range(7):
        office.advance(minutes=1)
        office.world.open(project, "Change", "main" if n % 2 else "ma\u200bin")
    office.keep(project)
    assert numbers(*await office.pages(headBranch="main", limit=2)) == [7, 6, 5, 4, 3, 2, 1]
    assert numbers(*await office.pages(headBranch="ma\u200bin", limit=2)) == [7, 5, 3, 1]


async def test_what_moves_on_a_branch_as_it_was_shown_is_counted(office: Office):
    project = office.project()
    for _ in range(3):
        office.world.open(project, "Change", "ma\u200bin")
    id_ = office.keep(project)
    first = await office.list(headBranch="main", pagination={"limit": 2})
    office.world.close(project, 1)
    office.see(id_, project)
    cursor = {"cursor": first["nextPageToken"]}
    assert (await office.list(headBranch="main", pagination=cursor))["movedWhilePaging"] == 1


@pytest.mark.parametrize(
    ("branch", "shown"),
    [
        ("feature\u2028/1", "feature /1"),  # a line separator becomes a space
        ("emoji-👩‍💻", "emoji-👩‍💻"),  # the joiner in an emoji is seen
        ("bidi-\u202etxt.exe", "bidi-txt.exe"),
        ("tag-\U000e0041\U000e0042", "tag-"),
        ("日本語/枝", "日本語/枝"),
    ],
)
async def test_any_branch_is_found_by_what_was_shown(office: Office, branch: str, shown: str):
    project = office.project()
    office.world.open(project, "Change", branch)
    office.keep(project)
    [row] = (await office.list())["pullRequests"]
    assert row["headBranch"] == shown
    assert numbers(await office.list(headBranch=shown)) == [1]
    assert numbers(await office.list(headBranch=branch)) == [1]


# --- Where there is none -------------------------------------------------------------------------


async def test_an_unknown_branch_of_a_swept_repository_is_none_and_lists_nothing(office: Office):
    project = office.project()
    office.world.open(project, "Change", "branch")
    office.keep(project)
    page = await office.list(headBranch="nope")
    assert page["pullRequests"] == []
    assert page["branchState"] == NONE


async def test_before_the_first_sweep_an_unknown_branch_is_unread(office: Office):
    page = await office.list(headBranch="nope")
    assert page["pullRequests"] == []
    assert page["branchState"] == UNREAD
    assert page["sync"]["state"] == "unread"
    assert "no running" in page["sync"]["reason"]


async def test_what_is_stored_before_the_sweep_ends_has_its_state(office: Office):
    project = office.project()
    office.world.open(project, "Change", "branch", draft=True)
    id_ = office.keep(project)
    office.sweep(id_, swept=False)
    page = await office.list(headBranch="branch")
    assert page["branchState"] == "PULL_REQUEST_STATE_DRAFT"
    assert page["sync"]["state"] == "unread"
    assert (await office.list(headBranch="other"))["branchState"] == UNREAD


@pytest.mark.parametrize("branch", [None, ""])
async def test_without_a_branch_there_is_no_branchs_state(office: Office, branch: str | None):
    office.keep(office.project())
    page = await office.list(headBranch=branch)
    assert "branchState" not in page
    assert page["pullRequests"] == []


async def test_the_state_on_a_later_page_is_still_that_of_the_first_row(office: Office):
    project = office.project()
    for _ in range(5):
        office.world.open(project, "Change", "branch")
    office.world.merge(project, 4)
    id_ = office.keep(project)
    first = await office.list(headBranch="branch", pagination={"limit": 2})
    office.world.open(project, "Newer", "branch", draft=True)
    office.advance(minutes=1)
    office.world.open(project, "Newest", "branch", draft=True)
    office.see(id_, project)
    page = {"limit": 100, "cursor": first["nextPageToken"]}
    last = await office.list(headBranch="branch", pagination=page)
    assert numbers(first, last) == [5, 3, 2, 1, 4]
    assert last["branchState"] == "PULL_REQUEST_STATE_DRAFT"


async def test_a_repository_of_which_single_ones_were_asked_for_is_not_swept(office: Office):
    project = office.project()
    office.track(project, depth=Depth.ONE, by="question")
    page = await office.list(headBranch="branch")
    assert page["branchState"] == UNREAD
    [repository] = office.repositories()
    assert repository.depth is Depth.OPEN
