"""The state of a repository's sync is the first condition that holds, and the reason names all."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from pullstate.domain.freshness import (
    FAULT_WORDS,
    Fault,
    FaultKind,
    Freshness,
    SyncState,
    report,
)

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
WELL = Freshness(
    swept=True, as_of=NOW - MINUTE / 2, fault=None, next_at=NOW + MINUTE / 2, interval=MINUTE
)
UNREACHABLE = Fault(FaultKind.UNREACHABLE, NOW - 3 * MINUTE, NOW + MINUTE)
LIMITED = Fault(FaultKind.RATE_LIMITED, NOW - MINUTE, NOW + 10 * MINUTE)
OVERDUE = {"next_at": NOW - 3 * MINUTE}
GAPS = {"gaps": (("checks", "the token may not read checks"),)}


def test_a_swept_repository_that_is_read_in_time_is_ok_without_a_reason():
    said = report(WELL, NOW)
    assert (said.state, said.reason, said.next_at) == (SyncState.OK, None, WELL.next_at)
    assert said.age == MINUTE / 2


@pytest.mark.parametrize(
    ("facts", "state"),
    [
        ({"swept": False, "fault": UNREACHABLE, **OVERDUE, **GAPS}, SyncState.UNREAD),
        ({"swept": False}, SyncState.UNREAD),
        ({"fault": UNREACHABLE, **OVERDUE, **GAPS}, SyncState.FAILING),
        ({"fault": LIMITED, **OVERDUE, **GAPS}, SyncState.PAUSED),
        (OVERDUE | GAPS, SyncState.STALE),
        (GAPS, SyncState.PARTIAL),
        ({}, SyncState.OK),
    ],
)
def test_the_first_condition_that_holds_is_the_state(facts, state):
    assert report(replace(WELL, **facts), NOW).state is state


@pytest.mark.parametrize("kind", [k for k in FaultKind if k is not FaultKind.RATE_LIMITED])
def test_every_fault_but_a_rate_limit_is_failing_and_says_why_and_since_when(kind):
    said = report(replace(WELL, fault=replace(UNREACHABLE, kind=kind, detail="reference 7")), NOW)
    assert said.state is SyncState.FAILING
    assert FAULT_WORDS[kind] in said.reason
    assert "since 2026-03-01T11:57:00Z" in said.reason
    assert "reference 7" in said.reason


def test_the_reason_of_an_unread_repository_also_tells_of_its_fault_and_when_it_is_tried_again():
    said = report(replace(WELL, swept=False, as_of=None, fault=UNREACHABLE), NOW)
    assert "first sweep" in said.reason
    assert FAULT_WORDS[FaultKind.UNREACHABLE] in said.reason
    assert said.next_at == UNREACHABLE.retry_at
    assert said.age is None


def test_a_pause_says_until_when_and_ends_then():
    paused = replace(WELL, fault=LIMITED)
    assert "until 2026-03-01T12:10:00Z" in report(paused, NOW).reason
    assert report(paused, NOW).next_at == LIMITED.retry_at
    assert report(paused, LIMITED.retry_at).state is not SyncState.PAUSED


@pytest.mark.parametrize(
    ("overdue", "state"),
    [
        (2 * MINUTE, SyncState.OK),
        (2 * MINUTE + timedelta(seconds=1), SyncState.STALE),
        (-MINUTE, SyncState.OK),
    ],
)
def test_stale_begins_when_the_next_read_is_overdue_by_more_than_two_intervals(overdue, state):
    assert report(replace(WELL, next_at=NOW - overdue), NOW).state is state


def test_where_nobody_reads_the_forge_the_reason_says_so():
    assert "no running pullstate" in report(replace(WELL, served=False, **OVERDUE), NOW).reason
    assert "no running pullstate" in report(replace(WELL, served=False, swept=False), NOW).reason


def test_an_observation_from_the_future_is_no_age_below_zero():
    assert report(replace(WELL, as_of=NOW + MINUTE), NOW).age == timedelta(0)


def test_partial_names_the_facets_and_carries_the_why():
    said = report(replace(WELL, **GAPS), NOW)
    assert "checks" in said.reason
    assert said.gaps == GAPS["gaps"]


@pytest.mark.parametrize("kind", list(FaultKind))
def test_a_fault_of_credentials_says_where_a_token_is_looked_for(kind: FaultKind):
    known = replace(
        WELL, fault=Fault(kind, NOW), looked_in=("environment A (its token was refused)", "B")
    )
    reason = report(known, NOW).reason or ""
    of_credentials = kind in (FaultKind.UNAUTHORIZED, FaultKind.FORBIDDEN, FaultKind.NOT_FOUND)
    told = "this process looks for a token in environment A (its token was refused), B"
    assert (told in reason) is of_credentials


def test_a_forge_that_nobody_reads_is_named_with_where_a_token_was_looked_for():
    known = replace(WELL, served=False, swept=False, site_url="https://x.org", looked_in=("A", "B"))
    assert report(known, NOW).reason == (
        "the first sweep of this repository has not completed; no running pullstate process reads "
        "https://x.org (this one looks for a token in A, B)"
    )


@pytest.mark.parametrize("served", [True, False])
@pytest.mark.parametrize("facts", [{}, {"swept": False}, OVERDUE])
def test_where_a_token_was_looked_for_is_said_once_whatever_else_holds(facts, served: bool):
    fault = Fault(FaultKind.UNAUTHORIZED, NOW)
    known = replace(WELL, fault=fault, served=served, site_url="https://x.org", looked_in=("A",))
    reason = report(replace(known, **facts), NOW).reason
    assert reason.count("looks for a token in A") == 1
    assert ("no running pullstate process reads https://x.org" in reason) is not served
