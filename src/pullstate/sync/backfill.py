"""Backfill: a repository's first sweep, in two walks over what a forge keeps in creation order.

The open ones come first, with all facts; then everything, a lean page at a time: oldest first, or
newest first where only the newest are wanted. A page and the cursor behind it are one transaction,
so a walk goes on where a killed one ended; updates move no row of it, new ones append.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from sqlalchemy import Connection

from pullstate.forges.forge import Page
from pullstate.store import agenda
from pullstate.store.agenda import Charge
from pullstate.store.records import Depth
from pullstate.sync.budget import Purpose
from pullstate.sync.charges import confirm, ref
from pullstate.sync.concurrency import together
from pullstate.sync.recording import Recorder, seen_in
from pullstate.sync.session import Session

NEWEST_WANTED = 1000  # rows after which a repository that was only asked about is no longer UNREAD

OPEN, ALL, REST, DONE = "open", "all", "rest", "done"


@dataclass(frozen=True, slots=True)
class Walk:
    """Where a backfill stands: what to ask for next."""

    charge: Charge
    stage: str
    cursor: str | None

    @property
    def question(self) -> str:
        """What it asks of a forge."""
        return "open_page" if self.stage == OPEN else "lean_page"

    @property
    def purpose(self) -> Purpose:
        """Old rows that complete the picture of a repository that was asked about can wait."""
        rest = self.stage == REST and self.charge.sweep.swept
        wanted = self.charge.repository.depth is Depth.ALL
        return Purpose.REST if rest and not wanted else Purpose.BACKFILL


@dataclass(frozen=True, slots=True)
class Leg:
    """One page of a walk, answered and not yet written; `after` is where the walk goes on."""

    walk: Walk
    page: Page
    at: datetime
    after: Walk

    def known(self, swept: bool) -> Leg:
        """The same, once it is known whether the pages before sufficed."""
        charge = self.after.charge
        sweep = replace(charge.sweep, swept=swept)
        return replace(self, after=replace(self.after, charge=replace(charge, sweep=sweep)))


def walk_of(charge: Charge) -> Walk | None:
    """The walk that a repository still needs; None when it is complete or none is wanted."""
    sweep, depth = charge.sweep, charge.repository.depth
    if sweep.stage == DONE or depth in (None, Depth.ONE):
        return None
    return Walk(charge, sweep.stage, sweep.cursor)


async def begin(session: Session, charge: Charge) -> Charge:
    """Fix the watermark before the first page, so that no change falls between walk and delta."""
    if charge.sweep.watermark or charge.sweep.began_at:
        return charge
    at = session.now()
    newest = await session.ask(session.forge.newest_change, ref(charge))
    fields = {
        "watermark": newest,
        "began_at": at,
        "interval": session.interval,
        "next_delta_at": at + session.interval,
        "next_roll_call_at": at + session.interval * 10,
    }
    recorder = _recorder(session)
    await session.commit(recorder.amend, charge.repository.id, **fields)
    return replace(charge, sweep=replace(charge.sweep, **fields))


async def ask(session: Session, walk: Walk) -> Leg:
    """The next page of a walk."""
    forge, at = session.forge, session.now()
    question: Callable[..., Awaitable[Page]]
    how: dict[str, bool]
    if walk.stage == OPEN:
        question, most, how = forge.open_page, forge.limits.open_page, {}
    else:
        question, most = forge.lean_page, forge.limits.lean_page
        how = {"newest_first": walk.stage == REST}
    page = await session.ask_smaller(
        f"{walk.stage} {walk.charge.repository.id}",
        most,
        lambda size: session.ask(
            question, ref(walk.charge), walk.cursor, size, purpose=walk.purpose, **how
        ),
    )
    await confirm(session, walk.charge, page.repository)
    return Leg(walk, page, at, _after(walk, page))


def _after(walk: Walk, page: Page) -> Walk:
    if page.next is not None:
        return replace(walk, cursor=page.next)
    if walk.stage != OPEN:
        return replace(walk, stage=DONE, cursor=None)
    everything = walk.charge.repository.depth is Depth.ALL
    return replace(walk, stage=ALL if everything else REST, cursor=None)


async def write(session: Session, leg: Leg) -> bool:
    """Commit a page with the cursor behind it; whether the repository is swept by now."""
    repository_id, page = leg.walk.charge.repository.id, leg.page
    session.memory.note_gaps(repository_id, f"walk {leg.walk.stage}", page.gaps)
    return await session.commit(_write, _recorder(session), leg)


def _write(conn: Connection, recorder: Recorder, leg: Leg) -> bool:
    repository_id = leg.walk.charge.repository.id
    seen = seen_in(repository_id, leg.page, leg.at)
    record = recorder.full if leg.walk.stage == OPEN else recorder.lean
    record(conn, seen, backfill=True)
    fields: dict[str, object] = {"stage": leg.after.stage, "cursor": leg.after.cursor}
    known = agenda.charge(conn, repository_id).sweep
    swept = known.swept or _is_swept(conn, leg)
    if swept and not known.swept:
        fields |= {"swept": True, "as_of": known.began_at}
    recorder.amend(conn, repository_id, **fields)
    return swept


def _is_swept(conn: Connection, leg: Leg) -> bool:
    """Everything is there; or, where only the newest are wanted, so many of them."""
    if leg.after.stage == DONE:
        return True
    only_newest = leg.walk.stage == REST and leg.walk.charge.repository.depth is Depth.OPEN
    if not only_newest or not leg.page.rows:
        return False
    oldest = leg.page.rows[-1].opened_at
    return agenda.opened_since(conn, leg.walk.charge.repository.id, oldest) >= NEWEST_WANTED


async def run(
    session: Session, walk: Walk, go_on: Callable[[Leg], bool] = lambda leg: True
) -> Walk:
    """Walk until the end, or until `go_on` says no between two pages; where it stands then.

    The next page is on its way while the last one is written.
    """
    leg = await ask(session, walk)
    while go_on(leg) and leg.after.stage != DONE:
        written = partial(write, session, leg)
        swept, leg = await together(written, partial(ask, session, leg.after))
        leg = leg.known(swept)
    return leg.known(await write(session, leg)).after


def _recorder(session: Session) -> Recorder:
    return Recorder(session.key, session.interval, session.memory)
