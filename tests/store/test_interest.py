"""Which repositories are wanted, by whom and how deep."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from pullstate.domain.address import RepositoryAddress, Site
from pullstate.domain.freshness import Fault, FaultKind
from pullstate.domain.site import ForgeKind
from pullstate.store import reading, writing
from pullstate.store.engine import Store
from pullstate.store.records import Depth, Interest, Repository
from pullstate.store.tracked import beside
from tests.domain.readings import lean
from tests.store.conftest import ADDRESS, track
from tests.store.test_recording import AT, LATER, record

GITLAB = Site(ForgeKind.GITLAB, "https://example.com/gitlab")


def find(store: Store, path: str = "acme/rocket") -> Repository | None:
    return store.read_now(reading.find_repository, RepositoryAddress(ADDRESS.site, path))


def test_a_repository_is_found_by_its_address_in_any_case(store, repository):
    assert find(store, "ACME/Rocket") == repository
    assert find(store, "acme/rockets") is None
    elsewhere = RepositoryAddress(GITLAB, "acme/rocket")
    assert store.read_now(reading.find_repository, elsewhere) is None


def test_what_is_tracked_says_by_whom_and_how_deep(store, repository):
    assert repository == Repository(
        id=repository.id,
        site_url="https://github.com",
        kind=ForgeKind.GITHUB,
        path="acme/rocket",
        forge_id=None,
        depth=Depth.ALL,
        tracked=True,
        remote=False,
        asked_at=None,
        swept=False,
    )
    assert repository.url == "https://github.com/acme/rocket"


def test_tracking_again_is_the_same_repository(store, repository):
    assert track(store, "Acme/ROCKET") == repository
    assert len(store.read_now(reading.repositories)) == 1


def test_the_deepest_wish_counts_and_each_is_kept_by_itself(store):
    one = track(store, depth=Depth.ONE, by=Interest.QUESTION, at=AT)
    assert (one.depth, one.tracked, one.asked_at) == (Depth.ONE, False, AT)
    both = track(store, depth=Depth.OPEN, by=Interest.QUESTION, at=AT + timedelta(days=5))
    assert both.depth is Depth.OPEN
    remote = track(store, depth=Depth.OPEN, by=Interest.REMOTE, at=AT)
    assert (remote.remote, remote.tracked) == (True, False)
    named = track(store, depth=Depth.ALL, by=Interest.CONFIGURATION)
    assert (named.depth, named.tracked) == (Depth.ALL, True)
    assert store.write_now(writing.drop_interest, one.id, Interest.CONFIGURATION)
    assert find(store).depth is Depth.OPEN


def test_interest_from_asking_lasts_a_week_after_the_last_question(store):
    week = timedelta(days=7)
    track(store, depth=Depth.OPEN, by=Interest.QUESTION, at=AT)
    track(store, depth=Depth.ONE, by=Interest.QUESTION, at=AT + timedelta(days=3))
    track(store, depth=Depth.OPEN, by=Interest.REMOTE, at=AT)
    assert store.write_now(writing.expire_interest, AT + week) == 0
    assert store.write_now(writing.expire_interest, AT + week + timedelta(seconds=1)) == 2
    assert find(store).depth is Depth.ONE
    assert store.write_now(writing.expire_interest, LATER + timedelta(days=30)) == 1
    assert find(store).depth is None


def test_what_somebody_named_never_expires(store, repository):
    assert store.write_now(writing.expire_interest, AT + timedelta(days=999)) == 0
    assert find(store) == repository


def test_another_depth_named_by_the_same_one_replaces_the_first(store, repository):
    assert track(store, depth=Depth.OPEN).depth is Depth.OPEN


def test_an_unknown_cause_is_refused(store):
    with pytest.raises(ValueError, match="whim"):
        store.write_now(writing.track, ADDRESS, Depth.ALL, "whim")


def test_untracking_keeps_the_rows_and_purging_takes_them(store, repository):
    record(store, repository, lean())
    assert store.write_now(writing.untrack, repository.id) is True
    assert store.write_now(writing.untrack, repository.id) is False
    assert find(store).depth is None
    assert len(store.read_now(reading.page, repository.id, limit=9)) == 1
    assert store.write_now(writing.purge, repository.id) is True
    assert store.write_now(writing.purge, repository.id) is False
    assert find(store) is None
    assert store.read_now(reading.changes, after=0) == []


def test_a_purged_repositorys_id_is_never_given_again(store, repository):
    store.write_now(writing.purge, repository.id)
    assert track(store).id > repository.id


def test_repositories_of_one_site_alone(store, repository):
    address = RepositoryAddress(GITLAB, "group/sub/project")
    other = store.write_now(writing.track, address, Depth.ALL, Interest.COMMAND)
    assert store.read_now(reading.repositories) == [repository, other]
    assert store.read_now(reading.repositories, GITLAB.url) == [other]
    assert other.url == "https://example.com/gitlab/group/sub/project"


# The file beside the store


def test_what_is_named_stands_in_a_private_file_beside_the_store(path, open_store):
    store = open_store(path)
    track(store)
    track(store, "acme/asked", by=Interest.QUESTION)
    rows = json.loads(beside(path).read_text())
    assert [(row["site"], row["path"]) for row in rows] == [("https://github.com", "acme/rocket")]
    assert beside(path).stat().st_mode & 0o777 == 0o600


def test_the_file_follows_renames_untracking_and_purging(path, open_store):
    store = open_store(path)
    repository, other = track(store), track(store, "acme/lander")
    store.write_now(writing.identify, repository.id, "R1", "Acme/Rocket-2", AT)
    paths = [row["path"] for row in json.loads(beside(path).read_text())]
    assert paths == ["Acme/Rocket-2", "acme/lander"]
    store.write_now(writing.untrack, repository.id)
    store.write_now(writing.purge, other.id)
    assert json.loads(beside(path).read_text()) == []


def test_a_store_that_is_made_anew_tracks_what_the_file_names(path, open_store):
    store = open_store(path)
    track(store)
    store.close()
    path.unlink()
    again = open_store(path)
    assert again.id != store.id
    found = again.read_now(reading.repositories)
    assert [(each.path, each.depth, each.tracked) for each in found] == [
        ("acme/rocket", Depth.ALL, True)
    ]


@pytest.mark.parametrize(
    "text", ["", "{", "{}", "[1]", '[{"site": "https://x"}]', '[{"kind": "svn"}]', "[[]]"]
)
def test_a_file_that_cannot_be_read_names_nothing(tmp_path, open_store, text):
    path = tmp_path / "pullstate.db"
    beside(path).write_text(text)
    assert open_store(path).read_now(reading.repositories) == []


def test_an_id_that_no_forge_knew_goes_with_the_last_interest_in_it(store):
    track(store, "4711", Depth.ONE, Interest.QUESTION)
    track(store, "acme/rocket", Depth.ONE, Interest.QUESTION)
    store.write_now(writing.expire_interest, AT + timedelta(days=8))
    assert [known.path for known in store.read_now(reading.repositories)] == ["acme/rocket"]


def _said_missing(store: Store, path: str, *, by: Interest = Interest.QUESTION) -> int:
    id_ = track(store, path, Depth.OPEN, by, at=AT).id
    store.write_now(writing.set_fault, id_, Fault(FaultKind.NOT_FOUND, AT))
    return id_


def test_what_the_forge_does_not_have_is_forgotten_a_day_after_the_last_question(store):
    day = timedelta(days=1)
    _said_missing(store, "acme/rokcet")
    store.write_now(writing.expire_interest, AT + day)
    assert find(store, "acme/rokcet")
    store.write_now(writing.expire_interest, AT + day + timedelta(seconds=1))
    assert find(store, "acme/rokcet") is None


def test_what_is_missing_is_kept_where_it_was_read_once_or_is_wanted_otherwise(store):
    track(store, "acme/slow", Depth.OPEN, Interest.QUESTION, at=AT)
    unreachable = track(store, "acme/down", Depth.OPEN, Interest.QUESTION, at=AT).id
    store.write_now(writing.set_fault, unreachable, Fault(FaultKind.UNREACHABLE, AT))
    for by in set(Interest) - {Interest.QUESTION}:
        _said_missing(store, f"acme/{by.value}", by=by)
    _said_missing(store, "acme/again")
    track(store, "acme/again", Depth.ONE, Interest.QUESTION, at=AT + timedelta(days=2))
    read = _said_missing(store, "acme/read")
    store.write_now(writing.identify, read, "R_1", "acme/read", AT)
    before = store.read_now(reading.repositories)
    store.write_now(writing.expire_interest, AT + timedelta(days=3))
    assert store.read_now(reading.repositories) == before
