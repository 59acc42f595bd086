"""Notes and discussions → rows within their room: bodies are cut shorter before any is left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pullstate.domain.merge_request import Discussion, Discussions, Note, Notes, Position
from pullstate.domain.text import BODY_LIMIT
from pullstate.server.answers import Strings, stamp
from pullstate.server.merge_request_row import HIDDEN
from pullstate.server.room import COUNTED, Row, cost, fill, left_out, size


@dataclass(frozen=True, slots=True)
class Cut:
    """How long a body may be, and how many notes of a discussion are shown."""

    body: int
    notes: int | None = None


PAGE_CUTS = (BODY_LIMIT, 2000, 1000, 500, 250, 120, 40)
DISCUSSION_CUTS = (
    Cut(BODY_LIMIT),
    Cut(2000),
    Cut(1000),
    Cut(1000, 20),
    Cut(500, 10),
    Cut(250, 6),
    Cut(120, 4),
    Cut(60, 2),
)


def notes(body: Notes, metadata: Row, room: int) -> Row:
    """A page of notes."""
    frame: Row = {"metadata": metadata, "items": []}
    room -= size(frame | COUNTED)
    rows: list[Row] = []
    for limit in PAGE_CUTS:
        rows = [_note(note, limit) for note in body.items]
        if cost(rows) <= room:
            break
    shown = fill(rows, room)
    return frame | {"items": shown} | left_out(len(rows) - len(shown), body.truncated)


def discussions(body: Discussions, room: int) -> Row:
    """Discussions in the forge's order. Where not all fit, the unresolved ones go first."""
    room -= size({"items": [], **COUNTED})
    rows: list[Row] = []
    for cut in DISCUSSION_CUTS:
        rows = [_discussion(each, cut) for each in body.items]
        if cost(rows) <= room:
            break
    shown = _fill_unresolved_first(rows, room)
    return {"items": shown} | left_out(len(rows) - len(shown), body.truncated)


def _fill_unresolved_first(rows: Sequence[Row], room: int) -> list[Row]:
    unresolved_first = sorted(range(len(rows)), key=lambda index: not _is_open(rows[index]))
    chosen = fill([rows[index] for index in unresolved_first], room)
    return [rows[index] for index in sorted(unresolved_first[: len(chosen)])]


def _is_open(row: Row) -> bool:
    return row["resolvable"] and not row["resolved"]


def _discussion(discussion: Discussion, cut: Cut) -> Row:
    """The first note says what it is about, the newest where it stands."""
    text = Strings()
    id_ = text.line(discussion.id)
    shown: Sequence[Note] = discussion.notes
    if cut.notes is not None and len(shown) > cut.notes:
        shown = [shown[0], *shown[len(shown) - cut.notes + 1 :]]
    row: Row = {
        "id": id_,
        "resolvable": discussion.resolvable,
        "resolved": discussion.resolved,
        "notes": [_note(_beside(note, shown[0]), cut.body) for note in shown],
    }
    if len(shown) < len(discussion.notes):
        row["notes_not_shown"] = len(discussion.notes) - len(shown)
    return row | text.count(HIDDEN)


def _beside(note: Note, first: Note) -> Note:
    """A reply stands where the first note does, which need not be said again."""
    is_same = note is not first and note.position == first.position
    return replace(note, position=None) if is_same else note


def _note(note: Note, limit: int) -> Row:
    text = Strings()
    comment = note.comment
    body = text.body(comment.body, limit)
    shown: Row = {
        "id": comment.id,
        "body": body.text,
        "author": text.line(comment.author),
        "created_at": stamp(comment.created_at),
        "system": note.system,
        "resolvable": note.resolvable,
        "resolved": note.resolved,
        "discussion_id": _line(note.discussion_id, text),
    }
    if note.position is not None:
        shown["position"] = _position(note.position, text)
    if note.review_state is not None:
        shown["review_state"] = text.line(note.review_state)
    if comment.minimized is not None:
        shown["minimized"] = text.line(comment.minimized)
    if body.truncated:
        shown["body_truncated"] = True
    return shown | text.count(HIDDEN)


def _position(position: Position, text: Strings) -> Row:
    return {
        "path": _line(position.path, text),
        "old_path": _line(position.old_path, text),
        "line": position.line,
        "old_line": position.old_line,
        "start_line": position.start_line,
    }


def _line(value: str | None, text: Strings) -> str | None:
    return None if value is None else text.line(value)
