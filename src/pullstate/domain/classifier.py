"""Where a pull request stands: observations → three verdicts → one state, with the reasons."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """UNREAD and NONE belong to a branch, the others to a pull request."""

    UNREAD = "UNREAD"
    NONE = "NONE"
    OPEN = "OPEN"
    APPROVED = "APPROVED"
    CHANGES_REQUESTED = "CHANGES_REQUESTED"
    DRAFT = "DRAFT"
    MERGED = "MERGED"
    CLOSED = "CLOSED"
    FAILING = "FAILING"
    APPROVED_WAITING = "APPROVED_WAITING"
    CONFLICTING = "CONFLICTING"


class Mover(StrEnum):
    """Whose move it is."""

    AUTHOR = "author"
    REVIEWER = "reviewer"
    MAINTAINER = "maintainer"
    FORGE = "forge"


@dataclass(frozen=True, slots=True)
class Reason:
    """One condition that holds: a code, what it is about ("ESP32 Sim Compile", "3"), whose move."""

    code: str
    about: str
    mover: Mover
