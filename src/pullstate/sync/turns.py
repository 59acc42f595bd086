"""A repository's turn: whatever goes wrong in it is stored, backed off, and ends no other's."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from sqlalchemy import Connection

from pullstate.domain.freshness import Fault, FaultKind
from pullstate.forges.errors import (
    Forbidden,
    ForgeError,
    NotVisible,
    RateLimited,
    Unauthorized,
)
from pullstate.store import agenda, lease, reading, writing
from pullstate.store.agenda import Charge
from pullstate.store.errors import StoreError, Untracked
from pullstate.store.records import Sweep
from pullstate.sync.answering import answered
from pullstate.sync.charges import confirm
from pullstate.sync.faults import fault_of
from pullstate.sync.readers import ReaderName, chosen
from pullstate.sync.recording import amend
from pullstate.sync.schedule import retry_at
from pullstate.sync.session import Session

T = TypeVar("T")

log = logging.getLogger(__name__)


async def _moved_on(session: Session, charge: Charge) -> bool:
    """Whether another repository lives at the address of one that is not found any more."""
    if charge.repository.forge_id is None:
        return False
    found = await answered(session, session.forge.find_repository, charge.repository.path)
    if isinstance(found, ForgeError):
        return False
    try:
        await confirm(session, charge, found)
    except Untracked:
        return True
    return False


@dataclass(frozen=True, slots=True)
class Others:
    """The live readers other `than` one, at a moment."""

    than: str
    now: datetime
    within: timedelta

    @classmethod
    def of(cls, session: Session) -> Others:
        return cls(session.key, session.now(), session.within)

    def read(self, conn: Connection, charge: Charge) -> bool:
        """Whether one of them may read a repository, and has not been refused."""
        known = charge.repository
        refused = {self.than, *(each.reader for each in reading.refusals(conn, known.id))}
        running = lease.live(conn, self.now, self.within)
        live = [ReaderName.parse(text) for process in running for text in process.readers]
        return chosen(known.path, known.site_url, live, refused) not in {None, *refused}


async def attempt(
    session: Session, charge: Charge, work: Callable[..., Awaitable[T]], *args: object
) -> T | None:
    """Do one piece of a repository's work; None where it failed, and then that is stored.

    A refused credential and a store that does not work are not one repository's fault: they are
    raised. A limit on one resource ends this piece alone: what else is asked goes on.
    """
    try:
        return await work(*args)
    except Untracked:
        return None
    except (Unauthorized, StoreError):
        raise
    except Exception as error:
        alone = isinstance(error, RateLimited) and not error.of_everything
        if alone and charge.sweep.swept:
            return None
        await failed(session, charge, error)
        return None


async def failed(session: Session, charge: Charge, error: Exception) -> bool:
    """Store a failed attempt; True where the repository passed on to another reader instead."""
    if isinstance(error, Unauthorized):
        raise error
    if isinstance(error, NotVisible) and await _moved_on(session, charge):
        return False
    known, now = await _still_failing(session, charge), session.now()
    detail = "" if isinstance(error, ForgeError) else _logged(charge, known, error)
    fault = fault_of(error, known, now, session.interval, detail)
    refused = isinstance(error, Forbidden | NotVisible)
    try:
        return await session.commit(_fail, Others.of(session), charge, fault, refused)
    except Untracked:
        return False


async def _still_failing(session: Session, charge: Charge) -> Fault | None:
    """The charge's fault, unless a read succeeded since the charge was looked up."""
    known = charge.sweep.fault
    return known and (await session.read(reading.sweep, charge.repository.id)).fault


async def is_visible(session: Session, charge: Charge) -> bool:
    """Whether NOT_FOUND was about a pull request: a lost token looks like a deletion of all."""
    found = await answered(session, session.forge.find_repository, charge.repository.path)
    if isinstance(found, ForgeError):
        await failed(session, charge, found)
        return False
    return found.forge_id == charge.repository.forge_id


async def fail_site(session: Session, charges: Iterable[Charge]) -> datetime:
    """No credential is left that the forge accepts: all it would read fails; when to try again."""
    interval = session.planned_interval
    return await session.commit(_fail_all, Others.of(session), list(charges), interval)


def _fail_all(
    conn: Connection, others: Others, charges: Iterable[Charge], interval: timedelta
) -> datetime:
    failing = [charge.repository.id for charge in charges if not others.read(conn, charge)]
    known = {id_: reading.sweep(conn, id_) for id_ in failing}
    since = _refused_since(known.values(), others.now)
    again = retry_at(since, others.now, interval)
    fault = Fault(FaultKind.UNAUTHORIZED, since, again)
    for id_, sweep in known.items():
        amend(conn, id_, fault=fault, failures=sweep.failures + 1)
    return again


def _refused_since(sweeps: Iterable[Sweep], now: datetime) -> datetime:
    """Since when the credential is refused: one read that succeeded, and it begins anew."""
    tried = [sweep.fault for sweep in sweeps if sweep.fault or sweep.reader]
    accepted = any(fault is None or fault.kind is not FaultKind.UNAUTHORIZED for fault in tried)
    return now if accepted else min((fault.since for fault in tried), default=now)


def _logged(charge: Charge, known: Fault | None, error: Exception) -> str:
    """Log an error that nobody foresaw, once while it lasts; the reference that tells it apart."""
    if known and known.kind is FaultKind.UNEXPECTED and known.detail:
        return known.detail
    reference = f"reference {secrets.token_hex(4)}"
    log.error("reading %s failed (%s)", charge.repository.url, reference, exc_info=error)
    return reference


def _fail(conn: Connection, others: Others, charge: Charge, fault: Fault, refused: bool) -> bool:
    known = agenda.charge(conn, charge.repository.id)
    if refused:
        writing.refuse(conn, known.repository.id, others.than, fault.kind, others.now)
        if others.read(conn, known):
            return True
    amend(conn, known.repository.id, fault=fault, failures=known.sweep.failures + 1)
    return False
