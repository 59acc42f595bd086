"""Facets of any size, for tests: what is not given has an ordinary value."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pullstate.domain.merge_request import (
    Commit,
    Commits,
    Conflicts,
    Diffs,
    Discussion,
    Discussions,
    FailedJob,
    FileDiff,
    Note,
    Notes,
    Pipeline,
    Pipelines,
    Position,
)
from pullstate.domain.review import Comment
from tests.domain.readings import HEAD, NOON, minutes


def file(path: str = "src/a.py", **changes: Any) -> FileDiff:
    patch = changes.pop("patch", "@@ -1 +1 @@\n-a\n+b\n")
    return replace(FileDiff(path, None, "modified", 1, 1, patch), **changes)


def diffs(*files: FileDiff, **changes: Any) -> Diffs:
    return replace(Diffs(tuple(files)), **changes)


def commit(number: int = 1, **changes: Any) -> Commit:
    known = Commit(f"{number:040x}", f"Commit {number}", "ann", NOON, f"https://x/c/{number}")
    return replace(known, **changes)


def commits(count: int, **changes: Any) -> Commits:
    """Newest first."""
    made = (commit(n, authored_at=NOON + minutes(n)) for n in range(count, 0, -1))
    return replace(Commits(tuple(made)), **changes)


def note(number: int = 1, body: str = "Why?", **changes: Any) -> Note:
    comment = Comment(number, changes.pop("author", "bob"), body, NOON + minutes(number))
    return replace(Note(comment, discussion_id=f"d{number}"), **changes)


def notes(count: int, body: str = "Why?", **changes: Any) -> Notes:
    """Oldest first."""
    return replace(Notes(tuple(note(n, body) for n in range(1, count + 1))), **changes)


def discussion(number: int = 1, count: int = 2, body: str = "Why?", **changes: Any) -> Discussion:
    said = tuple(note(number * 1000 + n, body, discussion_id=f"d{number}") for n in range(count))
    return replace(Discussion(f"d{number}", True, False, said), **changes)


def discussions(*items: Discussion, **changes: Any) -> Discussions:
    return replace(Discussions(tuple(items)), **changes)


def job(name: str = "build", **changes: Any) -> FailedJob:
    return replace(FailedJob(name, f"https://x/jobs/{name}"), **changes)


def pipeline(number: int = 1, *jobs: FailedJob, **changes: Any) -> Pipeline:
    known = Pipeline(
        id=str(number),
        status="failed" if jobs else "success",
        ref="topic",
        sha=HEAD,
        source="push",
        web_url=f"https://x/pipelines/{number}",
        created_at=NOON + minutes(number),
        failed_jobs=jobs,
    )
    return replace(known, **changes)


def pipelines(*items: Pipeline, **changes: Any) -> Pipelines:
    return replace(Pipelines(tuple(items)), **changes)


def conflicts(*paths: str, **changes: Any) -> Conflicts:
    return replace(Conflicts(bool(paths), paths), **changes)


def position(path: str | None = "src/a.py", **changes: Any) -> Position:
    return replace(Position(path, path, 3, None), **changes)
