"""A repository is what the forge's id says; its address may move, and be taken by another."""

from __future__ import annotations

import pytest

from pullstate.domain.address import RepositoryAddress
from pullstate.store import reading, wishes, writing
from pullstate.store.engine import Store
from pullstate.store.errors import Untracked
from pullstate.store.records import Depth, Interest, Repository
from pullstate.store.wishes import WishKind
from tests.domain.readings import lean
from tests.store.conftest import ADDRESS, track
from tests.store.test_recording import AT, LATER, record

ROCKET, LANDER = "acme/rocket", "acme/lander"


def find(store: Store, path: str) -> Repository | None:
    return store.read_now(reading.find_repository, RepositoryAddress(ADDRESS.site, path))


def identify(store: Store, repository: Repository, forge_id: str, path: str) -> Repository:
    return store.write_now(writing.identify, repository.id, forge_id, path, AT)


def titles(store: Store, repository: Repository) -> list[str]:
    rows = store.read_now(reading.page, repository.id, limit=99)
    return [row.pull_request.title for row in rows]


def test_the_first_answer_gives_the_id_and_the_forges_spelling(store, repository):
    known = identify(store, repository, "R1", "Acme/Rocket")
    assert (known.id, known.forge_id, known.path) == (repository.id, "R1", "Acme/Rocket")
    assert find(store, ROCKET) == known


def test_the_same_answer_again_changes_nothing(store, repository):
    known = identify(store, repository, "R1", ROCKET)
    assert identify(store, known, "R1", ROCKET) == known


def test_a_rename_moves_the_address_and_leaves_an_alias(store, repository):
    record(store, repository, lean(title="Kept"))
    identify(store, repository, "R1", ROCKET)
    known = identify(store, repository, "R1", LANDER)
    assert known.id == repository.id
    assert known.url == "https://github.com/acme/lander"
    assert find(store, LANDER) == find(store, ROCKET) == known
    assert titles(store, known) == ["Kept"]


def test_renames_that_follow_each_other_leave_every_old_address(store, repository):
    for path in (ROCKET, LANDER, "acme/orbiter"):
        known = identify(store, repository, "R1", path)
    assert {find(store, path).id for path in (ROCKET, LANDER, "acme/orbiter")} == {known.id}
    back = identify(store, repository, "R1", ROCKET)
    assert back.path == ROCKET
    assert {find(store, path) for path in (ROCKET, LANDER, "acme/orbiter")} == {back}


def test_another_spelling_is_no_rename(store, repository):
    identify(store, repository, "R1", ROCKET)
    assert identify(store, repository, "R1", "ACME/rocket").path == "ACME/rocket"
    assert find(store, "acme/ROCKET").id == repository.id


def test_a_second_address_of_a_known_repository_is_merged_into_it(store):
    older = identify(store, track(store, LANDER, by=Interest.CONFIGURATION), "R1", LANDER)
    record(store, older, lean(title="Kept"))
    younger = track(store, ROCKET, Depth.OPEN, Interest.QUESTION, AT)
    wish = store.write_now(wishes.wish, wishes.WishKind.REFRESH, younger.id, "", LATER)
    known = identify(store, younger, "R1", LANDER)
    assert known.id == older.id
    assert (known.depth, known.tracked, known.asked_at) == (Depth.ALL, True, AT)
    assert find(store, ROCKET) == find(store, LANDER) == known
    assert store.read_now(reading.repository_by_id, younger.id) is None
    (open_wish,) = store.read_now(wishes.open_wishes, ADDRESS.site.url, AT)
    assert (open_wish.id, open_wish.repository_id) == (wish, older.id)
    assert titles(store, known) == ["Kept"]


def test_another_repository_under_a_known_address_never_shows_the_old_rows(store, repository):
    old = identify(store, repository, "R1", ROCKET)
    record(store, old, lean(title="Of the deleted one"))
    new = identify(store, old, "R2", ROCKET)
    assert new.id != old.id
    assert find(store, ROCKET) == new
    assert titles(store, new) == []
    assert (new.depth, new.tracked) == (Depth.ALL, True)
    left = store.read_now(reading.repository_by_id, old.id)
    assert (left.forge_id, left.listed, left.depth) == ("R1", False, None)
    assert titles(store, left) == ["Of the deleted one"]


def test_an_answer_that_was_asked_for_before_is_not_written_to_the_new_one(store, repository):
    old = identify(store, repository, "R1", ROCKET)
    new = identify(store, old, "R2", ROCKET)
    with pytest.raises(Untracked):
        record(store, old, lean())
    assert titles(store, new) == []


