"""`get_merge_request` over a real store: the base, each facet, its age, and the bound of all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pullstate.domain.address import GITHUB_COM
from pullstate.domain.freshness import Fault, FaultKind
from pullstate.domain.merge_request import Facet, FacetBody, Notes
from pullstate.domain.pull_request import Base, CheckVerdict, Head
from pullstate.server.room import size
from pullstate.store import lease, reading, writing
from pullstate.store.engine import Store
from pullstate.store.records import Depth, Sweep
from tests.domain.readings import NEXT_BASE, NEXT_HEAD, NOON, checks, minutes
from tests.server.bodies import (
    commits,
    conflicts,
    diffs,
    discussion,
    discussions,
    file,
    job,
    note,
    notes,
    pipeline,
    pipelines,
)
from tests.server.desk import (
    BUDGET,
    PATH,
    REGISTRY,
    SELF_MANAGED,
    Desk,
    facet_of,
    merge_request,
    overview,
)

pytestmark = pytest.mark.anyio

ALL = "diffs,commits,notes,pipelines,conflicts,discussions"
EVERY: tuple[FacetBody, ...] = (
    diffs(file()),
    commits(2),
    notes(2),
    pipelines(pipeline()),
    conflicts(),
    discussions(discussion()),
)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    store = Store.open(tmp_path / "store.db")
    yield Desk(store)
    store.close()


# --- The base ------------------------------------------------------------------------------------


async def test_the_base_is_there_without_any_facet(desk: Desk):
    desk.filled()
    reply = await desk.get()
    assert reply == {
        "iid": 7,
        "title": "Change 7",
        "state": "opened",
        "author": "octo",
        "source_branch": "topic",
        "target_branch": "main",
        "web_url": "https://github.com/acme/rocket/pull/7",
        "draft": False,
        "sha": "a" * 40,
        "created_at": "2026-02-28T12:00:00Z",
        "updated_at": "2026-02-28T12:00:00Z",
        "merged_at": None,
        "closed_at": None,
        "description": "Fly to the moon.",
        "labels": ["space"],
        "reviewers": ["ann"],
        "detailed_merge_status": "mergeable",
        "pull_request_state": "PULL_REQUEST_STATE_APPROVED",
        "sync": {"state": "ok", "asOf": "2026-03-01T12:00:00Z", "ageSeconds": 0},
    }


async def test_the_merge_request_says_its_state_and_the_overview_only_whether_it_is_locked(
    desk: Desk,
):
    repository = desk.track()
    stored = desk.record(repository)
    for told, state in [("opened", "opened"), ("locked", "locked"), ("merged", "opened")]:
        desk.keep(stored, overview(state=told))
        assert (await desk.get())["state"] == state
    desk.record(repository, merge_request(closed_at=NOON, changed_at=NOON))
    assert (await desk.get())["state"] == "closed"
    desk.record(repository, merge_request(merged_at=NOON, closed_at=NOON, changed_at=NOON))
    reply = await desk.get()
    assert (reply["state"], reply["merged_at"]) == ("merged", "2026-03-01T12:00:00Z")
    assert reply["pull_request_state"] == "PULL_REQUEST_STATE_MERGED"


async def test_what_only_the_overview_tells_is_null_with_the_reason_where_it_was_not_read(
    desk: Desk,
):
    stored = desk.record(desk.track())
    desk.fail(stored, Facet.OVERVIEW, "the forge could not be reached")
    reply = await desk.get()
    for name in ("description", "labels", "reviewers", "detailed_merge_status"):
        assert reply[name] is None
    assert reply["sync"]["state"] == "partial"
    assert "could not be reached" in reply["sync"]["facets"]["overview"]


async def test_an_empty_overview_is_not_null(desk: Desk):
    stored = desk.record(desk.track())
    desk.keep(stored, overview(description="", labels=(), reviewers=(), detailed_merge_status=""))
    reply = await desk.get()
    assert (reply["description"], reply["labels"], reply["reviewers"]) == ("", [], [])
    assert reply["sync"]["state"] == "ok"


async def test_a_long_description_is_cut_and_says_so(desk: Desk):
    stored = desk.record(desk.track())
    desk.keep(stored, overview(description="長" * 4_001))
    reply = await desk.get()
    assert (len(reply["description"]), reply["description_truncated"]) == (4_000, True)
    desk.keep(stored, overview(description="長" * 4_000))
    assert "description_truncated" not in await desk.get()


async def test_more_labels_and_reviewers_than_have_room_are_counted(desk: Desk):
    stored = desk.record(desk.track())
    many = tuple(f"label {n} {'長' * 50}" for n in range(500))
    desk.keep(stored, overview(labels=many, reviewers=many))
    reply = await desk.get()
    for name in ("labels", "reviewers"):
        assert reply[name][0] == many[0]
        assert len(reply[name]) + reply[f"{name}_not_shown"] == 500


async def test_the_same_question_gets_the_same_bytes_while_nothing_changes(desk: Desk):
    desk.filled(*EVERY)
    first = await desk.get(include=ALL)
    desk.at += timedelta(seconds=50)
    second = await desk.get(include=ALL)
    assert second.pop("sync")["ageSeconds"] == 50
    first.pop("sync")
    assert first == second


async def test_the_base_leaves_room_for_the_facets_whatever_stands_in_it(desk: Desk):
    long = "😀" * 5_000
    seen = merge_request(
        title=long,
        author=long,
        url=long,
        head=Head(long, long, "acme", long),
        base=Base(long, long),
    )
    desk.keep(
        desk.record(desk.track(), seen),
        overview(description=long, labels=(long,) * 9, detailed_merge_status=long),
        commits(2),
    )
    reply = await desk.get(include="commits")
    assert size({**reply, "commits": None}) <= 40_000
    assert reply["title"].endswith("😀…")
    assert len(reply["commits"]["items"]) == 2


# --- Facets --------------------------------------------------------------------------------------


@pytest.mark.parametrize("body", EVERY, ids=facet_of)
async def test_each_facet_alone(desk: Desk, body: FacetBody):
    desk.filled(*EVERY)
    reply = await desk.get(include=facet_of(body))
    assert set(reply) & set(ALL.split(",")) == {facet_of(body)}
    assert "error" not in reply[facet_of(body)]
    assert reply["sync"]["state"] == "ok"


async def test_all_facets_at_once_in_every_spelling_of_the_list(desk: Desk):
    desk.filled(*EVERY)
    first = await desk.get(include=ALL)
    assert set(ALL.split(",")) < set(first)
    assert await desk.get(include=ALL.split(",")) == first
    assert await desk.get(include='["diffs","commits","notes","pipelines","conflicts",'
                                  '"discussions","diffs"]') == first  # fmt: skip


@pytest.mark.parametrize("failing", EVERY, ids=facet_of)
async def test_each_facet_fails_alone(desk: Desk, failing: FacetBody):
    stored = desk.filled(*(body for body in EVERY if body is not failing))
    desk.fail(stored, facet_of(failing), "the forge could not be reached")
    reply = await desk.get(include=ALL)
    name = facet_of(failing)
    assert reply[name] == {"error": "not read: the forge could not be reached"}
    assert reply["sync"]["facets"] == {name: "not read: the forge could not be reached"}
    assert reply["sync"]["state"] == "partial"
    for other in set(ALL.split(",")) - {name}:
        assert "error" not in reply[other]


async def test_a_facet_that_was_never_read_says_why_nobody_reads_it_now(desk: Desk):
    desk.filled()
    reply = await desk.get(include="commits")
    assert set(reply["commits"]) == {"error"}
    assert "no running pullstate process reads https://gitlab.com" in reply["commits"]["error"]


@pytest.mark.parametrize("body", EVERY, ids=facet_of)
async def test_what_is_kept_by_head_is_out_of_date_with_a_new_head(desk: Desk, body: FacetBody):
    stored = desk.filled(*EVERY)
    desk.record(stored.repository_id, merge_request(head=NEXT_HEAD))
    reply = await desk.get(include=ALL)
    kept_by_head = facet_of(body) in ("diffs", "commits", "pipelines", "conflicts")
    assert ("error" in reply[facet_of(body)]) == kept_by_head
    if kept_by_head:
        assert (
            "as it was at 2026-03-01T12:00:00Z, before the last change"
            in (reply[facet_of(body)]["error"])
        )
        assert len(reply[facet_of(body)]) > 1


@pytest.mark.parametrize("body", EVERY, ids=facet_of)
async def test_what_is_said_is_out_of_date_with_an_update(desk: Desk, body: FacetBody):
    stored = desk.filled(*EVERY)
    later = stored.pull_request.changed_at + minutes(5)
    desk.record(stored.repository_id, merge_request(changed_at=later))
    reply = await desk.get(include=ALL)
    said = facet_of(body) in ("notes", "discussions")
    assert ("before the last change" in reply[facet_of(body)].get("error", "")) == said
    assert "before the last change" in reply["sync"]["facets"]["overview"]
    assert reply["description"] == "Fly to the moon."


async def test_a_fault_beside_a_body_that_is_known_says_both(desk: Desk):
    stored = desk.filled(pipelines(pipeline(4)))
    desk.fail(stored, Facet.PIPELINES, "the forge could not be reached")
    made = (await desk.get(include="pipelines"))["pipelines"]
    assert made["items"][0]["id"] == "4"
    assert "a later reading failed: the forge could not be reached" in made["error"]


@pytest.mark.parametrize(
    ("verdict", "after", "sure"),
    [
        (CheckVerdict.PASSING, 6, True),
        (CheckVerdict.PASSING, 7, False),
        (CheckVerdict.PENDING, 1, True),
        (CheckVerdict.PENDING, 2, False),
    ],
)
async def test_pipelines_of_an_open_one_move_on_an_unmoved_head(
    desk: Desk, verdict: CheckVerdict, after: int, sure: bool
):
    desk.filled(pipelines(pipeline()), seen=merge_request(checks=checks(verdict)))
    desk.at += minutes(after)
    made = (await desk.get(include="pipelines"))["pipelines"]
    assert ("may have moved since" in made.get("error", "")) != sure


@pytest.mark.parametrize("body", EVERY, ids=facet_of)
async def test_what_moves_without_a_sign_is_not_sure_for_long_while_it_is_open(
    desk: Desk, body: FacetBody
):
    stored = desk.filled(*EVERY)
    desk.at += minutes(7)
    reply = await desk.get(include=ALL)
    moves = facet_of(body) not in ("diffs", "commits")
    assert ("may have moved since" in reply[facet_of(body)].get("error", "")) == moves
    assert "may have moved since" in reply["sync"]["facets"]["overview"]
    desk.keep(stored, overview(), *EVERY)
    assert (await desk.get(include=ALL))["sync"]["state"] == "ok"


async def test_all_of_a_merged_one_stays(desk: Desk):
    desk.filled(*EVERY, seen=merge_request(merged_at=NOON, closed_at=NOON))
    desk.at += timedelta(days=1)
    reply = await desk.get(include=ALL)
    assert "facets" not in reply["sync"]


async def test_conflicts_are_out_of_date_once_the_base_moved(desk: Desk):
    stored = desk.filled(conflicts())
    desk.at += minutes(1)
    moved = merge_request(base=Base("main", NEXT_BASE))
    desk.record(stored.repository_id, moved)
    reply = await desk.get(include="conflicts")
    assert "before the last change" in reply["conflicts"]["error"]


async def test_what_gitlab_said_within_the_minute_of_an_update_may_lack_a_note(desk: Desk):
    stored = desk.record(desk.track(), merge_request(changed_at=NOON - timedelta(seconds=30)))
    desk.keep(stored, overview(), *EVERY)
    reply = await desk.get(include=ALL)
    assert "may have moved since" in reply["notes"]["error"]
    assert "may have moved since" in reply["discussions"]["error"]
    assert "error" not in reply["diffs"]


async def test_what_github_said_at_once_is_settled(tmp_path: Path):
    desk = Desk(Store.open(tmp_path / "store.db"), site=GITHUB_COM)
    stored = desk.record(desk.track("acme/rocket"), merge_request(changed_at=NOON))
    desk.keep(stored, overview(), *EVERY)
    reply = await desk.get(url="https://github.com/acme/rocket/pull/7", include=ALL)
    assert "error" not in reply["notes"]
    desk.store.close()


# --- Notes, page by page -------------------------------------------------------------------------


async def test_120_notes_come_in_disjoint_pages_that_hold_all_of_them(desk: Desk):
    desk.filled(notes(120))
    for per_page, pages in [(20, 6), (50, 3), (100, 2), (7, 18), (1, 120)]:
        ids: list[int] = []
        for page in range(1, pages + 1):
            made = (await desk.get(include="notes", notes_page=page, notes_per_page=per_page))[
                "notes"
            ]
            assert made["metadata"] == {
                "page": page,
                "per_page": per_page,
                "has_more": page < pages,
            }
            ids += [each["id"] for each in made["items"]]
        assert ids == list(range(1, 121))


async def test_a_page_past_the_end_is_empty_and_has_no_more(desk: Desk):
    desk.filled(notes(3))
    for page in (2, 10**6, 2**53 - 1):
        made = (await desk.get(include="notes", notes_page=page, notes_per_page=100))["notes"]
        assert (made["items"], made["metadata"]["has_more"]) == ([], False)
        assert "error" not in made


async def test_the_twenty_oldest_notes_come_when_nothing_else_is_asked(desk: Desk):
    desk.filled(notes(30))
    made = (await desk.get(include="notes"))["notes"]
    assert [each["id"] for each in made["items"]] == list(range(1, 21))
    assert made["metadata"] == {"page": 1, "per_page": 20, "has_more": True}


async def test_notes_that_the_forge_did_not_give_whole_say_so_on_every_page(desk: Desk):
    desk.filled(notes(30, truncated=True))
    for page in (1, 2):
        made = (await desk.get(include="notes", notes_page=page))["notes"]
        assert made["truncated"] is True
        assert "not_shown" not in made


# --- A GitHub pull request -----------------------------------------------------------------------


async def test_a_github_pull_request_has_the_same_shape(tmp_path: Path):
    desk = Desk(Store.open(tmp_path / "store.db"), site=GITHUB_COM)
    stored = desk.record(desk.track("acme/rocket"))
    review = note(2, "Ship it.", review_state="APPROVED", discussion_id=None)
    comment = note(1, "Why?", discussion_id=None)
    thread = discussion(1, count=2)
    check_runs = pipeline(5, job("test (3.11)"), source="CI: pull_request", status="failure")
    unknown = conflicts(has_conflicts=True, reason="GitHub does not say in which files")
    bodies = (Notes((comment, review)), discussions(thread), pipelines(check_runs), unknown)
    desk.keep(stored, overview(), *bodies)
    url = "https://github.com/acme/rocket/pull/7/files"
    reply = await desk.get(url=url, include="notes,discussions,pipelines,conflicts")
    assert (reply["iid"], reply["state"]) == (7, "opened")
    assert "review_state" not in reply["notes"]["items"][0]
    assert reply["notes"]["items"][1]["review_state"] == "APPROVED"
    assert reply["notes"]["items"][1]["discussion_id"] is None
    assert reply["discussions"]["items"][0]["id"] == "d1"
    assert reply["pipelines"]["items"][0]["failed_jobs"][0]["name"] == "test (3.11)"
    assert reply["conflicts"]["files"] == []
    assert reply["conflicts"]["has_conflicts"] is True
    desk.store.close()


# --- What is asked for and how fresh it is -------------------------------------------------------


async def test_every_way_to_name_it_leads_to_the_same_reply(tmp_path: Path):
    desk = Desk(Store.open(tmp_path / "store.db"), site=SELF_MANAGED)
    desk.filled(*EVERY)
    url = f"https://git.example.com/gitlab/{PATH}/-/merge_requests/7"
    pair: dict[str, Any] = {"merge_request_iid": 7, "host": "git.example.com/gitlab"}
    first = await desk.get(url=url, include=ALL)
    for named in (
        {"url": f"{url}/diffs?x=1#note_3"},
        {"url": f"https://git.example.com/gitlab/{PATH}/merge_requests/7"},
        {"project_id": PATH, **pair},
        {"project_id": PATH.replace("/", "%2F"), **pair},
        {"project_id": 1000, **pair},
        {"project_id": "1000", **pair},
        {"url": url, "project_id": 1000, "merge_request_iid": "7"},
        {"url": url, "project_id": PATH, "merge_request_iid": 7},
    ):
        assert await desk.get(**named, include=ALL) == first
    desk.store.close()


@pytest.mark.parametrize("project", [2000, "other/project", "never/heard"])
async def test_a_url_and_ids_of_two_projects_are_refused(desk: Desk, project: object):
    desk.filled()
    desk.track("other/project", forge_id="2000")
    url = f"https://gitlab.com/{PATH}/-/merge_requests/7"
    words = await desk.refused(url=url, project_id=project, merge_request_iid=7)
    assert "url and project_id name different projects" in words
    assert "send url alone" in words


async def test_a_url_and_an_id_that_no_stored_project_has_are_refused(desk: Desk):
    desk.filled()
    url = f"https://gitlab.com/{PATH}/-/merge_requests/7"
    words = await desk.refused(url=url, project_id=4711, merge_request_iid=7)
    assert "whose id is not 4711" in words


async def test_a_url_and_a_path_that_the_project_had_before_are_one(desk: Desk):
    repository = desk.filled().repository_id
    desk.store.write_now(writing.identify, repository, "1000", "new/place", NOON)
    desk.at += minutes(1)
    pair = {"merge_request_iid": 7}
    for url, project in [("new/place", PATH), (PATH, "new/place"), (PATH, PATH)]:
        address = f"https://gitlab.com/{url}/-/merge_requests/7"
        assert (await desk.get(url=address, project_id=project, **pair))["iid"] == 7


async def test_an_unknown_one_that_nobody_can_read_is_an_error_and_leaves_no_id_behind(desk: Desk):
    words = await desk.refused(project_id=4711, merge_request_iid=3)
    assert words == (
        "Merge request 3 of project 4711 on gitlab.com is not stored yet: no running pullstate "
        "process reads https://gitlab.com."
    )
    assert desk.store.read_now(reading.repositories) == []


async def test_one_that_is_gone_is_worded_like_one_that_never_was_there(desk: Desk):
    stored = desk.filled()
    for _ in range(2):
        desk.store.write_now(writing.retire, stored.id, NOON)
    words = await desk.refused(url=f"https://gitlab.com/{PATH}/-/merge_requests/7")
    assert "not found, or not visible to the configured token" in words


@pytest.mark.parametrize("kind", [FaultKind.FORBIDDEN, FaultKind.NOT_FOUND])
async def test_one_of_a_repository_that_is_refused_gets_the_same_words(desk: Desk, kind: FaultKind):
    repository = desk.track()
    sweep = Sweep(fault=Fault(kind, NOON))
    desk.store.write_now(writing.save_sweep, repository, sweep)
    words = await desk.refused(url=f"https://gitlab.com/{PATH}/-/merge_requests/8")
    assert words == (
        f"Merge request 8 of https://gitlab.com/{PATH}: not found, or not visible to the "
        "configured token. Check the number (an issue has another) and the project."
    )


LIMITED = Fault(FaultKind.RATE_LIMITED, NOON, NOON + minutes(40))


@pytest.mark.parametrize(("fault", "soon"), [(None, True), (LIMITED, False)])
async def test_what_a_rate_limit_holds_up_is_not_promised_in_seconds(
    desk: Desk, fault: Fault | None, soon: bool
):
    repository = desk.track()
    desk.store.write_now(writing.save_sweep, repository, Sweep(fault=fault))
    desk.store.write_now(lease.enroll, "other", 1, "1", ["https://gitlab.com token"], desk.at)
    words = await desk.refused(url=f"https://gitlab.com/{PATH}/-/merge_requests/8")
    assert f"Merge request 8 of https://gitlab.com/{PATH} is not stored yet" in words
    assert ("ask again in a few seconds" in words) is soon


async def test_one_of_a_refused_repository_that_is_stored_is_shown_with_the_fault(desk: Desk):
    stored = desk.filled()
    sweep = Sweep(swept=True, as_of=NOON, fault=Fault(FaultKind.UNAUTHORIZED, NOON))
    desk.store.write_now(writing.save_sweep, stored.repository_id, sweep)
    assert (await desk.get())["sync"]["state"] == "failing"


async def test_one_that_was_asked_about_once_is_as_fresh_as_its_own_reading(desk: Desk):
    stored = desk.filled()
    repository = stored.repository_id
    desk.store.write_now(writing.untrack, repository)
    desk.store.write_now(writing.save_sweep, repository, Sweep())
    desk.at += minutes(6)
    reply = await desk.get()
    assert reply["sync"] == {"state": "ok", "asOf": "2026-03-01T12:00:00Z", "ageSeconds": 360}
    desk.at += minutes(1)
    reply = await desk.get()
    assert reply["sync"]["state"] == "stale"
    assert "no running pullstate process" in reply["sync"]["reason"]


async def test_a_question_is_noted_once_an_hour_so_that_it_is_kept_hot(desk: Desk):
    stored = desk.filled()
    await desk.get()
    for after, noted in [(0, 0), (60, 0), (61, 61), (100, 61)]:
        desk.at = NOON + minutes(after)
        await desk.get()
        seen = desk.store.read_now(reading.pull_request_by_id, stored.id)
        assert seen.asked_at == NOON + minutes(noted)


async def test_a_question_takes_up_a_single_merge_request_and_not_its_whole_repository(desk: Desk):
    await desk.refused(url="https://gitlab.com/a/b/-/merge_requests/1")
    [known] = desk.store.read_now(reading.repositories)
    assert (known.path, known.depth) == ("a/b", Depth.ONE)


async def test_errors_are_no_protocol_errors(desk: Desk):
    reply = await REGISTRY.call(None, "get_merge_request", {"url": "x", "unknown": 1})  # type: ignore[arg-type]
    assert reply.is_error
    assert '"unknown" is no argument of get_merge_request' in reply.text


# --- The bound -----------------------------------------------------------------------------------


async def test_every_facet_at_its_largest_stays_within_the_bound(desk: Desk):
    long = "長" * 4_000
    jobs = [job(f"job {n} {'長' * 40}") for n in range(1_000)]
    listed = [file(f"src/{'長' * 30}/{n}.py", patch="+長" * 2_000) for n in range(3_000)]
    left_out = [file(f"vendor/{n}/長.py") for n in range(500)]
    stored = desk.record(desk.track(), merge_request(title="長" * 3_000))
    labels = tuple(f"{n}{'長' * 50}" for n in range(300))
    desk.keep(
        stored,
        overview(description=long, labels=labels, reviewers=labels),
        diffs(*listed, *left_out),
        commits(2_000),
        notes(400, long),
        pipelines(*(pipeline(n, *jobs) for n in range(9, 0, -1))),
        conflicts(*(f"src/{n}.py" for n in range(2_000))),
        discussions(discussion(1, 300, long), *(discussion(n, 3, long) for n in range(2, 60))),
    )
    for detail in ("none", "stats", "full_patch"):
        reply = await desk.get(include=ALL, detail=detail, notes_per_page=100)
        assert reply["diffs"]["stats"]["files"] == 3_500
        assert reply["commits"]["items"]
        assert reply["pipelines"]["items"][0]["failed_jobs"]
        assert reply["conflicts"]["files"]
        assert reply["notes"]["items"]
        assert reply["discussions"]["items"]
    desk.record(stored.repository_id, merge_request(title="長" * 3_000, head=NEXT_HEAD))
    outdated = await desk.get(include=ALL, detail="full_patch", notes_per_page=100)
    assert "before the last change" in outdated["diffs"]["error"]
    for facet in ALL.split(","):
        reply = await desk.call(url=f"https://gitlab.com/{PATH}/-/merge_requests/7", include=facet)
        assert BUDGET * 0.8 < len(reply.text.encode()) <= BUDGET or facet == "notes"


async def test_sixty_files_with_a_lockfile_a_rename_a_binary_and_a_large_one(desk: Desk):
    ordinary = [file(f"src/module_{n}.py", patch="+x\n" * 150) for n in range(56)]
    others = [
        file("web/app/yarn.lock", additions=400, deletions=300),
        file("src/app.js", old_path="dist/app.js", status="renamed", additions=0, deletions=0),
        file("logo.png", patch=None, binary=True, additions=0, deletions=0),
        file("dump.sql", patch="+x" * 1_000_000, additions=30_000, deletions=0),
    ]
    desk.filled(diffs(*ordinary, *others))
    stats = (await desk.get(include="diffs"))["diffs"]
    assert stats["stats"] == {"additions": 30_456, "deletions": 356, "files": 60}
    assert len(stats["files"]) == 56
    assert [(each["path"], each["reason"]) for each in stats["excluded_files"]] == [
        ("web/app/yarn.lock", "generated/lockfile"),
        ("dist/app.js", "vendored"),
        ("logo.png", "binary"),
        ("dump.sql", "too_large"),
    ]
    patched = (await desk.get(include="diffs", detail="full_patch"))["diffs"]
    assert {each["patch"] for each in patched["files"]} == {"+x\n" * 150}
    assert len(patched["files"]) + len(patched["excluded_files"]) == 60
    assert patched["truncated"] is False


LETTERS = st.sampled_from(["x", "長", "😀", '"', "\n"])


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    letter=LETTERS,
    counts=st.tuples(*[st.integers(0, 400)] * 6),
    length=st.integers(0, 5_000),
    include=st.lists(st.sampled_from(ALL.split(",")), unique=True, min_size=1),
    detail=st.sampled_from(["none", "stats", "full_patch"]),
)
def test_the_whole_reply_stays_within_its_bound_and_its_schema(
    tmp_path_factory: pytest.TempPathFactory,
    letter: str,
    counts: tuple[int, ...],
    length: int,
    include: list[str],
    detail: str,
):
    text = letter * length
    files, logs, said, jobs, paths, threads = counts
    desk = Desk(Store.open(tmp_path_factory.mktemp("bound") / "store.db"))
    stored = desk.record(desk.track(), merge_request(title=text))
    desk.keep(
        stored,
        overview(description=text, labels=(text,) * (files // 50)),
        diffs(*(file(f"{text[:n]}/{n}.py", patch=text) for n in range(files))),
        replace(commits(logs), items=tuple(replace(c, title=text) for c in commits(logs).items)),
        notes(said, text),
        pipelines(*(pipeline(n, *[job(text[:200])] * jobs, ref=text) for n in range(5))),
        conflicts(*(f"{text[:n]}{n}" for n in range(paths))),
        discussions(*(discussion(n, 1 + n % 40, text[:1_000]) for n in range(threads // 4))),
    )
    wanted = {"detail": detail} if "diffs" in include else {}
    reply = anyio.run(lambda: desk.get(include=include, **wanted))
    assert set(include) < set(reply)
    desk.store.close()
