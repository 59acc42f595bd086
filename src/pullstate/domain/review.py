"""Review threads and their comments, as both forges have them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

GHOST = "ghost"  # what both forges show for a deleted author


@dataclass(frozen=True, slots=True)
class Comment:
    """One comment of a thread, or of the conversation."""

    id: int  # the numeric id, which a reply call takes
    author: str
    body: str
    created_at: datetime
    edited_at: datetime | None = None
    url: str = ""
    minimized: str | None = None  # the forge's reason, such as OUTDATED; None when shown


@dataclass(frozen=True, slots=True)
class ReviewThread:
    """A thread on the code. `line` is None on an outdated one and on a whole file's."""

    id: str  # GitHub PRRT_…, GitLab the discussion id: what a resolve call takes
    is_resolved: bool
    is_outdated: bool
    path: str | None
    line: int | None
    start_line: int | None
    original_line: int | None
    original_start_line: int | None
    side: str | None  # LEFT: the removed side; RIGHT: the added one
    subject: str  # "line", "file" (the whole pull request where `path` is None) or "image"
    resolved_by: str | None
    comments: tuple[Comment, ...]


@dataclass(frozen=True, slots=True)
class Threads:
    """Every thread of a pull request as one reading found them; `gap` says why some are missing."""

    threads: tuple[ReviewThread, ...]
    gap: str | None = None
