"""The checks of one commit → one verdict, and the names of those that failed.

GitHub rolls checks up itself, and its roll-up is right about most commits. It is wrong where a
workflow has no jobs yet (they are in no roll-up), where an earlier attempt failed, and where jobs
share a name; so the suites are read beside it, and the contexts of what fails.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from pullstate.domain.pull_request import Check, Checks, CheckVerdict
from pullstate.forges.github.payloads import CheckSuite, Commit, Context, Rollup

NONE, PENDING, PASSING, FAILING = (
    CheckVerdict.NONE,
    CheckVerdict.PENDING,
    CheckVerdict.PASSING,
    CheckVerdict.FAILING,
)
_ROLLUP = {
    None: NONE,
    "SUCCESS": PASSING,
    "FAILURE": FAILING,
    "ERROR": FAILING,
    "PENDING": PENDING,
    "EXPECTED": PENDING,
}
_PASSED = frozenset({"SUCCESS", "NEUTRAL", "SKIPPED"})
FAILED_STATES = frozenset(
    {
        "FAILURE",
        "ERROR",
        "CANCELLED",
        "TIMED_OUT",
        "ACTION_REQUIRED",
        "STARTUP_FAILURE",
    }
)
# Runs that nobody's push started say nothing about a head.
_NOT_OF_A_PUSH = frozenset({"schedule", "workflow_dispatch"})
_NEVER = datetime.min.replace(tzinfo=UTC)


def checks_of_commit(
    commit: Commit, contexts: Sequence[Context] | None = None, unreadable: str | None = None
) -> Checks:
    """What the checks of a commit come to. `contexts` are all of its contexts, where they were
    read: then the verdict is theirs, and not the roll-up's."""
    suites = commit.check_suites.items if commit.check_suites else []
    rollup = commit.status_check_rollup
    newest = newest_of(contexts or ())
    queued, awaiting = _queued(suites), _awaiting_approval(suites)
    verdict = _verdict(rollup, newest)
    if (queued or awaiting) and verdict is not FAILING:
        verdict = PENDING
    return Checks(
        sha=commit.oid,
        verdict=verdict,
        failing=_failing(newest) if verdict is FAILING else (),
        queued=queued,
        approval_required=awaiting,
        names=_names(rollup, contexts),
        counts=_counts(commit, newest if contexts is not None else None),
        unreadable=unreadable,
    )


def verdict_of(contexts: Iterable[Context]) -> CheckVerdict:
    """What contexts come to together, the newest of each kind counting."""
    outcomes = {outcome(context) for context in newest_of(contexts)}
    return next((each for each in (FAILING, PENDING, PASSING) if each in outcomes), NONE)


def _verdict(rollup: Rollup | None, newest: Sequence[Context]) -> CheckVerdict:
    """Contexts know better than the roll-up, except what is expected and was never reported."""
    rolled_up = rollup_verdict(rollup.state if rollup else None)
    if not newest:
        return rolled_up
    counted = verdict_of(newest)
    expected = rollup is not None and rollup.state == "EXPECTED"
    return PENDING if expected and counted is PASSING else counted


def rollup_verdict(state: str | None) -> CheckVerdict:
    """What GitHub's own roll-up comes to; a state that is not known yet is pending."""
    return _ROLLUP.get(state, PENDING)


def outcome(context: Context) -> CheckVerdict:
    """What one check says. STALE, EXPECTED, no conclusion and every new word: pending."""
    word = state_of(context)
    if word in _PASSED:
        return PASSING
    return FAILING if word in FAILED_STATES else PENDING


def state_of(context: Context) -> str:
    """GitHub's word for where a check stands: its conclusion once it has one."""
    if is_status(context):
        return context.state or "PENDING"
    if context.status not in (None, "COMPLETED"):
        return context.status
    return context.conclusion or "PENDING"


def is_status(context: Context) -> bool:
    """Whether this is a legacy commit status, and no check run."""
    if context.kind is not None:
        return context.kind == "StatusContext"
    return context.state is not None and context.status is None


def name_of(context: Context) -> str:
    return (context.context or context.name or "") if is_status(context) else context.name or ""


def newest_of(contexts: Iterable[Context]) -> list[Context]:
    """Of each (app, workflow, name, event) the newest run; all of its jobs count that were not run
    again. Statuses of a name replace one another, and no check run."""
    named: dict[tuple[str, ...], list[Context]] = {}
    nameless = []
    for context in contexts:
        if name_of(context):
            named.setdefault(_kind(context), []).append(context)
        else:
            nameless.append(context)
    return [newest for group in named.values() for newest in _of_newest_run(group)] + nameless


