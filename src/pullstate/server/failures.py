"""What nobody foresaw, in the log: one line, with a reference that the reply carries too."""

from __future__ import annotations

import logging
import secrets
import traceback
from pathlib import Path


def log_failure(log: logging.Logger, what: str, error: BaseException) -> str:
    """Log where it happened and return the reference.

    The exception's own text stays out: it may quote a title, a parameter or a token.
    """
    reference = secrets.token_hex(4)
    log.error("%s failed, reference %s: %s", what, reference, described(error))
    return reference


def described(error: BaseException) -> str:
    """The kind and place of an error, and of those that led to it, innermost last."""
    links = []
    link: BaseException | None = error
    while link is not None and len(links) < 5:
        links.append(_kind_and_place(link))
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    return "; from ".join(links)


def _kind_and_place(error: BaseException) -> str:
    kind = type(error).__name__
    if isinstance(error, BaseExceptionGroup):
        kind += f" ({', '.join(_kind_and_place(inner) for inner in error.exceptions[:5])})"
    frames = traceback.extract_tb(error.__traceback__)[-4:]
    places = [f"{_module(f.filename)}:{f.lineno} in {f.name}" for f in reversed(frames)]
    return f"{kind} at {' < '.join(places)}" if places else kind


def _module(filename: str) -> str:
    """The file and its folder: enough to find it, without the machine's own folders."""
    return "/".join(Path(filename).parts[-2:])
