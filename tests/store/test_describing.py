"""What a person is told of a store."""

from __future__ import annotations

import pytest

from pullstate.store.describing import describe, has_wal_fix
from pullstate.store.schema import REVISION
from tests.store.conftest import track


def test_a_store_says_where_it_lies_and_what_it_runs_on(store):
    track(store)
    found = describe(store)
    assert (found.url, found.path, found.revision) == (store.url, store.path, REVISION)
    assert found.size > 4096
    assert found.database.partition(" ")[0] in ("SQLite", "PostgreSQL")
    assert (found.journal_mode == "wal") is (store.path is not None)
    assert (found.has_wal_fix is None) is (store.path is None)
    assert (found.read_only, found.notes) == (False, ())


@pytest.mark.parametrize(
    ("version", "fixed"),
    [
        ((3, 40, 1), False),
        ((3, 44, 5), False),
        ((3, 44, 6), True),
        ((3, 45, 0), False),
        ((3, 50, 6), False),
        ((3, 50, 7), True),
        ((3, 51, 2), False),
        ((3, 51, 3), True),
        ((3, 52, 0), True),
        ((4, 0, 0), True),
    ],
)
def test_which_sqlite_has_the_fix(version, fixed):
    assert has_wal_fix(version) is fixed
