"""Pipelines and their jobs. Nothing here moves a merge request's `updated_at`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tests.simulators.gitlab.mergeability import PIPELINE_ACTIVE
from tests.simulators.gitlab.model import Job, MergeRequest, Pipeline

if TYPE_CHECKING:
    from tests.simulators.gitlab.world import World

STATUSES = (
    "created",
    "waiting_for_resource",
    "preparing",
    "waiting_for_callback",
    "pending",
    "running",
    "success",
    "failed",
    "canceling",
    "canceled",
    "skipped",
    "manual",
    "scheduled",
)


class Building:
    """Acts of the continuous integration; a part of `World`."""

    def pipeline(
        self: World,
        mr: MergeRequest,
        status: str = "running",
        *,
        jobs: Iterable[Job | str] = (),
        sha: str | None = None,
        ref: str | None = None,
        source: str = "merge_request_event",
    ) -> Pipeline:
        """A new pipeline of the merge request, by default for its head; it becomes the head's.

        `jobs` are jobs, or `"name"` or `"name:status"`.
        """
        with self.lock:
            project, now = mr.project, self.now
            made = Pipeline(
                id=self.number("pipeline", 900_001),
                iid=self.number(f"pipeline of {project.id}"),
                project=project,
                sha=sha or mr.sha,
                ref=ref or f"refs/merge-requests/{mr.iid}/head",
                status=status,
                source=source,
                created_at=now,
                updated_at=now,
                user=mr.author,
            )
            made.jobs = [self._job_of(each, made) for each in jobs]
            project.pipelines[made.id] = made
            mr.pipelines.append(made)
            mr.head_pipeline = made
            self.set_status(made, status)
            return made

    def set_pipeline(self: World, mr: MergeRequest, status: str | None, **more: Any) -> None:
        """The head's pipeline now has this status, made if need be; `None`: there is none."""
        with self.lock:
            if status is None:
                mr.pipelines, mr.head_pipeline = [], None
                return
            head = mr.head_pipeline
            if head is None or head.sha != mr.sha or more:
                self.pipeline(mr, status, **more)
            else:
                self.set_status(head, status)

    def set_status(self: World, pipeline: Pipeline, status: str) -> None:
        with self.lock:
            pipeline.status, pipeline.updated_at = status, self.now
            if status not in PIPELINE_ACTIVE and status not in ("manual", "scheduled"):
                pipeline.finished_at = self.now
            if status not in ("created", "pending", "skipped", "manual", "scheduled"):
                pipeline.started_at = pipeline.started_at or self.now

    def job(self: World, name: str, status: str = "success", **more: Any) -> Job:
        """A job for `pipeline(jobs=...)` or `set_jobs`."""
        finished = None if status in PIPELINE_ACTIVE or status == "manual" else self.now
        more.setdefault("failure_reason", "script_failure" if status == "failed" else None)
        more.setdefault("stage", "test")
        number = self.number("job", 4_000_001)
        return Job(
            id=number,
            name=name,
            status=status,
            created_at=self.now,
            started_at=finished and self.now,
            finished_at=finished,
            **more,
        )

    def set_jobs(self: World, pipeline: Pipeline, *jobs: Job | str) -> None:
        with self.lock:
            pipeline.jobs = [self._job_of(each, pipeline) for each in jobs]
            pipeline.updated_at = self.now

    def _job_of(self: World, job: Job | str, pipeline: Pipeline) -> Job:
        if isinstance(job, str):
            name, _, status = job.partition(":")
            job = self.job(name, status or pipeline.status)
        job.project = pipeline.project
        return job
