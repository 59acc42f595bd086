"""Facets come back as they were read; notes are paged in the store."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pullstate.domain.merge_request import (
    Commit,
    Commits,
    Conflicts,
    Diffs,
    Discussion,
    Discussions,
    Facet,
    FailedJob,
    FileDiff,
    Notes,
    Overview,
    Pipeline,
    Pipelines,
    Position,
)
from pullstate.store import reading, writing
from pullstate.store.records import StoredFacet
from tests.domain.readings import HEAD, NEXT_HEAD, NOON, lean
from tests.domain.test_thread_changes import comment, note
from tests.store.statements import written
from tests.store.test_recording import AT, LATER, record, told

ON_CODE = Position("a.py", None, 3, None, start_line=1)
BODIES = {
    Facet.OVERVIEW: Overview("locked", "nul \0 and 🚀", ("bug",), (), "ci_must_pass"),
    Facet.DIFFS: Diffs(
        (
            FileDiff("a.py", "b.py", "renamed", 3, 1, "@@ -1 +1 @@\n-\ud83d\n+ü", generated=True),
            FileDiff("logo.png", None, "added", 0, 0, binary=True, too_large=True),
        ),
        truncated=True,
        total_files=60,
        total_additions=3,
    ),
    Facet.COMMITS: Commits((Commit(HEAD, "Title", "ann", NOON, "https://x"),), truncated=True),
    Facet.PIPELINES: Pipelines(
        (
            Pipeline("9", "failed", "main", HEAD, "push", "https://x", None),
            Pipeline(
                "8", "failed", "m", HEAD, "push", "", NOON, (FailedJob("lint", "https://y", True),)
            ),
        )
    ),
    Facet.CONFLICTS: Conflicts(None, ("a.py",), "not computed"),
    Facet.DISCUSSIONS: Discussions((Discussion("d1", True, False, (note(1), note(2))),)),
}


@pytest.fixture
def id_(store, repository) -> int:
    """A pull request of which no facet was read."""
    return record(store, repository, lean()).ids[0]


def keep(store, id_, which, body, at=AT, head=HEAD, **more) -> None:
    store.write_now(writing.record_facet, id_, which, body, at, head, **more)


@pytest.mark.parametrize("which", list(BODIES), ids=str)
def test_what_was_read_comes_back_as_it_was(store, id_, which):
    assert store.read_now(reading.facet, id_, which) is None
    keep(store, id_, which, BODIES[which])
    found = store.read_now(reading.facet, id_, which)
    assert found == StoredFacet(BODIES[which], HEAD, lean().changed_at, AT, None)


def test_the_files_of_diffs_can_be_read_without_their_patches(store, id_):
    keep(store, id_, Facet.DIFFS, BODIES[Facet.DIFFS])
    whole, bare = (
        store.read_now(reading.facet, id_, Facet.DIFFS, patches=patches)
        for patches in (True, False)
    )
    assert [file.patch is not None for file in whole.body.files] == [True, False]
    assert bare.body.files == tuple(replace(file, patch=None) for file in whole.body.files)
    assert replace(bare, body=whole.body) == whole


def test_what_a_patch_shows_of_its_file_is_known_without_it(store, id_):
    file = FileDiff("logo.png", None, "added", 0, 0, "Binary files a/logo.png and b/x differ")
    keep(store, id_, Facet.DIFFS, Diffs((file,)))
    [bare] = store.read_now(reading.facet, id_, Facet.DIFFS, patches=False).body.files
    [whole] = store.read_now(reading.facet, id_, Facet.DIFFS).body.files
    assert bare == replace(file, patch=None, binary=True)
    assert whole == replace(file, binary=True)


def test_diffs_without_a_file_come_back(store, id_):
    keep(store, id_, Facet.DIFFS, Diffs((), total_files=0))
    for patches in (True, False):
        found = store.read_now(reading.facet, id_, Facet.DIFFS, patches=patches)
        assert found.body == Diffs((), total_files=0)


def test_every_facet_can_be_kept():
    assert {*BODIES, Facet.NOTES} == set(Facet)


def test_a_later_reading_replaces_it_with_its_commit(store, id_):
    keep(store, id_, Facet.CONFLICTS, BODIES[Facet.CONFLICTS])
    keep(store, id_, Facet.CONFLICTS, Conflicts(False), LATER, NEXT_HEAD, changed_at=LATER)
    found = store.read_now(reading.facet, id_, Facet.CONFLICTS)
    assert found == StoredFacet(Conflicts(False), NEXT_HEAD, LATER, LATER, None)


def test_a_failed_attempt_keeps_the_body_and_its_time_and_says_why(store, id_):
    keep(store, id_, Facet.COMMITS, BODIES[Facet.COMMITS])
    keep(store, id_, Facet.COMMITS, None, LATER, NEXT_HEAD, fault="forbidden")
    found = store.read_now(reading.facet, id_, Facet.COMMITS)
    assert found == StoredFacet(BODIES[Facet.COMMITS], HEAD, lean().changed_at, AT, "forbidden")
    keep(store, id_, Facet.COMMITS, Commits(()), LATER)
    assert store.read_now(reading.facet, id_, Facet.COMMITS).fault is None


def test_a_first_attempt_that_fails_is_known_to_have_been_made(store, id_):
    keep(store, id_, Facet.COMMITS, None, fault="forbidden")
    found = store.read_now(reading.facet, id_, Facet.COMMITS)
    assert found == StoredFacet(None, HEAD, None, None, "forbidden")


def test_notes_are_paged_oldest_first(store, id_):
    notes = [note(n, resolvable=n % 2 == 0, position=ON_CODE) for n in range(1, 121)]
    keep(store, id_, Facet.NOTES, Notes(tuple(reversed(notes))))
    pages = [store.read_now(reading.note_page, id_, n, 50) for n in (1, 2, 3, 4)]
    assert [more for _, more in pages] == [True, True, False, False]
    assert [each for rows, _ in pages for each in rows] == notes


def test_a_page_that_ends_with_the_last_note_has_no_more(store, id_):
    keep(store, id_, Facet.NOTES, Notes((note(1), note(2))))
    assert store.read_now(reading.note_page, id_, 1, 2) == ((note(1), note(2)), False)


def test_a_page_beyond_all_notes_is_empty(store, id_):
    keep(store, id_, Facet.NOTES, Notes((note(1),)))
    assert store.read_now(reading.note_page, id_, 10**30, 100) == ((), False)


def test_a_comment_and_a_review_may_have_one_number(store, id_):
    both = (note(1), replace(note(1, "Review"), review_state="COMMENTED"))
    keep(store, id_, Facet.NOTES, Notes(both))
    assert store.read_now(reading.note_page, id_, 1, 9) == (both, False)


def test_deleted_notes_go_with_a_whole_reading_and_stay_with_a_truncated_one(store, id_):
    keep(store, id_, Facet.NOTES, Notes((note(1), note(2))))
    keep(store, id_, Facet.NOTES, Notes((note(3),), truncated=True))
    found = store.read_now(reading.facet, id_, Facet.NOTES)
    assert found.body == Notes((), truncated=True)
    assert len(store.read_now(reading.note_page, id_, 1, 9)[0]) == 3
    keep(store, id_, Facet.NOTES, Notes((note(3),)))
    assert store.read_now(reading.note_page, id_, 1, 9) == ((note(3),), False)


def test_new_and_edited_notes_are_told_and_told_once(store, id_):
    for notes in ([note(1)], [note(1)], [note(1, "Edited")], [note(1, "Edited")]):
        keep(store, id_, Facet.NOTES, Notes(tuple(notes)))
    assert [kind for _, kind in told(store)] == ["opened", "comment_added", "comment_edited"]


def test_notes_from_before_the_store_began_are_no_news_but_later_ones_are(store, repository):
    id_ = record(store, repository, lean(), at=comment(5).created_at, backfill=True).ids[0]
    keep(store, id_, Facet.NOTES, Notes((note(1), note(6))))
    keep(store, id_, Facet.NOTES, Notes((note(1), note(2), note(6))))
    assert [kind for _, kind in told(store)] == ["comment_added", "comment_added"]


def test_a_conversation_that_was_empty_at_first_tells_of_its_first_note(store, repository):
    id_ = record(store, repository, lean(), at=comment(5).created_at, backfill=True).ids[0]
    keep(store, id_, Facet.NOTES, Notes(()))
    keep(store, id_, Facet.NOTES, Notes((note(1),)))
    assert [kind for _, kind in told(store)] == ["comment_added"]


def test_reading_the_same_notes_again_writes_none(store, id_):
    keep(store, id_, Facet.NOTES, Notes((note(1), note(2))))
    same = Notes((note(1), note(2)))
    statements = written(lambda: keep(store, id_, Facet.NOTES, same, LATER))
    assert not [each for each in statements if "INTO note " in each]
