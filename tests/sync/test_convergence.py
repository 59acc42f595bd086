"""Whatever happens at the forge and to it, the store comes to say what the forge says."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import timedelta

import pytest

from pullstate.domain.pull_request import CheckVerdict, MergeVerdict, ReviewDecision
from pullstate.forges.demo import Project
from pullstate.forges.errors import Overloaded, RateLimited, Unexpected, Unreachable
from pullstate.store import reading
from tests.sync.stage import I, Stage

pytestmark = pytest.mark.anyio

SAID = [verdict for verdict in CheckVerdict if verdict is not CheckVerdict.NONE]
QUESTIONS = ("probe", "changed", "read", "open_page", "lean_page", "threads", "find_repository")


class Chance:
    """Acts of people and machines on a project, and faults of its forge, in a seeded order."""

    def __init__(self, stage: Stage, project: Project, seed: int) -> None:
        self.random = random.Random(seed)
        self.stage, self.world, self.project = stage, stage.world, project

    def acts(self) -> None:
        """Something happens, or nothing."""
        for _ in range(self.random.choice([0, 1, 1, 3])):
            act = self.random.choice(self._acts())
            act()

    def _acts(self) -> list[Callable[[], object]]:
        world, project, choose = self.world, self.project, self.random.choice
        acts: list[Callable[[], object]] = [
            lambda: world.open(project, "New", choose("abc")),
            self._fault,
        ]
        unfinished = [n for n, p in project.pull_requests.items() if not p.finished]
        closed = [n for n, p in project.pull_requests.items() if p.closed_at and not p.merged_at]
        if unfinished:
            n = choose(unfinished)
            acts += [
                lambda: world.push(project, n),
                lambda: world.set_checks(project, n, choose(SAID), "build"),
                lambda: world.set_mergeability(project, n, choose(list(MergeVerdict))),
                lambda: world.review(project, n, "bob", choose(list(ReviewDecision))),
                lambda: world.open_thread(project, n, "bob", "Why?", "a.py", 1),
                lambda: world.retitle(project, n, f"Title {self.random.random()}"),
                lambda: world.queue(project, n, choose([None, 1])),
                lambda: world.merge(project, n),
                lambda: world.close(project, n),
                lambda: self._resolve(n),
            ]
        if closed:
            acts.append(lambda: world.reopen(project, choose(closed)))
        if len(unfinished) > 3:
            acts.append(lambda: world.delete(project, unfinished[0]))
        return acts

    def _resolve(self, number: int) -> None:
        for thread in self.project.threads[number]:
            self.world.resolve(self.project, number, thread.id, "ada")

    def _fault(self) -> None:
        now = self.stage.clock.now()
        error = self.random.choice(
            [
                Unreachable("down"),
                Overloaded("502"),
                Unexpected("what"),
                KeyError("a bug"),
                RateLimited(now + 2 * I, "graphql"),
                RateLimited(now + I, "*", secondary=True),
            ]
        )
        self.stage.forge.fail(self.random.choice(QUESTIONS), error)


async def rounds(stage: Stage, span: timedelta, step: timedelta) -> None:
    """All lanes, one after the other, for a span of time."""
    end = stage.clock.now() + span
    while stage.clock.now() < end:
        again = [await stage.lanes.upkeep(), await stage.lanes.backfill()]
        stage.clock.at = max(min(again), stage.clock.now() + step)


@pytest.mark.parametrize("seed", range(5))
async def test_after_a_while_of_quiet_the_store_says_what_the_forge_says(stage: Stage, seed: int):
    project = stage.world.create_repository("acme/rocket")
    chance = Chance(stage, project, seed)
    stage.world.populate(project, chance.random.randint(0, 130), unfinished=0)
    id_ = stage.track(project)
    for _ in range(60):
        chance.acts()
        wait = timedelta(seconds=chance.random.choice([0.5, 3, 20, 70]))
        await rounds(stage, wait, wait / 2)
    stage.forge._faults.clear()
    await rounds(stage, 36 * I, timedelta(seconds=5))

    rows = stage.rows(id_)
    assert project.pull_requests.keys() <= rows.keys()
    # A deleted one is missed where it was open; one that was closed is never asked for again.
    deleted = [row for number, row in rows.items() if number not in project.pull_requests]
    assert all(row.pull_request.finished for row in deleted)
    for number, true in project.pull_requests.items():
        kept = rows[number].pull_request
        for fact in ("title", "head", "base", "draft", "merged_at", "closed_at", "changed_at"):
            assert getattr(kept, fact) == getattr(true, fact), (number, fact)
        if not true.finished:
            assert (kept.checks, kept.review, kept.queue) == (true.checks, true.review, true.queue)
            assert _said(kept) == _said(true), number
            threads = stage.store.read_now(reading.thread_page, rows[number].id, limit=1000)
            assert threads == project.threads[number]
    assert stage.sweep(id_).fault is None
    assert stage.sweep(id_).gaps == ()


def _said(pull_request) -> object:
    """A verdict that is UNKNOWN on an unchanged head and base leaves the last known one."""
    mergeability = pull_request.mergeability
    unknown = mergeability.verdict is MergeVerdict.UNKNOWN or mergeability.recheck_due
    return "UNKNOWN" if unknown else mergeability.verdict
