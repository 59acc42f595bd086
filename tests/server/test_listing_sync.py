"""The `sync` block of `list_pull_requests`, in each of its states."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pullstate.domain.freshness import Fault, FaultKind
from pullstate.store import lease
from tests.server.office import Office, kept
from tests.sync.stage import NOW, I

pytestmark = pytest.mark.anyio


async def test_unread(office: Office):
    page = await office.list()
    assert page["sync"] == {
        "state": "unread",
        "reason": "the first sweep of this repository has not completed; no running pullstate "
        "process reads https://demo.invalid",
    }


async def test_failing(office: Office):
    id_ = kept(office)
    fault = Fault(FaultKind.UNAUTHORIZED, NOW, NOW + timedelta(minutes=2))
    office.sweep(id_, fault=fault)
    office.advance(seconds=90)
    assert (await office.list())["sync"] == {
        "state": "failing",
        "asOf": "2026-03-01T12:00:00Z",
        "ageSeconds": 90,
        "reason": "the forge refuses the credential, since 2026-03-01T12:00:00Z",
        "nextAt": "2026-03-01T12:02:00Z",
    }


async def test_paused(office: Office):
    id_ = kept(office)
    office.sweep(id_, fault=Fault(FaultKind.RATE_LIMITED, NOW, NOW + timedelta(minutes=40)))
    sync = (await office.list())["sync"]
    assert sync["state"] == "paused"
    assert sync["reason"] == "the forge's rate limit is used up until 2026-03-01T12:40:00Z"
    assert sync["nextAt"] == "2026-03-01T12:40:00Z"


async def test_stale(office: Office):
    id_ = kept(office)
    office.sweep(id_, next_delta_at=NOW + I)
    office.advance(seconds=180)
    assert (await office.list())["sync"]["state"] == "ok"
    office.advance(seconds=1)
    sync = (await office.list())["sync"]
    assert sync["state"] == "stale"
    assert "no running pullstate process reads https://demo.invalid" in sync["reason"]
    office.store.write_now(
        lease.enroll, "me", 1, "1", ["https://demo.invalid demo"], office.clock.now()
    )
    sync = (await office.list())["sync"]
    assert sync["state"] == "stale"
    assert "no running" not in sync["reason"]


async def test_partial(office: Office):
    id_ = kept(office)
    office.sweep(id_, gaps=(("checks", "the credential may not see it"),))
    sync = (await office.list())["sync"]
    assert sync["state"] == "partial"
    assert sync["facets"] == {"checks": "the credential may not see it"}
    assert "checks" in sync["reason"]


async def test_ok(office: Office):
    id_ = kept(office)
    office.sweep(id_, next_delta_at=NOW + I)
    office.advance(seconds=10)
    assert (await office.list())["sync"] == {
        "state": "ok",
        "asOf": "2026-03-01T12:00:00Z",
        "ageSeconds": 10,
        "nextAt": "2026-03-01T12:01:00Z",
    }


async def test_the_first_that_holds_is_the_state_and_the_reason_names_them_all(office: Office):
    id_ = kept(office)
    fault = Fault(FaultKind.UNREACHABLE, NOW)
    office.sweep(
        id_, swept=False, fault=fault, gaps=(("review", "it takes a token"),), next_delta_at=NOW
    )
    sync = (await office.list())["sync"]
    assert sync["state"] == "unread"
    for words in ("first sweep", "could not be reached", "review"):
        assert words in sync["reason"]


async def test_only_the_sync_block_carries_a_clock(office: Office):
    kept(office)
    before = await office.list()
    office.advance(days=400)
    after = await office.list()
    assert before["sync"] != after["sync"]
    assert {**before, "sync": None} == {**after, "sync": None}
