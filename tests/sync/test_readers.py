"""Which reader reads a repository: every process chooses alike, and moves little."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pullstate.sync.readers import ANONYMOUS, ReaderName, chosen

SITE = "https://github.com"
A, B = ReaderName(SITE, "aaaa"), ReaderName(SITE, "bbbb")
OWNERS = ReaderName(SITE, "cccc", "acme")
NOBODY = ReaderName(SITE, ANONYMOUS)
PATHS = [f"acme/repo{n}" for n in range(50)]

names = st.builds(ReaderName, st.just(SITE), st.text("abcdef0123456789", min_size=4, max_size=8))


def test_a_name_survives_being_written_down():
    for name in (A, OWNERS, NOBODY, ReaderName("https://example.com/gitlab", "ab", "group/sub")):
        assert ReaderName.parse(str(name)) == name


@given(st.lists(names, min_size=1, max_size=6, unique=True), st.randoms())
def test_the_choice_does_not_depend_on_the_order(live, random):
    shuffled = random.sample(live, len(live))
    assert chosen("acme/rocket", SITE, live, ()) == chosen("acme/rocket", SITE, shuffled, ())


@given(st.lists(names, min_size=2, max_size=6, unique=True))
def test_only_the_repositories_of_one_that_leaves_move(live):
    left = live[1:]
    for path in PATHS:
        before = chosen(path, SITE, live, ())
        if before != live[0].key:
            assert chosen(path, SITE, left, ()) == before


def test_repositories_are_spread_over_several_readers():
    taken = [chosen(path, SITE, [A, B], ()) for path in PATHS]
    assert 10 < taken.count(A.key) < 40


def test_a_credential_of_the_owner_goes_first_and_reads_no_other_owner():
    assert chosen("acme/rocket", SITE, [A, OWNERS], ()) == OWNERS.key
    assert chosen("ACME/rocket", SITE, [A, OWNERS], ()) == OWNERS.key
    assert chosen("acmecorp/rocket", SITE, [A, OWNERS], ()) == A.key
    assert chosen("other/rocket", SITE, [OWNERS], ()) is None


def test_a_credential_goes_before_none():
    assert all(chosen(path, SITE, [NOBODY, A], ()) == A.key for path in PATHS)


def test_one_that_was_refused_passes_the_repository_on_until_none_is_left():
    assert chosen("acme/rocket", SITE, [A, B], {A.key}) == B.key
    assert chosen("acme/rocket", SITE, [A, B, NOBODY], {A.key, B.key}) == NOBODY.key
    assert chosen("acme/rocket", SITE, [A, B], {A.key, B.key}) in {A.key, B.key}


def test_nobody_reads_a_site_that_no_live_process_can():
    assert chosen("acme/rocket", "https://gitlab.com", [A], ()) is None
    assert chosen("acme/rocket", SITE, [], ()) is None
