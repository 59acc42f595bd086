"""A wish is fulfilled by a read that began after it, and one read fulfils all."""

from __future__ import annotations

from datetime import datetime, timedelta

from pullstate.store import wishes, writing
from pullstate.store.engine import Store
from pullstate.store.records import Repository
from pullstate.store.schema import wish as table
from pullstate.store.wishes import WishKind, WishOutcome
from tests.store.conftest import ADDRESS, track
from tests.store.test_recording import AT

DEADLINE = AT + timedelta(seconds=5)
SITE = ADDRESS.site.url


def second(count: float) -> datetime:
    return AT + timedelta(seconds=count)


def want(store: Store, repository: Repository, target="main", kind=WishKind.BRANCH, at=AT) -> int:
    return store.write_now(wishes.wish, kind, repository.id, target, DEADLINE, wanted_at=at)


def open_targets(store: Store, now: datetime = AT) -> list[str]:
    return [each.target for each in store.read_now(wishes.open_wishes, SITE, now)]


def fulfil(store: Store, repository: Repository, began_at: datetime, **changes) -> int:
    asked = {"kind": WishKind.BRANCH, "target": "main", "outcome": "read", **changes}
    return store.write_now(
        wishes.fulfil,
        asked["kind"],
        repository.id,
        asked["target"],
        began_at,
        asked["outcome"],
        "why",
        at=second(9),
    )


def test_a_wish_is_open_until_it_is_answered(store, repository):
    id_ = want(store, repository)
    (found,) = store.read_now(wishes.open_wishes, SITE, AT)
    assert found == wishes.Wish(id_, WishKind.BRANCH, repository.id, "main", AT, DEADLINE)
    assert store.read_now(wishes.outcome, id_) is None
    assert fulfil(store, repository, second(1)) == 1
    assert store.read_now(wishes.outcome, id_) == WishOutcome("read", "why", second(9))
    assert open_targets(store) == []


def test_one_read_fulfils_all_that_were_made_before_it_began(store, repository):
    ids = [want(store, repository, at=second(n)) for n in range(3)]
    assert fulfil(store, repository, second(1)) == 2
    outcomes = [store.read_now(wishes.outcome, id_) for id_ in ids]
    assert [outcome is not None for outcome in outcomes] == [True, True, False]
    assert fulfil(store, repository, second(2), outcome="nothing") == 1
    assert store.read_now(wishes.outcome, ids[0]).outcome == "read"
    assert store.read_now(wishes.outcome, ids[2]).outcome == "nothing"


def test_a_read_answers_only_its_own_kind_target_and_repository(store, repository):
    other = track(store, "acme/lander")
    want(store, repository, "other")
    want(store, repository, "main", WishKind.REFRESH)
    want(store, other)
    assert fulfil(store, repository, second(1)) == 0
    assert len(open_targets(store)) == 3


def test_wishes_of_other_sites_are_not_shown(store, repository):
    want(store, repository)
    assert store.read_now(wishes.open_wishes, "https://gitlab.com", AT) == []


def test_one_past_its_deadline_is_neither_shown_nor_kept(store, repository):
    id_ = want(store, repository)
    late = DEADLINE + timedelta(seconds=1)
    assert open_targets(store, late) == []
    assert store.write_now(wishes.drop_expired, AT) == 0
    assert store.write_now(wishes.drop_expired, late) == 1
    assert fulfil(store, repository, late) == 0
    assert store.read_now(wishes.outcome, id_) is None


def test_an_outcome_is_kept_for_whoever_asks_a_little_late(store, repository):
    id_ = want(store, repository)
    fulfil(store, repository, second(1))
    assert store.write_now(wishes.drop_expired, DEADLINE + timedelta(minutes=5)) == 0
    assert store.read_now(wishes.outcome, id_) is not None
    assert store.write_now(wishes.drop_expired, DEADLINE + timedelta(minutes=11)) == 1


def test_a_kind_of_a_newer_version_is_left_alone(store, repository):
    want(store, repository)
    change = table.update().values(kind="telepathy")
    store.write_now(lambda connection: connection.execute(change).rowcount)
    assert open_targets(store) == []
    assert fulfil(store, repository, second(1)) == 0


def test_wishes_go_with_a_purged_repository(store, repository):
    want(store, repository)
    store.write_now(writing.purge, repository.id)
    assert open_targets(store) == []