def test_aliases_of_the_old_one_lead_nowhere_once_it_has_no_address(store, repository):
    identify(store, repository, "R1", LANDER)
    old = identify(store, repository, "R1", ROCKET)
    new = identify(store, old, "R2", ROCKET)
    assert find(store, LANDER) is None
    assert find(store, ROCKET) == new


def test_the_old_one_may_come_back_to_its_address(store, repository):
    old = identify(store, repository, "R1", ROCKET)
    record(store, old, lean(title="Kept"))
    new = identify(store, old, "R2", ROCKET)
    back = identify(store, new, "R1", ROCKET)
    assert back.id == old.id
    assert find(store, ROCKET) == back
    assert titles(store, back) == ["Kept"]
    assert back.depth is Depth.ALL


def test_a_repository_renamed_onto_a_stale_address_takes_it(store):
    stale = identify(store, track(store, ROCKET), "R1", ROCKET)
    moving = identify(store, track(store, LANDER), "R2", LANDER)
    moved = identify(store, moving, "R2", ROCKET)
    assert find(store, ROCKET) == find(store, LANDER) == moved
    left = store.read_now(reading.repository_by_id, stale.id)
    assert (left.listed, left.path) == (False, ROCKET)


def test_two_that_swap_their_addresses_keep_their_rows(store):
    one = identify(store, track(store, ROCKET), "R1", ROCKET)
    two = identify(store, track(store, LANDER), "R2", LANDER)
    record(store, one, lean(title="One"))
    record(store, two, lean(title="Two"))
    identify(store, one, "R1", LANDER)
    identify(store, two, "R2", ROCKET)
    assert titles(store, find(store, LANDER)) == ["One"]
    assert titles(store, find(store, ROCKET)) == ["Two"]


def test_another_repository_found_under_an_address_that_redirects(store):
    """The old row's address now leads to a third, unknown one that lives at another path."""
    old = identify(store, track(store, ROCKET), "R1", ROCKET)
    stale = identify(store, track(store, LANDER), "R2", LANDER)
    new = identify(store, old, "R3", LANDER)
    assert new.id not in (old.id, stale.id)
    assert find(store, LANDER) == new
    assert store.read_now(reading.repository_by_id, stale.id).forge_id == "R2"


def test_a_repository_that_was_purged_meanwhile_cannot_be_identified(store, repository):
    store.write_now(writing.purge, repository.id)
    with pytest.raises(Untracked):
        identify(store, repository, "R1", ROCKET)


def test_one_that_was_asked_for_by_its_id_gets_its_path_and_leaves_no_address_of_its_id(store):
    asked = track(store, "4711", by=Interest.QUESTION)
    known = identify(store, asked, "4711", ROCKET)
    assert (known.id, known.path) == (asked.id, ROCKET)
    assert find(store, "4711") is None
    assert store.read_now(reading.by_forge_id, known.site_url, "4711") == known


def test_one_that_was_asked_for_by_the_id_of_a_known_one_goes_into_it(store, repository):
    known = identify(store, repository, "4711", ROCKET)
    asked = track(store, "4711", by=Interest.QUESTION)
    assert identify(store, asked, "4711", ROCKET).id == known.id
    assert find(store, "4711") is None
    assert store.read_now(reading.repository_by_id, asked.id) is None


def test_who_is_wanted_at_the_address_and_was_never_asked_for_is_the_same_one(store, repository):
    wish = store.write_now(wishes.wish, WishKind.NUMBER, repository.id, "7", LATER)
    asked = track(store, "4711", Depth.ONE, by=Interest.QUESTION)
    known = identify(store, asked, "4711", ROCKET)
    assert find(store, ROCKET) == known
    assert (known.tracked, known.depth) == (True, Depth.ALL)
    assert store.read_now(reading.repositories) == [known]
    [open_one] = store.read_now(wishes.open_wishes, known.site_url, AT)
    assert (open_one.id, open_one.repository_id) == (wish, known.id)


def test_an_id_that_no_forge_knew_is_forgotten_and_one_that_is_known_is_not(store, repository):
    asked = track(store, "4711", by=Interest.QUESTION)
    assert store.write_now(writing.forget_unidentified, asked.id)
    assert not store.write_now(writing.forget_unidentified, asked.id)
    known = identify(store, repository, "R1", ROCKET)
    assert not store.write_now(writing.forget_unidentified, known.id)
    assert find(store, ROCKET) == known
