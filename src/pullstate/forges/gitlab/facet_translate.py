"""GitLab's facets → the domain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from pullstate.domain.merge_request import (
    Commit,
    Commits,
    Conflicts,
    FailedJob,
    Overview,
    Pipeline,
    Pipelines,
)
from pullstate.domain.review import GHOST
from pullstate.forges.gitlab import facet_payloads, payloads
from pullstate.forges.gitlab.checks import job_url
from pullstate.forges.gitlab.diffs import Totals
from pullstate.forges.gitlab.place import Place
from pullstate.forges.gitlab.translate import is_finished, username
from pullstate.forges.gitlab.verdicts import CONFLICTING

_STATES = frozenset({"opened", "closed", "merged", "locked"})
_UNTOLD_FILES = "this GitLab's API does not say in which files"
_NOT_COMPUTED = "GitLab has not computed it yet"


def overview(seen: payloads.MergeRequest) -> Overview:
    """What the base shows and a list does not need."""
    return Overview(
        state=seen.state if seen.state in _STATES else "merged" if seen.merged_at else "opened",
        description=seen.description,
        labels=tuple(seen.labels),
        reviewers=tuple(dict.fromkeys(username(each) for each in seen.reviewers)),
        detailed_merge_status=seen.detailed_merge_status or seen.merge_status or "",
    )


def commits(found: Iterable[facet_payloads.Commit], place: Place, *, truncated: bool) -> Commits:
    """As they come: newest first. One without any time cannot be shown."""
    made = [_commit(each, place) for each in found]
    return Commits(tuple(each for each in made if each), truncated=truncated or not all(made))


def _commit(seen: facet_payloads.Commit, place: Place) -> Commit | None:
    at = seen.authored_date or seen.committed_date or seen.created_at
    if at is None:
        return None
    return Commit(
        sha=seen.id,
        title=seen.title or seen.message.partition("\n")[0],
        author=seen.author_name or GHOST,
        authored_at=at,
        web_url=seen.web_url or f"{place.url}/-/commit/{seen.id}",
    )


def pipelines(
    found: Sequence[payloads.Pipeline],
    jobs: Mapping[int, tuple[FailedJob, ...]],
    *,
    truncated: bool,
) -> Pipelines:
    """Newest first; a number says of two pipelines which is newer."""
    newest = sorted(found, key=lambda each: each.id or 0, reverse=True)
    return Pipelines(
        tuple(_pipeline(each, jobs.get(each.id or 0, ())) for each in newest), truncated
    )


def _pipeline(seen: payloads.Pipeline, failed: tuple[FailedJob, ...]) -> Pipeline:
    return Pipeline(
        id=str(seen.id or ""),
        status=(seen.status or "").lower(),
        ref=seen.ref,
        sha=seen.sha,
        source=seen.source,
        web_url=seen.web_url,
        created_at=seen.created_at,
        failed_jobs=failed,
    )


def failed_jobs(jobs: Iterable[payloads.Job], place: Place) -> tuple[FailedJob, ...]:
    """Those that may fail too."""
    return tuple(
        FailedJob(each.name, job_url(each, place), bool(each.allow_failure)) for each in jobs
    )


def conflicts(seen: payloads.MergeRequest) -> Conflicts:
    """True, false, or unknown with the reason.

    `has_conflicts` alone says false while GitLab is still looking.
    """
    status, detailed = _lower(seen.merge_status), _lower(seen.detailed_merge_status)
    if is_finished(seen):
        return Conflicts(None, reason=f"the merge request is {seen.state or 'merged'}")
    if status == "cannot_be_merged" or detailed in CONFLICTING:
        return Conflicts(True, reason=_UNTOLD_FILES)
    if status == "can_be_merged":
        return Conflicts(False)
    if status or seen.has_conflicts is None:
        return Conflicts(None, reason=_NOT_COMPUTED)
    return Conflicts(seen.has_conflicts, reason=_UNTOLD_FILES if seen.has_conflicts else None)


def with_files(found: Conflicts, seen: facet_payloads.ConflictingFiles) -> Conflicts:
    """The files by their present names; as it was where none is named."""
    paths = tuple(dict.fromkeys(each.new_path or each.old_path for each in seen.files))
    named = tuple(path for path in paths if path)
    return replace(found, files=named, reason=None) if named else found


def totals(seen: facet_payloads.DiffStats, said: str, **flaws: bool) -> Totals:
    """What GitLab counts over all files, those too that it does not show."""
    summary = seen.diff_stats_summary or facet_payloads.StatsSummary()
    return Totals(
        said=said,
        files=summary.file_count,
        additions=summary.additions,
        deletions=summary.deletions,
        of_file={each.path: (each.additions or 0, each.deletions or 0) for each in seen.diff_stats},
        **flaws,
    )


def _lower(word: str | None) -> str:
    return (word or "").lower()
