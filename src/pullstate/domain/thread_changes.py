"""What happened in the talk about a pull request: events of its threads and its conversation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from pullstate.domain.changes import Change, ChangeKind
from pullstate.domain.merge_request import Note
from pullstate.domain.review import Comment, ReviewThread

_OPINIONS = ("APPROVED", "CHANGES_REQUESTED")  # told by the review decision's own events


def thread_events(
    before: Mapping[str, ReviewThread],
    after: Iterable[ReviewThread],
    since: datetime | None = None,
) -> Iterator[Change]:
    """What changed from the threads known, by id, to those read now.

    `old` and `new` are the thread's id where it is about the thread. Comments made before `since`
    are no news: it is given where the threads were never read before.
    """
    for thread in after:
        known = before.get(thread.id)
        if known is None:
            yield from _opened(thread, since)
        elif known != thread:
            yield from _went_on(known, thread)


def _opened(thread: ReviewThread, since: datetime | None) -> Iterator[Change]:
    news = [comment for comment in thread.comments if _is_news(comment, since)]
    if not news:
        return
    kind = ChangeKind.THREAD_OPENED
    if news[0] is not thread.comments[0]:
        kind = ChangeKind.THREAD_REPLIED
    yield Change(kind, None, thread.id, _authors(news))


def _went_on(known: ReviewThread, thread: ReviewThread) -> Iterator[Change]:
    were = {comment.id: comment for comment in known.comments}
    unknown = (comment for comment in thread.comments if comment.id not in were)
    replies = [comment for comment in unknown if _is_news(comment, None)]
    if replies:
        yield Change(ChangeKind.THREAD_REPLIED, None, thread.id, _authors(replies))
    for comment in thread.comments:
        if comment.id in were and _edited(were[comment.id], comment):
            yield Change(ChangeKind.COMMENT_EDITED, None, str(comment.id), (comment.author,))
    if thread.is_resolved != known.is_resolved:
        resolved = ChangeKind.THREAD_RESOLVED, ChangeKind.THREAD_UNRESOLVED
        by = (thread.resolved_by,) if thread.resolved_by and thread.is_resolved else ()
        yield Change(resolved[not thread.is_resolved], None, thread.id, by)


def note_events(
    before: Mapping[tuple[str, int], Note], after: Iterable[Note], since: datetime | None = None
) -> Iterator[Change]:
    """What changed in the conversation: comments and reviews with a body, by `note_key`.

    Notes of the system are none, nor are those of a discussion on the code, which are threads.
    """
    for note in after:
        if note.system or note.position is not None:
            continue
        known = before.get(note_key(note))
        if known is not None:
            if _edited(known.comment, note.comment):
                yield _told(ChangeKind.COMMENT_EDITED, note)
        elif _is_news(note.comment, since):
            yield from _added(note)


def note_key(note: Note) -> tuple[str, int]:
    """What identifies a note: ids of comments and of reviews are counted apart on GitHub."""
    return "review" if note.review_state else "comment", note.comment.id


def _added(note: Note) -> Iterator[Change]:
    if note.review_state is None:
        yield _told(ChangeKind.COMMENT_ADDED, note)
    elif note.review_state not in _OPINIONS:
        yield _told(ChangeKind.REVIEW_COMMENTED, note)


def _told(kind: ChangeKind, note: Note) -> Change:
    return Change(kind, None, str(note.comment.id), (note.comment.author,))


def _is_news(comment: Comment, since: datetime | None) -> bool:
    """One that was minimised before we saw it is not meant to be read."""
    return comment.minimized is None and (since is None or comment.created_at >= since)


def _edited(before: Comment, after: Comment) -> bool:
    """A bot fills its comment in later: what counts is the body, not the stamp."""
    return before.body != after.body


def _authors(comments: Iterable[Comment]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(comment.author for comment in comments))
