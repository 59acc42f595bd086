"""Many processes over one store are one to the forge, and none of them is needed."""

from __future__ import annotations

import signal
import threading
from pathlib import Path

import pytest

from pullstate.domain.changes import ChangeKind
from pullstate.domain.pull_request import CheckVerdict
from pullstate.store import reading
from tests.processes.fleet import fleet

pytestmark = [pytest.mark.processes, pytest.mark.timeout(300)]

QUESTIONS = ("find_repository", "open_page", "lean_page", "changed", "probe", "read", "threads")


def asked_by(place: str, processes: int) -> dict[str, int]:
    """What so many processes ask of the forge for a sweep and four deltas, by question."""
    with fleet(place) as them:
        project = them.world.create_repository("acme/rocket")
        them.world.populate(project, 250, unfinished=30)
        id_ = them.track(project)
        them.start(processes)
        them.until(lambda: them.sweep(id_).swept, "a sweep")
        for _ in range(4):
            known = them.sweep(id_).as_of
            them.until(lambda known=known: them.sweep(id_).as_of > known, "a delta")
        return {question: them.desk.count(question) for question in QUESTIONS}


def test_twelve_loops_with_one_credential_send_what_one_would_send(tmp_path: Path):
    one = asked_by(str(tmp_path / "one.db"), 1)
    twelve = asked_by(str(tmp_path / "twelve.db"), 12)
    for question in ("find_repository", "open_page", "lean_page", "changed", "threads"):
        assert twelve[question] == pytest.approx(one[question], abs=1), (one, twelve)
    assert sum(twelve.values()) <= sum(one.values()) + 8, (one, twelve)


def test_a_leader_that_is_killed_is_replaced_and_the_work_goes_on(place: str):
    with fleet(place) as them:
        project = them.world.create_repository("acme/rocket")
        them.world.populate(project, 30, unfinished=3)
        id_ = them.track(project)
        first, second = them.start(2)
        them.until(lambda: them.sweep(id_).swept, "a sweep")
        them.until(lambda: them.leads(first) or them.leads(second), "a leader")
        leading, waiting = (first, second) if them.leads(first) else (second, first)
        token = them.leader().token
        leading.kill()
        them.until(lambda: them.leads(waiting), "another leader")
        assert them.leader().token == token + 1
        them.world.merge(project, 30)
        them.until(lambda: them.rows(id_)[30].pull_request.merged_at, "the merge")


def test_a_leader_that_ends_in_order_leaves_the_lease_to_the_next_at_once(place: str):
    with fleet(place) as them:
        id_ = them.track(them.world.create_repository("acme/rocket"))
        [first] = them.start()
        them.until(lambda: them.sweep(id_).swept, "a sweep")
        first.terminate()
        assert first.wait(30) == 0
        assert not them.leader().held


def test_a_leader_that_stalls_is_fenced_out_with_the_answer_it_held(place: str):
    with fleet(place, interval=2.0) as them:
        project = them.world.create_repository("acme/rocket")
        number = them.world.open(project, "One", "one")
        them.world.set_checks(project, number, CheckVerdict.PENDING)
        id_ = them.track(project)
        [stalled] = them.start()
        them.until(lambda: them.rows(id_)[number].observed.checks if id_ and them.rows(id_) else 0)
        them.until(lambda: them.leads(stalled), "a leader")

        held, go_on = threading.Event(), threading.Event()

        def hold_the_next_reading(question: str) -> None:
            if question == "read" and not held.is_set():
                held.set()
                go_on.wait(60)

        them.desk.after = hold_the_next_reading  # it was answered "pending", and holds that
        assert held.wait(60)
        stalled.send_signal(signal.SIGSTOP)
        [other] = them.start()
        them.until(lambda: them.leads(other), "another leader")
        them.world.set_checks(project, number, CheckVerdict.FAILING, "build")
        them.until(
            lambda: them.rows(id_)[number].pull_request.checks.verdict is CheckVerdict.FAILING
        )
        go_on.set()
        stalled.send_signal(signal.SIGCONT)
        known = them.sweep(id_).as_of
        them.until(lambda: them.sweep(id_).as_of > known, "a delta")
        them.until(lambda: them.leads(other))
        told = them.store.read_now(reading.changes, after=0, limit=1000)
        kinds = [each.kind for each in told if each.kind.startswith("checks_")]
        assert kinds[-1] == ChangeKind.CHECKS_FAILING
        assert kinds.count(ChangeKind.CHECKS_FAILING) == 1


@pytest.mark.parametrize("killed_at", [1, 2, 3, 4, 5])
def test_killed_at_any_page_of_a_backfill_nothing_is_lost_or_half_written(
    place: str, killed_at: int
):
    with fleet(place) as them:
        project = them.world.create_repository("acme/rocket")
        them.world.populate(project, 400, unfinished=30)
        id_ = them.track(project)
        reached, pages = threading.Event(), iter(range(1, 100))

        def count_pages(question: str) -> None:
            if question in ("open_page", "lean_page") and next(pages) == killed_at:
                reached.set()

        them.desk.after = count_pages
        [victim] = them.start()
        assert reached.wait(60)
        victim.kill()
        victim.wait(30)
        sweep, rows = them.sweep(id_), them.rows(id_)
        known = [each for each in rows.values() if not each.pull_request.finished]
        assert all(each.observed.checks for each in known if each.pull_request.number > 370)
        if sweep.stage == "all":
            assert len([r for r in rows.values() if r.pull_request.finished]) % 100 == 0
        them.start()
        them.until(lambda: them.sweep(id_).swept, "a sweep")
        assert len(them.rows(id_)) == 400
        assert them.desk.count("open_page") <= 2 + 2  # one on its way and one being written
        assert them.desk.count("lean_page") <= 4 + 2
