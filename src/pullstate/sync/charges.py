"""A charge as the forge knows it: its identity there, and what is due of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from pullstate.forges.errors import ForgeError
from pullstate.forges.forge import Repository, Target
from pullstate.store import agenda, writing
from pullstate.store.agenda import Charge
from pullstate.store.errors import Untracked
from pullstate.store.records import Depth, StoredPullRequest
from pullstate.sync.answering import answered
from pullstate.sync.session import Session


def ref(charge: Charge) -> Repository:
    """How to name a charge to its forge. It must have been identified."""
    known = charge.repository
    if known.forge_id is None:
        raise ValueError("the repository was never asked for")
    return Repository(known.forge_id, known.path)


def target(charge: Charge, stored: StoredPullRequest) -> Target:
    """How to name a stored pull request to its forge."""
    known = stored.pull_request
    return Target(ref(charge), known.number, known.provider_id)


async def identified(session: Session, charge: Charge) -> Charge:
    """The charge with the forge's own id; asked for once."""
    if charge.repository.forge_id is not None:
        return charge
    found = await session.ask(session.forge.find_repository, charge.repository.path)
    return await _identify(session, charge, found)


async def confirm(session: Session, charge: Charge, found: Repository) -> None:
    """Follow a rename that an answer tells of. Untracked where the address is another's now."""
    known = charge.repository
    if (known.forge_id, known.path) == (found.forge_id, found.path):
        return
    after = await _identify(session, charge, found)
    if after.repository.id != known.id:
        raise Untracked("the address belongs to another repository now")


async def check_aliases(session: Session, charge: Charge) -> None:
    """Drop each former address at which another repository lives by now."""
    known = charge.repository
    for path in await session.read(agenda.aliases, known.id):
        found = await answered(session, session.forge.find_repository, path)
        if not isinstance(found, ForgeError) and found.forge_id != known.forge_id:
            await session.commit(agenda.drop_alias, known.id, path)


async def _identify(session: Session, charge: Charge, found: Repository) -> Charge:
    known = await session.commit(
        writing.identify, charge.repository.id, found.forge_id, found.path, session.now()
    )
    if known.id != charge.repository.id:
        return await session.read(agenda.charge, known.id)
    return replace(charge, repository=known)


def delta_due_at(charge: Charge, now: datetime) -> datetime | None:
    """When a charge's next delta is due; None while its first walk has not passed the open ones."""
    sweep = charge.sweep
    if charge.repository.depth is Depth.ONE or (sweep.stage == "open" and not sweep.swept):
        return None
    return max(sweep.next_delta_at or now, held_until(charge, now))


def roll_call_due_at(charge: Charge, now: datetime) -> datetime | None:
    """When a charge's next roll-call is due."""
    if not charge.sweep.swept:
        return None
    return max(charge.sweep.next_roll_call_at or now, held_until(charge, now))


def held_until(charge: Charge, now: datetime) -> datetime:
    """Nothing is asked of a failing charge before this."""
    fault = charge.sweep.fault
    return fault.retry_at if fault and fault.retry_at else now
