"""Since when a repository fails: a read that succeeded in between ends one failure."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from pullstate.forges.errors import Unreachable
from pullstate.sync.turns import fail_site, failed
from tests.sync.stage import I, Stage

pytestmark = pytest.mark.anyio

SECOND = timedelta(seconds=1)


async def _refused(stage: Stage, *ids: int) -> datetime:
    """Every credential is refused now; when it is tried again."""
    return await fail_site(stage.session, [stage.charge(id_) for id_ in ids])


def _since(stage: Stage, id_: int) -> datetime:
    fault = stage.sweep(id_).fault
    assert fault is not None
    return fault.since


async def _two_repositories(stage: Stage) -> tuple[int, int]:
    projects = [stage.world.create_repository(path) for path in ("acme/rocket", "acme/ship")]
    one, two = [await stage.swept(project) for project in projects]
    return one, two


async def test_refusals_in_a_row_are_one_failure_and_back_off(stage: Stage):
    one, two = await _two_repositories(stage)
    began, again = stage.clock.now(), await _refused(stage, one, two)
    for _ in range(3):
        stage.clock.at = again
        again = await _refused(stage, one, two)
    assert (_since(stage, one), _since(stage, two)) == (began, began)
    assert again - stage.clock.now() > I


async def test_a_refusal_a_second_after_a_read_that_succeeded_begins_anew(stage: Stage):
    one, two = await _two_repositories(stage)
    await _refused(stage, one, two)
    stage.clock.advance(SECOND)
    await stage.delta(one)
    stage.clock.advance(SECOND)
    again, now = await _refused(stage, one, two), stage.clock.now()
    assert (_since(stage, one), _since(stage, two)) == (now, now)
    assert again == now + I


async def test_one_that_nobody_ever_read_does_not_begin_a_failure_anew(stage: Stage):
    one, two = await _two_repositories(stage)
    began = stage.clock.now()
    await _refused(stage, one, two)
    stage.clock.advance(I)
    new = stage.track(stage.world.create_repository("acme/probe"))
    await _refused(stage, one, two, new)
    assert _since(stage, new) == began


async def test_a_refusal_after_another_failure_begins_with_the_refusal(stage: Stage):
    one, _ = await _two_repositories(stage)
    await failed(stage.session, stage.charge(one), Unreachable("down"))
    stage.clock.advance(I)
    await _refused(stage, one)
    assert _since(stage, one) == stage.clock.now()


async def test_a_failure_that_another_lane_saw_end_is_not_the_same_as_the_next(stage: Stage):
    one, _ = await _two_repositories(stage)
    await failed(stage.session, stage.charge(one), Unreachable("down"))
    before = stage.charge(one)
    stage.clock.advance(SECOND)
    await stage.delta(one)
    stage.clock.advance(SECOND)
    await failed(stage.session, before, Unreachable("down"))
    assert _since(stage, one) == stage.clock.now()
    assert stage.sweep(one).as_of < _since(stage, one)
