"""Review threads: a row each, with its comments; read whole, paged by the first comment's time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, bindparam, func, select, tuple_

from pullstate.domain.review import Comment, ReviewThread, Threads
from pullstate.domain.thread_changes import thread_events
from pullstate.store import feed
from pullstate.store.errors import Untracked
from pullstate.store.prepared import Prepared
from pullstate.store.records import ThreadCounts, ThreadState
from pullstate.store.rows import dumps, loads
from pullstate.store.schema import freshness, pull_request, thread, thread_reading
from pullstate.store.texts import storable_text
from pullstate.store.upserts import Upsert, put

_NEVER = datetime(1970, 1, 1, tzinfo=UTC)  # where a thread without comments stands

_VALUES = (
    "thread_id",
    "is_resolved",
    "is_outdated",
    "path",
    "line",
    "start_line",
    "original_line",
    "original_start_line",
    "side",
    "subject",
    "resolved_by",
    "comments",
)
_UPSERT = Upsert(
    thread,
    ("pull_request_id", "thread_id"),
    [name for name in (*_VALUES, "opened_at") if name != "thread_id"],
)
_OF_ONE = select(*(thread.c[name] for name in _VALUES)).where(
    thread.c.pull_request_id == bindparam("id")
)
_ORDERED = _OF_ONE.order_by(thread.c.opened_at, thread.c.thread_id).limit(bindparam("limit"))
_AFTER = tuple_(thread.c.opened_at, thread.c.thread_id) > tuple_(
    bindparam("opened_at", type_=thread.c.opened_at.type),
    bindparam("thread_id", type_=thread.c.thread_id.type),
)
_RESOLVED = thread.c.is_resolved == bindparam("resolved", type_=thread.c.is_resolved.type)


def _page(resolved: bool, after: bool) -> Prepared:
    conditions = ((resolved, _RESOLVED), (after, _AFTER))
    return Prepared(_ORDERED.where(*(condition for wanted, condition in conditions if wanted)))


_PAGES = {
    (resolved, after): _page(resolved, after)
    for resolved in (False, True)
    for after in (False, True)
}


def thread_key(of: ReviewThread) -> tuple[datetime, str]:
    """The place of a thread in the order of `thread_page`."""
    return of.comments[0].created_at if of.comments else _NEVER, of.id


def thread_page(
    connection: Connection,
    pull_request_id: int,
    *,
    resolved: bool | None = None,
    after: tuple[datetime, str] | None = None,
    limit: int,
) -> list[ReviewThread]:
    """A page of threads by the first comment's time, then id; `after` is a `thread_key`."""
    given: dict[str, Any] = {"id": pull_request_id, "limit": limit}
    if resolved is not None:
        given["resolved"] = resolved
    if after is not None:
        given |= {"opened_at": after[0], "thread_id": after[1]}
    query = _PAGES[resolved is not None, after is not None]
    return [_thread(row) for row in query.all(connection, given)]


_COUNTS = Prepared(
    select(thread.c.is_resolved, func.count())
    .where(thread.c.pull_request_id == bindparam("id"))
    .group_by(thread.c.is_resolved)
)


def thread_counts(connection: Connection, pull_request_id: int) -> ThreadCounts:
    """How many threads are stored of a pull request, and how many of them are unresolved."""
    counts = {bool(flag): n for flag, n in _COUNTS.all(connection, {"id": pull_request_id})}
    return ThreadCounts(sum(counts.values()), counts.get(False, 0))


_STATE = Prepared(
    select(
        thread_reading.c.observed_at, thread_reading.c.gap, thread_reading.c.changed_at_when_read
    ).where(thread_reading.c.pull_request_id == bindparam("id"))
)


def thread_state(connection: Connection, pull_request_id: int) -> ThreadState:
    """When the threads were last read whole, and why the last reading was not, if it was not."""
    row = _STATE.first(connection, {"id": pull_request_id})
    if row is None:
        return ThreadState(None, False, None, None)
    observed_at, gap, changed_at = row
    return ThreadState(observed_at, observed_at is not None and gap is None, gap, changed_at)


_ABOUT = select(
    pull_request.c.repository_id,
    pull_request.c.changed_at,
    pull_request.c.first_seen_at,
    pull_request.c.backfilled,
).where(pull_request.c.id == bindparam("id"))


