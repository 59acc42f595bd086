"""The contexts (check runs and statuses) on the heads of pull requests, through all their pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pullstate.forges.errors import ForgeError
from pullstate.forges.github import payloads, translate
from pullstate.forges.github.api import Api, read
from pullstate.forges.github.checks import FAILED_STATES
from pullstate.forges.github.documents import contexts as document
from pullstate.forges.graphql import Result

MAX_PAGES = 20  # of 100 contexts each
BATCH = 25


@dataclass(slots=True)
class Contexts:
    """All contexts of one commit, or why they could not be read."""

    oid: str = ""
    found: list[payloads.Context] = field(default_factory=list)
    unread: str | None = None


def wanted(seen: payloads.PullRequest) -> bool:
    """Whether the roll-up alone leaves a question: which checks failed, which required one never
    reported, or whether anything still runs beside a workflow that waits for approval."""
    commit = seen.commit
    rollup = commit.status_check_rollup if commit else None
    if commit is None or rollup is None or translate.is_finished(seen):
        return False
    failed = any(each.state in FAILED_STATES and each.count for each in commit.counts)
    if rollup.state in ("FAILURE", "ERROR") or (failed and rollup.state != "SUCCESS"):
        return True
    if rollup.state in ("PENDING", "EXPECTED") and _awaits_approval(commit):
        return True
    return rollup.state in ("SUCCESS", "EXPECTED") and _is_blocked_by_rules(seen)


def _awaits_approval(commit: payloads.Commit) -> bool:
    suites = commit.check_suites.items if commit.check_suites else []
    return any(suite.conclusion == "ACTION_REQUIRED" for suite in suites)


def _is_blocked_by_rules(seen: payloads.PullRequest) -> bool:
    required = translate.rules(seen)
    return seen.merge_state_status == "BLOCKED" and bool(required and required.required_checks)


async def contexts_of(api: Api, ids: Sequence[str]) -> dict[str, Contexts]:
    """The contexts of each pull request, by node id. Never raises: what fails is `unread`."""
    found = {each: Contexts() for each in ids}
    for start in range(0, len(ids), BATCH):
        await _all_pages(api, {each: found[each] for each in ids[start : start + BATCH]})
    return found


async def _all_pages(api: Api, into: Mapping[str, Contexts]) -> None:
    cursors: dict[str, str | None] = dict.fromkeys(into)
    for _ in range(MAX_PAGES):
        if not cursors:
            return
        cursors = await _next_pages(api, cursors, into)
    for each in cursors:
        into[each].unread = f"more than {MAX_PAGES * 100} checks on one commit"


async def _next_pages(
    api: Api, cursors: Mapping[str, str | None], into: Mapping[str, Contexts]
) -> dict[str, str | None]:
    """Read one page of each, in one request; the cursors of those that have another."""
    aliases = {f"p{n}": each for n, each in enumerate(cursors)}
    after = {f"c{n}": cursor for n, cursor in enumerate(cursors.values())}
    try:
        result = await api.ask(document(len(aliases)), **aliases, **after)
    except ForgeError as error:
        for each in cursors:
            into[each].unread = str(error)
        return {}
    pages = {each: _take(result, alias, into[each]) for alias, each in aliases.items()}
    return {
        each: page.end_cursor
        for each, page in pages.items()
        if page.has_next_page and page.end_cursor
    }


def _take(result: Result, alias: str, into: Contexts) -> payloads.PageInfo:
    """Add one page to what was found of a pull request."""
    try:
        if result.data.get(alias) is None:
            raise result.missing(alias)
        commit = read(payloads.Checked, result.data[alias]).commit
    except ForgeError as error:
        into.unread = str(error)
        return payloads.PageInfo()
    rollup = commit.status_check_rollup if commit else None
    page = rollup.contexts if rollup and rollup.contexts else payloads.Contexts()
    into.oid = commit.oid if commit else ""
    into.found += page.items
    refused = [each for each in result.below(alias) if each.field != "isRequired"]
    if refused or None in (page.nodes or ()):
        into.unread = str(refused[0].error() if refused else result.missing(alias))
    return page.page_info
