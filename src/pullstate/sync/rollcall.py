"""Roll-call: the whole open set by creation, a page at a time.

Only a complete one says anything of what was not in it, and then only that it must be looked at by
itself: it is due at once, and the hot set reads it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from pullstate.forges.forge import Page
from pullstate.store import agenda, writing
from pullstate.store.agenda import Charge
from pullstate.sync.charges import check_aliases, confirm, ref
from pullstate.sync.memory import EARLIER
from pullstate.sync.recording import Recorder, seen_in
from pullstate.sync.schedule import roll_call_again_at
from pullstate.sync.session import Session

QUESTION = "open_page"  # what it asks of a forge


@dataclass(frozen=True, slots=True)
class Call:
    """One page of a roll-call."""

    charge: Charge
    page: Page
    at: datetime
    began_at: datetime


async def step(session: Session, charge: Charge) -> None:
    """Ask for the next page of a charge's roll-call, and write it."""
    at, sweep = session.now(), charge.sweep
    began_at = sweep.roll_call_began_at if sweep.roll_call_cursor else at
    page = await session.ask_smaller(
        f"open {charge.repository.id}",
        session.forge.limits.open_page,
        lambda size: session.ask(
            session.forge.open_page, ref(charge), sweep.roll_call_cursor, size
        ),
    )
    await confirm(session, charge, page.repository)
    session.memory.note_gaps(charge.repository.id, "roll-call", page.gaps)
    if page.next is None:
        session.memory.note_gaps(charge.repository.id, EARLIER, ())
    recorder = Recorder(session.key, session.interval, session.memory)
    await session.commit(_write, recorder, Call(charge, page, at, began_at or at))
    if page.next is None:
        await check_aliases(session, charge)


def _write(conn: Connection, recorder: Recorder, call: Call) -> None:
    repository_id = call.charge.repository.id
    recorder.full(conn, seen_in(repository_id, call.page, call.at))
    if call.page.next is not None:
        fields = {"roll_call_cursor": call.page.next, "roll_call_began_at": call.began_at}
    else:
        fields = {
            "roll_call_cursor": None,
            "next_roll_call_at": roll_call_again_at(call.began_at, recorder.interval),
        }
        missing = agenda.not_seen_since(conn, repository_id, call.began_at)
        writing.schedule(conn, [(each, call.at) for each in missing])
    recorder.amend(conn, repository_id, **fields)