def record_threads(
    connection: Connection,
    pull_request_id: int,
    reading: Threads,
    at: datetime,
    *,
    changed_at: datetime | None = None,
) -> int:
    """Keep what a reading of all threads found; how many rows differed.

    A complete one also drops threads and comments that the forge no longer has, dates the threads
    and counts the unresolved ones into the pull request. One with a gap adds what it saw, keeps
    the rest, and dates nothing. `changed_at` is the pull request's when the reading began, where
    that may be older than what is stored now. Events go into the same transaction.
    """
    about = connection.execute(_ABOUT, {"id": pull_request_id}).first()
    if about is None:
        raise Untracked("The pull request is no longer stored.")
    repository_id, known_changed_at, first_seen_at, backfilled = about
    known = {each.id: each for each in _all(connection, pull_request_id)}
    seen = [
        _merged(known.get(each.id), each, reading.gap) for each in map(_storable, reading.threads)
    ]
    differing = [each for each in seen if known.get(each.id) != each]
    _write(connection, pull_request_id, differing)
    state = thread_state(connection, pull_request_id)
    never_read = state.observed_at is None and not known
    since = first_seen_at if never_read and backfilled else None
    told = thread_events(known, seen, since)
    feed.gather(connection, repository_id, pull_request_id, told, at)
    gone = 0
    if reading.gap is None:
        gone = _drop(connection, pull_request_id, known.keys() - {each.id for each in seen})
        _count(connection, pull_request_id, sum(not each.is_resolved for each in seen))
        _date(connection, pull_request_id, at, changed_at or known_changed_at)
    else:
        put(connection, thread_reading, {"pull_request_id": pull_request_id}, {"gap": reading.gap})
    return len(differing) + gone


def _merged(known: ReviewThread | None, seen: ReviewThread, gap: str | None) -> ReviewThread:
    """In a reading with a gap a thread may lack comments that are only on a page that failed."""
    if known is None or gap is None:
        return seen
    comments = {each.id: each for each in (*known.comments, *seen.comments)}
    ordered = sorted(comments.values(), key=lambda each: (each.created_at, each.id))
    return replace(seen, comments=tuple(ordered))


def _all(connection: Connection, pull_request_id: int) -> list[ReviewThread]:
    return [_thread(row) for row in connection.execute(_OF_ONE, {"id": pull_request_id})]


def _write(connection: Connection, pull_request_id: int, threads: Sequence[ReviewThread]) -> None:
    if not threads:
        return
    rows = [
        {
            "pull_request_id": pull_request_id,
            "thread_id": each.id,
            "opened_at": thread_key(each)[0],
            "is_resolved": each.is_resolved,
            "is_outdated": each.is_outdated,
            "path": each.path,
            "line": each.line,
            "start_line": each.start_line,
            "original_line": each.original_line,
            "original_start_line": each.original_start_line,
            "side": each.side,
            "subject": each.subject,
            "resolved_by": each.resolved_by,
            "comments": dumps([comment_fields(comment) for comment in each.comments]),
        }
        for each in threads
    ]
    _UPSERT.run(connection, rows)


def _drop(connection: Connection, pull_request_id: int, ids: set[str]) -> int:
    if not ids:
        return 0
    given = [{"id": pull_request_id, "gone": gone} for gone in ids]
    connection.execute(_DROP, given)
    return len(ids)


_DROP = thread.delete().where(
    thread.c.pull_request_id == bindparam("id"), thread.c.thread_id == bindparam("gone")
)


def _count(connection: Connection, pull_request_id: int, unresolved: int) -> None:
    counted = (
        pull_request.update()
        .where(
            pull_request.c.id == pull_request_id,
            pull_request.c.unresolved_threads.is_distinct_from(unresolved),
        )
        .values(unresolved_threads=unresolved)
    )
    connection.execute(counted)


def _date(connection: Connection, pull_request_id: int, at: datetime, changed_at: datetime) -> None:
    values = {"observed_at": at, "changed_at_when_read": changed_at, "gap": None}
    put(connection, thread_reading, {"pull_request_id": pull_request_id}, values)
    dated = freshness.update().where(freshness.c.pull_request_id == pull_request_id)
    connection.execute(dated.values(threads_at=at))


def _storable(of: ReviewThread) -> ReviewThread:
    path = of.path and storable_text(of.path)
    by = of.resolved_by and storable_text(of.resolved_by)
    return of if (path, by) == (of.path, of.resolved_by) else replace(of, path=path, resolved_by=by)


def _thread(row: Sequence[Any]) -> ReviewThread:
    *plain, comments = row
    return ReviewThread(*plain, tuple(map(comment_of, loads(comments))))


def comment_fields(comment: Comment) -> list[Any]:
    """A comment for JSON; surrogates and NULs are escaped there and come back as they were."""
    edited_at = comment.edited_at
    return [
        comment.id,
        comment.author,
        comment.body,
        comment.created_at.isoformat(),
        None if edited_at is None else edited_at.isoformat(),
        comment.url,
        comment.minimized,
    ]


def comment_of(fields: Sequence[Any]) -> Comment:
    """The comment that `comment_fields` wrote."""
    id_, author, body, created_at, edited_at, *rest = fields
    edited = None if edited_at is None else datetime.fromisoformat(edited_at)
    return Comment(id_, author, body, datetime.fromisoformat(created_at), edited, *rest)
