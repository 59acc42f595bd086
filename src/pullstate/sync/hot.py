"""The hot set: pull requests whose facts move without a bump, read again by id in batches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection

from pullstate.domain.pull_request import PullRequest
from pullstate.forges.errors import (
    Forbidden,
    ForgeError,
    NotVisible,
    RateLimited,
)
from pullstate.forges.forge import Reading
from pullstate.store import agenda, writing
from pullstate.store.agenda import Charge
from pullstate.store.errors import StoreError, Untracked
from pullstate.store.records import StoredPullRequest
from pullstate.sync.answering import foreseen
from pullstate.sync.batches import ask_each
from pullstate.sync.charges import target
from pullstate.sync.faults import words
from pullstate.sync.memory import Gaps, read_of
from pullstate.sync.recording import Recorder, Seen
from pullstate.sync.schedule import retry_at
from pullstate.sync.session import Session
from pullstate.sync.turns import is_visible

Answered = tuple[StoredPullRequest, Reading]
FACETS = ("details", "checks", "mergeability", "review")


async def run(
    session: Session, charges: Mapping[int, Charge], due: Sequence[StoredPullRequest]
) -> list[Reading]:
    """Read pull requests again, across repositories, in one request; the answers.

    A failed reading dates nothing: it is tried again later. NOT_FOUND twice makes one gone.
    """
    began_at = session.now()
    targets = [target(charges[each.repository_id], each) for each in due]
    answers = await ask_each(session, session.forge.read, Reading, targets)
    read: dict[int, list[Answered]] = defaultdict(list)
    for stored, answer in zip(due, answers, strict=True):
        read[stored.repository_id].append((stored, answer))
    for repository_id, answered in read.items():
        if not await _visible(session, charges[repository_id], answered):
            answered[:] = [(s, replace(a, fault=Forbidden("hidden"))) for s, a in answered]
        _note_gaps(session, repository_id, answered)
    await _commit(session, read, began_at)
    return answers


async def _visible(session: Session, charge: Charge, read: Sequence[Answered]) -> bool:
    """Whether NOT_FOUND is about pull requests, and not about their repository."""
    if not any(isinstance(answer.fault, NotVisible) for _, answer in read):
        return True
    if any(answer.pull_request is not None for _, answer in read):
        return True
    return await is_visible(session, charge)


async def _commit(
    session: Session, read: Mapping[int, Sequence[Answered]], began_at: datetime
) -> None:
    """Write everything at once; should a row not go in, every row by itself, without that one."""
    recorder = Recorder(session.key, session.interval, session.memory)
    try:
        await session.commit(_write, recorder, read, began_at)
    except StoreError:
        raise
    except Exception as error:
        if sum(map(len, read.values())) > 1:
            for repository_id, answered in read.items():
                for each in answered:
                    await _commit(session, {repository_id: [each]}, began_at)
            return
        [[(stored, answer)]] = read.values()
        fault = foreseen(session, "record", error)
        alone = {stored.repository_id: [(stored, replace(answer, pull_request=None, fault=fault))]}
        await session.commit(_write, recorder, alone, began_at)


def _note_gaps(session: Session, repository_id: int, read: Sequence[Answered]) -> None:
    for stored, answer in read:
        if not stored.pull_request.finished:
            session.memory.note_gaps(repository_id, read_of(stored.id), _gaps(answer))


def _gaps(answer: Reading) -> Gaps:
    if answer.fault is None or isinstance(answer.fault, NotVisible):
        return answer.gaps
    return tuple((facet, words(answer.fault)) for facet in FACETS)


def _write(
    conn: Connection,
    recorder: Recorder,
    grouped: Mapping[int, Sequence[Answered]],
    at: datetime,
) -> None:
    for repository_id, read in grouped.items():
        try:
            charge = agenda.charge(conn, repository_id)
        except Untracked:
            continue
        _write_one(conn, recorder, charge, read, at)
        recorder.note(conn, repository_id)


def _write_one(
    conn: Connection,
    recorder: Recorder,
    charge: Charge,
    read: Sequence[Answered],
    at: datetime,
) -> None:
    repository = charge.repository
    rows: list[PullRequest] = [a.pull_request for _, a in read if a.pull_request is not None]
    if rows:
        recorder.full(conn, Seen(repository.id, repository.forge_id or "", rows, at))
    for stored, answer in read:
        if isinstance(answer.fault, NotVisible) and writing.retire(conn, stored.id, at):
            recorder.memory.forget(repository.id, stored.id)
        if answer.fault is not None:
            writing.schedule(conn, [(stored.id, _again_at(stored, answer.fault, at, recorder))])


def _again_at(
    stored: StoredPullRequest, fault: ForgeError, at: datetime, recorder: Recorder
) -> datetime:
    if isinstance(fault, RateLimited):
        return max(fault.until, at + recorder.interval)
    return retry_at(stored.observed.details or at, at, recorder.interval)