def _kind(context: Context) -> tuple[str, ...]:
    suite = context.check_suite
    if is_status(context) or suite is None:
        return ("status" if is_status(context) else "run", "", "", name_of(context), "")
    run = suite.workflow_run
    workflow = run.workflow.name if run and run.workflow else ""
    app = suite.app.slug if suite.app else ""
    return ("run", app, workflow, name_of(context), run.event if run else "")


def _of_newest_run(group: list[Context]) -> list[Context]:
    if is_status(group[0]) or group[0].check_suite is None:
        return [max(group, key=_age)]
    by_suite: dict[int | None, list[Context]] = {}
    for context in group:
        by_suite.setdefault(context.check_suite.database_id, []).append(context)
    runs = sorted(by_suite.values(), key=lambda jobs: max(map(_age, jobs)), reverse=True)
    newest = next((run for run in runs if not _gave_way(run, runs)), runs[0])
    return [job for job in newest if not any(_replaces(other, job) for other in newest)]


def _age(context: Context) -> tuple[int, datetime]:
    """Sorts by start. What waits for its start is the newest; what ended without one, like a run
    that was cancelled in the queue, counts from its end."""
    if context.started_at is None and not is_status(context) and context.status != "COMPLETED":
        return 1, _NEVER
    return 0, context.started_at or context.completed_at or context.created_at or _NEVER


def _gave_way(run: list[Context], runs: list[list[Context]]) -> bool:
    """Whether a run was cancelled for another of its kind that was under way beside it.

    One that was started after the other had ended was cancelled by somebody, and counts.
    """
    if any(state_of(job) != "CANCELLED" for job in run):
        return False
    began = max(_age(job)[1] for job in run)
    others = (job for other in runs if other is not run for job in other)
    return any(
        state_of(job) != "CANCELLED" and (job.completed_at is None or began <= job.completed_at)
        for job in others
    )


def _replaces(later: Context, job: Context) -> bool:
    """Whether one job of a run is another's new attempt: it began after that one had ended.

    Jobs that only share a name run side by side, or are skipped after the other failed.
    """
    if later is job or job.completed_at is None or state_of(later) in ("SKIPPED", "NEUTRAL"):
        return False
    if later.started_at is None:
        return later.status not in (None, "COMPLETED")
    return later.started_at > job.completed_at


def _failing(newest: Sequence[Context]) -> tuple[Check, ...]:
    """The failed ones, required ones first, each name and address once."""
    failed = [each for each in newest if outcome(each) is FAILING]
    found = {
        Check(name_of(each), each.details_url or each.target_url or "", each.is_required): None
        for each in failed
    }
    return tuple(sorted(found, key=lambda check: (not check.required, check.name, check.url)))


def _queued(suites: Iterable[CheckSuite]) -> tuple[str, ...]:
    """Workflows under way; their run may have no jobs yet, and then no roll-up shows it.

    Suites of apps that never report have no workflow run, and do not count.
    """
    found = {
        _workflow(suite)
        for suite in suites
        if suite.status not in (None, "COMPLETED") and _counts_for_head(suite)
    }
    return tuple(sorted(found))


def _awaiting_approval(suites: Iterable[CheckSuite]) -> tuple[str, ...]:
    """Workflows of a fork that a maintainer has to let run: completed without having run."""
    found = {
        _workflow(suite)
        for suite in suites
        if suite.conclusion == "ACTION_REQUIRED" and _counts_for_head(suite)
    }
    return tuple(sorted(found))


def _counts_for_head(suite: CheckSuite) -> bool:
    return suite.workflow_run is not None and suite.workflow_run.event not in _NOT_OF_A_PUSH


def _workflow(suite: CheckSuite) -> str:
    run = suite.workflow_run
    return run.workflow.name if run and run.workflow else ""


def _names(rollup: Rollup | None, contexts: Sequence[Context] | None) -> tuple[str, ...] | None:
    """Every name that reported; GitHub lists a required one that did not as EXPECTED."""
    if contexts is None:
        return () if rollup is None else None
    reported = (each for each in contexts if state_of(each) != "EXPECTED")
    return tuple(sorted({name_of(each) for each in reported}))


def _counts(commit: Commit, newest: Sequence[Context] | None) -> tuple[tuple[str, int], ...]:
    counted: Counter[str] = Counter()
    if newest is not None:
        counted.update(state_of(each) for each in newest)
    else:
        for each in commit.counts:
            counted[each.state or ""] += each.count
    return tuple(sorted((state, count) for state, count in counted.items() if count))
