"""Wishes: single reads that a tool waits for. One read fulfils every wish for the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from sqlalchemy import Connection

from pullstate.domain.freshness import FAULT_WORDS
from pullstate.domain.merge_request import Facet
from pullstate.forges.errors import ForgeError, NotVisible, Unauthorized
from pullstate.store import agenda, reading, writing
from pullstate.store import wishes as rows
from pullstate.store.agenda import Charge, FacetWanted
from pullstate.store.errors import StoreError, Untracked
from pullstate.store.records import StoredPullRequest
from pullstate.store.wishes import Wish, WishKind
from pullstate.sync import delta, hot, threads
from pullstate.sync.charges import identified, ref
from pullstate.sync.concurrency import together
from pullstate.sync.faults import words
from pullstate.sync.recording import Recorder, Seen
from pullstate.sync.session import Session
from pullstate.sync.turns import failed, is_visible

READ, NOTHING, NOT_FOUND, FAILED = "read", "nothing", "not_found", "failed"
REFRESHED_BATCHES = 4  # of unfinished ones, when a whole list is to be fresh


@dataclass(frozen=True, slots=True)
class Errand:
    """One read for every open wish of a kind and target; `wanted_at` is the latest of theirs."""

    kind: WishKind
    repository_id: int
    target: str
    wanted_at: datetime

    @property
    def key(self) -> tuple[WishKind, int, str]:
        return self.kind, self.repository_id, self.target


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a read ended; `detail` says why it failed."""

    outcome: str
    detail: str = ""


def errands(open_wishes: list[Wish]) -> list[Errand]:
    """The reads that a list of wishes comes to, the longest wanted first."""
    found: dict[tuple[WishKind, int, str], list[datetime]] = defaultdict(list)
    for wish in open_wishes:
        found[wish.kind, wish.repository_id, wish.target].append(wish.wanted_at)
    together = [(min(times), Errand(*key, max(times))) for key, times in found.items()]
    return [errand for _, errand in sorted(together, key=lambda each: each[0])]


async def grant(session: Session, charge: Charge, errand: Errand) -> None:
    """Read what is wanted and answer the wishes; left open where another reader may do it."""
    # The wishes were in the store before this read began, whatever the askers' clocks say.
    began_at = max(session.now(), errand.wanted_at)
    try:
        charge = await identified(session, charge)
        outcome = await _KINDS[errand.kind](session, charge, errand.target)
    except Untracked:
        outcome = Outcome(FAILED, "it is not tracked any more, or its address leads elsewhere now")
    except (Unauthorized, StoreError):
        raise
    except Exception as error:
        passed_on = await _failed(session, charge, error)
        if passed_on:
            return
        outcome = Outcome(FAILED, words(error))
    await session.commit(
        rows.fulfil,
        errand.kind,
        charge.repository.id,
        errand.target,
        began_at,
        outcome.outcome,
        outcome.detail,
    )


async def _failed(session: Session, charge: Charge, error: Exception) -> bool:
    """Only what says something of the repository, or was not foreseen, is stored with it."""
    if isinstance(error, ForgeError) and not isinstance(error, NotVisible):
        return False
    return await failed(session, charge, error)


async def _branch(session: Session, charge: Charge, branch: str) -> Outcome:
    owner, _, name = branch.rpartition(":")
    at = session.now()
    found = await session.ask(session.forge.find_branch, ref(charge), name, owner or None)
    seen = Seen(charge.repository.id, ref(charge).forge_id, found, at)
    await session.commit(_record, _recorder(session), seen)
    return Outcome(READ if found else NOTHING)


async def _number(session: Session, charge: Charge, number: str) -> Outcome:
    at = session.now()
    try:
        found = await session.ask(session.forge.find_number, ref(charge), int(number))
    except NotVisible:
        if not await is_visible(session, charge):
            raise
        await session.commit(_missing, charge.repository.id, int(number), at)
        return Outcome(NOT_FOUND)
    seen = Seen(charge.repository.id, ref(charge).forge_id, [found], at)
    await session.commit(_record, _recorder(session), seen)
    return Outcome(READ)


async def _refresh(session: Session, charge: Charge, target: str) -> Outcome:
    """What changed, and the facts of the unfinished ones that a list shows first."""
    batch = session.forge.limits.read_batch
    unfinished = await session.read(reading.unfinished, charge.repository.id)
    shown = unfinished[: batch * REFRESHED_BATCHES]
    batches = [shown[start : start + batch] for start in range(0, len(shown), batch)]
    charges = {charge.repository.id: charge}
    _, *read = await together(
        partial(delta.run, session, [charge]),
        *(partial(hot.run, session, charges, each) for each in batches),
    )
    fault = (await session.read(agenda.charge, charge.repository.id)).sweep.fault
    if fault:
        return Outcome(FAILED, FAULT_WORDS[fault.kind])
    unread = [answer.fault for answers in read for answer in answers if answer.fault]
    return Outcome(FAILED, words(unread[0])) if unread else Outcome(READ)


async def _threads(session: Session, charge: Charge, number: str) -> Outcome:
    stored = await _stored(session, charge, number)
    if stored is None:
        return Outcome(NOT_FOUND)
    [answer] = await threads.read_threads(session, {charge.repository.id: charge}, [stored])
    return Outcome(FAILED, words(answer.fault)) if answer.fault else Outcome(READ)


async def _facet(session: Session, charge: Charge, target: str) -> Outcome:
    number, _, facet = target.partition(":")
    stored = await _stored(session, charge, number)
    if stored is None:
        return Outcome(NOT_FOUND)
    try:
        await threads.read_facet(session, charge, FacetWanted(stored, Facet(facet)))
    except NotVisible as error:
        if not await is_visible(session, charge):
            raise
        return Outcome(FAILED, words(error))
    return Outcome(READ)


async def _stored(session: Session, charge: Charge, number: str) -> StoredPullRequest | None:
    """A pull request by number, from the store or else from the forge; None where there is none."""
    numbers = [int(number)]
    known = await session.read(agenda.by_numbers, charge.repository.id, numbers)
    if not known or known[int(number)].gone_at:
        if (await _number(session, charge, number)).outcome == NOT_FOUND:
            return None
        known = await session.read(agenda.by_numbers, charge.repository.id, numbers)
    return known.get(int(number))


def _record(conn: Connection, recorder: Recorder, seen: Seen) -> None:
    recorder.full(conn, seen)


def _missing(conn: Connection, repository_id: int, number: int, at: datetime) -> None:
    known = agenda.by_numbers(conn, repository_id, [number])
    if number in known:
        writing.retire(conn, known[number].id, at)


def _recorder(session: Session) -> Recorder:
    return Recorder(session.key, session.interval, session.memory)


_KINDS: Mapping[WishKind, Callable[[Session, Charge, str], Awaitable[Outcome]]] = {
    WishKind.BRANCH: _branch,
    WishKind.NUMBER: _number,
    WishKind.REFRESH: _refresh,
    WishKind.THREADS: _threads,
    WishKind.FACET: _facet,
}
