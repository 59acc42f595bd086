"""What people said on a pull request → the domain: threads, comments, submitted reviews."""

from __future__ import annotations

from collections.abc import Iterable

from pullstate.domain.merge_request import Discussion, Discussions, Note, Position
from pullstate.domain.review import Comment, ReviewThread, Threads
from pullstate.forges.github import facet_payloads
from pullstate.forges.github.translate import login

PENDING = "PENDING"


def comment(said: facet_payloads.Said) -> Comment:
    """A comment; its numeric id is the one that a reply call takes."""
    return Comment(
        id=said.full_database_id or said.database_id or 0,
        author=login(said.author),
        body=said.body,
        created_at=said.created_at,
        edited_at=said.last_edited_at,
        url=said.url,
        minimized=(said.minimized_reason or "minimized").upper() if said.is_minimized else None,
    )


def is_pending(said: facet_payloads.ReviewComment) -> bool:
    """Whether it belongs to a review that its author has not submitted: nobody else sees it."""
    review = said.pull_request_review
    return said.state == PENDING or (review is not None and review.state == PENDING)


def thread(
    seen: facet_payloads.Thread, comments: Iterable[facet_payloads.ReviewComment]
) -> ReviewThread | None:
    """A thread with its submitted comments; None where it has none to show."""
    shown = tuple(comment(each) for each in comments if not is_pending(each))
    if not shown:
        return None
    return ReviewThread(
        id=seen.id,
        is_resolved=seen.is_resolved,
        is_outdated=seen.is_outdated,
        path=seen.path,
        line=seen.line,
        start_line=seen.start_line,
        original_line=seen.original_line,
        original_start_line=seen.original_start_line,
        side=seen.diff_side,
        subject=(seen.subject_type or "LINE").lower(),
        resolved_by=(seen.resolved_by.login or None) if seen.resolved_by else None,
        comments=shown,
    )


def in_order(threads: Iterable[ReviewThread]) -> tuple[ReviewThread, ...]:
    """By the first comment's time, then by id."""
    return tuple(sorted(threads, key=lambda each: (each.comments[0].created_at, each.id)))


def discussions(threads: Threads) -> Discussions:
    """Review threads as the discussions of a merge request."""
    found = tuple(_discussion(each) for each in threads.threads)
    return Discussions(found, truncated=threads.gap is not None)


def _discussion(seen: ReviewThread) -> Discussion:
    notes = tuple(
        Note(
            comment=said,
            resolvable=True,
            resolved=seen.is_resolved,
            discussion_id=seen.id,
            position=_position(seen),
        )
        for said in seen.comments
    )
    return Discussion(seen.id, resolvable=True, resolved=seen.is_resolved, notes=notes)


def _position(seen: ReviewThread) -> Position:
    """A line of the removed side is the old file's."""
    line = seen.line if seen.line is not None else seen.original_line
    start = seen.start_line if seen.line is not None else seen.original_start_line
    removed = seen.side == "LEFT"
    return Position(
        path=seen.path,
        old_path=seen.path,
        line=None if removed else line,
        old_line=line if removed else None,
        start_line=start,
    )


def notes(
    comments: Iterable[facet_payloads.Said], reviews: Iterable[facet_payloads.Submitted]
) -> tuple[Note, ...]:
    """The conversation's comments and the submitted reviews that have a body, oldest first."""
    found = [Note(comment(said)) for said in comments]
    found += [_review_note(each) for each in reviews if _says_something(each)]
    return tuple(sorted(found, key=lambda note: (note.comment.created_at, note.comment.id)))


def _says_something(review: facet_payloads.Submitted) -> bool:
    return review.state != PENDING and bool(review.body.strip())


def _review_note(review: facet_payloads.Submitted) -> Note:
    """A review is as old as its submission: it may have been begun long before."""
    said = review.model_copy(update={"created_at": review.submitted_at or review.created_at})
    return Note(comment(said), review_state=review.state)
