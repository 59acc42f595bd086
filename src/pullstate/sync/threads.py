"""Review threads, and the facets of single pull requests: read because somebody asked, kept up.

A gap or a fault dates nothing: what was known stays, with the reason beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import Connection

from pullstate.domain.merge_request import FacetBody
from pullstate.domain.review import Threads
from pullstate.forges.errors import ForgeError, RateLimited, Unauthorized, Unexpected
from pullstate.forges.forge import ThreadsReading
from pullstate.store import agenda, writing
from pullstate.store.agenda import Charge, FacetWanted
from pullstate.store.errors import Untracked
from pullstate.store.records import StoredPullRequest
from pullstate.sync.answering import answered
from pullstate.sync.batches import ask_each
from pullstate.sync.budget import Purpose
from pullstate.sync.charges import target
from pullstate.sync.faults import words
from pullstate.sync.memory import threads_of
from pullstate.sync.recording import Recorder
from pullstate.sync.schedule import THREADS_AGAIN, settles_within
from pullstate.sync.session import Session

THREADS = "threads"


async def read_threads(
    session: Session,
    charges: Mapping[int, Charge],
    wanted: Sequence[StoredPullRequest],
    purpose: Purpose = Purpose.UPKEEP,
) -> list[ThreadsReading]:
    """Read and store the threads of a batch of pull requests, in their order."""
    began_at = session.now()
    targets = [target(charges[each.repository_id], each) for each in wanted]
    answers = await ask_each(session, session.forge.threads, ThreadsReading, targets, purpose)
    for stored, answer in zip(wanted, answers, strict=True):
        _note(session, stored, answer, began_at)
        _note_settling(session, stored, began_at)
    recorder = Recorder(session.key, session.interval, session.memory)
    await session.commit(_write_threads, recorder, wanted, answers, began_at)
    return answers


def _note(
    session: Session, stored: StoredPullRequest, answer: ThreadsReading, began_at: datetime
) -> None:
    """What could not be read waits as long as an unchanged one would, or as the forge says."""
    why = words(answer.fault) if answer.fault else answer.threads and answer.threads.gap
    gaps = ((THREADS, why),) if why and not stored.pull_request.finished else ()
    session.memory.note_gaps(stored.repository_id, threads_of(stored.id), gaps)
    if why:
        again = began_at + session.interval * THREADS_AGAIN
        if isinstance(answer.fault, RateLimited):
            again = max(again, answer.fault.until)
        session.memory.held[THREADS, stored.id] = again


def _note_settling(session: Session, stored: StoredPullRequest, began_at: datetime) -> None:
    """A note may follow a change without moving it, for a while: read again after that."""
    changed_at = stored.pull_request.changed_at
    if began_at < changed_at + settles_within(session.forge.site.kind):
        session.memory.unsettled[stored.id] = changed_at
    else:
        session.memory.unsettled.pop(stored.id, None)


def is_held(session: Session, stored: StoredPullRequest, now: datetime) -> bool:
    """Whether threads are not to be read yet."""
    until = held_until(session, stored)
    return until is not None and now < until


def held_until(session: Session, stored: StoredPullRequest) -> datetime | None:
    """When threads may be read again that failed, or that were read on what settles still."""
    memory, changed_at = session.memory, stored.pull_request.changed_at
    ends = [memory.held.get((THREADS, stored.id))]
    if memory.unsettled.get(stored.id) == changed_at:
        ends.append(changed_at + settles_within(session.forge.site.kind))
    return max(filter(None, ends), default=None)


def _write_threads(
    conn: Connection,
    recorder: Recorder,
    wanted: Sequence[StoredPullRequest],
    answers: Sequence[ThreadsReading],
    at: datetime,
) -> None:
    for stored, answer in zip(wanted, answers, strict=True):
        try:
            agenda.charge(conn, stored.repository_id)
        except Untracked:
            continue
        read = answer.threads or Threads((), gap=words(answer.fault or Unexpected("nothing")))
        changed_at = stored.pull_request.changed_at
        if stored.id in recorder.memory.unsettled:
            changed_at -= timedelta(seconds=1)  # stale until it has settled
        writing.record_threads(conn, stored.id, read, at, changed_at=changed_at)
    for repository_id in {each.repository_id for each in wanted}:
        recorder.note(conn, repository_id)


async def refresh_facet(session: Session, charge: Charge, wanted: FacetWanted) -> None:
    """Read a facet again; where that fails the fault is stored, and it waits."""
    try:
        await read_facet(session, charge, wanted)
    except Unauthorized:
        raise
    except ForgeError:
        again = session.now() + session.interval * THREADS_AGAIN
        session.memory.held[wanted.facet, wanted.pull_request.id] = again


async def read_facet(session: Session, charge: Charge, wanted: FacetWanted) -> None:
    """Read one facet and keep it; a fault is kept beside the body that was known. ForgeError."""
    began_at = session.now()
    asked = target(charge, wanted.pull_request)
    body = await answered(session, session.forge.facet, asked, wanted.facet)
    if isinstance(body, ForgeError):
        await session.commit(_write_facet, wanted, None, words(body), began_at)
        raise body
    await session.commit(_write_facet, wanted, body, None, began_at)


def _write_facet(
    conn: Connection,
    wanted: FacetWanted,
    body: FacetBody | None,
    fault: str | None,
    at: datetime,
) -> None:
    stored = wanted.pull_request
    agenda.charge(conn, stored.repository_id)
    seen = stored.pull_request
    writing.record_facet(
        conn,
        stored.id,
        wanted.facet,
        body,
        at,
        seen.head.sha,
        fault=fault,
        changed_at=seen.changed_at,
    )
