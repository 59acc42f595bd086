"""What a demo pull request shows when looked at closely: made up, but of one piece."""

from __future__ import annotations

from pullstate.domain.merge_request import (
    Commit,
    Commits,
    Conflicts,
    Diffs,
    Discussion,
    Discussions,
    Facet,
    FacetBody,
    FailedJob,
    FileDiff,
    Note,
    Notes,
    Overview,
    Pipeline,
    Pipelines,
)
from pullstate.domain.pull_request import CheckVerdict, MergeVerdict, PullRequest
from pullstate.domain.review import ReviewThread

_STATUS = {
    CheckVerdict.PENDING: "running",
    CheckVerdict.PASSING: "success",
    CheckVerdict.FAILING: "failed",
}
_PATCH = "@@ -1,2 +1,3 @@\n def launch():\n-    pass\n+    ignite()\n+    lift_off()\n"


def facet_of(
    facet: Facet, pull_request: PullRequest, threads: tuple[ReviewThread, ...]
) -> FacetBody:
    """One facet of a pull request."""
    match facet:
        case Facet.OVERVIEW:
            return _overview(pull_request)
        case Facet.DIFFS:
            return _diffs()
        case Facet.COMMITS:
            return _commits(pull_request)
        case Facet.NOTES:
            return Notes(tuple(note for thread in threads for note in _notes(thread)))
        case Facet.PIPELINES:
            return _pipelines(pull_request)
        case Facet.DISCUSSIONS:
            return Discussions(tuple(map(_discussion, threads)))
        case Facet.CONFLICTS:
            return _conflicts(pull_request)


def _overview(pull_request: PullRequest) -> Overview:
    state = "merged" if pull_request.merged_at else "closed" if pull_request.closed_at else "opened"
    review, mergeability = pull_request.review, pull_request.mergeability
    return Overview(
        state=state,
        description=f"{pull_request.title}.\n\nPart of the demo.",
        labels=("demo",),
        reviewers=(*review.requested, *review.approved_by) if review else (),
        detailed_merge_status=mergeability.raw if mergeability else "",
    )


def _diffs() -> Diffs:
    return Diffs(
        (
            FileDiff("src/launch.py", None, "modified", 2, 1, _PATCH),
            FileDiff("uv.lock", None, "modified", 40, 12, "@@ -1 +1 @@\n-old\n+new\n"),
        )
    )


def _commits(pull_request: PullRequest) -> Commits:
    head = pull_request.head
    url = f"{pull_request.url}/commits/{head.sha}"
    return Commits(
        (Commit(head.sha, pull_request.title, pull_request.author, pull_request.opened_at, url),)
    )


def _pipelines(pull_request: PullRequest) -> Pipelines:
    checks = pull_request.checks
    if checks is None or checks.verdict is CheckVerdict.NONE:
        return Pipelines(())
    failed = tuple(FailedJob(check.name, check.url) for check in checks.failing)
    return Pipelines(
        (
            Pipeline(
                id=checks.sha[:8],
                status=_STATUS[checks.verdict],
                ref=pull_request.head.branch,
                sha=checks.sha,
                source="push",
                web_url=f"{pull_request.url}/checks",
                created_at=pull_request.changed_at,
                failed_jobs=failed,
            ),
        )
    )


def _conflicts(pull_request: PullRequest) -> Conflicts:
    mergeability = pull_request.mergeability
    if mergeability is None or mergeability.verdict is MergeVerdict.UNKNOWN:
        return Conflicts(None, reason="the forge has not computed it")
    return Conflicts(mergeability.verdict is MergeVerdict.CONFLICTING)


def _discussion(thread: ReviewThread) -> Discussion:
    return Discussion(thread.id, True, thread.is_resolved, _notes(thread))


def _notes(thread: ReviewThread) -> tuple[Note, ...]:
    return tuple(
        Note(comment, resolvable=True, resolved=thread.is_resolved, discussion_id=thread.id)
        for comment in thread.comments
    )
