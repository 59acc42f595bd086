"""How many are asked for at once: less where that is too much, and again more after an outage."""

from __future__ import annotations

from pullstate.forges.gitlab.batch import BatchSize


def test_what_was_too_much_is_not_asked_again() -> None:
    size = BatchSize(50)
    size.too_much(50)
    size.worked(25)
    assert size.now == 25


def test_after_an_outage_the_size_grows_again() -> None:
    size = BatchSize(50)
    size.worked(50)
    for _ in range(8):
        size.lost(size.now)
    assert size.now == 1
    for _ in range(6):
        size.worked(size.now)
    assert size.now == 50


def test_an_install_that_is_too_slow_for_more_is_asked_for_what_worked() -> None:
    size = BatchSize(50)
    size.lost(50)
    size.worked(25)
    size.lost(50)
    size.worked(25)
    assert size.now == 25


def test_a_question_about_few_says_nothing_of_many() -> None:
    size = BatchSize(50)
    size.lost(50)
    size.worked(3)
    assert size.now == 25
