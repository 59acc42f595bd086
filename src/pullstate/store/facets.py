"""Facets of a merge request: read on demand, kept whole; notes in rows of their own, for paging."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, select

from pullstate.domain.diff_exclusion import flagged
from pullstate.domain.merge_request import (
    Commits,
    Conflicts,
    Diffs,
    Discussions,
    Facet,
    FacetBody,
    Note,
    Notes,
    Overview,
    Pipelines,
)
from pullstate.domain.thread_changes import note_events, note_key
from pullstate.store import feed
from pullstate.store.encoding import decode, decode_at, encode
from pullstate.store.errors import Untracked
from pullstate.store.prepared import Prepared
from pullstate.store.records import StoredFacet
from pullstate.store.rows import dumps, scan
from pullstate.store.schema import facet as facets
from pullstate.store.schema import note as notes
from pullstate.store.schema import pull_request
from pullstate.store.upserts import Upsert, put

_BODIES: Mapping[Facet, type] = {
    Facet.OVERVIEW: Overview,
    Facet.DIFFS: Diffs,
    Facet.COMMITS: Commits,
    Facet.NOTES: Notes,
    Facet.PIPELINES: Pipelines,
    Facet.CONFLICTS: Conflicts,
    Facet.DISCUSSIONS: Discussions,
}

_FACET = Prepared(
    select(
        facets.c.body,
        facets.c.head_sha,
        facets.c.changed_at_when_read,
        facets.c.observed_at,
        facets.c.fault,
    ).where(facets.c.pull_request_id == bindparam("id"), facets.c.facet == bindparam("facet"))
)
_NOTES = select(notes.c.body).where(notes.c.pull_request_id == bindparam("id")).order_by(
    notes.c.created_at, notes.c.source, notes.c.note_id
)  # fmt: skip
_FAR = 2**62  # beyond any note, and within a database's integers
_NOTE_PAGE = Prepared(_NOTES.limit(bindparam("limit")).offset(bindparam("offset")))
_ABOUT = select(
    pull_request.c.repository_id,
    pull_request.c.changed_at,
    pull_request.c.first_seen_at,
    pull_request.c.backfilled,
).where(pull_request.c.id == bindparam("id"))


def facet(
    connection: Connection, pull_request_id: int, which: Facet, *, patches: bool = True
) -> StoredFacet | None:
    """A facet as last read; None where nobody tried. Of the notes the items are in `note_page`.

    Without `patches` the files of diffs come without theirs, several times as fast.
    """
    given = {"id": pull_request_id, "facet": which.value}
    row = _FACET.first(connection, given)
    if row is None:
        return None
    body, *rest = row
    return StoredFacet(None if body is None else _decoded(which, body, patches), *rest)


def _encoded(body: FacetBody) -> str:
    """A body as JSON; the patches of diffs follow it as a list of their own."""
    if not isinstance(body, Diffs):
        return encode(body)
    files = tuple(replace(flagged(file), patch=None) for file in body.files)
    return encode(replace(body, files=files)) + dumps([file.patch for file in body.files])


def _decoded(which: Facet, text: str, patches: bool) -> FacetBody:
    body, end = decode_at(_BODIES[which], text)
    if not (patches and isinstance(body, Diffs)):
        return body
    found, _ = scan(text, end)
    files = tuple(replace(file, patch=patch) for file, patch in zip(body.files, found, strict=True))
    return replace(body, files=files)


def note_page(
    connection: Connection, pull_request_id: int, page: int, per_page: int
) -> tuple[tuple[Note, ...], bool]:
    """A page of the conversation, the first being 1, oldest first; and whether there is another."""
    offset = min((page - 1) * per_page, _FAR)
    given = {"id": pull_request_id, "limit": per_page + 1, "offset": offset}
    found = [decode(Note, body) for (body,) in _NOTE_PAGE.all(connection, given)]
    return tuple(found[:per_page]), len(found) > per_page


def record_facet(
    connection: Connection,
    pull_request_id: int,
    which: Facet,
    body: FacetBody | None,
    at: datetime,
    head_sha: str,
    *,
    fault: str | None = None,
    changed_at: datetime | None = None,
) -> None:
    """Keep a facet, or with `fault` why it could not be read: the body and its time stay then.

    `head_sha` is the commit it was read at, `changed_at` the pull request's when the reading
    began, where that may be older than what is stored now. New and edited notes make events.
    """
    about = connection.execute(_ABOUT, {"id": pull_request_id}).first()
    if about is None:
        raise Untracked("The pull request is no longer stored.")
    key = {"pull_request_id": pull_request_id, "facet": which.value}
    if body is None:
        _keep_fault(connection, key, fault or "it could not be read", head_sha)
        return
    if isinstance(body, Notes):
        _record_notes(connection, pull_request_id, body, at, about)
        body = replace(body, items=())
    values = {
        "body": _encoded(body),
        "head_sha": head_sha,
        "changed_at_when_read": changed_at or about.changed_at,
        "observed_at": at,
        "fault": fault,
    }
    put(connection, facets, key, values)


def _keep_fault(connection: Connection, key: dict[str, Any], fault: str, head_sha: str) -> None:
    known = facets.update().where(*(facets.c[name] == value for name, value in key.items()))
    if connection.execute(known.values(fault=fault)).rowcount == 0:
        put(connection, facets, key, {"fault": fault, "head_sha": head_sha})


_NOTE_ROWS = Upsert(notes, ("pull_request_id", "source", "note_id"), ("created_at", "body"))
_DROP = notes.delete().where(
    notes.c.pull_request_id == bindparam("id"),
    notes.c.source == bindparam("from"),
    notes.c.note_id == bindparam("gone"),
)


def _record_notes(
    connection: Connection, pull_request_id: int, body: Notes, at: datetime, about: Any
) -> None:
    """Those of a truncated reading are added to what is known; a whole one replaces it."""
    rows = connection.execute(_NOTES, {"id": pull_request_id})
    known = {note_key(note): note for note in (decode(Note, text) for (text,) in rows)}
    never_read = not known and facet(connection, pull_request_id, Facet.NOTES) is None
    since = about.first_seen_at if never_read and about.backfilled else None
    told = note_events(known, body.items, since)
    feed.gather(connection, about.repository_id, pull_request_id, told, at)
    _write_notes(connection, pull_request_id, known, body)


def _write_notes(
    connection: Connection,
    pull_request_id: int,
    known: Mapping[tuple[str, int], Note],
    body: Notes,
) -> None:
    seen = {note_key(note): note for note in body.items}
    differing = [(key, note) for key, note in seen.items() if known.get(key) != note]
    if differing:
        values = [_note_row(pull_request_id, key, note) for key, note in differing]
        _NOTE_ROWS.run(connection, values)
    gone = [] if body.truncated else [key for key in known if key not in seen]
    if gone:
        given = [{"id": pull_request_id, "from": source, "gone": id_} for source, id_ in gone]
        connection.execute(_DROP, given)


def _note_row(pull_request_id: int, key: tuple[str, int], note: Note) -> dict[str, Any]:
    source, note_id = key
    return {
        "pull_request_id": pull_request_id,
        "source": source,
        "note_id": note_id,
        "created_at": note.comment.created_at,
        "body": encode(note),
    }
