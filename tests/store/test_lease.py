"""One holder of a lease at a time, and proof of it inside the transaction that writes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from pullstate.store import lease, reading, writing
from pullstate.store.engine import Store
from pullstate.store.errors import FencedOut
from pullstate.store.lease import Fence, Process
from tests.domain.readings import lean
from tests.store.test_recording import AT, LATER

KEY = lease.reader_key("https://github.com", "f1")
TIME = 15.0


def take(store: Store, holder: str, time: float = TIME, **more) -> Fence | None:
    return store.write_now(lease.take, KEY, holder, time, **more)


def expire(store: Store) -> None:
    """As if the holder had not renewed it for long."""
    past = datetime.now(UTC) - timedelta(hours=1)
    table = lease.lease
    store.write_now(lambda connection: connection.execute(table.update().values(expires_at=past)))


def test_the_first_takes_it_and_the_second_does_not(store):
    assert take(store, "a") == Fence(KEY, "a", 1)
    assert take(store, "b") is None


def test_the_holder_renews_it_with_the_same_token(store):
    take(store, "a")
    before = store.read_now(lease.leader, KEY).expires_at
    assert take(store, "a", TIME) == Fence(KEY, "a", 1)
    assert store.read_now(lease.leader, KEY).expires_at > before


def test_leases_of_two_readers_are_two(store):
    take(store, "a")
    assert store.write_now(lease.take, "other", "b", TIME) == Fence("other", "b", 1)


def test_an_expired_one_passes_on_with_a_greater_token(store):
    take(store, "a")
    expire(store)
    assert take(store, "b") == Fence(KEY, "b", 2)
    assert take(store, "a") is None


def test_a_holder_that_comes_back_before_anybody_else_keeps_its_token(store):
    take(store, "a")
    expire(store)
    assert take(store, "a") == Fence(KEY, "a", 1)


def test_a_released_one_is_free_at_once(store):
    fence = take(store, "a")
    assert store.write_now(lease.release, fence) is True
    assert store.read_now(lease.leader, KEY).held is False
    assert take(store, "b") == Fence(KEY, "b", 2)
    assert store.write_now(lease.release, fence) is False
    assert take(store, "b") == Fence(KEY, "b", 2)


def test_an_expiry_further_ahead_than_the_lease_time_is_void(path, open_store):
    store = open_store(path)
    now = datetime.now(UTC)
    take(store, "a", now=now + timedelta(hours=1))
    assert store.read_now(lease.leader, KEY, TIME, now=now).held is False
    assert take(store, "b", now=now) == Fence(KEY, "b", 2)


def test_a_clock_that_is_nudged_back_does_not_take_a_lease_away(path, open_store):
    store = open_store(path)
    now = datetime.now(UTC)
    take(store, "a", now=now)
    assert take(store, "b", now=now - timedelta(seconds=0.5)) is None


def test_who_holds_it_can_be_read_without_writing(store):
    assert store.read_now(lease.leader, KEY) is None
    take(store, "a")
    leader = store.read_now(lease.leader, KEY)
    assert (leader.holder, leader.token, leader.held, leader.wanted_by) == ("a", 1, True, None)
    expire(store)
    assert store.read_now(lease.leader, KEY).held is False


def test_a_newer_version_asks_for_it_and_the_wish_ends_with_the_lease(store):
    fence = take(store, "a")
    store.write_now(lease.want, KEY, "b")
    take(store, "a")
    assert store.read_now(lease.leader, KEY).wanted_by == "b"
    store.write_now(lease.release, fence)
    take(store, "b")
    assert store.read_now(lease.leader, KEY).wanted_by is None


def test_a_batch_under_a_lease_that_passed_on_writes_nothing(store, repository):
    fence = take(store, "a")
    store.write_as_now(fence, writing.record, repository.id, [lean(1)], AT)
    expire(store)
    take(store, "b")
    with pytest.raises(FencedOut):
        store.write_as_now(fence, writing.record, repository.id, [lean(2)], AT)
    assert len(store.read_now(reading.page, repository.id, limit=9)) == 1


def test_a_batch_under_an_expired_lease_that_nobody_took_is_still_good(store, repository):
    fence = take(store, "a")
    expire(store)
    store.write_as_now(fence, writing.record, repository.id, [lean(1)], AT)


def test_a_lease_that_never_was_proves_nothing(store, repository):
    with pytest.raises(FencedOut):
        store.write_as_now(Fence(KEY, "a", 1), writing.record, repository.id, [lean()], AT)


@pytest.mark.anyio
async def test_a_fence_holds_over_the_event_loop_too(store, repository):
    fence = take(store, "a")
    recorded = await store.write_as(fence, writing.record, repository.id, [lean()], AT)
    assert recorded.inserted == 1
    expire(store)
    take(store, "b")
    with pytest.raises(FencedOut):
        await store.write_as(fence, writing.record, repository.id, [lean()], AT)


# Live processes


def test_a_process_enters_beats_and_leaves(store):
    store.write_now(lease.enroll, "p1", 11, "0.1.0", [KEY], AT)
    assert store.read_now(lease.live, AT) == [Process("p1", 11, "0.1.0", (KEY,), AT, AT)]
    assert store.write_now(lease.beat, "p1", LATER) is True
    assert store.read_now(lease.live, LATER) == [Process("p1", 11, "0.1.0", (KEY,), AT, LATER)]
    store.write_now(lease.leave, "p1")
    assert store.read_now(lease.live, LATER) == []
    assert store.write_now(lease.beat, "p1", LATER) is False


def test_one_without_a_heartbeat_is_dead_and_one_long_dead_is_forgotten(store):
    store.write_now(lease.enroll, "old", 1, "0.1.0", [], AT)
    store.write_now(lease.enroll, "new", 2, "0.1.0", [], AT + timedelta(seconds=30))
    now = AT + timedelta(seconds=50)
    assert [each.id for each in store.read_now(lease.live, now)] == ["new"]
    assert store.read_now(lease.live, now, timedelta(minutes=5))[0].id == "old"
    store.write_now(lease.enroll, "late", 3, "0.1.0", [], AT + timedelta(days=2))
    assert store.write_now(lease.beat, "old", now) is False


def test_entering_again_corrects_the_readers(store):
    store.write_now(lease.enroll, "p1", 1, "0.1.0", [KEY], AT)
    store.write_now(lease.enroll, "p1", 1, "0.1.0", [], LATER)
    assert store.read_now(lease.live, LATER)[0].readers == ()
