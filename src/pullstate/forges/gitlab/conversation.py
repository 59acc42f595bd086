"""GitLab's discussions → the domain: review threads, notes, and where they stand."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from pullstate.domain import merge_request as domain
from pullstate.domain.review import Comment, ReviewThread
from pullstate.forges.gitlab.facet_payloads import Discussion, LineEnd, LineRange, Note, Position
from pullstate.forges.gitlab.payloads import DiffRefs
from pullstate.forges.gitlab.translate import username

_LINE_CODE = re.compile(r".*_(?P<old>\d+)_(?P<new>\d+)")
_SUBJECTS = {"file": "file", "image": "image"}
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines that a note is about, on one side of the diff."""

    line: int | None
    start: int | None  # None for a single line
    side: str | None  # LEFT: the removed side; RIGHT: the added one, and unchanged lines


NOWHERE = Lines(None, None, None)


def is_thread(discussion: Discussion) -> bool:
    """What can be resolved, or stands on the diff. A lone comment and a system note are neither."""
    notes = said(discussion)
    return bool(notes) and not discussion.individual_note and any(map(_counts, notes))


def _counts(note: Note) -> bool:
    return bool(note.resolvable) or note.position is not None


def said(discussion: Discussion) -> list[Note]:
    """What people said in a discussion; a note without a time cannot be shown."""
    return [note for note in discussion.notes if not note.system and note.created_at]


def thread(discussion: Discussion, refs: DiffRefs | None, page: str) -> ReviewThread:
    """A discussion as a review thread. `refs` are those of the diff that the merge request has
    now, read with it; `page` is the merge request's address.

    Outdated is what stands on another diff than that: GitLab moves a note's position along with
    its lines as long as they are there. Then its lines are only the original ones.
    """
    notes = said(discussion)
    position = next((note.position for note in notes if note.position), None)
    outdated = position is not None and refs is not None and not same_diff(position, refs)
    original = next((note.original_position for note in notes if note.original_position), position)
    now, then = lines_of(position), lines_of(original)
    return ReviewThread(
        id=discussion.id,
        is_resolved=is_resolved(discussion),
        is_outdated=outdated,
        path=path_of(position),
        line=None if outdated else now.line,
        start_line=None if outdated else now.start,
        original_line=then.line,
        original_start_line=then.start,
        side=now.side,
        subject=_subject(position),
        resolved_by=resolved_by(discussion),
        comments=tuple(comment(note, page) for note in notes),
    )


def _subject(position: Position | None) -> str:
    """What is on no file is on the whole merge request, and not on a line."""
    otherwise = "file" if path_of(position) is None else "line"
    return _SUBJECTS.get((position and position.position_type) or "", otherwise)


def same_diff(position: DiffRefs, refs: DiffRefs) -> bool:
    """Whether a position is on this diff. What a version does not tell does not differ."""
    pairs = (
        (position.head_sha, refs.head_sha),
        (position.start_sha, refs.start_sha),
        (position.base_sha, refs.base_sha),
    )
    return all(one == other for one, other in pairs if one and other)


def is_resolved(discussion: Discussion) -> bool:
    """All that can be resolved is, and something can."""
    resolvable = [note for note in discussion.notes if note.resolvable]
    return bool(resolvable) and all(note.resolved for note in resolvable)


def resolved_by(discussion: Discussion) -> str | None:
    """Who resolved last; None on an open one, and where that account is gone."""
    if not is_resolved(discussion):
        return None
    notes = [note for note in discussion.notes if note.resolvable and note.resolved_by]
    last = max(notes, key=lambda note: note.resolved_at or _NEVER, default=None)
    return (last.resolved_by.username or None) if last and last.resolved_by else None


def path_of(position: Position | None) -> str | None:
    """The file by its present name; by its former one where it is gone."""
    return (position.new_path or position.old_path) if position else None


def lines_of(position: Position | None) -> Lines:
    """Which lines, and on which side. A line of the removed side has an old number alone."""
    if position is None or (position.position_type or "text") != "text":
        return NOWHERE
    start, end = _ends(position.line_range)
    old, new = position.old_line, position.new_line
    if old is None and new is None:
        old, new = end
    line = old if new is None else new
    if line is None:
        return NOWHERE
    begins = _on_side(start, left=new is None)
    return Lines(line, begins if begins != line else None, "LEFT" if new is None else "RIGHT")


Numbers = tuple[int | None, int | None]


def _on_side(numbers: Numbers, *, left: bool) -> int | None:
    """A range may begin on a removed line and end on an added one: then the number it has."""
    old, new = numbers
    wanted, other = (old, new) if left else (new, old)
    return other if wanted is None else wanted


def _ends(lines: LineRange | None) -> tuple[Numbers, Numbers]:
    if lines is None:
        return (None, None), (None, None)
    return (
        _numbers(lines.start or LineEnd(line_code=lines.start_line_code)),
        _numbers(lines.end or LineEnd(line_code=lines.end_line_code)),
    )


def _numbers(end: LineEnd) -> Numbers:
    """(old, new) line; from the code where the version gives nothing else."""
    if end.old_line is not None or end.new_line is not None:
        return end.old_line, end.new_line
    code = _LINE_CODE.fullmatch(end.line_code)
    if code is None:
        return None, None
    old = int(code["old"]) if end.type != "new" else 0
    new = int(code["new"]) if end.type != "old" else 0
    return old or None, new or None


def comment(note: Note, page: str) -> Comment:
    """What one note says; its numeric id is the one that a reply call takes."""
    return Comment(
        id=note.id or 0,
        author=username(note.author),
        body=note.body,
        created_at=note.created_at or _NEVER,
        edited_at=note.last_edited_at,
        url=f"{page}#note_{note.id}" if note.id else "",
    )


def note(seen: Note, discussion: Discussion, page: str) -> domain.Note:
    """One note of the conversation, a system note too."""
    return domain.Note(
        comment=comment(seen, page),
        system=bool(seen.system),
        resolvable=bool(seen.resolvable),
        resolved=bool(seen.resolved),
        discussion_id=discussion.id,
        position=place_of(seen.position),
    )


def place_of(position: Position | None) -> domain.Position | None:
    """Where a note stands, on both sides."""
    if position is None:
        return None
    return domain.Position(
        path=path_of(position),
        old_path=position.old_path,
        line=position.new_line,
        old_line=position.old_line,
        start_line=lines_of(position).start,
    )


def discussion(seen: Discussion, page: str) -> domain.Discussion:
    """A discussion with all its notes, as GitLab has it."""
    dated = [each for each in seen.notes if each.created_at]
    return domain.Discussion(
        id=seen.id,
        resolvable=any(each.resolvable for each in seen.notes),
        resolved=is_resolved(seen),
        notes=tuple(note(each, seen, page) for each in dated),
    )


def notes(discussions: Iterable[Discussion], page: str) -> tuple[domain.Note, ...]:
    """Every note of every discussion, oldest first."""
    found = [note(each, of, page) for of in discussions for each in of.notes if each.created_at]
    return tuple(sorted(found, key=lambda each: (each.comment.created_at, each.comment.id)))


def in_order(threads: Iterable[ReviewThread]) -> tuple[ReviewThread, ...]:
    """By the first comment's time, then by id."""
    return tuple(sorted(threads, key=lambda each: (each.comments[0].created_at, each.id)))
