"""GitLab.com is asked no faster than a shared limit bears, whatever one question costs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from pullstate.forges.gitlab.pace import PER_MINUTE, Pace

NOON = datetime(2025, 6, 2, 12, tzinfo=UTC)


def test_so_many_go_at_once_and_the_next_waits_for_the_first_to_be_a_minute_old() -> None:
    pace = Pace(80)
    assert [pace.enter(NOON) for _ in range(80)] == [timedelta(0)] * 80
    assert pace.enter(NOON + timedelta(seconds=20)) == timedelta(seconds=40)


def test_never_are_there_more_than_that_in_any_minute() -> None:
    pace, now, sent = Pace(10), NOON, []
    for number in range(200):
        now += timedelta(seconds=number % 3)
        now += pace.enter(now)
        sent.append(now)
    for first in range(len(sent) - 10):
        assert sent[first + 10] - sent[first] >= timedelta(minutes=1)


def test_an_install_of_ones_own_is_not_held_back() -> None:
    pace = Pace(PER_MINUTE.get("https://gitlab.example.com"))
    assert {pace.enter(NOON) for _ in range(1000)} == {timedelta(0)}
