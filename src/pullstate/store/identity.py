"""What a repository is: the forge's id says, and the address is an attribute that may move."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, select

from pullstate.store import tracked
from pullstate.store.records import Repository
from pullstate.store.repositories import by_forge_id, get, insert_repository
from pullstate.store.schema import alias, interest, repository, wish
from pullstate.store.upserts import insert_into, put


def identify(
    connection: Connection, repository_id: int, forge_id: str, path: str, at: datetime
) -> Repository:
    """Record what the forge says a repository is: its id, and its path as the forge spells it.

    - A first answer, or the same id: the path is corrected; after a rename the old one stays as an
      alias. Whoever else was stored at the new one is at no address any more, or goes into this
      row if it was never asked for.
    - An id that another row has already: this row goes into that one, with its interest.
    - Another id than before: another repository lives at the address now. It gets a row of its own
      and the interest; the old row keeps its id and its pull requests, under no address.

    Returns the row to go on with. Raises Untracked where the row was purged meanwhile.
    """
    row = get(connection, repository_id)
    other = by_forge_id(connection, row.site_url, forge_id)
    if other is None and row.forge_id not in (None, forge_id):
        _vacate(connection, row, forge_id, path)
        other = insert_repository(connection, row.site_url, row.kind, path, at)
    if other is not None and other.id != row.id:
        if row.forge_id is None:
            _merge(connection, row, other)
        else:
            _leave_address(connection, row.id)
            _move_interest(connection, row.id, other.id)
        row = other
    _settle(connection, row, forge_id, path)
    return get(connection, row.id)


def _vacate(connection: Connection, row: Repository, forge_id: str, path: str) -> None:
    """A row that is known to be another repository cannot stay at the address."""
    _leave_address(connection, row.id)
    stale = select(repository.c.id).where(
        repository.c.site_url == row.site_url,
        repository.c.path_key == path.casefold(),
        repository.c.forge_id.is_not(None),
        repository.c.forge_id != forge_id,
    )
    for (other_id,) in connection.execute(stale).all():
        _leave_address(connection, other_id)


def _leave_address(connection: Connection, repository_id: int) -> None:
    """Nothing leads to it by address any more."""
    connection.execute(
        repository.update().where(repository.c.id == repository_id).values(path_key=None)
    )
    connection.execute(alias.delete().where(alias.c.repository_id == repository_id))


def _move_interest(connection: Connection, old: int, new: int) -> None:
    tracked.mark(connection)
    columns = (interest.c.by, interest.c.depth, interest.c.since, interest.c.asked_at)
    moving = select(*columns).where(interest.c.repository_id == old)
    for by, depth, since, asked_at in connection.execute(moving).all():
        insert = insert_into(connection, interest).values(
            repository_id=new, by=by, depth=depth, since=since, asked_at=asked_at
        )
        connection.execute(
            insert.on_conflict_do_update(
                index_elements=["repository_id", "by", "depth"],
                set_={"asked_at": asked_at},
                where=interest.c.asked_at < asked_at,
            )
        )
    connection.execute(interest.delete().where(interest.c.repository_id == old))


def _merge(connection: Connection, younger: Repository, older: Repository) -> None:
    """Two addresses of one repository were taken up: the younger row goes, its interest stays."""
    _move_interest(connection, younger.id, older.id)
    for table in (alias, wish):
        connection.execute(
            table.update().where(table.c.repository_id == younger.id).values(repository_id=older.id)
        )
    connection.execute(repository.delete().where(repository.c.id == younger.id))
    if younger.listed and _is_address(younger.path):
        _add_alias(connection, older, younger.path.casefold())


def _settle(connection: Connection, row: Repository, forge_id: str, path: str) -> None:
    """Put a repository at its path, and leave an alias where it was."""
    key, old = path.casefold(), row.path.casefold()
    _take_in_the_unasked(connection, row, key)
    connection.execute(
        repository.update()
        .where(
            repository.c.site_url == row.site_url,
            repository.c.path_key == key,
            repository.c.id != row.id,
        )
        .values(path_key=None)
    )
    if (row.forge_id, row.path, row.listed) != (forge_id, path, True):
        tracked.mark(connection)
        connection.execute(
            repository.update()
            .where(repository.c.id == row.id)
            .values(forge_id=forge_id, path=path, path_key=key)
        )
    if old != key and row.listed and _is_address(old):
        _add_alias(connection, row, old)
    connection.execute(
        alias.delete().where(alias.c.site_url == row.site_url, alias.c.path_key == key)
    )


def _take_in_the_unasked(connection: Connection, row: Repository, key: str) -> None:
    """Who was wanted at the address, and never asked for, is this repository."""
    unasked = select(repository.c.id).where(
        repository.c.site_url == row.site_url,
        repository.c.path_key == key,
        repository.c.id != row.id,
        repository.c.forge_id.is_(None),
    )
    for (id_,) in connection.execute(unasked).all():
        _merge(connection, get(connection, id_), row)


def _is_address(path: str) -> bool:
    """A repository that was asked for by its forge's id had that for a path until now."""
    return "/" in path


def _add_alias(connection: Connection, row: Repository, key: str) -> None:
    place = {"site_url": row.site_url, "path_key": key}
    put(connection, alias, place, {"repository_id": row.id})
