"""Prepared statements say the same on both databases, and the same as SQLAlchemy says itself."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from sqlalchemy import bindparam, func, select

from pullstate.store import writing
from pullstate.store.prepared import Prepared
from pullstate.store.records import Depth, Sweep
from pullstate.store.schema import pull_request, sweep
from tests.domain.readings import NOON, full, lean
from tests.store.conftest import ADDRESS
from tests.store.test_recording import AT, record

ROWS = pull_request.c
EVERYTHING = select(pull_request).where(ROWS.opened_at <= bindparam("at")).order_by(ROWS.number)


def both(store, statement, **given):
    """What a prepared statement finds, and what the statement itself does."""
    prepared = store.read_now(Prepared(statement).all, given)
    plain = store.read_now(lambda connection: connection.execute(statement, given).all())
    return [tuple(row) for row in prepared], [tuple(row) for row in plain]


def test_every_type_of_value_comes_out_as_sqlalchemy_gives_it(store, repository):
    record(store, repository, full(1), lean(2, draft=True, closed_at=AT))
    prepared, plain = both(store, EVERYTHING, at=AT)
    assert prepared == plain
    assert [tuple(map(type, row)) for row in prepared] == [tuple(map(type, row)) for row in plain]
    draft, closed_at = (list(ROWS).index(column) for column in (ROWS.draft, ROWS.closed_at))
    assert [row[draft] for row in prepared] == [False, True]
    assert [row[closed_at] for row in prepared] == [None, AT]
    assert prepared[1][closed_at].tzinfo is UTC


def test_values_go_in_as_the_columns_have_them(store, repository):
    later = NOON + timedelta(days=9)
    record(store, repository, lean(1, draft=True, opened_at=NOON), lean(2, opened_at=later))
    elsewhere = NOON.astimezone(timezone(timedelta(hours=-11)))
    number = select(ROWS.number)
    for condition, value, expected in (
        (ROWS.draft == bindparam("value"), True, [(1,)]),
        (ROWS.draft == bindparam("value"), False, [(2,)]),
        (ROWS.opened_at > bindparam("value"), elsewhere, [(2,)]),
        (ROWS.title == bindparam("value"), "' OR 1=1 --", []),
    ):
        assert both(store, number.where(condition), value=value) == (expected, expected)


def test_a_naive_time_is_refused(path, open_store):
    store = open_store(path)
    with pytest.raises(ValueError, match="without a zone"):
        store.read_now(Prepared(EVERYTHING).all, {"at": datetime(2026, 1, 1)})  # noqa: DTZ001


def test_what_the_statement_itself_gives_need_not_be_given(store, repository):
    record(store, repository, lean(1), lean(2), lean(3))
    largest = select(func.coalesce(func.max(ROWS.number), 7)).where(
        ROWS.number < bindparam("below")
    )
    assert both(store, largest, below=3) == ([(2,)], [(2,)])
    assert both(store, largest, below=0) == ([(7,)], [(7,)])
    second = select(ROWS.number).order_by(ROWS.number).limit(bindparam("limit")).offset(1)
    assert both(store, second, limit=1) == ([(2,)], [(2,)])


def test_the_first_row_or_none(store, repository):
    one = Prepared(select(sweep.c.swept).where(sweep.c.repository_id == bindparam("id")))
    assert store.read_now(one.first, {"id": repository.id}) is None
    store.write_now(writing.save_sweep, repository.id, Sweep(swept=True))
    assert tuple(store.read_now(one.first, {"id": repository.id})) == (True,)


def test_a_read_of_several_statements_sees_one_snapshot(path, open_store):
    store, other = open_store(path), open_store(path)
    count = Prepared(select(func.count()).select_from(pull_request))
    repository = other.write_now(writing.track, ADDRESS, Depth.ALL, "command", AT)

    def twice(connection):
        before = count.first(connection, {})
        record(other, repository, lean(1))
        return before[0], count.first(connection, {})[0]

    assert store.read_now(twice) == (0, 0)
    assert store.read_now(count.first, {}) == [1]
