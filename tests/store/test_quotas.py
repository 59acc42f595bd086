"""What the forges allow, by reader: ETags, limits, refusals."""

from __future__ import annotations

from pullstate.store import reading, writing
from pullstate.store.records import Limit, Refusal
from tests.store.test_recording import AT, LATER

READER = "https://github.com f1"


def test_an_etag_is_of_one_url_and_one_reader(store, repository):
    keep = (repository.id, READER, "/pulls")
    store.write_now(writing.set_etag, *keep, '"a"')
    assert store.read_now(reading.etag, *keep) == '"a"'
    assert store.read_now(reading.etag, repository.id, READER, "/pulls?page=2") is None
    assert store.read_now(reading.etag, repository.id, "other", "/pulls") is None
    store.write_now(writing.set_etag, *keep, '"b"')
    assert store.read_now(reading.etag, *keep) == '"b"'
    store.write_now(writing.set_etag, *keep, None)
    assert store.read_now(reading.etag, *keep) is None


def test_limits_are_kept_by_resource(store):
    store.write_now(writing.set_limit, READER, "core", 5000, 4999, LATER, None)
    store.write_now(writing.set_limit, READER, "graphql", 5000, 0, LATER, LATER)
    store.write_now(writing.set_limit, READER, "core", 5000, 4000, LATER, None)
    store.write_now(writing.set_limit, "other", "*", None, None, None, AT)
    assert store.read_now(reading.limits, READER) == {
        "core": Limit("core", 5000, 4000, LATER, None),
        "graphql": Limit("graphql", 5000, 0, LATER, LATER),
    }


def test_a_refusal_is_kept_and_forgiven(store, repository):
    store.write_now(writing.refuse, repository.id, READER, "forbidden", AT)
    store.write_now(writing.refuse, repository.id, "other", "not_found", LATER)
    store.write_now(writing.refuse, repository.id, READER, "unauthorized", AT)
    assert store.read_now(reading.refusals, repository.id) == [
        Refusal(READER, "unauthorized", AT),
        Refusal("other", "not_found", LATER),
    ]
    store.write_now(writing.forgive, repository.id, READER)
    assert [each.reader for each in store.read_now(reading.refusals, repository.id)] == ["other"]
    store.write_now(writing.forgive, repository.id)
    assert store.read_now(reading.refusals, repository.id) == []
