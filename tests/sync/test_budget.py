"""A share of what is left: the interval stretches first, a backfill waits, the rest has a tenth."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pullstate.forges.forge import Quota
from pullstate.sync.budget import Ledger, Pace, Purpose
from tests.sync.stage import NOW, I

HOUR = timedelta(hours=1)
FULL = Quota("graphql", 5000, 5000, NOW + HOUR)


class Account:
    """A forge's quota that the ledger is told of, request by request."""

    def __init__(self, quota: Quota = FULL, share: float = 0.5) -> None:
        self.quota = quota
        self.ledger = Ledger(share)
        self.ledger.settle([quota], Purpose.UPKEEP, NOW)

    def spend(self, points: int, purpose: Purpose, at=NOW) -> None:
        self.quota = replace(self.quota, remaining=self.quota.remaining - points)
        self.ledger.settle([self.quota], purpose, at)

    def somebody_else_spends(self, points: int) -> None:
        self.quota = replace(self.quota, remaining=self.quota.remaining - points)


def test_without_any_quota_told_everything_is_allowed():
    ledger = Ledger(0.5)
    assert all(ledger.allows(purpose, I, NOW) for purpose in Purpose)
    assert ledger.stretched(I, NOW) == I


def test_a_backfill_spends_at_most_its_share_of_the_window():
    account, spent = Account(), 0
    while account.ledger.allows(Purpose.BACKFILL, I, NOW):
        account.spend(1, Purpose.BACKFILL)
        spent += 1
    assert 2450 <= spent <= 2500


def test_a_new_window_opens_the_budget_again():
    account = Account()
    while account.ledger.allows(Purpose.BACKFILL, I, NOW):
        account.spend(10, Purpose.BACKFILL)
    later = NOW + HOUR
    assert account.ledger.allows(Purpose.BACKFILL, I, later)
    account.ledger.settle([Quota("graphql", 5000, 5000, later + HOUR)], Purpose.UPKEEP, later)
    assert account.ledger.allows(Purpose.BACKFILL, I, later)


def test_a_backfill_leaves_what_upkeep_will_want_until_the_window_ends():
    account = Account(replace(FULL, remaining=400))
    for cycle in range(1, 6):
        account.spend(3, Purpose.UPKEEP, NOW + cycle * I)  # 165 more until the reset
    spent, later = 0, NOW + 5 * I
    while account.ledger.allows(Purpose.BACKFILL, I, later):
        account.spend(1, Purpose.BACKFILL, later)
        spent += 1
    assert 15 <= spent <= 20
    assert account.ledger.allows(Purpose.UPKEEP, I, later)


def test_however_busy_upkeep_is_a_first_sweep_gets_a_tenth_of_the_budget():
    account, spent = Account(), 0
    account.spend(9, Purpose.UPKEEP, NOW + I / 60)  # at this pace the hour's is far too small
    while account.ledger.allows(Purpose.BACKFILL, I / 60, NOW + I / 60):
        account.spend(1, Purpose.BACKFILL, NOW + I / 60)
        spent += 1
    assert 240 <= spent <= 250
    assert not account.ledger.allows(Purpose.REST, I / 60, NOW + I / 60)


def test_the_rest_gets_at_most_a_tenth_of_the_budget():
    account, spent = Account(), 0
    while account.ledger.allows(Purpose.REST, I, NOW):
        account.spend(1, Purpose.REST)
        spent += 1
    assert 240 <= spent <= 250
    assert account.ledger.allows(Purpose.BACKFILL, I, NOW)


def test_the_interval_stretches_where_upkeep_would_spend_more_than_its_share():
    account = Account(replace(FULL, remaining=100))
    for cycle in range(1, 6):
        account.spend(4, Purpose.UPKEEP, NOW + cycle * I)
    stretched = account.ledger.stretched(I, NOW + 5 * I)
    assert stretched / I == pytest.approx(4 * 55 / 30, rel=0.01)


def test_a_burst_at_the_start_is_not_taken_for_the_pace():
    account = Account()
    account.spend(10, Purpose.UPKEEP, NOW + timedelta(seconds=1))
    assert account.ledger.stretched(I, NOW + timedelta(seconds=1)) == I


def test_with_nothing_left_of_our_part_upkeep_waits_for_the_window():
    account = Account(replace(FULL, remaining=8))
    account.spend(4, Purpose.UPKEEP, NOW + I)
    assert account.ledger.stretched(I, NOW + I) == HOUR - I


