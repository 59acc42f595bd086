"""The feed: numbers for changes, handed out in the order in which transactions commit.

A transaction gathers its changes and writes them at its end: the update of the one `feed` row
locks it until the commit, so nobody can take a later number and commit before.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import Connection, bindparam, select

from pullstate.domain.changes import Change
from pullstate.store.records import StoredChange
from pullstate.store.rows import dumps, loads
from pullstate.store.schema import change, feed, pull_request, repository

_FAR = 2**62  # beyond any number, and within a database's integers
_GATHERED = "pullstate_changes"

_TAKE = (
    feed.update()
    .values(last=feed.c.last + bindparam("n"), version=feed.c.version + 1)
    .returning(feed.c.last)
)
_INSERT = change.insert()


def begin(connection: Connection) -> None:
    """Forget what an earlier transaction on this connection gathered and did not commit."""
    connection.info[_GATHERED] = []


def gather(
    connection: Connection,
    repository_id: int,
    pull_request_id: int,
    changes: Iterable[Change],
    at: datetime,
) -> None:
    """Keep changes for the end of the transaction."""
    connection.info[_GATHERED].extend(
        {
            "repository_id": repository_id,
            "pull_request_id": pull_request_id,
            "kind": event.kind.value,
            "old": event.old,
            "new": event.new,
            "names": dumps(event.names) if event.names else None,
            "at": at,
        }
        for event in changes
    )


def finish(connection: Connection) -> None:
    """Number and write what was gathered; on PostgreSQL also tell watchers of the commit."""
    gathered = connection.info[_GATHERED]
    if not gathered and connection.dialect.name == "sqlite":
        return
    last = connection.execute(_TAKE, {"n": len(gathered)}).scalar_one()
    if gathered:
        first = last - len(gathered) + 1
        rows = [row | {"seq": seq} for seq, row in enumerate(gathered, first)]
        connection.execute(_INSERT, rows)


_CHANGES = (
    select(
        change.c.seq,
        change.c.kind,
        change.c.old,
        change.c.new,
        change.c.names,
        change.c.at,
        change.c.repository_id,
        repository.c.site_url,
        repository.c.path,
        change.c.pull_request_id,
        pull_request.c.handle,
        pull_request.c.number,
        pull_request.c.title,
    )
    .join(repository, repository.c.id == change.c.repository_id)
    .join(pull_request, pull_request.c.id == change.c.pull_request_id)
)
_AFTER = (
    _CHANGES.where(change.c.seq > bindparam("seq")).order_by(change.c.seq).limit(bindparam("limit"))
)
_NEWEST = _CHANGES.order_by(change.c.seq.desc()).limit(bindparam("limit"))
_IN_REPOSITORY = change.c.repository_id == bindparam("repository_id")
_OF_ONE = change.c.pull_request_id == bindparam("pull_request_id")
_SELECTS = {
    (newest, only): select_.where(narrowed) if narrowed is not None else select_
    for newest, select_ in ((False, _AFTER), (True, _NEWEST))
    for only, narrowed in (("", None), ("repository", _IN_REPOSITORY), ("one", _OF_ONE))
}
_NUMBERS = select(feed.c.last, feed.c.pruned)


def newest_change(connection: Connection) -> int:
    """The number of the newest change; 0 before the first."""
    return connection.execute(_NUMBERS).first()[0]  # type: ignore[index]


def oldest_cursor(connection: Connection) -> int:
    """The lowest number after which every change is still kept."""
    return connection.execute(_NUMBERS).first()[1]  # type: ignore[index]


def changes(
    connection: Connection,
    *,
    after: int | None,
    repository_id: int | None = None,
    pull_request_id: int | None = None,
    limit: int = 50,
) -> list[StoredChange]:
    """Changes in order: those after a number, or with None the newest `limit`, oldest first."""
    only = "one" if pull_request_id is not None else "repository" if repository_id else ""
    given = {
        "seq": after if after is None else min(after, _FAR),
        "repository_id": repository_id,
        "pull_request_id": pull_request_id,
        "limit": limit,
    }
    rows = connection.execute(_SELECTS[after is None, only], given).all()
    found = [_stored(row) for row in rows]
    return found[::-1] if after is None else found


def _stored(row) -> StoredChange:  # type: ignore[no-untyped-def]  # a Row of _CHANGES
    seq, kind, old, new, names, at, repository_id, site_url, path, id_, *one = row
    known = tuple(loads(names)) if names else ()
    url = f"{site_url}/{path}"
    return StoredChange(seq, kind, old, new, known, at, repository_id, url, id_, *one)


_SEQ_AT = select(change.c.seq).where(change.c.at < bindparam("before")).order_by(
    change.c.seq.desc()
).limit(1)  # fmt: skip


def prune_changes(connection: Connection, before: datetime) -> int:
    """Drop changes older than a time; how many. A cursor that needs one of them is too old then."""
    newest = connection.execute(_SEQ_AT, {"before": before}).scalar()
    if newest is None:
        return 0
    connection.execute(feed.update().values(pruned=newest))
    return connection.execute(change.delete().where(change.c.seq <= newest)).rowcount
