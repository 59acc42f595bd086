"""Facets → rows. A list is cut to the room it has, at its end, and says so."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import singledispatch
from typing import TypeVar

from pullstate.domain.diff_exclusion import DiffExclusionPolicy, ExcludedPath, Reason
from pullstate.domain.merge_request import (
    Commit,
    Commits,
    Conflicts,
    Diffs,
    Discussion,
    Discussions,
    FacetBody,
    FileDiff,
    Note,
    Pipeline,
    Pipelines,
    Position,
)
from pullstate.domain.text import clean_patch
from pullstate.server.answers import Row, Strings, size, stamp
from pullstate.server.registry import fitting

T = TypeVar("T")

HIDDEN = "hidden_chars"
REST = 200  # bytes that a facet says besides its rows
BODY_LIMITS = (4000, 2000, 1000, 500, 250, 120, 40)


@dataclass(frozen=True, slots=True)
class Shape:
    """How much of a facet is wanted: `room` in bytes, the rest as the caller sent it."""

    room: int
    detail: str
    exclusion: DiffExclusionPolicy
    notes_page: int
    notes_per_page: int


@singledispatch
def row(body: FacetBody, shape: Shape) -> Row:
    """One facet."""
    raise TypeError(type(body).__name__)


@row.register
def _(body: Commits, shape: Shape) -> Row:
    rows = [_counted(_commit, commit) for commit in body.items]
    shown = fitting(rows, shape.room, REST)
    return {"items": shown, "truncated": body.truncated or len(shown) < len(rows)}


def _counted(make: Callable[[T, Strings], Row], item: T) -> Row:
    """A row, and how much was hidden in it."""
    text = Strings()
    return make(item, text) | text.count(HIDDEN)


def _commit(commit: Commit, text: Strings) -> Row:
    return {
        "sha": commit.sha,
        "title": text.line(commit.title),
        "author": text.line(commit.author),
        "authored_at": stamp(commit.authored_at),
        "web_url": text.line(commit.web_url),
    }


@row.register
def _(body: Pipelines, shape: Shape) -> Row:
    rows = [_counted(_pipeline, pipeline) for pipeline in body.items]
    shown = fitting(rows, shape.room, REST)
    return {"items": shown, "truncated": body.truncated or len(shown) < len(rows)}


def _pipeline(pipeline: Pipeline, text: Strings) -> Row:
    return {
        "id": pipeline.id,
        "status": text.line(pipeline.status),
        "ref": text.line(pipeline.ref),
        "sha": pipeline.sha,
        "source": text.line(pipeline.source),
        "web_url": text.line(pipeline.web_url),
        "created_at": stamp(pipeline.created_at) if pipeline.created_at else None,
        "failed_jobs": [
            {
                "name": text.line(job.name),
                "web_url": text.line(job.web_url),
                "allow_failure": job.allow_failure,
            }
            for job in pipeline.failed_jobs
        ],
    }


@row.register
def _(body: Conflicts, shape: Shape) -> Row:
    text = Strings()
    files = [{"path": text.line(path)} for path in body.files]
    return {
        "has_conflicts": body.has_conflicts,
        "files": fitting(files, shape.room, REST),
        "reason": body.reason,
    } | text.count(HIDDEN)


@row.register
def _(body: Discussions, shape: Shape) -> Row:
    rows = fitting([_discussion(each, BODY_LIMITS[0]) for each in body.items], shape.room, REST)
    for limit in BODY_LIMITS[1:]:
        if len(rows) == len(body.items):
            break
        rows = fitting([_discussion(each, limit) for each in body.items], shape.room, REST)
    return {"items": rows, "truncated": body.truncated or len(rows) < len(body.items)}


def _discussion(discussion: Discussion, limit: int) -> Row:
    return {
        "id": discussion.id,
        "resolvable": discussion.resolvable,
        "resolved": discussion.resolved,
        "notes": [_note(note, limit) for note in discussion.notes],
    }


def notes(page: tuple[Note, ...], more: bool, shape: Shape) -> Row:
    """A page of notes. Where the page has no room its bodies are cut shorter, not its notes."""
    rows: list[Row] = []
    for limit in BODY_LIMITS:
        rows = fitting([_note(note, limit) for note in page], shape.room, REST)
        if len(rows) == len(page):
            break
    metadata = {"page": shape.notes_page, "per_page": shape.notes_per_page, "has_more": more}
    cut = {"truncated": True} if len(rows) < len(page) else {}
    return {"metadata": metadata, "items": rows} | cut


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
        "discussion_id": note.discussion_id,
    }
    if note.position is not None:
        shown["position"] = _position(note.position, text)
    if note.review_state is not None:
        shown["review_state"] = text.line(note.review_state)
    if body.truncated:
        shown["body_truncated"] = True
    return shown | text.count(HIDDEN)


def _position(position: Position, text: Strings) -> Row:
    return {
        "path": None if position.path is None else text.line(position.path),
        "old_path": None if position.old_path is None else text.line(position.old_path),
        "line": position.line,
        "old_line": position.old_line,
    }


@row.register
def _(body: Diffs, shape: Shape) -> Row:
    shown, excluded = _split(body, shape)
    room = shape.room
    left_out = fitting([_excluded(path) for path in excluded], room // 2, REST)
    room -= size(left_out)
    files = [] if shape.detail == "none" else [_file(each) for each in shown]
    listed = fitting(files, room, REST)
    if shape.detail == "full_patch":
        dropped = _add_patches(listed, shown, room - size(listed))
        left_out += [{"path": path, "reason": Reason.TOO_LARGE.value} for path in dropped]
        listed = [each for each in listed if each["path"] not in dropped]
    cut = len(listed) < len(files) or len(left_out) < len(excluded)
    return {
        "detail": shape.detail,
        "stats": _stats(body),
        "files": listed,
        "excluded_files": left_out,
        "truncated": body.truncated or cut,
    }


def _split(body: Diffs, shape: Shape) -> tuple[list[FileDiff], list[ExcludedPath]]:
    shown, excluded = [], []
    for file in body.files:
        exclusion = shape.exclusion.decide(file)
        if exclusion is None:
            shown.append(file)
        else:
            excluded += exclusion.paths
    return shown, excluded


def _stats(body: Diffs) -> Row:
    """Totals over every file, those that are left out too; the forge's own where it has them."""
    own = (body.total_additions, body.total_deletions, body.total_files)
    counted = (
        sum(file.additions for file in body.files),
        sum(file.deletions for file in body.files),
        len(body.files),
    )
    totals = [
        theirs if theirs is not None else ours for theirs, ours in zip(own, counted, strict=True)
    ]
    return dict(zip(("additions", "deletions", "files"), totals, strict=True))


def _file(file: FileDiff) -> Row:
    text = Strings()
    shown: Row = {"path": text.line(file.path)}
    if file.old_path and file.old_path != file.path:
        shown["old_path"] = text.line(file.old_path)
    shown |= {"status": file.status, "additions": file.additions, "deletions": file.deletions}
    return shown | text.count(HIDDEN)


def _excluded(path: ExcludedPath) -> Row:
    text = Strings()
    return {"path": text.line(path.path), "reason": path.reason.value} | text.count(HIDDEN)


def _add_patches(rows: list[Row], files: Iterable[FileDiff], room: int) -> list[str]:
    """Give each row its whole patch while there is room; the paths of those without one."""
    dropped = []
    for shown, file in zip(rows, files, strict=False):
        patch = clean_patch(file.patch).text
        cost = size({"patch": patch})
        if cost > room:
            dropped.append(shown["path"])
            continue
        room -= cost
        shown["patch"] = patch
    return dropped
