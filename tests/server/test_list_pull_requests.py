"""`list_pull_requests`: which rows, in which order, with which fields."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from itertools import product
from typing import Any

import pytest

from pullstate.domain.address import GITHUB_COM, GITLAB_COM
from pullstate.domain.pull_request import (
    Checks,
    CheckVerdict,
    Head,
    Mergeability,
    MergeVerdict,
    PullRequest,
    Review,
    ReviewDecision,
)
from pullstate.forges.demo import Project
from tests.server.office import ROCKET, Office, numbers
from tests.sync.stage import NOW

pytestmark = pytest.mark.anyio


def opened(project: Project, number: int, **fields: Any) -> None:
    """Change fields of a pull request without an update."""
    project.pull_requests[number] = replace(project.pull_requests[number], **fields)


# --- Order ---------------------------------------------------------------------------------------


async def test_unfinished_come_first_then_the_newest_then_the_highest_number(office: Office):
    project = office.project()
    when = {1: 50, 2: 10, 3: 10, 4: 40, 5: 5, 6: 20, 7: 20, 8: 60}
    for number, minutes in when.items():
        office.world.open(project, f"Change {number}", f"b{number}", draft=number in (2, 8))
        opened(project, number, opened_at=NOW - timedelta(minutes=minutes))
    office.world.merge(project, 5)
    office.world.close(project, 6)
    office.world.merge(project, 7)
    office.keep(project)
    page = await office.list()
    assert numbers(page) == [3, 2, 4, 1, 8, 5, 7, 6]


async def test_an_old_one_that_was_reopened_is_before_a_new_one_that_was_closed(office: Office):
    project = office.project()
    for n in range(90):
        office.world.open(project, f"Change {n}", f"b{n}")
        opened(project, n + 1, opened_at=NOW - timedelta(days=900 - n))
        office.world.close(project, n + 1)
    office.world.reopen(project, 3)
    office.keep(project)
    assert numbers(await office.list(pagination={"limit": 2})) == [3, 90]


async def test_the_order_is_that_of_the_times_whatever_zone_and_fraction_they_come_in(
    office: Office,
):
    project = office.project()
    half = timezone(timedelta(hours=5, minutes=30))
    times = [
        datetime(2026, 2, 1, 12, 0, 0, tzinfo=UTC),
        datetime(2026, 2, 1, 17, 30, 0, 1, tzinfo=half),  # a microsecond later
        datetime(2026, 2, 1, 11, 59, 59, 999_999, tzinfo=UTC),
    ]
    for n, time in enumerate(times, 1):
        office.world.open(project, "Change", f"b{n}")
        opened(project, n, opened_at=time)
    office.keep(project)
    page = await office.list()
    assert numbers(page) == [2, 1, 3]
    assert [row["openedAt"] for row in page["pullRequests"]] == [
        "2026-02-01T12:00:00.000001Z",
        "2026-02-01T12:00:00Z",
        "2026-02-01T11:59:59.999999Z",
    ]


# --- Rows ----------------------------------------------------------------------------------------


async def test_a_row_says_everything_that_it_promises(office: Office):
    project = office.project()
    number = office.world.open(project, "Ignite both engines", "ignition")
    office.world.set_checks(project, number, CheckVerdict.PASSING)
    office.world.review(project, number, "grace", ReviewDecision.APPROVED)
    office.keep(project)
    page = await office.list()
    [row] = page["pullRequests"]
    seen = project.pull_requests[number]
    assert row.pop("id").startswith("pr_")
    assert row == {
        "forge": "demo",
        "providerId": "DEMO_1000_1",
        "url": f"{ROCKET}/pull/1",
        "repositoryUrl": ROCKET,
        "headRepositoryUrl": ROCKET,
        "number": 1,
        "title": "Ignite both engines",
        "headBranch": "ignition",
        "headSha": seen.head.sha,
        "baseBranch": "main",
        "baseSha": seen.base.sha,
        "draft": False,
        "state": "PULL_REQUEST_STATE_APPROVED",
        "openedAt": "2026-03-01T12:00:00Z",
        "changedAt": "2026-03-01T12:00:00Z",
        "reviewDecision": "REVIEW_DECISION_APPROVED",
        "checks": "CHECKS_PASSING",
        "mergeability": "MERGEABILITY_CLEAN",
    }
    assert page["repositoryUrl"] == ROCKET
    assert set(page) == {"repositoryUrl", "pullRequests", "sync"}


async def test_an_id_is_the_same_in_a_store_that_was_rebuilt(office: Office, tmp_path):
    project = office.project()
    office.world.open(project, "Change", "branch")
    office.keep(project)
    before = (await office.list())["pullRequests"][0]["id"]
    other = Office.build(tmp_path / "other")
    other.keep(project)
    assert (await other.list())["pullRequests"][0]["id"] == before
    other.store.close()


async def test_a_merged_one_carries_the_time_of_its_merge_as_that_of_its_closing(office: Office):
    project = office.project()
    for branch in ("both", "merged-alone", "closed", "open"):
        office.world.open(project, branch, branch)
    office.advance(minutes=1)
    for number in (1, 2):
        office.world.merge(project, number)
    opened(project, 2, closed_at=None)  # GitLab gives a merged one no closing time
    office.world.close(project, 3)
    office.keep(project)
    rows = {row["number"]: row for row in (await office.list())["pullRequests"]}
    later = "2026-03-01T12:01:00Z"
    assert (rows[1]["mergedAt"], rows[1]["closedAt"]) == (later, later)
    assert (rows[2]["mergedAt"], rows[2]["closedAt"]) == (later, later)
    assert rows[2]["state"] == "PULL_REQUEST_STATE_MERGED"
    assert "mergedAt" not in rows[3] and rows[3]["closedAt"] == later
    assert not {"mergedAt", "closedAt"} & set(rows[4])


async def test_a_row_whose_head_repository_is_gone_is_kept(office: Office):
    project = office.project()
    number = office.world.open(project, "From a fork that was deleted", "main")
    opened(project, number, head=Head("main", "a" * 40))
    office.keep(project)
    [row] = (await office.list(headBranch="main"))["pullRequests"]
    assert row["headRepositoryUrl"] == ""


STATES = {
    "OPEN": {},
    "DRAFT": {"draft": True},
    "CONFLICTING": {"mergeability": MergeVerdict.CONFLICTING},
    "FAILING": {"checks": CheckVerdict.FAILING},
    "CHANGES_REQUESTED": {"review": ReviewDecision.CHANGES_REQUESTED},
    "APPROVED": {"review": ReviewDecision.APPROVED},
    "APPROVED_WAITING": {"review": ReviewDecision.APPROVED, "mergeability": MergeVerdict.BLOCKED},
    "MERGED": {"merged_at": NOW},
    "CLOSED": {"closed_at": NOW},
}


def standing(
    project: Project,
    number: int,
    checks: CheckVerdict = CheckVerdict.NONE,
    mergeability: MergeVerdict = MergeVerdict.CLEAN,
    review: ReviewDecision = ReviewDecision.NONE,
    **fields: Any,
) -> PullRequest:
    """A pull request of the world as the facts say."""
    seen = project.pull_requests[number]
    sha = seen.head.sha
    return replace(
        seen,
        checks=Checks(sha, checks),
        mergeability=Mergeability(mergeability, mergeability.value, sha, seen.base.sha),
        review=Review(review),
        **fields,
    )


@pytest.mark.parametrize("state", STATES)
async def test_every_state_of_a_row_is_reached_and_is_its_branchs_state(office: Office, state: str):
    project = office.project()
    number = office.world.open(project, state, "branch")
    office.keep(project, [standing(project, number, **STATES[state])])
    page = await office.list(headBranch="branch")
    assert page["pullRequests"][0]["state"] == f"PULL_REQUEST_STATE_{state}"
    assert page["branchState"] == f"PULL_REQUEST_STATE_{state}"


async def test_every_verdict_has_its_spelling(office: Office):
    project = office.project()
    verdicts = list(product(CheckVerdict, MergeVerdict, ReviewDecision))
    for checks, mergeability, review in verdicts:
        number = office.world.open(project, "Change", "branch")
        project.pull_requests[number] = standing(project, number, checks, mergeability, review)
    office.keep(project)
    pages = await office.pages(limit=100)
    found = {
        (row["checks"], row["mergeability"], row["reviewDecision"])
        for page in pages
        for row in page["pullRequests"]
    }
    assert found == {
        (f"CHECKS_{checks}", f"MERGEABILITY_{mergeability}", f"REVIEW_DECISION_{review}")
        for checks, mergeability, review in verdicts
    }


async def test_a_lean_row_is_pending_and_unknown_and_nothing_better(office: Office):
    project = office.project()
    number = office.world.open(project, "Just listed", "branch")
    opened(project, number, checks=None, mergeability=None, review=None, rules=None)
    office.keep(project)
    [row] = (await office.list())["pullRequests"]
    assert row["checks"] == "CHECKS_PENDING"
    assert row["mergeability"] == "MERGEABILITY_UNKNOWN"
    assert row["reviewDecision"] == "REVIEW_DECISION_NONE"
    assert row["state"] == "PULL_REQUEST_STATE_OPEN"


async def test_an_unchanged_row_is_the_same_to_the_byte_from_call_to_call(office: Office):
    project = office.project()
    office.world.open(project, "Same 👩‍💻", "branch")
    id_ = office.keep(project)
    before = await office.call("list_pull_requests", repositoryUrl=ROCKET)
    office.advance(hours=5)
    office.see(id_, project)
    office.sweep(id_, as_of=office.clock.now())
    after = await office.call("list_pull_requests", repositoryUrl=ROCKET)
    row = before.text.split('"pullRequests":')[1].split(',"sync"')[0]
    assert row in after.text
    assert before.text != after.text  # the clock is in `sync`


async def test_gone_ones_are_not_listed(office: Office):
    project = office.project()
    for n in range(3):
        office.world.open(project, "Change", f"b{n}")
    id_ = office.keep(project)
    office.retire(id_, 2, times=1)
    assert numbers(await office.list()) == [3, 2, 1]
    office.retire(id_, 2, times=1)
    assert numbers(await office.list()) == [3, 1]
    assert (await office.list(headBranch="b1"))["branchState"] == "PULL_REQUEST_STATE_NONE"


@pytest.mark.parametrize(
    ("site", "path", "forge"),
    [(GITHUB_COM, "acme/rocket", "github"), (GITLAB_COM, "group/sub/rocket", "gitlab")],
)
async def test_merge_requests_are_pull_requests_here(tmp_path, site, path: str, forge: str):
    office = Office.build(tmp_path, site)
    project = office.project(path)
    office.world.open(project, "Change", "branch")
    office.keep(project, site=site)
    page = await office.list(f"{site.url}/{path}")
    assert page["repositoryUrl"] == f"{site.url}/{path}"
    assert page["pullRequests"][0]["forge"] == forge
    office.store.close()
