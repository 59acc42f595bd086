"""A process among the others: what it may take, and whom it gives way to."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from pullstate.forges.demo import DemoForge, World
from pullstate.store import lease
from pullstate.store.engine import Store
from pullstate.store.errors import StoreBusy
from pullstate.sync.membership import Membership
from pullstate.sync.readers import ANONYMOUS, Reader, ReaderName
from tests.sync.home import SITE, now

pytestmark = pytest.mark.anyio

TOKEN, NOBODY = ReaderName(SITE.url, "token"), ReaderName(SITE.url, ANONYMOUS)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store.open(tmp_path / "store.db", lease_time=3.0)
    yield opened
    opened.close()


def reader(name: ReaderName) -> Reader:
    return Reader(name, DemoForge(SITE, World(now)))


async def test_a_lease_is_one_processs_until_it_gives_it_up(store: Store):
    one, two = Membership(store, "1.0"), Membership(store, "1.0")
    fence = await one.take(TOKEN)
    assert fence
    assert await two.take(TOKEN) is None
    assert await one.renew(fence)
    await one.release(fence)
    assert await two.take(TOKEN)
    assert not await one.renew(fence)


async def test_without_a_credential_nobody_reads_where_a_live_process_has_one(store: Store):
    has, lacks = Membership(store, "1.0"), Membership(store, "1.0")
    await has.appear([reader(TOKEN)])
    await lacks.appear([reader(NOBODY)])
    assert await lacks.take(NOBODY) is None
    await has.leave()
    assert await lacks.take(NOBODY)


async def test_a_process_whose_heart_stopped_counts_for_nothing(store: Store):
    lacks = Membership(store, "1.0")
    long_ago = now() - lacks.within - timedelta(seconds=1)
    store.write_now(lease.enroll, "dead", 1, "1.0", [str(TOKEN)], long_ago)
    assert await lacks.take(NOBODY)


@pytest.mark.parametrize(
    ("holder", "other", "asks"),
    [
        ("1.0", "1.1", True),
        ("1.9", "1.10", True),
        ("1.0", "2.0rc1", True),
        ("1.0", "1.0", False),
        ("1.1", "1.0", False),
    ],
)
async def test_only_a_newer_version_asks_for_the_lease(
    store: Store, holder: str, other: str, asks: bool
):
    leading, waiting = Membership(store, holder), Membership(store, other)
    await leading.appear([reader(TOKEN)])
    fence = await leading.take(TOKEN)
    assert await waiting.take(TOKEN) is None
    assert await leading.is_wanted(fence) is asks


async def test_a_store_that_may_only_be_read_is_not_led(store: Store):
    store.read_only = True
    assert await Membership(store, "1.0").take(TOKEN) is None


async def test_a_store_that_is_busy_neither_takes_nor_loses_a_lease(store: Store):
    member = Membership(store, "1.0")
    fence = await member.take(TOKEN)

    async def write(*args, **kwargs):
        raise StoreBusy("somebody else is writing")

    store.write = write
    assert await member.renew(fence)
    assert await Membership(store, "1.0").take(NOBODY) is None
    await member.release(fence)
    await member.leave()


async def test_a_lease_is_given_up_where_a_newer_version_took_the_store_over(store: Store):
    member = Membership(store, "1.0")
    fence = await member.take(TOKEN)
    store.write_now(lambda conn: conn.execute(text("UPDATE store SET min_writer = 99")))
    assert not await member.renew(fence)
    assert await member.take(TOKEN) is None


async def test_a_contender_looks_again_when_a_lease_runs_out_and_every_beat_at_least(store: Store):
    one, two = Membership(store, "1.0"), Membership(store, "1.0")
    assert await two.until_free(TOKEN) == two.beat
    assert await one.take(TOKEN)
    assert await one.until_free(TOKEN) == one.beat
    assert await two.until_free(TOKEN) == two.beat
    almost_over = now() - timedelta(seconds=store.lease_time - two.beat / 2)
    key, holder = TOKEN.key, one.process_id
    store.write_now(lease.take, key, holder, store.lease_time, now=almost_over)
    assert 0 < await two.until_free(TOKEN) <= two.beat / 2
