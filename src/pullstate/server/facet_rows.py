"""Facets → rows, each within its room. What is left out of a list is counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pullstate.domain.diff_exclusion import DiffExclusionPolicy
from pullstate.domain.merge_request import (
    Commit,
    Commits,
    Conflicts,
    Diffs,
    Discussions,
    FacetBody,
    FailedJob,
    Notes,
    Overview,
    Pipeline,
    Pipelines,
)
from pullstate.server import diff_rows, note_rows
from pullstate.server.answers import Strings, stamp
from pullstate.server.merge_request_row import HIDDEN
from pullstate.server.room import COUNTED, Row, cost, fair, fill, left_out, size


@dataclass(frozen=True, slots=True)
class Shape:
    """How much of a facet is wanted. The body of the notes is one page of them."""

    detail: str
    exclusion: DiffExclusionPolicy
    notes_page: int = 1
    notes_per_page: int = 20
    more_notes: bool = False


def row(body: FacetBody, shape: Shape, room: int) -> Row:
    """One facet within `room` bytes, which are never fewer than its fields take without lists."""
    match body:
        case Diffs():
            return diff_rows.diffs(body, shape.detail, shape.exclusion, room)
        case Notes():
            page = {"page": shape.notes_page, "per_page": shape.notes_per_page}
            return note_rows.notes(body, page | {"has_more": shape.more_notes}, room)
        case Discussions():
            return note_rows.discussions(body, room)
        case Commits():
            return _commits(body, room)
        case Pipelines():
            return _pipelines(body, room)
        case Conflicts():
            return _conflicts(body, room)
        case Overview():
            raise TypeError("the overview is shown as the base")


def _commits(body: Commits, room: int) -> Row:
    rows = [_commit(commit) for commit in body.items]
    shown = fill(rows, room - size({"items": [], **COUNTED}))
    return {"items": shown} | left_out(len(rows) - len(shown), body.truncated)


def _commit(commit: Commit) -> Row:
    text = Strings()
    row = {
        "sha": text.line(commit.sha),
        "title": text.line(commit.title),
        "author": text.line(commit.author),
        "authored_at": stamp(commit.authored_at),
        "web_url": text.line(commit.web_url),
    }
    return row | text.count(HIDDEN)


def _conflicts(body: Conflicts, room: int) -> Row:
    text = Strings()
    files = [{"path": text.line(path)} for path in body.files]
    shown: Row = {
        "has_conflicts": body.has_conflicts,
        "files": [],
        "reason": None if body.reason is None else text.line(body.reason),
    }
    shown |= text.count(HIDDEN)
    shown["files"] = fill(files, room - size(shown | COUNTED))
    missing = len(files) - len(shown["files"])
    return shown | ({"not_shown": missing} if missing else {})


# --- Pipelines -----------------------------------------------------------------------------------


def _pipelines(body: Pipelines, room: int) -> Row:
    """Where not all has room: half of it for the pipelines, the rest for the newest's failed jobs.

    What jobs leave goes back to older pipelines.
    """
    made = [_pipeline(pipeline) for pipeline in body.items]
    frames = [frame for frame, _ in made]
    room -= size({"items": [], **COUNTED})
    jobs_cost = sum(cost(jobs) for _, jobs in made)
    shown = fill(frames, fair(room, cost(frames), jobs_cost))
    room -= cost(shown)
    for frame, jobs in made[: len(shown)]:
        room -= _add_jobs(frame, jobs, room)
    shown += fill(frames[len(shown) :], room)
    return {"items": shown} | left_out(len(made) - len(shown), body.truncated)


def _add_jobs(frame: Row, jobs: Sequence[Row], room: int) -> int:
    """Give a pipeline its failed jobs while there is room; the bytes that they took."""
    shown = fill(jobs, room)
    frame["failed_jobs"] = shown
    if len(shown) == len(jobs):
        frame.pop("failed_jobs_not_shown", None)
    else:
        frame["failed_jobs_not_shown"] = len(jobs) - len(shown)
    return cost(shown)


def _pipeline(pipeline: Pipeline) -> tuple[Row, list[Row]]:
    """A pipeline without its failed jobs, and those."""
    text = Strings()
    jobs = [_failed_job(job, text) for job in pipeline.failed_jobs]
    shown: Row = {
        "id": text.line(pipeline.id),
        "status": text.line(pipeline.status),
        "ref": text.line(pipeline.ref),
        "sha": text.line(pipeline.sha),
        "source": text.line(pipeline.source),
        "web_url": text.line(pipeline.web_url),
        "created_at": stamp(pipeline.created_at) if pipeline.created_at else None,
        "failed_jobs": [],
    }
    if jobs:
        shown["failed_jobs_not_shown"] = len(jobs)
    return shown | text.count(HIDDEN), jobs


def _failed_job(job: FailedJob, text: Strings) -> Row:
    return {
        "name": text.line(job.name),
        "web_url": text.line(job.web_url),
        "allow_failure": job.allow_failure,
    }
