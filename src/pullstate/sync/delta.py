"""Delta: what changed in repositories since their watermarks, up to ten of them in one request.

The watermark is the forge's time: the newest change that was seen, which is on the first page of
one forge and on the last of another. It moves only in the transaction that ends a complete delta;
a page that fails ends it, and nothing is concluded from what was not seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection

from pullstate.forges.errors import ForgeError, Unauthorized, Unexpected
from pullstate.forges.forge import EPOCH, Delta, DeltaReading, Page
from pullstate.store import agenda, reading, writing
from pullstate.store.agenda import Charge
from pullstate.sync.answering import answered
from pullstate.sync.charges import confirm, ref
from pullstate.sync.recording import Recorder, seen_in
from pullstate.sync.schedule import OVERLAP, delta_again_at
from pullstate.sync.session import Session
from pullstate.sync.turns import attempt, failed

PROBES_AT_MOST = 10  # deltas in a row that a 304 may save
# A probe costs a request each and saves a point; one delta asks for ten repositories at one point.
PROBED_TOGETHER = 2
LEFT_OUT = Unexpected("the forge left a repository out")  # which does not make it empty
NEWEST_CHANGE = "newest change"  # what an ETag is kept for


@dataclass(frozen=True, slots=True)
class Asking:
    """A delta under way."""

    charge: Charge
    began_at: datetime
    etag: str | None = None  # vouches for what the delta is about to see
    cursor: str | None = None
    newest: datetime | None = None  # of the changes seen so far
    changed: int = 0

    @property
    def question(self) -> Delta:
        watermark = self.charge.sweep.watermark
        return Delta(ref(self.charge), watermark - OVERLAP if watermark else EPOCH, self.cursor)


async def run(session: Session, charges: Sequence[Charge]) -> None:
    """One delta of each charge, at most as many as fit into one request."""
    askings = [Asking(charge, session.now()) for charge in charges]
    if len(askings) <= PROBED_TOGETHER:
        askings = [a for each in askings if (a := await _probed(session, each)) is not None]
    while askings:
        answers = await _ask(session, askings)
        askings = [a for each in answers if (a := await _taken(session, *each)) is not None]


async def _probed(session: Session, asking: Asking) -> Asking | None:
    """None where the forge says, for nothing, that nothing was updated."""
    charge = asking.charge
    known = await session.read(reading.etag, charge.repository.id, session.key, NEWEST_CHANGE)
    probe = await answered(session, session.forge.probe, ref(charge), known)
    if probe is None or isinstance(probe, ForgeError):
        return asking  # it says nothing of the repository: run the delta
    if probe.unchanged and charge.sweep.probes_skipped < PROBES_AT_MOST:
        await attempt(session, charge, session.commit, _skip, _recorder(session), asking)
        return None
    return replace(asking, etag=probe.etag)


def _skip(conn: Connection, recorder: Recorder, asking: Asking) -> None:
    charge = agenda.charge(conn, asking.charge.repository.id)
    _end(conn, recorder, charge, asking, probes_skipped=charge.sweep.probes_skipped + 1)


async def _ask(
    session: Session, askings: Sequence[Asking]
) -> list[tuple[Asking, DeltaReading | Exception]]:
    """One request. Where it fails as a whole, every charge in it has failed."""
    questions = [asking.question for asking in askings]
    names = " ".join(str(asking.charge.repository.id) for asking in askings)
    try:
        answers = await session.ask_smaller(
            f"delta {names}",
            session.forge.limits.lean_page,
            lambda size: session.ask(session.forge.changed, questions, size),
        )
    except Unauthorized:
        raise
    except Exception as error:
        return [(asking, error) for asking in askings]
    given = {answer.delta: answer for answer in answers}
    return [(a, given.get(a.question) or LEFT_OUT) for a in askings]


async def _taken(
    session: Session, asking: Asking, answer: DeltaReading | Exception
) -> Asking | None:
    """Write one page; the delta that goes on, or None where it ended, completely or not."""
    if isinstance(answer, Exception) or answer.page is None:
        error = answer if isinstance(answer, Exception) else answer.fault
        await failed(session, asking.charge, error or LEFT_OUT)
        return None
    return await attempt(session, asking.charge, _take, session, asking, answer.page)


async def _take(session: Session, asking: Asking, page: Page) -> Asking | None:
    repository_id = asking.charge.repository.id
    await confirm(session, asking.charge, page.repository)
    changes = (row.changed_at for row in page.rows)
    asking = replace(asking, newest=max(filter(None, (asking.newest, *changes)), default=None))
    session.memory.note_gaps(repository_id, "delta", page.gaps)
    changed = await session.commit(_write, _recorder(session), asking, page)
    asking = replace(asking, cursor=page.next, changed=asking.changed + changed)
    if page.next is not None:
        return asking
    session.memory.note_delta(repository_id, news=asking.changed > 0)
    return None


def _write(conn: Connection, recorder: Recorder, asking: Asking, page: Page) -> int:
    """A page; the last one also moves the watermark. How many rows were news."""
    charge = agenda.charge(conn, asking.charge.repository.id)
    recorded = recorder.lean(conn, seen_in(charge.repository.id, page, asking.began_at))
    news = recorded.inserted + recorded.changed
    if page.next is None:
        newest = max(filter(None, (asking.newest, charge.sweep.watermark)), default=None)
        _end(conn, recorder, charge, asking, watermark=newest, probes_skipped=0)
        if asking.etag:
            repository_id = charge.repository.id
            writing.set_etag(conn, repository_id, recorder.reader, NEWEST_CHANGE, asking.etag)
    return news


def _end(
    conn: Connection, recorder: Recorder, charge: Charge, asking: Asking, **fields: object
) -> None:
    """The picture was complete when the delta, or the probe in its place, began."""
    repository_id = charge.repository.id
    again = delta_again_at(
        asking.began_at,
        recorder.interval,
        unfinished=agenda.has_unfinished(conn, repository_id),
        quiet=recorder.memory.quiet[repository_id],
    )
    if charge.sweep.swept:
        fields["as_of"] = asking.began_at
    recorder.amend(conn, repository_id, next_delta_at=again, interval=recorder.interval, **fields)


def _recorder(session: Session) -> Recorder:
    return Recorder(session.key, session.interval, session.memory)
