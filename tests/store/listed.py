"""What a list would show, with all that is stored of it."""

from __future__ import annotations

from sqlalchemy import Connection

from pullstate.store import agenda, reading
from pullstate.store.engine import Store
from pullstate.store.records import StoredPullRequest

BATCH = 1_000  # a statement takes so many parameters at once


def listed(store: Store, repository_id: int) -> dict[int, StoredPullRequest]:
    """Every pull request that is listed of a repository, by number, in the order of the list."""
    return store.read_now(_listed, repository_id)


def _listed(conn: Connection, repository_id: int) -> dict[int, StoredPullRequest]:
    ids = [row.id for row in reading.page(conn, repository_id, limit=100_000)]
    batches = [agenda.by_ids(conn, ids[at : at + BATCH]) for at in range(0, len(ids), BATCH)]
    whole = {stored.id: stored for batch in batches for stored in batch}
    return {whole[id_].pull_request.number: whole[id_] for id_ in ids}
