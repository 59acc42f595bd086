"""Review threads: read whole or in part, paged, counted, told."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from pullstate.domain.review import Comment, ReviewThread, Threads
from pullstate.store import reading, writing
from pullstate.store.engine import Store
from pullstate.store.errors import Untracked
from pullstate.store.records import Repository, ThreadCounts, ThreadState
from tests.domain.readings import NOON, lean, minutes
from tests.domain.test_thread_changes import comment, thread
from tests.store.conftest import track
from tests.store.statements import plan, written
from tests.store.test_recording import AT, LATER, known, record, stored, told


@pytest.fixture
def id_(store: Store, repository: Repository) -> int:
    """A pull request whose threads were never read."""
    return record(store, repository, lean()).ids[0]


def keep(store: Store, id_: int, *threads: ReviewThread, at=AT, gap=None, **more) -> int:
    return store.write_now(writing.record_threads, id_, Threads(threads, gap), at, **more)


def page(store: Store, id_: int, limit: int = 100, **asked) -> list[ReviewThread]:
    return store.read_now(reading.thread_page, id_, limit=limit, **asked)


def test_what_was_read_comes_back_as_it_was(store, id_):
    whole = ReviewThread(
        id="PRRT_1",
        is_resolved=True,
        is_outdated=True,
        path="src/Größe \x07.py",
        line=None,
        start_line=None,
        original_line=12,
        original_start_line=10,
        side="LEFT",
        subject="line",
        resolved_by="bob",
        comments=(
            Comment(2**40, "ann", "nul \0, \ud83d, 🚀 \u2028 <b>", NOON, AT, "https://x", "SPAM"),
            Comment(3, "ghost", "", NOON + timedelta(microseconds=1)),
        ),
    )
    bare = ReviewThread(
        "PRRT_2", False, False, None, None, None, None, None, None, "file", None, (comment(1),)
    )
    keep(store, id_, whole, bare)
    assert page(store, id_) == [whole, bare]


def test_pages_follow_the_first_comments_time_and_then_the_id(store, id_):
    threads = [thread(f"T{n:02}", comment(n // 3)) for n in range(20)]
    keep(store, id_, *reversed(threads))
    found, after = [], None
    while rows := page(store, id_, 3, after=after):
        found += rows
        after = reading.thread_key(rows[-1])
    assert [each.id for each in found] == [each.id for each in threads]


def test_the_filter_has_three_values_and_counts_cover_all(store, id_):
    threads = [thread(f"T{n:03}", comment(n), is_resolved=n < 104) for n in range(197)]
    keep(store, id_, *threads)
    assert len(page(store, id_, 500)) == 197
    assert [each.id for each in page(store, id_, 500, resolved=False)] == [
        f"T{n:03}" for n in range(104, 197)
    ]
    assert len(page(store, id_, 500, resolved=True)) == 104
    assert store.read_now(reading.thread_counts, id_) == ThreadCounts(197, 93)


@pytest.mark.parametrize(
    ("asked", "index"), [({}, "ix_thread_order"), ({"resolved": False}, "ix_thread_resolved")]
)
def test_a_page_is_read_off_its_index_without_sorting(path, open_store, asked, index):
    store = open_store(path)
    id_ = record(store, track(store), lean()).ids[0]
    after = (NOON, "T1")
    lines = plan(store, reading.thread_page, id_, of="thread", after=after, limit=50, **asked)
    assert f"USING INDEX {index}" in lines[0]
    assert not [line for line in lines if "TEMP B-TREE" in line or "SCAN" in line]


def test_a_complete_reading_dates_the_threads_and_counts_into_the_pull_request(
    store, repository, id_
):
    assert store.read_now(reading.thread_state, id_) == ThreadState(None, False, None, None)
    keep(store, id_, thread("T1", comment(1)), thread("T2", comment(2), is_resolved=True))
    state = store.read_now(reading.thread_state, id_)
    assert state == ThreadState(AT, True, None, lean().changed_at)
    assert stored(store, repository).observed.threads == AT
    assert known(store, repository).unresolved_threads == 1


def test_no_threads_at_all_is_an_answer(store, repository, id_):
    keep(store, id_)
    assert store.read_now(reading.thread_state, id_).complete
    assert known(store, repository).unresolved_threads == 0


def test_the_change_that_was_read_is_the_one_before_the_reading_began(store, id_):
    keep(store, id_, changed_at=NOON)
    assert store.read_now(reading.thread_state, id_).changed_at_when_read == NOON


def test_what_the_forge_no_longer_has_goes_with_a_complete_reading(store, repository, id_):
    keep(store, id_, thread("T1", comment(1), comment(2)), thread("T2", comment(3)))
    keep(store, id_, thread("T1", comment(1)))
    assert page(store, id_) == [thread("T1", comment(1))]
    assert store.read_now(reading.thread_counts, id_) == ThreadCounts(1, 1)
    assert known(store, repository).unresolved_threads == 1


def test_a_reading_with_a_gap_deletes_nothing_dates_nothing_and_says_so(store, repository, id_):
    keep(store, id_, thread("T1", comment(1), comment(2)), thread("T2", comment(3)))
    keep(store, id_, thread("T1", comment(1), comment(4)), at=LATER, gap="page 2 failed")
    assert page(store, id_) == [
        thread("T1", comment(1), comment(2), comment(4)),
        thread("T2", comment(3)),
    ]
    state = store.read_now(reading.thread_state, id_)
    assert state == ThreadState(AT, False, "page 2 failed", lean().changed_at)
    assert stored(store, repository).observed.threads == AT
    assert known(store, repository).unresolved_threads == 2


def test_a_gap_in_the_first_reading_shows_what_there_is_and_knows_no_count(store, repository, id_):
    keep(store, id_, thread("T1", comment(1)), gap="page 2 failed")
    assert len(page(store, id_)) == 1
    assert store.read_now(reading.thread_state, id_) == ThreadState(
        None, False, "page 2 failed", None
    )
    assert known(store, repository).unresolved_threads is None


def test_the_gap_closes_with_the_next_complete_reading(store, id_):
    keep(store, id_, gap="page 1 failed")
    keep(store, id_, thread("T1", comment(1)), at=LATER)
    assert store.read_now(reading.thread_state, id_).complete


def test_reading_the_same_again_writes_no_thread_and_no_pull_request(store, id_):
    threads = [thread(f"T{n}", comment(n)) for n in range(5)]
    assert keep(store, id_, *threads) == 5
    counts = []
    statements = written(lambda: counts.append(keep(store, id_, *threads, at=LATER)))
    assert counts == [0]
    assert not [each for each in statements if "INTO thread (" in each or "INTO change" in each]


def test_a_thread_without_comments_has_a_place_too(store, id_):
    keep(store, id_, thread("T1", comment(1)), thread("T0"))
    rows = page(store, id_, 1)
    assert [each.id for each in rows] == ["T0"]
    after = reading.thread_key(rows[0])
    assert [each.id for each in page(store, id_, 1, after=after)] == ["T1"]


def test_events_are_told_and_told_once(store, id_):
    first = thread("T1", comment(1))
    answered = thread("T1", comment(1), comment(2, author="bob"))
    resolved = replace(answered, is_resolved=True, resolved_by="bob")
    for reading_ in (first, first, answered, answered, resolved, resolved, answered):
        keep(store, id_, reading_)
    assert [kind for _, kind in told(store)] == [
        "opened",
        "thread_opened",
        "thread_replied",
        "thread_resolved",
        "thread_unresolved",
    ]


def test_threads_that_were_there_before_the_store_began_are_no_news(store, repository):
    id_ = record(store, repository, lean(), at=NOON + minutes(5), backfill=True).ids[0]
    keep(store, id_, thread("T1", comment(1)), thread("T2", comment(6)))
    assert [kind for _, kind in told(store)] == ["thread_opened"]
    keep(store, id_, thread("T1", comment(1), comment(2)), thread("T2", comment(6)))
    assert [kind for _, kind in told(store)][1:] == ["thread_replied"]


def test_threads_of_a_repository_that_was_purged_meanwhile_are_not_written(store, repository, id_):
    store.write_now(writing.purge, repository.id)
    with pytest.raises(Untracked):
        keep(store, id_, thread("T1", comment(1)))


def test_comments_are_kept_as_json_that_is_plain_ascii(store, id_):
    keep(store, id_, thread("T1", comment(1, "ü \0")))
    text = store.read_now(lambda c: c.exec_driver_sql("SELECT comments FROM thread").scalar())
    assert text.isascii()
    assert json.loads(text)[0][2] == "ü \0"
