"""Which repositories are wanted, how deep, and by whom."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, bindparam, or_, select

from pullstate.domain.address import RepositoryAddress, Site
from pullstate.domain.freshness import FaultKind
from pullstate.domain.site import ForgeKind
from pullstate.store import tracked
from pullstate.store.errors import Untracked
from pullstate.store.records import NAMED, Depth, Interest, Repository
from pullstate.store.repositories import find_repository, get, insert_repository
from pullstate.store.schema import interest, repository, sweep
from pullstate.store.tracked import TrackedAddress
from pullstate.store.upserts import put

ASKED_FOR = timedelta(days=7)  # how long interest outlives the last question, or a remote's process
MISSING_KEPT = timedelta(days=1)  # the same, in what the forge says does not exist


def track(
    connection: Connection,
    address: RepositoryAddress,
    depth: Depth,
    by: str,
    at: datetime | None = None,
) -> Repository:
    """Want a repository, from now on or still. `by` is an `Interest`; the deepest wish counts."""
    now = at or datetime.now(UTC)
    known = find_repository(connection, address) or insert_repository(
        connection, address.site.url, address.site.kind, address.path, now
    )
    want(connection, known.id, depth, Interest(by), now)
    return get(connection, known.id)


def untrack(connection: Connection, repository_id: int) -> bool:
    """Want a repository no more; what is stored stays. False if nobody wanted it."""
    gone = interest.delete().where(interest.c.repository_id == repository_id)
    tracked.mark(connection)
    return connection.execute(gone).rowcount > 0


def drop_interest(
    connection: Connection, repository_id: int, by: str, depth: Depth | None = None
) -> bool:
    """End one cause of interest: a configuration names a repository no more."""
    condition = (interest.c.repository_id == repository_id) & (interest.c.by == by)
    if depth is not None:
        condition &= interest.c.depth == depth.value
    tracked.mark(connection)
    return connection.execute(interest.delete().where(condition)).rowcount > 0


def expire_interest(connection: Connection, now: datetime, keep: timedelta = ASKED_FOR) -> int:
    """End the interest of questions and remotes that were not renewed; how many ended.

    What was asked for by an id that no forge knew goes with the last interest in it, and what a
    forge said it does not have, a day after the last question: most often a mistyped name.
    """
    passing = (Interest.QUESTION.value, Interest.REMOTE.value)
    ended = interest.delete().where(interest.c.by.in_(passing), interest.c.asked_at < now - keep)
    count = connection.execute(ended).rowcount
    connection.execute(_ONLY_IDS)
    connection.execute(_MISSING, {"asked_before": now - MISSING_KEPT})
    return count


_ONLY_IDS = repository.delete().where(
    repository.c.forge_id.is_(None),
    repository.c.path.not_like("%/%"),
    repository.c.id.not_in(select(interest.c.repository_id)),
)


_ASKED_FOR_STILL = or_(
    interest.c.by != Interest.QUESTION.value, interest.c.asked_at >= bindparam("asked_before")
)
_NOT_FOUND = select(sweep.c.repository_id).where(sweep.c.fault_kind == FaultKind.NOT_FOUND.value)
_MISSING = repository.delete().where(
    repository.c.forge_id.is_(None),
    repository.c.id.in_(_NOT_FOUND),
    repository.c.id.not_in(select(interest.c.repository_id).where(_ASKED_FOR_STILL)),
)


def purge(connection: Connection, repository_id: int) -> bool:
    """Delete a repository and everything that hangs on it; False if it was not there."""
    tracked.mark(connection)
    gone = repository.delete().where(repository.c.id == repository_id)
    return connection.execute(gone).rowcount > 0


def forget_unidentified(connection: Connection, repository_id: int) -> bool:
    """Delete a repository that no forge was found to have; False where one was, or it is gone."""
    unidentified = (repository.c.id == repository_id) & repository.c.forge_id.is_(None)
    tracked.mark(connection)
    return connection.execute(repository.delete().where(unidentified)).rowcount > 0


def ensure_wanted(connection: Connection, repository_id: int) -> None:
    """Raise Untracked where a repository was untracked or purged since its read began."""
    if connection.execute(_WANTED, {"id": repository_id}).first() is None:
        raise Untracked("The repository is no longer tracked.")


_WANTED = select(interest.c.repository_id).where(
    interest.c.repository_id == bindparam("id")
).limit(1)  # fmt: skip


def named_addresses(connection: Connection) -> list[TrackedAddress]:
    """What somebody named, for the file beside the store."""
    named = (
        select(
            repository.c.site_url,
            repository.c.kind,
            repository.c.path,
            interest.c.depth,
            interest.c.by,
        )
        .join(interest, interest.c.repository_id == repository.c.id)
        .where(interest.c.by.in_([by.value for by in NAMED]), repository.c.path_key.is_not(None))
        .order_by(repository.c.id)
    )
    return [
        TrackedAddress(site_url, ForgeKind(kind), path, Depth(depth), by)
        for site_url, kind, path, depth, by in connection.execute(named)
    ]


def restore(connection: Connection, addresses: Sequence[TrackedAddress]) -> None:
    """Track again what the file beside the store names."""
    for known in addresses:
        address = RepositoryAddress(Site(known.kind, known.site_url), known.path)
        track(connection, address, known.depth, known.by)


def want(
    connection: Connection, repository_id: int, depth: Depth, by: Interest, at: datetime
) -> None:
    """Enter one cause of interest, or renew it."""
    if by in NAMED:
        tracked.mark(connection)
        _drop_other_depths(connection, repository_id, by, depth)
    key = {"repository_id": repository_id, "by": by.value, "depth": depth.value}
    put(connection, interest, key, {"asked_at": at}, first={"since": at})


def _drop_other_depths(
    connection: Connection, repository_id: int, by: Interest, depth: Depth
) -> None:
    """Who names a repository names one depth: the last one named."""
    others = (
        (interest.c.repository_id == repository_id)
        & (interest.c.by == by.value)
        & (interest.c.depth != depth.value)
    )
    connection.execute(interest.delete().where(others))
