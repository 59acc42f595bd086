"""Compact JSON, and pages that end early."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pullstate.server.wire import compact, fitting

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner),
)


@given(JSON)
def test_compact_json_says_the_same_in_the_fewest_characters(data: Any) -> None:
    assert json.loads(compact(data)) == data
    assert compact(data) == json.dumps(data, ensure_ascii=False, separators=(",", ":"))


@pytest.mark.parametrize("data", ["\ud83d", {"a": ["\udc00"]}, object()])
def test_what_json_cannot_say_is_an_error(data: object) -> None:
    with pytest.raises(ValueError):
        compact(data)


@given(st.lists(st.text(max_size=50)), st.integers(0, 500), st.integers(0, 100))
def test_a_page_is_the_longest_that_fits(rows: list[str], budget: int, rest: int) -> None:
    page = fitting(rows, budget, rest)
    assert page == rows[: len(page)]

    def size(count: int) -> int:
        return rest + sum(len(compact(row).encode()) + 1 for row in rows[:count])

    assert size(len(page)) <= budget or len(page) == min(1, len(rows))
    assert len(page) == len(rows) or size(len(page) + 1) > budget


def test_a_row_larger_than_the_budget_is_a_page_of_its_own() -> None:
    rows = ["x" * 50_000, "y", "z" * 50_000]
    assert fitting(rows, 40_000) == rows[:1]
    assert fitting(rows[1:], 40_000) == ["y"]


def test_bytes_are_counted_and_not_characters() -> None:
    assert len(fitting(["é" * 8] * 10, 100, 0)) == 5
    assert len(fitting(["e" * 8] * 10, 100, 0)) == 9
