"""Events of the talk: threads on the code, comments of the conversation, reviews with a body."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.domain.readings import NOON, minutes

from pullstate.domain.changes import Change, ChangeKind
from pullstate.domain.merge_request import Note, Position
from pullstate.domain.review import Comment, ReviewThread
from pullstate.domain.thread_changes import note_events, note_key, thread_events


def comment(id_: int, body: str = "Why?", author: str = "ann", **more: Any) -> Comment:
    return Comment(id_, author, body, NOON + minutes(id_), **more)


def thread(id_: str, *comments: Comment, **changes: Any) -> ReviewThread:
    plain = ReviewThread(
        id_, False, False, "a.py", 3, None, 3, None, "RIGHT", "line", None, comments
    )
    return replace(plain, **changes)


def told(before: list[ReviewThread], after: list[ReviewThread], since=None) -> list[Change]:
    return list(thread_events({each.id: each for each in before}, after, since))


def test_a_new_thread_names_who_opened_it():
    assert told([], [thread("T1", comment(1))]) == [
        Change(ChangeKind.THREAD_OPENED, None, "T1", ("ann",))
    ]


def test_replies_are_one_event_that_names_everybody():
    before = thread("T1", comment(1))
    after = thread("T1", comment(1), comment(2, author="bob"), comment(3), comment(4, author="bob"))
    assert told([before], [after]) == [
        Change(ChangeKind.THREAD_REPLIED, None, "T1", ("bob", "ann"))
    ]


def test_resolving_names_who_did_it_where_the_forge_says():
    before, after = thread("T1", comment(1)), thread("T1", comment(1), is_resolved=True)
    named = replace(after, resolved_by="bob")
    assert told([before], [after]) == [Change(ChangeKind.THREAD_RESOLVED, None, "T1")]
    assert told([before], [named]) == [Change(ChangeKind.THREAD_RESOLVED, None, "T1", ("bob",))]
    assert told([named], [before]) == [Change(ChangeKind.THREAD_UNRESOLVED, None, "T1")]


def test_an_edit_is_an_event_of_the_comment():
    before, after = thread("T1", comment(1)), thread("T1", comment(1, "Why not?"))
    assert told([before], [after]) == [Change(ChangeKind.COMMENT_EDITED, None, "1", ("ann",))]


def test_an_edit_that_changes_nothing_a_reader_sees_is_none():
    before = thread("T1", comment(1))
    after = thread("T1", comment(1, edited_at=NOON, url="https://moved"), line=9, is_outdated=True)
    assert told([before], [after]) == []


def test_reading_the_same_again_and_missing_ones_make_no_event():
    both = [thread("T1", comment(1)), thread("T2", comment(2))]
    assert told(both, both) == []
    assert told(both, both[:1]) == []


def test_what_was_said_before_the_pull_request_was_known_is_no_news():
    old, new = thread("T1", comment(1)), thread("T2", comment(9))
    answered = thread("T3", comment(2), comment(8, author="bob"))
    assert told([], [old, new, answered], since=NOON + minutes(5)) == [
        Change(ChangeKind.THREAD_OPENED, None, "T2", ("ann",)),
        Change(ChangeKind.THREAD_REPLIED, None, "T3", ("bob",)),
    ]


def test_a_comment_that_was_minimised_before_it_was_read_is_no_news():
    before = thread("T1", comment(1))
    after = thread("T1", comment(1), comment(2, minimized="OUTDATED"))
    assert told([before], [after]) == []


def note(id_: int, body: str = "Hm", **more: Any) -> Note:
    return Note(comment(id_, body), **more)


def noted(before: list[Note], after: list[Note], since=None) -> list[Change]:
    return list(note_events({note_key(each): each for each in before}, after, since))


def test_a_comment_of_the_conversation_is_added_and_edited():
    assert noted([], [note(1)]) == [Change(ChangeKind.COMMENT_ADDED, None, "1", ("ann",))]
    assert noted([note(1)], [note(1, "Edited with the findings")]) == [
        Change(ChangeKind.COMMENT_EDITED, None, "1", ("ann",))
    ]
    assert noted([note(1)], [note(1)]) == []


def test_a_review_with_a_body_is_commented_and_an_opinion_is_told_by_the_decision():
    commented = note(1, review_state="COMMENTED")
    assert [each.kind for each in noted([], [commented])] == [ChangeKind.REVIEW_COMMENTED]
    assert noted([], [note(2, review_state="APPROVED")]) == []
    assert noted([], [note(3, review_state="CHANGES_REQUESTED")]) == []
    edited = replace(commented, comment=comment(1, "More"))
    assert [each.kind for each in noted([commented], [edited])] == [ChangeKind.COMMENT_EDITED]


def test_a_review_and_a_comment_of_one_number_are_two():
    before = [note(1)]
    after = [note(1), note(1, "Body of the review", review_state="COMMENTED")]
    assert [each.kind for each in noted(before, after)] == [ChangeKind.REVIEW_COMMENTED]


def test_notes_of_the_system_and_on_the_code_are_told_elsewhere():
    on_code = note(2, position=Position("a.py", "a.py", 1, None))
    assert noted([], [note(1, system=True), on_code]) == []
