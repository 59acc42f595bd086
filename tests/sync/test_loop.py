"""The loop over a demo forge, in real time: leads, serves wishes, survives what goes wrong."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import anyio
import pytest

from pullstate.domain.freshness import FaultKind
from pullstate.domain.pull_request import CheckVerdict
from pullstate.forges.errors import RateLimited, Unauthorized, Unreachable
from pullstate.store import lease, reading, writing
from pullstate.store.errors import StoreBusy
from pullstate.store.wishes import WishKind
from tests.sync.home import SITE, at_home, now

pytestmark = pytest.mark.anyio

KEY = f"{SITE.url} token0"


async def test_what_is_tracked_is_swept_and_then_kept_up(tmp_path: Path):
    async with at_home(tmp_path) as home:
        project = home.world.create_repository("acme/rocket")
        home.world.populate(project, 150, unfinished=10)
        id_ = await home.swept(project)
        home.world.set_checks(project, 150, CheckVerdict.FAILING, "build")
        new = home.world.open(project, "New", "new")
        await home.until(lambda: (row := home.stored(id_, new)) and row.observed.checks)
        home.world.merge(project, new)
        await home.until(lambda: home.stored(id_, new).pull_request.merged_at)


async def test_what_happened_while_nobody_ran_is_seen_after_the_start(tmp_path: Path):
    async with at_home(tmp_path) as home:
        project = home.world.create_repository("acme/rocket")
        home.world.populate(project, 10, unfinished=5)
        id_ = await home.swept(project)
        world = home.world
    for number in (8, 9, 10):
        world.merge(project, number)
    async with at_home(tmp_path) as home:
        home.world.projects = world.projects
        await home.until(
            lambda: all(home.stored(id_, n).pull_request.merged_at for n in (8, 9, 10))
        )


async def test_no_lease_and_no_request_in_the_quiet_time_unless_kicked(tmp_path: Path):
    async with at_home(tmp_path, quiet=600.0) as home:
        project = home.world.create_repository("acme/rocket")
        id_ = home.track(project)
        await home.until(lambda: home.store.read_now(lease.live, now()))
        assert home.store.read_now(lease.leader, KEY) is None
        assert home.forge.requests == []
        home.loop.kick()
        await home.until(lambda: home.sweep(id_).swept)


async def test_a_wish_is_answered_while_a_walk_is_under_way(tmp_path: Path):
    async with at_home(tmp_path) as home:
        project = home.world.create_repository("acme/rocket")
        home.world.populate(project, 500, unfinished=1)
        walking, go_on = anyio.Event(), anyio.Event()
        answered = home.forge.lean_page

        async def lean_page(*args, **kwargs):
            walking.set()
            await go_on.wait()
            return await answered(*args, **kwargs)

        home.forge.lean_page = lean_page
        id_ = home.track(project)
        with anyio.fail_after(20):
            await walking.wait()
        granted = await home.wisher.wish(WishKind.BRANCH, id_, "branch-77", 10)
        assert (granted.fulfilled, granted.outcome) == (True, "read")
        assert not home.sweep(id_).swept
        go_on.set()
        await home.until(lambda: home.sweep(id_).swept)


async def test_a_refused_credential_gives_way_to_the_next(tmp_path: Path):
    async with at_home(tmp_path, tokens=2) as home:
        home.forge.fail("find_repository", Unauthorized("401"))
        project = home.world.create_repository("acme/rocket")
        id_ = await home.swept(project)
        assert home.sources.refused == ["token0"]
        assert home.sweep(id_).reader == f"{SITE.url} token1"


async def test_with_no_credential_left_the_site_fails_and_is_tried_again(tmp_path: Path):
    async with at_home(tmp_path, interval=timedelta(seconds=1)) as home:
        project = home.world.create_repository("acme/rocket")
        id_ = await home.swept(project)
        home.forge.fail("probe", Unauthorized("401"))
        await home.until(lambda: home.sweep(id_).fault)
        assert home.sweep(id_).fault.kind is FaultKind.UNAUTHORIZED
        with anyio.fail_after(20):
            await home.sources.reconsidered.wait()
        await home.until(lambda: home.sweep(id_).fault is None)


async def test_a_limit_pauses_one_repository_and_says_until_when(tmp_path: Path):
    async with at_home(tmp_path) as home:
        project = home.world.create_repository("acme/rocket")
        id_ = await home.swept(project)
        until = now() + timedelta(hours=1)
        home.forge.fail("changed", RateLimited(until, "graphql"))
        await home.until(lambda: home.sweep(id_).fault)
        assert home.sweep(id_).fault.retry_at == until
        granted = await home.wisher.wish(WishKind.REFRESH, id_, "", 10)
        assert not granted.fulfilled
        assert "rate limit" in granted.why


async def test_nothing_that_a_forge_does_ends_the_loop(tmp_path: Path, caplog):
    async with at_home(tmp_path, interval=timedelta(seconds=1)) as home:
        project = home.world.create_repository("acme/rocket")
        number = home.world.open(project, "One", "one")
        id_ = await home.swept(project)
        for question in ("probe", "changed", "read", "open_page", "threads", "find_repository"):
            home.forge.fail(question, ZeroDivisionError("oops"), Unreachable("down"))
        home.world.merge(project, number)
        await home.until(lambda: home.stored(id_, number).pull_request.merged_at)
        assert "reference" in caplog.text


async def test_a_store_that_is_busy_for_a_while_is_waited_for(tmp_path: Path):
    async with at_home(tmp_path, interval=timedelta(seconds=1)) as home:
        project = home.world.create_repository("acme/rocket")
        id_ = await home.swept(project)
        write, failures = home.store.write_as, iter(range(6))

        async def write_as(*args, **kwargs):
            if next(failures, None) is not None:
                raise StoreBusy("somebody else is writing")
            return await write(*args, **kwargs)

        home.store.write_as = write_as
        number = home.world.open(project, "One", "one")
        await home.until(lambda: home.stored(id_, number))


async def test_untracking_beside_a_sweep_ends_it_without_a_trace(tmp_path: Path, caplog):
    async with at_home(tmp_path) as home:
        project = home.world.create_repository("acme/rocket")
        home.world.populate(project, 300)
        walking, go_on = anyio.Event(), anyio.Event()
        answered = home.forge.lean_page

        async def lean_page(*args, **kwargs):
            walking.set()
            await go_on.wait()
            return await answered(*args, **kwargs)

        home.forge.lean_page = lean_page
        id_ = home.track(project)
        other = home.world.create_repository("acme/other")
        with anyio.fail_after(20):
            await walking.wait()
        home.store.write_now(writing.purge, id_)
        go_on.set()
        await home.swept(other)
        assert home.store.read_now(reading.repository_by_id, id_) is None
        assert "failed" not in caplog.text


async def test_an_orderly_end_gives_the_lease_up_and_strikes_the_process_off(tmp_path: Path):
    async with at_home(tmp_path) as home:
        await home.swept(home.world.create_repository("acme/rocket"))
        assert home.store.read_now(lease.leader, KEY, 3.0).held
        store = home.store
    assert not store.read_now(lease.leader, KEY, 3.0).held
    assert store.read_now(lease.live, now()) == []


async def test_one_that_lost_its_lease_writes_nothing_more_and_contends_again(tmp_path: Path):
    async with at_home(tmp_path) as home:
        project = home.world.create_repository("acme/rocket")
        id_ = await home.swept(project)
        token = home.store.read_now(lease.leader, KEY, 3.0).token

        def rob(conn):
            lease.release(conn, lease.Fence(KEY, home.loop.membership.process_id, token))
            assert lease.take(conn, KEY, "robber", 3.0)

        home.store.write_now(rob)
        at = home.sweep(id_).as_of
        await home.until(lambda: home.store.read_now(lease.leader, KEY, 3.0).holder != "robber")
        await home.until(lambda: home.sweep(id_).as_of > at)


async def test_an_older_version_yields_to_a_newer_one(tmp_path: Path):
    async with at_home(tmp_path) as old:
        project = old.world.create_repository("acme/rocket")
        await old.swept(project)
        async with at_home(tmp_path) as new:
            new.loop.membership.version = "1.1"
            new.world.projects = old.world.projects
            mine = new.loop.membership.process_id
            await new.until(lambda: new.store.read_now(lease.leader, KEY, 3.0).holder == mine)


async def test_what_one_credential_may_not_see_is_read_with_another(tmp_path: Path):
    async with at_home(tmp_path) as blind, at_home(tmp_path, first=7) as seeing:
        ids = []
        for n in range(6):
            project = seeing.world.create_repository(f"acme/rocket{n}")
            seeing.world.open(project, "One", "one")
            ids.append(seeing.track(project))
        await seeing.until(lambda: all(seeing.sweep(id_).swept for id_ in ids))
        assert {seeing.sweep(id_).fault for id_ in ids} == {None}
        assert {seeing.sweep(id_).reader for id_ in ids} == {f"{SITE.url} token7"}
        assert all(q == "find_repository" for q, _ in blind.forge.requests)


async def test_what_no_credential_may_see_fails_and_is_read_once_one_may(tmp_path: Path):
    async with at_home(tmp_path) as one, at_home(tmp_path, first=7) as two:
        project = one.world.create_repository("acme/rocket")
        id_ = one.track(project)
        one.world.projects.clear()
        await one.until(lambda: one.sweep(id_).fault)
        assert one.sweep(id_).fault.kind is FaultKind.NOT_FOUND
        asked = [home.forge.requests[0] for home in (one, two)]
        assert asked == [("find_repository", "acme/rocket")] * 2
        for home in (one, two):
            home.world.projects[project.repository.forge_id] = project
        await one.until(lambda: one.sweep(id_).swept)
        assert one.sweep(id_).fault is None
