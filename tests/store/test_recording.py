"""Recording: what differs is written, what was read is dated, what changed is told."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from pullstate.domain.observing import VANISHED
from pullstate.domain.pull_request import (
    Base,
    Check,
    Checks,
    CheckVerdict,
    Head,
    Mergeability,
    MergeVerdict,
    PullRequest,
    Queue,
    Review,
    ReviewDecision,
    Rules,
)
from pullstate.store import reading, writing
from pullstate.store.engine import Store
from pullstate.store.errors import Untracked
from pullstate.store.records import Recorded, Repository
from tests.domain.readings import BASE, NEXT_BASE, NEXT_HEAD, NOON, checks, full, lean, mergeability
from tests.store.conftest import track
from tests.store.statements import written

AT = NOON + timedelta(days=1)
LATER = AT + timedelta(hours=1)

EVERYTHING = PullRequest(
    provider_id="PR_kwDO",
    number=12,
    url="https://github.com/acme/rocket/pull/12",
    title='Ünïcode — "quotes" \\ and 🚀 \t tabs',
    author="octo[bot]",
    head=Head("feature/Größe", "c" * 40, "fork-owner", "https://github.com/fork-owner/rocket"),
    base=Base("release/1.x", "d" * 40),
    draft=True,
    opened_at=NOON + timedelta(microseconds=1),
    changed_at=NOON + timedelta(hours=1, microseconds=999999),
    merged_at=NOON + timedelta(hours=2),
    closed_at=NOON + timedelta(hours=2),
    closed_at_is_estimated=True,
    queue=Queue(None, "AWAITING_CHECKS"),
    checks=Checks(
        "c" * 40,
        CheckVerdict.FAILING,
        failing=(Check("build", "https://ci/1", True), Check("lint")),
        queued=("nightly",),
        approval_required=("deploy",),
        names=("build", "lint", "docs"),
        counts=(("SKIPPED", 1), ("NEUTRAL", 2)),
        unreadable="half",
    ),
    mergeability=Mergeability(
        MergeVerdict.UNKNOWN, "UNKNOWN", "c" * 40, "d" * 40, True, MergeVerdict.CONFLICTING
    ),
    review=Review(
        ReviewDecision.CHANGES_REQUESTED,
        ("ann",),
        ("bob", "eve"),
        ("@acme/core",),
        approval_on_head=False,
        approvals_left=2,
        unreadable="partly",
    ),
    rules=Rules(("build", "lint"), 2, True, True),
    unresolved_threads=4,
)


def record(store: Store, repository: Repository, *seen: PullRequest, at=AT, **more) -> Recorded:
    return store.write_now(writing.record, repository.id, seen, at, **more)


def known(store: Store, repository: Repository, number: int = 7) -> PullRequest:
    return stored(store, repository, number).pull_request


def stored(store: Store, repository: Repository, number: int = 7) -> reading.StoredPullRequest:
    found = store.read_now(reading.pull_request, repository.id, number)
    assert found is not None
    return found


def told(store: Store) -> list[tuple[int, str]]:
    return [(each.number, each.kind) for each in store.read_now(reading.changes, after=0)]


@pytest.mark.parametrize(
    "seen",
    [
        lean(),
        full(),
        EVERYTHING,
        replace(EVERYTHING, merged_at=None, closed_at=None),
        full(head=Head("topic", "a" * 40)),
        full(checks=checks(names=())),
        full(checks=checks(CheckVerdict.NONE, unreadable="forbidden")),
        full(review=Review(ReviewDecision.NONE, approvals_left=0)),
        full(review=Review(ReviewDecision.NONE, approval_on_head=False)),
        full(rules=Rules()),
        full(title="", author=""),
        full(queue=Queue(0, "")),
    ],
    ids=lambda seen: f"number {seen.number}",
)
def test_what_was_read_comes_back_as_it_was(store, repository, seen):
    record(store, repository, seen)
    assert known(store, repository, seen.number) == seen


def test_times_come_back_in_utc_whatever_zone_they_came_in(store, repository):
    tokyo = datetime.fromisoformat("2026-03-01T21:30:00.123456+09:00")
    record(store, repository, lean(opened_at=tokyo, changed_at=tokyo))
    found = known(store, repository).opened_at
    assert found == tokyo
    assert found.utcoffset() == timedelta(0)


def test_a_naive_time_is_refused(store, repository):
    with pytest.raises(Exception, match="without a zone"):
        record(store, repository, lean(changed_at=datetime(2026, 3, 1)))  # noqa: DTZ001


def test_counts_and_ids_follow_what_was_given(store, repository):
    first = record(store, repository, lean(1), lean(2))
    assert (first.inserted, first.changed, first.unchanged) == (2, 0, 0)
    second = record(store, repository, lean(3), lean(2, title="New"), lean(1))
    assert (second.inserted, second.changed, second.unchanged) == (1, 1, 1)
    assert second.ids[1:] == first.ids[::-1]
    assert second.ids[0] == stored(store, repository, 3).id


def test_nothing_given_is_nothing_done(store, repository):
    assert record(store, repository) == Recorded(0, 0, 0, ())


def test_one_that_is_given_twice_is_recorded_once_in_order(store, repository):
    done = record(store, repository, lean(title="A"), lean(title="B"), lean(8))
    assert (done.inserted, len(set(done.ids)), done.ids[0]) == (2, 2, done.ids[1])
    assert known(store, repository).title == "B"


def test_more_than_a_page_is_recorded_whole(store, repository):
    done = record(store, repository, *(lean(number) for number in range(1, 1201)))
    assert done.inserted == 1200
    assert known(store, repository, 1200) == lean(1200)


def test_numbers_of_two_repositories_do_not_meet(store, repository):
    other = track(store, "acme/lander")
    record(store, repository, lean(title="Rocket"))
    record(store, other, lean(title="Lander"))
    assert known(store, repository).title == "Rocket"
    assert known(store, other).title == "Lander"


def test_reading_the_same_again_writes_no_pull_request_and_no_change(store, repository):
    record(store, repository, full(), lean(8))
    statements = written(lambda: record(store, repository, full(), lean(8), at=LATER))
    assert not [each for each in statements if '"change"' in each or " change " in each]
    assert not [each for each in statements if "INTO pull_request" in each]
    assert stored(store, repository).observed.checks == LATER


def test_text_that_no_database_can_hold_is_replaced_and_stays_so(store, repository):
    seen = lean(title="nul \0 and \ud83d alone", branch="a\0b")
    record(store, repository, seen)
    assert known(store, repository).title == "nul � and � alone"
    assert known(store, repository).head.branch == "a�b"
    assert record(store, repository, seen).unchanged == 1


# Handles


def test_a_handle_is_derived_from_the_site_and_the_forges_id_and_so_survives_a_rebuild(
    store, repository
):
    record(store, repository, lean())
    assert stored(store, repository).handle == "pr_cpwsh4uorfv5plgknlqtj5gf"


def test_a_handle_is_given_once_and_never_changed(store, repository):
    record(store, repository, lean())
    handle = stored(store, repository).handle
    record(store, repository, lean(provider_id="PR_migrated", changed_at=LATER))
    assert known(store, repository).provider_id == "PR_migrated"
    assert stored(store, repository).handle == handle


# Times


def test_a_full_reading_dates_every_facet_and_a_lean_one_the_details(store, repository):
    record(store, repository, full())
    record(store, repository, lean(), at=LATER)
    observed = stored(store, repository).observed
    assert (observed.details, observed.checks) == (LATER, AT)
    assert (observed.mergeability, observed.review, observed.threads) == (AT, AT, None)


def test_a_failed_read_of_checks_dates_nothing_and_marks_the_facet(store, repository):
    record(store, repository, full())
    record(store, repository, full(checks=checks(CheckVerdict.NONE)), at=LATER)
    assert stored(store, repository).observed.checks == AT
    assert known(store, repository).checks == checks(unreadable=VANISHED)
    assert told(store) == [
        (7, "opened"),
        (7, "checks_passing"),
        (7, "review_approved"),
        (7, "ready"),
    ]


def test_a_base_whose_tip_is_told_for_the_first_time_has_not_moved(store, repository):
    record(store, repository, lean(base=""))
    record(store, repository, full(base=BASE), at=LATER)
    assert stored(store, repository).pull_request.base.sha == BASE
    assert stored(store, repository).observed.base is None


def test_a_new_head_is_dated_and_so_is_a_base_that_moved(store, repository):
    record(store, repository, full())
    assert stored(store, repository).observed.head == AT
    record(store, repository, full(base=NEXT_BASE), at=LATER)
    assert stored(store, repository).observed.head == AT
    assert stored(store, repository).observed.base == LATER
    record(store, repository, full(head=NEXT_HEAD, base=NEXT_BASE), at=LATER)
    assert stored(store, repository).observed.head == LATER


def test_a_head_that_a_backfill_finds_is_as_old_as_the_last_change(store, repository):
    record(store, repository, full(changed_at=NOON), backfill=True)
    assert stored(store, repository).observed.head == NOON


# Events


def test_rows_first_seen_by_a_backfill_make_no_events(store, repository):
    record(store, repository, full(), full(8, merged_at=NOON, closed_at=NOON), backfill=True)
    assert told(store) == []


def test_what_a_backfilled_row_lacked_is_no_event_when_it_is_first_read(store, repository):
    record(store, repository, lean(), backfill=True)
    record(store, repository, full())
    assert told(store) == []
    record(store, repository, full(checks=checks(CheckVerdict.FAILING)))
    assert told(store) == [(7, "checks_failing")]


def test_a_known_row_that_a_backfill_meets_again_makes_its_events(store, repository):
    record(store, repository, lean())
    record(store, repository, lean(merged_at=AT, closed_at=AT, changed_at=AT), backfill=True)
    assert told(store) == [(7, "opened"), (7, "merged")]


def test_a_row_that_was_opened_before_is_history_that_a_delta_came_upon(store, repository):
    old, new = lean(7, opened_at=NOON), lean(8, opened_at=AT)
    record(store, repository, old, new, opened_since=AT)
    assert told(store) == [(8, "opened")]


def test_numbers_go_on_without_gaps_over_transactions_and_repositories(store, repository):
    other = track(store, "acme/lander")
    record(store, repository, lean(1), lean(2))
    record(store, other, lean(3))
    record(store, repository, lean(1, draft=True), lean(2, head=NEXT_HEAD))
    changes = store.read_now(reading.changes, after=0)
    assert [each.seq for each in changes] == list(range(1, len(changes) + 1))
    assert store.read_now(reading.newest_change) == len(changes)


def test_a_transaction_that_fails_leaves_neither_rows_nor_changes(store, repository):
    def fail(connection):
        writing.record(connection, repository.id, [lean()], AT)
        raise RuntimeError("the end")

    with pytest.raises(RuntimeError):
        store.write_now(fail)
    assert store.read_now(reading.pull_request, repository.id, 7) is None
    record(store, repository, lean(8))
    assert [(each.seq, each.number) for each in store.read_now(reading.changes, after=0)] == [
        (1, 8)
    ]


def test_a_change_says_of_which_pull_request_it_is_and_when(store, repository):
    record(store, repository, lean())
    red = checks(CheckVerdict.FAILING, failing=(Check("build"), Check("lint")))
    record(store, repository, replace(lean(), checks=red), at=LATER)
    change = store.read_now(reading.changes, after=1)[0]
    assert (change.kind, change.old, change.new) == ("checks_failing", None, "FAILING")
    assert (change.names, change.at) == (("build", "lint"), LATER)
    assert (change.number, change.title) == (7, "Change 7")
    assert change.repository_url == "https://github.com/acme/rocket"
    assert change.handle == stored(store, repository).handle


def test_the_feed_of_one_repository_or_pull_request_and_its_newest(store, repository):
    other = track(store, "acme/lander")
    record(store, repository, *(lean(number) for number in range(1, 6)))
    record(store, other, lean(9))
    ids = {each.id for each in (stored(store, repository, 2),)}
    assert [c.number for c in store.read_now(reading.changes, after=None, limit=2)] == [5, 9]
    mine = store.read_now(reading.changes, after=2, repository_id=repository.id, limit=2)
    assert [c.number for c in mine] == [3, 4]
    one = store.read_now(reading.changes, after=0, pull_request_id=ids.pop())
    assert [c.number for c in one] == [2]


def test_old_changes_are_dropped_and_the_lowest_cursor_rises(store, repository):
    record(store, repository, lean(1), lean(2))
    record(store, repository, lean(3), at=LATER)
    assert store.read_now(reading.oldest_cursor) == 0
    assert store.write_now(writing.prune_changes, LATER) == 2
    assert [each.seq for each in store.read_now(reading.changes, after=0)] == [3]
    assert store.read_now(reading.oldest_cursor) == 2
    assert store.write_now(writing.prune_changes, LATER) == 0


# Ready, where only time can tell


def test_no_checks_on_a_fresh_head_are_not_ready_where_there_are_checks(store, repository):
    record(store, repository, full(1))
    none = full(2, checks=checks(CheckVerdict.NONE))
    record(store, repository, none)
    assert (2, "ready") not in told(store)
    record(store, repository, none, at=AT + timedelta(seconds=89))
    assert (2, "ready") not in told(store)
    record(store, repository, none, at=AT + timedelta(seconds=90))
    assert told(store).count((2, "ready")) == 1
    record(store, repository, none, at=LATER)
    assert told(store).count((2, "ready")) == 1


def test_no_checks_are_ready_at_once_where_there_never_were_any(store, repository):
    record(store, repository, full(2, checks=checks(CheckVerdict.NONE)))
    assert (2, "ready") in told(store)


def test_a_backfilled_one_that_was_ready_all_along_says_nothing(store, repository):
    record(store, repository, lean(), backfill=True)
    record(store, repository, full())
    record(store, repository, full(draft=True))
    record(store, repository, full())
    assert told(store) == [(7, "ready")]


# Gone and back


def test_not_found_once_is_remembered_and_twice_is_gone(store, repository):
    id_ = record(store, repository, lean()).ids[0]
    assert store.write_now(writing.retire, id_, AT) is False
    assert stored(store, repository).gone_at is None
    assert store.write_now(writing.retire, id_, LATER) is True
    assert stored(store, repository).gone_at == LATER
    assert store.read_now(reading.page, repository.id, limit=10) == []
    assert store.write_now(writing.retire, id_, LATER) is False
    assert told(store) == [(7, "opened"), (7, "gone")]


def test_being_seen_between_two_not_founds_starts_over(store, repository):
    id_ = record(store, repository, lean()).ids[0]
    store.write_now(writing.retire, id_, AT)
    record(store, repository, lean())
    assert store.write_now(writing.retire, id_, LATER) is False


def test_a_gone_one_that_is_seen_again_is_back(store, repository):
    id_ = record(store, repository, lean()).ids[0]
    store.write_now(writing.retire, id_, AT)
    store.write_now(writing.retire, id_, AT)
    assert record(store, repository, lean()).changed == 1
    assert stored(store, repository).gone_at is None
    assert [each.id for each in store.read_now(reading.page, repository.id, limit=9)] == [id_]


# Untracked meanwhile


def test_a_page_that_comes_after_untrack_or_purge_is_not_written(store, repository):
    store.write_now(writing.untrack, repository.id)
    with pytest.raises(Untracked):
        record(store, repository, lean())
    track(store)
    record(store, repository, lean())
    store.write_now(writing.purge, repository.id)
    with pytest.raises(Untracked):
        record(store, repository, lean())


def test_due_times_never_touch_the_pull_request(store, repository):
    ids = record(store, repository, full(), lean(8)).ids
    due = [(ids[0], LATER), (ids[1], None)]
    statements = written(lambda: store.write_now(writing.schedule, due))
    assert any(each.startswith("UPDATE freshness") for each in statements)
    assert not any("pull_request SET" in each for each in statements)


def test_mergeability_that_the_forge_is_computing_is_kept_over_readings(store, repository):
    record(store, repository, full())
    unknown = full(mergeability=mergeability(MergeVerdict.UNKNOWN))
    assert record(store, repository, unknown).changed == 1
    assert record(store, repository, unknown).unchanged == 1
    assert known(store, repository).mergeability == mergeability(recheck_due=True)
