"""Review threads for tests, and a pull request that has them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from pullstate.domain.review import Comment, ReviewThread
from pullstate.forges.demo import Project
from tests.server.office import Office
from tests.sync.stage import NOW


def comment(id_: int, body: str = "Why?", author: str = "grace", **fields: Any) -> Comment:
    return Comment(id_, author, body, NOW + timedelta(seconds=id_), url=f"#r{id_}", **fields)


def thread(n: int = 1, *comments: Comment, **fields: Any) -> ReviewThread:
    """A thread on one line, unresolved, unless told otherwise."""
    plain = {
        "is_resolved": False,
        "is_outdated": False,
        "path": "src/engine.py",
        "line": 10,
        "start_line": None,
        "original_line": 10,
        "original_start_line": None,
        "side": "RIGHT",
        "subject": "line",
        "resolved_by": None,
    }
    return ReviewThread(f"PRRT_{n:04}", **(plain | fields), comments=comments or (comment(n),))


def kept(office: Office, *threads: ReviewThread, gap: str | None = None) -> tuple[int, Project]:
    """A pull request with these threads, read just now."""
    project = office.project()
    number = office.world.open(project, "Change", "branch")
    id_ = office.keep(project)
    project.threads[number] = list(threads)
    office.keep_threads(id_, project, number, gap)
    return id_, project
