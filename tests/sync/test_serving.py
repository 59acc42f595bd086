"""Wishes: one read fulfils all that came before it, and each ends in words."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pullstate.domain.pull_request import CheckVerdict
from pullstate.forges.demo import Project
from pullstate.forges.errors import NotVisible, RateLimited, Unreachable
from pullstate.forges.forge import Repository
from pullstate.store import lease, reading, wishes
from pullstate.store.records import Depth
from pullstate.store.wishes import WishKind
from pullstate.sync.readers import ReaderName, chosen
from tests.sync.stage import NOW, I, Stage

pytestmark = pytest.mark.anyio


def wish(stage: Stage, kind: WishKind, id_: int, target: str = "") -> int:
    now = stage.clock.now()
    return stage.store.write_now(
        wishes.wish, kind, id_, target, now + timedelta(seconds=5), wanted_at=now
    )


async def serve(stage: Stage) -> None:
    """One look at the wishes, and all reads that it begins, one after the other."""
    started = []
    await stage.lanes.wishes(started.append)
    for work in started:
        await work()


def outcome(stage: Stage, wish_id: int) -> tuple[str, str] | None:
    found = stage.store.read_now(wishes.outcome, wish_id)
    return found and (found.outcome, found.detail)


async def test_a_branch_of_a_repository_that_was_never_read_costs_one_read(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    number = stage.world.open(project, "One", "feature")
    stage.world.set_checks(project, number, CheckVerdict.FAILING, "build")
    id_ = stage.track(project, Depth.OPEN, "question")
    wished = wish(stage, WishKind.BRANCH, id_, "feature")
    await serve(stage)
    assert outcome(stage, wished) == ("read", "")
    assert stage.stored(id_, number).pull_request.checks.verdict is CheckVerdict.FAILING
    assert [q for q, _ in stage.forge.requests] == ["find_repository", "find_branch"]


async def test_a_branch_from_which_nothing_was_opened_is_nothing(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    id_ = stage.track(project, Depth.OPEN, "question")
    wished = wish(stage, WishKind.BRANCH, id_, "nope")
    await serve(stage)
    assert outcome(stage, wished) == ("nothing", "")


async def test_a_branch_may_be_narrowed_to_one_owner(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    stage.world.open(project, "One", "main")
    id_ = stage.track(project, Depth.OPEN, "question")
    theirs = wish(stage, WishKind.BRANCH, id_, "somebody:main")
    ours = wish(stage, WishKind.BRANCH, id_, "acme:main")
    await serve(stage)
    assert (outcome(stage, theirs), outcome(stage, ours)) == (("nothing", ""), ("read", ""))


async def test_one_read_fulfils_every_wish_for_the_same(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    stage.world.open(project, "One", "feature")
    id_ = await stage.swept(project)
    wished = [wish(stage, WishKind.BRANCH, id_, "feature") for _ in range(12)]
    await serve(stage)
    assert {outcome(stage, each) for each in wished} == {("read", "")}
    assert len(stage.asked("find_branch")) == 1


async def test_a_wish_is_fulfilled_whatever_the_askers_clock_says(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    stage.world.open(project, "One", "feature")
    id_ = await stage.swept(project)
    ahead = stage.clock.now() + timedelta(seconds=3)
    wished = stage.store.write_now(
        wishes.wish, WishKind.BRANCH, id_, "feature", ahead + I, wanted_at=ahead
    )
    await serve(stage)
    assert outcome(stage, wished) == ("read", "")


async def test_a_wish_left_while_a_read_is_under_way_waits_for_the_next(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    number = stage.world.open(project, "One", "feature")
    id_ = await stage.swept(project)
    answered, later = stage.forge.find_branch, []

    async def find_branch(*question):
        found = await answered(*question)
        stage.clock.advance(timedelta(seconds=1))
        if not later:
            stage.world.set_checks(project, number, CheckVerdict.FAILING, "build")
            later.append(wish(stage, WishKind.BRANCH, id_, "feature"))
        return found

    stage.forge.find_branch = find_branch
    first = wish(stage, WishKind.BRANCH, id_, "feature")
    await serve(stage)
    assert outcome(stage, first) == ("read", "")
    assert outcome(stage, later[0]) is None
    await serve(stage)
    assert outcome(stage, later[0]) == ("read", "")
    assert stage.stored(id_, number).pull_request.checks.verdict is CheckVerdict.FAILING


async def test_a_number_that_is_none_is_not_found_and_twice_marks_a_stored_one_gone(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 2, unfinished=2)
    id_ = await stage.swept(project)
    stage.world.delete(project, 2)
    for number in ("99", "2", "2"):
        wished = wish(stage, WishKind.NUMBER, id_, number)
        await serve(stage)
        assert outcome(stage, wished) == ("not_found", "")
    assert stage.stored(id_, 2).gone_at


async def test_a_number_in_a_repository_that_is_hidden_now_has_failed_and_retires_nothing(
    stage: Stage,
):
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 2, unfinished=2)
    id_ = await stage.swept(project)
    del stage.world.projects[project.repository.forge_id]
    for _ in range(3):
        wished = wish(stage, WishKind.NUMBER, id_, "2")
        await serve(stage)
        assert outcome(stage, wished)[0] == "failed"
    assert stage.stored(id_, 2).gone_at is None


async def test_a_repository_that_does_not_exist_has_failed_in_words(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    id_ = stage.track(project, Depth.OPEN, "question")
    stage.world.projects.clear()
    wished = wish(stage, WishKind.BRANCH, id_, "feature")
    await serve(stage)
    assert outcome(stage, wished) == ("failed", "not found, or not visible to the configured token")
    assert stage.sweep(id_).fault


async def test_threads_on_a_wish_are_read_at_once_also_of_one_that_is_not_stored(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 3)
    stage.world.open_thread(project, 2, "bob", "Why?", "a.py", 3)
    id_ = stage.track(project, Depth.ONE, "question")
    wished = wish(stage, WishKind.THREADS, id_, "2")
    await serve(stage)
    assert outcome(stage, wished) == ("read", "")
    assert len(stage.store.read_now(reading.thread_page, stage.stored(id_, 2).id, limit=9)) == 1
    missing = wish(stage, WishKind.THREADS, id_, "44")
    await serve(stage)
    assert outcome(stage, missing) == ("not_found", "")


async def test_a_facet_on_a_wish_is_read_and_kept(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    number = stage.world.open(project, "One", "one")
    id_ = stage.track(project, Depth.ONE, "question")
    wished = wish(stage, WishKind.FACET, id_, f"{number}:commits")
    await serve(stage)
    assert outcome(stage, wished) == ("read", "")
    stage.forge.fail("facet", Unreachable("down"))
    failing = wish(stage, WishKind.FACET, id_, f"{number}:diffs")
    await serve(stage)
    assert outcome(stage, failing) == (
        "failed",
        "the forge could not be reached, or gave no usable answer",
    )


async def test_a_refresh_reads_what_changed_and_the_facts_of_what_is_unfinished(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    stage.world.populate(project, 60, unfinished=30)
    id_ = await stage.swept(project)
    stage.clock.advance(timedelta(seconds=1))
    stage.world.set_checks(project, 60, CheckVerdict.FAILING, "build")
    stage.world.merge(project, 59)
    wished = wish(stage, WishKind.REFRESH, id_)
    await serve(stage)
    assert outcome(stage, wished) == ("read", "")
    assert stage.stored(id_, 60).pull_request.checks.verdict is CheckVerdict.FAILING
    assert stage.stored(id_, 59).pull_request.merged_at
    assert stage.sweep(id_).as_of == stage.clock.now()
    assert len(stage.asked("read")) == 2


async def test_a_limit_fails_the_wish_at_once_with_the_time_it_ends(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    id_ = await stage.swept(project)
    stage.forge.fail("find_branch", RateLimited(NOW + 30 * I, "graphql"))
    for _ in range(2):
        wished = wish(stage, WishKind.BRANCH, id_, "feature")
        await serve(stage)
        assert outcome(stage, wished)[0] == "failed"
        assert "2026-03-01T12:30:00Z" in outcome(stage, wished)[1]
    assert len(stage.asked("find_branch")) == 1
    assert stage.sweep(id_).fault is None


async def test_a_bug_fails_the_wish_and_not_the_lane(stage: Stage, caplog):
    project = stage.world.create_repository("acme/rocket")
    id_ = await stage.swept(project)
    stage.forge.fail("find_branch", KeyError("a secret of ours"))
    wished = wish(stage, WishKind.BRANCH, id_, "feature")
    await serve(stage)
    assert outcome(stage, wished)[0] == "failed"
    assert "secret" not in outcome(stage, wished)[1]
    assert "reference" in caplog.text


async def test_a_wish_that_another_reader_may_fulfil_is_left_to_it(stage: Stage):
    project = stage.world.create_repository("acme/rocket")
    id_ = stage.track(project, Depth.OPEN, "question")
    ours = stage.session.reader.name
    names = (ReaderName(ours.site_url, f"token{n}") for n in range(99))
    other = next(n for n in names if chosen("acme/rocket", n.site_url, [ours, n], ()) == ours.key)
    stage.store.write_now(lease.enroll, "other", 2, "1", [str(other)], NOW + timedelta(days=900))
    stage.forge.fail("find_repository", NotVisible("404"))
    wished = wish(stage, WishKind.BRANCH, id_, "feature")
    await serve(stage)
    assert outcome(stage, wished) is None
    assert id_ not in await stage.lanes.charges()
    assert stage.sweep(id_).fault is None


async def test_a_wish_about_what_lives_elsewhere_now_has_failed_at_once(stage: Stage):
    old = stage.world.create_repository("acme/rocket")
    stage.world.open(old, "Old", "feature")
    id_ = await stage.swept(old)
    stage.world.projects = {"2000": Project(Repository("2000", "acme/rocket"), old.url)}
    wished = wish(stage, WishKind.REFRESH, id_)
    await serve(stage)
    how, why = outcome(stage, wished)
    assert how == "failed"
    assert "leads elsewhere" in why
