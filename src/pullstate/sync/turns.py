"""A repository's turn: whatever goes wrong in it is stored, backed off, and ends no other's."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime
from typing import TypeVar

from sqlalchemy import Connection

from pullstate.domain.freshness import Fault, FaultKind
from pullstate.forges.errors import Forbidden, ForgeError, NotVisible, Unauthorized
from pullstate.store import agenda, lease, reading, writing
from pullstate.store.agenda import Charge
from pullstate.store.errors import StoreError, Untracked
from pullstate.sync.faults import fault_of
from pullstate.sync.readers import ReaderName, chosen
from pullstate.sync.recording import amend
from pullstate.sync.schedule import retry_at
from pullstate.sync.session import Session

T = TypeVar("T")

log = logging.getLogger(__name__)


async def attempt(
    session: Session, charge: Charge, work: Callable[..., Awaitable[T]], *args: object
) -> T | None:
    """Do one piece of a repository's work; None where it failed, and then that is stored.

    A refused credential and a store that does not work are not one repository's fault: they are
    raised.
    """
    try:
        return await work(*args)
    except Untracked:
        return None
    except (Unauthorized, StoreError):
        raise
    except Exception as error:
        await failed(session, charge, error)
        return None


async def failed(session: Session, charge: Charge, error: Exception) -> bool:
    """Store a failed attempt; True where the repository passed on to another reader instead."""
    if isinstance(error, Unauthorized):
        raise error
    known, now = charge.sweep.fault, session.now()
    detail = "" if isinstance(error, ForgeError) else _logged(charge, known, error)
    fault = fault_of(error, known, now, session.interval, detail)
    refused = isinstance(error, Forbidden | NotVisible)
    try:
        return await session.commit(_fail, session.key, charge, fault, refused, now)
    except Untracked:
        return False


async def is_visible(session: Session, charge: Charge) -> bool:
    """Whether NOT_FOUND was about a pull request: a lost token looks like a deletion of all."""
    try:
        found = await session.ask(session.forge.find_repository, charge.repository.path)
    except Unauthorized:
        raise
    except ForgeError as error:
        await failed(session, charge, error)
        return False
    return found.forge_id == charge.repository.forge_id


async def fail_site(session: Session, charges: Iterable[Charge], since: datetime) -> datetime:
    """No credential is left that the forge accepts: all it would read fails; when to try again."""
    now = session.now()
    again = retry_at(since, now, session.planned_interval)
    fault = Fault(FaultKind.UNAUTHORIZED, since, again)
    await session.commit(_fail_all, session.key, list(charges), fault, now)
    return again


def _fail_all(
    conn: Connection, reader: str, charges: Iterable[Charge], fault: Fault, now: datetime
) -> None:
    for charge in charges:
        if not _is_read_by_another(conn, charge, reader, now):
            amend(conn, charge.repository.id, fault=fault, failures=charge.sweep.failures + 1)


def _logged(charge: Charge, known: Fault | None, error: Exception) -> str:
    """Log an error that nobody foresaw, once while it lasts; the reference that tells it apart."""
    if known and known.kind is FaultKind.UNEXPECTED and known.detail:
        return known.detail
    reference = f"reference {secrets.token_hex(4)}"
    log.error("reading %s failed (%s)", charge.repository.url, reference, exc_info=error)
    return reference


def _fail(
    conn: Connection, reader: str, charge: Charge, fault: Fault, refused: bool, now: datetime
) -> bool:
    known = agenda.charge(conn, charge.repository.id)
    if refused:
        writing.refuse(conn, known.repository.id, reader, fault.kind, now)
        if _is_read_by_another(conn, known, reader, now):
            return True
    amend(conn, known.repository.id, fault=fault, failures=known.sweep.failures + 1)
    return False


def _is_read_by_another(conn: Connection, charge: Charge, reader: str, now: datetime) -> bool:
    """Whether a live reader is left that has not been refused."""
    refused = {reader, *(each.reader for each in reading.refusals(conn, charge.repository.id))}
    live = [ReaderName.parse(t) for process in lease.live(conn, now) for t in process.readers]
    repository = charge.repository
    return chosen(repository.path, repository.site_url, live, refused) not in {None, *refused}
