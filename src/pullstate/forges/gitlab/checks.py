"""GitLab's pipelines → the checks of a head."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pullstate.domain.pull_request import Check, Checks, CheckVerdict
from pullstate.forges.gitlab.payloads import Facts, Job, MergeRequest
from pullstate.forges.gitlab.place import Place
from pullstate.forges.gitlab.values import nodes
from pullstate.forges.gitlab.verdicts import checks_verdict

MANUAL_JOB = "a manual job"


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The head's pipeline, as either API tells it; `failed` are jobs that are not allowed to."""

    status: str
    failed: tuple[Check, ...] = ()


def checks(sha: str, pipeline: Pipeline | None, unreadable: str | None) -> Checks:
    """The head pipeline's verdict, with the failed jobs' names where they were read.

    A pipeline that waits for a manual job waits for a person, unless something failed.
    """
    if pipeline is None:
        return Checks(sha, CheckVerdict.NONE, unreadable=unreadable)
    verdict = checks_verdict(pipeline.status, failed_job=bool(pipeline.failed))
    waits = pipeline.status.lower() == "manual" and verdict is CheckVerdict.PENDING
    return Checks(
        sha,
        verdict,
        failing=pipeline.failed if verdict is CheckVerdict.FAILING else (),
        approval_required=(MANUAL_JOB,) if waits else (),
        counts=((pipeline.status.upper(), 1),),
    )


def head_pipeline(seen: Facts, place: Place, *, required: bool) -> Pipeline | None:
    """GraphQL's head pipeline, which is the head commit's already."""
    found = seen.head_pipeline
    if found is None or found.status is None:
        return None
    return Pipeline(found.status, failed_jobs(nodes(found.jobs), place, required=required))


def rest_pipeline(seen: MergeRequest, failed: Sequence[Check] = ()) -> Pipeline | None:
    """REST's head pipeline, if it ran for the head commit or for its merge result."""
    found = seen.head_pipeline or seen.pipeline
    if found is None or found.status is None:
        return None
    of_result = re.fullmatch(rf"refs/merge-requests/{seen.iid}/(?:merge|train)", found.ref)
    if not of_result and (not found.sha or found.sha != seen.head_sha):
        return None
    return Pipeline(found.status, tuple(failed))


def failed_jobs(jobs: Iterable[Job], place: Place, *, required: bool) -> tuple[Check, ...]:
    """Those that are not allowed to fail, each name and address once."""
    found = (
        Check(each.name, job_url(each, place), required) for each in jobs if not each.allow_failure
    )
    return tuple(sorted(dict.fromkeys(found), key=lambda check: (check.name, check.url)))


def job_url(job: Job, place: Place) -> str:
    """A job's page."""
    return job.web_url or (place.below_host(job.web_path) if job.web_path else "")
