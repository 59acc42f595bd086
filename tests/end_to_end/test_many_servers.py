"""Many servers over one store are one to the forge, and any of them may die."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pullstate.store import lease
from pullstate.store.engine import Store
from tests.cli.shell import Shell
from tests.end_to_end.place import Place, Server, agrees, eventually, place
from tests.simulators.recording import operation_name
from tests.stdio.client import CLIENT_INFO, LEGACY_VERSION

pytestmark = [pytest.mark.stdio, pytest.mark.processes, pytest.mark.timeout(180)]

CYCLES = 4
LEASE_SECONDS = 15.0
PATIENCE = 60.0  # seconds for twelve processes that start at once
OPENING = {"protocolVersion": LEGACY_VERSION, "capabilities": {}, "clientInfo": CLIENT_INFO}
PROBE = r"pulls\?state=all"


@contextmanager
def servers(here: Place, count: int) -> Iterator[list[Server]]:
    """So many, started at once, with open connections."""
    with ExitStack() as stack:
        started = [stack.enter_context(here.server()) for _ in range(count)]
        openings = [server.start("initialize", **OPENING) for server in started]
        for server, opening in zip(started, openings, strict=True):
            server.result_of(opening, PATIENCE)
            server.notify("notifications/initialized")
        yield started


def asked(here: Place) -> Counter[str]:
    """What the forge was asked so far, by kind of question."""
    return Counter(operation_name(each) or each.path for each in here.github.log.matching())


def leading_pid(here: Place) -> int | None:
    """The process that syncs."""
    store = Store.open(here.store)
    try:
        running = store.read_now(lease.live, datetime.now(UTC))
        readers = {reader for each in running for reader in each.readers}
        [reader] = [reader for reader in readers if reader.startswith(here.github.url)]
        leader = store.read_now(lease.leader, reader)
        held_by = leader.holder if leader and leader.held else None
        return next((each.pid for each in running if each.id == held_by), None)
    finally:
        store.close()


def cycles(here: Place) -> Counter[str]:
    """What the forge is asked in so many cycles."""
    here.github.log.clear()
    here.github.log.wait_for(PROBE, CYCLES, timeout=60)
    return asked(here)


def test_twelve_servers_send_what_one_would_send(here: Place) -> None:
    rocket = here.world.create_repository("acme/rocket")
    changes = here.world.open_pull_requests(rocket, 150, unfinished=30)
    for each in changes[-30:]:
        here.world.set_checks(each, build="SUCCESS")
    with servers(here, 12) as twelve:
        questions = [
            each.start(
                "tools/call", name="list_pull_requests", arguments={"repositoryUrl": here.url()}
            )
            for each in twelve
        ]
        for server, question in zip(twelve, questions, strict=True):
            assert not server.result_of(question, PATIENCE)["isError"]
        eventually(
            lambda: twelve[0].sync(here.url()), lambda sync: sync["state"] == "ok", within=60
        )
        swept = asked(here)
        assert swept["OpenPage"] == 2, swept  # 30 open ones, 25 a page
        assert swept["LeanPage"] == 2, swept  # 150, 100 a page
        assert swept["Fields"] == 1, swept
        shell = Shell(here.folder, here.environ)
        for _ in range(2):
            assert shell.run("status").status == 0
        by_twelve = cycles(here)
        leader = leading_pid(here)
        [one] = [each for each in twelve if each.process.pid == leader]
        for other in twelve:
            if other is not one:
                other.process.kill()
        by_one = cycles(here)
        # Which cycle a roll-call or a batch falls into is chance; twelve times as much is not.
        assert by_twelve.total() <= 2 * by_one.total(), (by_twelve, by_one)
        wal = here.store.with_name("store.db-wal")
        assert wal.stat().st_size < 8 * 1024 * 1024


def test_a_server_killed_amid_the_first_sweep_is_replaced_and_nothing_is_lost(
    tmp_path: Path,
) -> None:
    with place(tmp_path) as here:
        rocket = here.world.create_repository("acme/rocket")
        here.world.open_pull_requests(rocket, 450, unfinished=40)
        here.configure(f'[track]\nrepositories = ["{here.url()}"]\n')
        here.github.app.latency = 0.1
        with servers(here, 2) as both:
            here.github.log.wait_for("graphql")
            eventually(lambda: here.github.operations("LeanPage"))
            leader = eventually(lambda: leading_pid(here))
            victim, heir = sorted(both, key=lambda each: each.process.pid != leader)
            victim.process.kill()
            here.world.merge(rocket.pull_requests[420])
            here.world.push(rocket.pull_requests[450])
            assert heir.list_tools()
            eventually(lambda: leading_pid(here) == heir.process.pid, within=LEASE_SECONDS + 5)
            eventually(lambda: heir.sync(here.url()), lambda sync: sync["state"] == "ok")

            def wrong() -> list[int]:
                rows = {row["number"]: row for row in heir.whole(here.url())}
                assert len(rows) == 450
                changes = rocket.pull_requests.items()
                return [number for number, each in changes if not agrees(rows[number], each)]

            eventually(wrong, lambda numbers: not numbers)


def test_what_one_server_s_token_may_not_see_is_read_with_another_s(here: Place) -> None:
    narrow, wide = f"ghp_narrow{'0' * 30}", f"ghp_wide{'0' * 32}"
    here.world.add_token(narrow, "alice", sees=["orbit"])
    here.world.add_token(wide, "bob", sees=["acme"])
    names = [f"acme/part{n}" for n in range(4)] + [f"orbit/part{n}" for n in range(4)]
    for name in names:
        here.world.open_pull_request(here.world.create_repository(name))
    with here.serving(SIMULATED_TOKEN=narrow) as one, here.serving(SIMULATED_TOKEN=wide) as two:
        for server in (one, two):
            server.list_tools()
        for asker in (one, two):
            for name in names:
                eventually(
                    lambda asker=asker, name=name: asker.list(here.url(name)),
                    lambda reply: (
                        reply["sync"]["state"] == "ok" and len(reply["pullRequests"]) == 1
                    ),
                )