def test_what_the_person_spends_makes_our_part_smaller_but_is_not_counted_as_ours():
    account = Account()
    account.somebody_else_spends(4000)
    account.spend(1, Purpose.BACKFILL)
    assert account.ledger.allows(Purpose.BACKFILL, I, NOW)
    spent = 0
    while account.ledger.allows(Purpose.BACKFILL, I, NOW):
        account.spend(1, Purpose.BACKFILL)
        spent += 1
    assert 450 <= spent <= 500


def test_the_resource_that_pays_for_a_purpose_decides_and_no_other():
    ledger, used_up = Ledger(0.5), Quota("core", 5000, 1, NOW + HOUR)
    ledger.settle([FULL, used_up], Purpose.BACKFILL, NOW)
    ledger.settle([replace(FULL, remaining=4999), used_up], Purpose.BACKFILL, NOW)
    assert ledger.allows(Purpose.BACKFILL, I, NOW)
    low = replace(FULL, remaining=2490)
    for remaining in range(4990, 2480, -10):
        low = replace(FULL, remaining=remaining)
        ledger.settle([low, replace(used_up, remaining=5000)], Purpose.BACKFILL, NOW)
    assert ledger.waits_until(Purpose.BACKFILL, I, NOW) == NOW + HOUR


def test_where_one_resource_is_used_up_upkeep_goes_on_with_the_other_at_its_pace():
    core, gone = Quota("core", 5000, 5000, NOW + HOUR), replace(FULL, remaining=0)
    ledger = Ledger(0.5)
    ledger.settle([gone, core], Purpose.UPKEEP, NOW)
    ledger.settle([gone, replace(core, remaining=4996)], Purpose.UPKEEP, NOW + I)
    assert ledger.allows(Purpose.UPKEEP, I, NOW + I)
    assert ledger.stretched(I, NOW + I) == I


def test_with_every_resource_used_up_nothing_is_sent_before_the_first_one_opens():
    ledger = Ledger(0.5)
    soon = NOW + timedelta(minutes=7)
    quotas = [replace(FULL, remaining=0), Quota("core", 5000, 0, soon)]
    ledger.settle(quotas, Purpose.UPKEEP, NOW)
    assert {ledger.waits_until(purpose, I, NOW) for purpose in Purpose} == {soon}


def test_two_credentials_of_one_user_have_one_budget():
    peers: list[Ledger] = []
    one, two = Ledger(0.5, peers), Ledger(0.5, peers)
    remaining, spent = 5000, 0
    for ledger in (one, two):
        ledger.settle([FULL], Purpose.BACKFILL, NOW)
    while any(ledger.allows(Purpose.BACKFILL, I, NOW) for ledger in (one, two)):
        for ledger in (one, two):
            if ledger.allows(Purpose.BACKFILL, I, NOW):
                remaining, spent = remaining - 1, spent + 1
                ledger.settle([replace(FULL, remaining=remaining)], Purpose.BACKFILL, NOW)
    assert 2450 <= spent <= 2510


def test_two_answers_that_differ_by_a_second_about_the_reset_speak_of_one_window():
    account = Account()
    for second in range(200):
        reset = NOW + HOUR + timedelta(seconds=second % 2)
        account.quota = replace(account.quota, resets_at=reset)
        account.spend(10, Purpose.BACKFILL)
    assert account.ledger.waits_until(Purpose.BACKFILL, I, NOW) is None
    for _ in range(60):
        account.spend(10, Purpose.BACKFILL)
    assert account.ledger.waits_until(Purpose.BACKFILL, I, NOW) is not None


@given(
    share=st.floats(0.05, 1.0),
    remaining=st.integers(0, 5000),
    costs=st.lists(st.tuples(st.integers(1, 10), st.sampled_from(list(Purpose))), max_size=60),
)
def test_what_can_wait_never_takes_more_than_the_share(share, remaining, costs):
    account = Account(replace(FULL, remaining=remaining), share)
    spent = 0
    for cost, purpose in costs:
        if purpose is not Purpose.UPKEEP and account.ledger.allows(purpose, I, NOW):
            cost = min(cost, account.quota.remaining)
            account.spend(cost, purpose)
            spent += cost
    assert spent <= share * remaining + 10


def test_a_pace_lets_a_minute_hold_so_many_requests_and_no_more():
    pace, at, sent = Pace(80), NOW, []
    for _ in range(300):
        at += pace.send(at)
        sent.append(at)
    for start in sent:
        assert sum(start <= each < start + timedelta(minutes=1) for each in sent) <= 80
    assert sent[79] == NOW
    assert sent[80] == NOW + timedelta(minutes=1)


def test_no_pace_is_no_bound():
    pace = Pace(None)
    assert all(pace.send(NOW) == timedelta(0) for _ in range(1000))
