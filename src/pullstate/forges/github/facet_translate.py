"""GitHub's facets → the domain, spelled as a merge request's are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pullstate.domain.merge_request import (
    Commit,
    Commits,
    Conflicts,
    Diffs,
    FailedJob,
    FileDiff,
    Overview,
    Pipeline,
    Pipelines,
)
from pullstate.domain.pull_request import CheckVerdict, MergeVerdict
from pullstate.domain.review import GHOST
from pullstate.forges.github import facet_payloads, payloads
from pullstate.forges.github.api import read
from pullstate.forges.github.checks import (
    is_status,
    name_of,
    newest_of,
    outcome,
    verdict_of,
)
from pullstate.forges.github.translate import login, merge_verdict, requested

_STATES = {"OPEN": "opened", "CLOSED": "closed", "MERGED": "merged"}
_FILE_STATES = {"added": "added", "copied": "added", "removed": "deleted", "renamed": "renamed"}
_EMPTY_FILE = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"  # git's hash of nothing
_STATUS_WORDS = {
    CheckVerdict.FAILING: "failure",
    CheckVerdict.PENDING: "pending",
    CheckVerdict.PASSING: "success",
    CheckVerdict.NONE: "pending",
}


def overview(seen: facet_payloads.Overview) -> Overview:
    """What the base shows: reviewers are those who are asked and those who reviewed."""
    reviewed = seen.latest_reviews.items if seen.latest_reviews else []
    names = (*requested(seen.review_requests), *sorted({login(each.author) for each in reviewed}))
    labels = seen.labels.items if seen.labels else []
    return Overview(
        state=_STATES.get(seen.state or "", "opened"),
        description=seen.body,
        labels=tuple(label.name for label in labels),
        reviewers=tuple(dict.fromkeys(names)),
        detailed_merge_status=seen.merge_state_status or seen.mergeable or "",
    )


def conflicts(seen: facet_payloads.Overview) -> Conflicts:
    """True, false, or unknown with the reason; GitHub does not name the files."""
    if seen.state in ("MERGED", "CLOSED"):
        return Conflicts(None, reason=f"the pull request is {seen.state.lower()}")
    verdict = merge_verdict(seen.mergeable, seen.merge_state_status)
    if verdict is MergeVerdict.CONFLICTING:
        return Conflicts(True, reason="GitHub does not say in which files")
    if seen.mergeable == "MERGEABLE":
        return Conflicts(False)
    return Conflicts(None, reason="GitHub has not computed it yet")


def diffs(
    files: Sequence[Mapping[str, Any]],
    total_files: int | None,
    additions: int | None,
    deletions: int | None,
) -> Diffs:
    """REST's files. GitHub counts all and lists at most 3,000."""
    made = tuple(_file(read(facet_payloads.ChangedFile, each)) for each in files)
    return Diffs(
        files=made,
        truncated=total_files is not None and len(made) < total_files,
        total_files=total_files,
        total_additions=additions,
        total_deletions=deletions,
    )


def _file(seen: facet_payloads.ChangedFile) -> FileDiff:
    """Without a patch a file is too large where lines are counted, and binary where none are,
    unless nothing in it changed: it was only renamed, or is empty."""
    changed = seen.additions + seen.deletions
    unpatched = seen.patch is None
    unchanged = seen.status in ("renamed", "unchanged") or seen.sha == _EMPTY_FILE
    return FileDiff(
        path=seen.filename,
        old_path=seen.previous_filename,
        status=_FILE_STATES.get(seen.status, "modified"),
        additions=seen.additions,
        deletions=seen.deletions,
        patch=seen.patch,
        binary=unpatched and changed == 0 and not unchanged,
        too_large=unpatched and changed > 0,
    )


def commits(found: Iterable[facet_payloads.ListedCommit], *, truncated: bool) -> Commits:
    """As they come: newest first."""
    return Commits(tuple(_commit(each) for each in found), truncated)


def _commit(seen: facet_payloads.ListedCommit) -> Commit:
    author = seen.author
    user = author.user.login if author and author.user else ""
    return Commit(
        sha=seen.oid,
        title=seen.message_headline,
        author=user or (author.name if author else None) or GHOST,
        authored_at=(author.date if author else None) or seen.committed_date,
        web_url=seen.url,
    )


def pipelines(pages: Sequence[facet_payloads.OnHead], *, truncated: bool) -> Pipelines:
    """Suites that ran or will; those of apps that never report have nothing to show."""
    made = [
        _pipeline(suite, page.commit.oid, page.head_ref_name)
        for page in pages
        if page.commit and page.commit.check_suites
        for suite in page.commit.check_suites.items
        if suite.workflow_run or (suite.check_runs and suite.check_runs.items)
    ]
    made += _statuses(pages[0]) if pages else []
    dated = [each for each in made if each.created_at]
    undated = [each for each in made if not each.created_at]
    return Pipelines((*sorted(dated, key=_created, reverse=True), *undated), truncated)


def _created(pipeline: Pipeline) -> Any:
    return pipeline.created_at, pipeline.id


def _pipeline(suite: payloads.CheckSuite, sha: str, ref: str) -> Pipeline:
    run = suite.workflow_run
    jobs = newest_of(suite.check_runs.items) if suite.check_runs else []
    workflow = run.workflow.name if run and run.workflow else ""
    return Pipeline(
        id=str((run.database_id if run else None) or suite.database_id or ""),
        status=(suite.conclusion or suite.status or "").lower(),
        ref=ref,
        sha=sha,
        source=": ".join(filter(None, (workflow or _app(suite), run.event if run else ""))),
        web_url=(run.url if run else "") or suite.url,
        created_at=suite.created_at,
        failed_jobs=_failed(jobs),
    )


def _app(suite: payloads.CheckSuite) -> str:
    return (suite.app.name or suite.app.slug) if suite.app else ""


def _failed(jobs: Iterable[payloads.Context]) -> tuple[FailedJob, ...]:
    return tuple(
        FailedJob(name_of(job), job.details_url or job.target_url or "")
        for job in jobs
        if outcome(job) is CheckVerdict.FAILING
    )


def _statuses(page: facet_payloads.OnHead) -> list[Pipeline]:
    """The legacy statuses of a commit, as one pipeline that has no page of its own."""
    commit = page.commit
    rollup = commit.status_check_rollup if commit else None
    contexts = rollup.contexts.items if rollup and rollup.contexts else []
    statuses = newest_of(each for each in contexts if is_status(each))
    if commit is None or not statuses:
        return []
    times = [each.created_at for each in statuses if each.created_at]
    return [
        Pipeline(
            id="statuses",
            status=_STATUS_WORDS[verdict_of(statuses)],
            ref=page.head_ref_name,
            sha=commit.oid,
            source="commit statuses",
            web_url="",
            created_at=min(times, default=None),
            failed_jobs=_failed(statuses),
        )
    ]
