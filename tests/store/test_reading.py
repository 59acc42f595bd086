"""Pages in a total order, by key and by index; what a tool asks beside them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pullstate.domain.address import RepositoryAddress
from pullstate.domain.freshness import Fault, FaultKind, Freshness
from pullstate.domain.pull_request import Head, PullRequest
from pullstate.store import lease, reading, wishes, writing
from pullstate.store.engine import Store
from pullstate.store.records import Depth, FacetTimes, Interest, PageKey, Repository, Sweep, key_of
from tests.domain.readings import HEAD, NOON, full, lean, minutes
from tests.store.conftest import ADDRESS, track
from tests.store.statements import plan
from tests.store.test_recording import AT, LATER, record


def page(store: Store, repository: Repository, limit: int = 100, **asked) -> list[PullRequest]:
    rows = store.read_now(reading.page, repository.id, limit=limit, **asked)
    return [row.pull_request for row in rows]


def numbers(store: Store, repository: Repository, limit: int = 100, **asked) -> list[int]:
    return [row.number for row in page(store, repository, limit, **asked)]


def walk(store: Store, repository: Repository, limit: int, **asked) -> list[int]:
    """All pages, one after the other."""
    found, after = [], None
    while rows := page(store, repository, limit, after=after, **asked):
        found += [row.number for row in rows]
        after = key_of(rows[-1])
    return found


def closed(number: int, **changes) -> PullRequest:
    return lean(number, closed_at=LATER, **changes)


def test_unfinished_come_first_then_the_newest_then_the_highest_number(store, repository):
    rows = [
        lean(1, opened_at=NOON),
        lean(2, opened_at=NOON + minutes(1)),
        lean(3, opened_at=NOON),
        lean(4, opened_at=NOON, draft=True),
        closed(5, opened_at=NOON + minutes(9)),
        closed(6, opened_at=NOON + minutes(8), merged_at=LATER),
    ]
    record(store, repository, *rows)
    assert numbers(store, repository) == [2, 4, 3, 1, 5, 6]


@pytest.mark.parametrize("limit", [1, 2, 3, 7])
def test_pages_are_disjoint_and_complete_even_where_everything_is_of_one_second(
    store, repository, limit
):
    record(store, repository, *(lean(n, opened_at=NOON) for n in range(1, 11)))
    record(store, repository, *(closed(n, opened_at=NOON) for n in range(11, 21)))
    assert walk(store, repository, limit) == [*range(10, 0, -1), *range(20, 10, -1)]


def test_what_is_opened_between_two_pages_neither_repeats_nor_skips_a_row(store, repository):
    record(store, repository, *(lean(n) for n in range(1, 7)))
    first = page(store, repository, 3)
    record(store, repository, lean(99, opened_at=LATER), lean(5, title="Edited"))
    second = numbers(store, repository, after=key_of(first[-1]))
    assert [row.number for row in first] + second == [6, 5, 4, 3, 2, 1]


def test_a_page_goes_on_after_a_row_that_is_no_longer_there(store, repository):
    record(store, repository, *(lean(n) for n in range(1, 4)))
    after = PageKey(True, lean(2).opened_at + timedelta(microseconds=1), 77)
    assert numbers(store, repository, after=after) == [2, 1]


def test_a_branch_is_exact_and_case_sensitive(store, repository):
    record(store, repository, lean(1, branch="Fix"), lean(2, branch="fix"), lean(3, branch="fix/2"))
    assert numbers(store, repository, branch="fix") == [2]
    assert numbers(store, repository, branch="fi%") == []
    assert numbers(store, repository, branch="nope") == []


def test_an_owner_narrows_a_branch_in_any_case(store, repository):
    mine, theirs = Head("main", HEAD, "Acme"), Head("main", HEAD, "someone")
    record(store, repository, lean(1, head=mine), lean(2, head=theirs))
    assert numbers(store, repository, branch="main") == [2, 1]
    assert numbers(store, repository, branch="main", owner="acme") == [1]
    assert numbers(store, repository, owner="SOMEONE") == [2]


def test_the_live_one_of_a_branch_comes_before_those_that_are_over(store, repository):
    record(store, repository, lean(1, branch="b"), closed(2, branch="b"), closed(3, branch="c"))
    assert numbers(store, repository, branch="b") == [1, 2]
    assert walk(store, repository, 1, branch="b") == [1, 2]


def test_gone_ones_and_those_of_other_repositories_are_not_listed(store, repository):
    other = track(store, "acme/lander")
    record(store, other, lean(3))
    ids = record(store, repository, lean(1), lean(2)).ids
    for _ in range(2):
        store.write_now(writing.retire, ids[0], AT)
    assert numbers(store, repository) == [2]
    assert store.read_now(reading.pull_request, repository.id, 1).gone_at == AT


def test_the_unfinished_ones_in_their_order(store, repository):
    record(store, repository, lean(1), closed(2), lean(3, draft=True))
    rows = store.read_now(reading.unfinished, repository.id)
    assert [row.pull_request.number for row in rows] == [3, 1]


orders = st.lists(
    st.builds(
        lambda number, minute, over: lean(
            number, opened_at=NOON + minutes(minute), closed_at=LATER if over else None
        ),
        st.integers(1, 30),
        st.integers(0, 2),
        st.booleans(),
    ),
    unique_by=lambda row: row.number,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(rows=orders, limit=st.integers(1, 4))
def test_any_rows_are_paged_in_the_order_of_their_keys(store, rows, limit):
    repository = track(store)
    record(store, repository, *rows)
    expected = sorted(rows, key=key_of, reverse=True)
    assert walk(store, repository, limit) == [row.number for row in expected]
    store.write_now(writing.purge, repository.id)


# The indexes


AFTER = PageKey(True, NOON, 5)


@pytest.mark.parametrize(
    ("asked", "index"),
    [
        ({}, "ix_pull_request_order"),
        ({"after": AFTER}, "ix_pull_request_order"),
        ({"branch": "b1"}, "ix_pull_request_branch"),
        ({"branch": "b1", "after": AFTER}, "ix_pull_request_branch"),
        ({"branch": "b1", "owner": "acme", "after": AFTER}, "ix_pull_request_branch"),
    ],
)
def test_every_page_is_read_off_its_index_without_sorting(path, open_store, asked, index):
    store = open_store(path)
    repository = track(store)
    record(store, repository, *(lean(n, branch=f"b{n % 9}") for n in range(1, 400)))
    lines = plan(store, reading.page, repository.id, of="pull_request", limit=20, **asked)
    assert f"USING INDEX {index}" in lines[0]
    assert ("(unfinished,opened_at,number)<(?,?,?)" in lines[0]) is ("after" in asked)
    assert not [line for line in lines if "TEMP B-TREE" in line or "SCAN" in line]


# Beside the pages


def test_moves_are_counted_once_for_each_pull_request_and_within_the_question(store, repository):
    record(store, repository, lean(1, branch="a"), lean(2, branch="b"), lean(3, branch="b"))
    seq = store.read_now(reading.newest_change)
    record(store, repository, closed(1, branch="a", changed_at=AT))
    record(store, repository, lean(1, branch="a", changed_at=LATER))
    record(store, repository, closed(2, branch="b", merged_at=AT), lean(4))
    moved = reading.moved_since
    assert store.read_now(moved, repository.id, seq) == 2
    assert store.read_now(moved, repository.id, seq, branch="a") == 1
    assert store.read_now(moved, repository.id, seq, branch="b", owner="ACME") == 1
    assert store.read_now(moved, repository.id, seq, branch="c") == 0
    assert store.read_now(moved, repository.id, store.read_now(reading.newest_change)) == 0


def test_an_edit_is_no_move(store, repository):
    record(store, repository, lean(1))
    seq = store.read_now(reading.newest_change)
    record(store, repository, lean(1, title="B", draft=True, changed_at=LATER))
    assert store.read_now(reading.moved_since, repository.id, seq) == 0


def test_one_by_number_or_id_and_none_where_there_is_none(store, repository):
    id_ = record(store, repository, full()).ids[0]
    by_number = store.read_now(reading.pull_request, repository.id, 7)
    assert by_number == store.read_now(reading.pull_request_by_id, id_)
    assert by_number.pull_request == full()
    assert store.read_now(reading.pull_request, repository.id, 8) is None
    assert store.read_now(reading.pull_request_by_id, id_ + 1) is None


@pytest.mark.parametrize("number", [0, -1, 2**31, 2**64, 10**30])
def test_a_number_that_no_forge_gives_is_that_of_none(store, repository, number):
    assert store.read_now(reading.pull_request, repository.id, number) is None


@pytest.mark.parametrize("text", ["a\0b", "lone \ud83d", "x" * 10_000, "'; DROP TABLE x --"])
def test_any_text_may_be_asked_for(store, repository, text):
    assert numbers(store, repository, branch=text) == []
    assert numbers(store, repository, branch=text, owner=text) == []
    assert store.read_now(reading.moved_since, repository.id, 0, branch=text, owner=text) == 0
    branch = (wishes.WishKind.BRANCH, repository.id, text)
    id_ = store.write_now(wishes.wish, *branch, LATER, wanted_at=AT)
    assert store.write_now(wishes.fulfil, *branch, LATER, "nothing") == 1
    assert store.read_now(wishes.outcome, id_).outcome == "nothing"


def test_a_branch_that_had_to_be_stored_otherwise_is_found_as_it_was_and_as_it_is_shown(
    store, repository
):
    record(store, repository, lean(1, branch="odd\0name"))
    assert numbers(store, repository, branch="odd\0name") == [1]
    assert numbers(store, repository, branch="odd\ufffdname") == [1]


def test_a_change_cursor_beyond_all_numbers_finds_nothing(store, repository):
    record(store, repository, lean(1))
    assert store.read_now(reading.changes, after=10**30) == []


def test_whether_a_repository_ever_had_checks(store, repository):
    record(store, repository, lean(1), full(2, checks=None))
    assert store.read_now(reading.had_checks, repository.id) is False
    record(store, repository, full(3))
    assert store.read_now(reading.had_checks, repository.id) is True


def test_freshness_of_one_that_was_never_read(store, repository):
    blank = Freshness(False, None, None, None, timedelta(seconds=60), (), served=False)
    assert store.read_now(reading.freshness, repository.id, AT) == blank


def test_freshness_tells_of_the_sweep_its_fault_and_who_serves(store, repository):
    fault = Fault(FaultKind.RATE_LIMITED, AT, LATER, "core is used up")
    sweep = Sweep(
        stage="done",
        swept=True,
        as_of=AT,
        next_delta_at=LATER,
        interval=timedelta(seconds=30),
        gaps=(("checks", "forbidden"),),
        fault=fault,
    )
    store.write_now(writing.save_sweep, repository.id, sweep)
    reader = lease.reader_key("https://github.com", "f1")
    store.write_now(lease.enroll, "p1", 1, "0.1.0", [reader], AT)
    assert store.read_now(reading.freshness, repository.id, AT) == Freshness(
        True, AT, fault, LATER, timedelta(seconds=30), (("checks", "forbidden"),), served=True
    )
    assert store.read_now(reading.freshness, repository.id, LATER).served is False


def test_a_reader_of_another_site_serves_nothing_here(store, repository):
    readers = [lease.reader_key("https://github.com.example", "f1")]
    store.write_now(lease.enroll, "p1", 1, "0.1.0", readers, AT)
    assert store.read_now(reading.freshness, repository.id, AT).served is False


def test_where_a_repository_stands_is_found_with_it(store, repository):
    record(store, repository, lean(1))
    store.write_now(writing.save_sweep, repository.id, Sweep(swept=True, as_of=AT))
    found = store.read_now(reading.standing, ADDRESS, AT)
    assert found.repository == store.read_now(reading.find_repository, ADDRESS)
    assert found.freshness == store.read_now(reading.freshness, repository.id, AT)
    assert found.newest_change == store.read_now(reading.newest_change)
    assert (found.repository.swept, found.freshness.as_of) == (True, AT)


def test_where_a_renamed_repository_stands_is_found_at_its_old_address(store, repository):
    for path in ("acme/rocket", "acme/starship"):
        store.write_now(writing.identify, repository.id, "R_1", path, AT)
    found = store.read_now(reading.standing, ADDRESS, AT)
    assert (found.repository.id, found.repository.path) == (repository.id, "acme/starship")
    elsewhere = RepositoryAddress(ADDRESS.site, "acme/lander")
    assert store.read_now(reading.standing, elsewhere, AT) is None


def test_the_interest_of_several_is_told_once(store, repository):
    track(store, depth=Depth.ONE, by=Interest.QUESTION, at=LATER)
    found = store.read_now(reading.standing, ADDRESS, LATER).repository
    assert (found.depth, found.tracked, found.asked_at) == (Depth.ALL, True, LATER)


def test_status_counts_what_is_stored(store, repository):
    empty = track(store, "acme/empty")
    record(store, repository, lean(1), lean(2), closed(3))
    store.write_now(wishes.wish, wishes.WishKind.REFRESH, empty.id, "", LATER)
    status = store.read_now(reading.status)
    lines = [(each.repository.path, each.pull_requests, each.unfinished) for each in
             status.repositories]  # fmt: skip
    assert lines == [("acme/rocket", 3, 2), ("acme/empty", 0, 0)]
    assert (status.pull_requests, status.unfinished, status.open_wishes) == (3, 2, 1)
    assert status.last_change == store.read_now(reading.newest_change)


def test_a_sweep_comes_back_as_it_was(store, repository):
    whole = Sweep(
        stage="all",
        swept=True,
        cursor="c1",
        watermark=AT,
        began_at=AT,
        as_of=AT,
        next_delta_at=LATER,
        next_roll_call_at=LATER,
        roll_call_cursor="r1",
        roll_call_began_at=AT,
        probes_skipped=3,
        interval=timedelta(seconds=1.5),
        gaps=(("checks", "forbidden"), ("reviews", "old version")),
        fault=Fault(FaultKind.UNREACHABLE, AT, None, ""),
        failures=2,
        reader="https://github.com f1",
    )
    assert store.read_now(reading.sweep, repository.id) == Sweep()
    store.write_now(writing.save_sweep, repository.id, whole)
    assert store.read_now(reading.sweep, repository.id) == whole
    store.write_now(writing.save_sweep, repository.id, replace(whole, cursor=None, gaps=()))
    assert store.read_now(reading.sweep, repository.id) == replace(whole, cursor=None, gaps=())


def test_a_fault_comes_and_goes_by_itself(store, repository):
    fault = Fault(FaultKind.UNAUTHORIZED, AT)
    store.write_now(writing.set_fault, repository.id, fault)
    assert store.read_now(reading.sweep, repository.id).fault == fault
    store.write_now(writing.set_fault, repository.id, None)
    assert store.read_now(reading.sweep, repository.id) == Sweep()


def test_when_the_observations_of_several_were_read(store, repository):
    ids = record(store, repository, full(1), lean(2)).ids
    nobody = max(ids) + 1
    found = store.read_now(reading.observed, [*ids, nobody])
    assert list(found) == [*ids, nobody]
    assert found[ids[0]] == store.read_now(reading.pull_request_by_id, ids[0]).observed
    assert (found[ids[0]].checks, found[ids[1]].checks) == (AT, None)
    assert found[nobody] == FacetTimes(*[None] * 7)
    assert store.read_now(reading.observed, []) == {}
