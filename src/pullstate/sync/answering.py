"""Asking where a refusal is an answer too."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from pullstate.forges.errors import ForgeError, Unauthorized, Unexpected
from pullstate.sync.session import Session

T = TypeVar("T")

log = logging.getLogger(__name__)


async def answered(
    session: Session, question: Callable[..., Awaitable[T]], *args: Any, **kwargs: Any
) -> T | ForgeError:
    """The answer, or why there is none. Unauthorized is raised: it is about more than this."""
    try:
        return await session.ask(question, *args, **kwargs)
    except Unauthorized:
        raise
    except Exception as error:
        return foreseen(session, question.__name__, error)


def foreseen(session: Session, question: str, error: Exception) -> ForgeError:
    """The error, where it is a forge's; any other is logged, once, and is unexpected."""
    if isinstance(error, ForgeError):
        return error
    reference = f"reference {secrets.token_hex(4)}"
    what = f"{question} {type(error)}"
    if what not in session.memory.logged:
        session.memory.logged.add(what)
        log.error("%s failed (%s)", question, reference, exc_info=error)
    return Unexpected(reference)
