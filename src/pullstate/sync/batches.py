"""Questions about several pull requests at once: one answer each, whatever becomes of the whole."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from pullstate.forges.errors import ForgeError, Overloaded, Unexpected
from pullstate.forges.forge import Reading, Target, ThreadsReading
from pullstate.sync.answering import answered
from pullstate.sync.budget import Purpose
from pullstate.sync.session import Session

Answer = TypeVar("Answer", Reading, ThreadsReading)

HALVINGS = 2  # of a batch that is too much, before its pull requests wait for the next cycle
LEFT_OUT = Unexpected("the forge left a pull request out")


async def ask_each(
    session: Session,
    question: Callable[[Sequence[Target]], Awaitable[list[Answer]]],
    answer: type[Answer],
    targets: Sequence[Target],
    purpose: Purpose = Purpose.UPKEEP,
    *,
    halvings: int = HALVINGS,
) -> list[Answer]:
    """An answer for every target, in their order; a fault of the whole is each one's.

    What is too much at once is asked for in halves. Unauthorized is raised.
    """
    given = await answered(session, question, targets, purpose=purpose)
    if not isinstance(given, ForgeError):
        by_target = {each.target: each for each in given}
        return [by_target.get(each) or answer(each, fault=LEFT_OUT) for each in targets]
    if not isinstance(given, Overloaded) or not halvings or len(targets) == 1:
        return [answer(each, fault=given) for each in targets]
    half = len(targets) // 2
    parts = (targets[:half], targets[half:])
    asked = [
        await ask_each(session, question, answer, part, purpose, halvings=halvings - 1)
        for part in parts
    ]
    return [each for part in asked for each in part]
