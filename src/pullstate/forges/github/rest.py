"""GitHub over REST alone: what goes on where GraphQL is closed (no token) or used up.

REST has a quota of its own. It does not say how reviews were decided or which conversations are
resolved; that is left unseen, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from urllib.parse import quote

from pullstate.domain.pull_request import Checks, CheckVerdict, PullRequest, Review, ReviewDecision
from pullstate.forges.errors import (
    Forbidden,
    ForgeError,
    NotVisible,
    PullRequestsDisabled,
    Unexpected,
)
from pullstate.forges.forge import Delta, DeltaReading, Page, Probe, Reading, Repository, Target
from pullstate.forges.github import payloads, rest_payloads
from pullstate.forges.github.api import Api, listing, read, route
from pullstate.forges.github.checks import checks_of_commit, verdict_of
from pullstate.forges.github.translate import Gaps, lean, mergeability, requested

NEEDS_TOKEN = "GitHub tells this to a token only"
BRANCH_PAGES = 3  # of 100 open ones, looked through for forks that have a branch of a name
_PAGE = "page:"


async def repository(api: Api, path: str) -> Repository:
    """The repository at an address, as it is named now."""
    found = read(rest_payloads.Repository, (await api.get(route(path))).json)
    if found.has_pull_requests is False:
        raise PullRequestsDisabled("the repository has pull requests turned off")
    return Repository(found.node_id, found.full_name)


async def probe(api: Api, repository: Repository, etag: str | None) -> Probe:
    """The newest change by REST, against an ETag: 304 says that nothing was updated.

    Not `/issues`, whose `updated_at` ignores review comments.
    """
    newest = {"state": "all", "sort": "updated", "direction": "desc", "per_page": 1}
    answer = await api.get(f"{route(repository.path)}/pulls", newest, etag=etag)
    if answer.unchanged:
        return Probe(unchanged=True, etag=answer.etag or etag)
    return Probe(unchanged=False, etag=answer.etag)


class Rest:
    """Readings over REST, for one reason: `why` it is not GraphQL, in words for the gaps."""

    def __init__(self, api: Api, why: str) -> None:
        self._api, self._why = api, why
        self._tips: dict[tuple[str, str], str | None] = {}

    @property
    def gaps(self) -> Gaps:
        """What REST cannot say."""
        return (("review", self._why), ("threads", self._why))

    async def page(
        self, repository: Repository, cursor: str | None, size: int, **order: str
    ) -> Page:
        """A page of a list, lean. Its cursor is a page's number."""
        number = int(cursor.removeprefix(_PAGE)) if is_rest_cursor(cursor) else 1
        asked = {**order, "per_page": size, "page": number}
        answer = await self._api.get(f"{route(repository.path)}/pulls", asked)
        seen = [read(rest_payloads.PullRequest, each) for each in listing(answer.json)]
        rows = tuple([await self._lean(repository, each) for each in seen])
        onward = f"{_PAGE}{number + 1}" if answer.next else None
        return Page(_named(repository, seen), rows, onward, self.gaps)

    async def changed(self, deltas: Sequence[Delta], size: int) -> list[DeltaReading]:
        """Lean rows that changed: one request for each repository."""
        return [await self._delta(each, size) for each in deltas]

    async def _delta(self, delta: Delta, size: int) -> DeltaReading:
        newest = {"state": "all", "sort": "updated", "direction": "desc"}
        try:
            page = await self.page(delta.repository, delta.cursor, min(size, 100), **newest)
        except ForgeError as fault:
            return DeltaReading(delta, fault=fault)
        rows = tuple(each for each in page.rows if each.changed_at >= delta.since)
        onward = page.next if len(rows) == len(page.rows) else None
        return DeltaReading(delta, replace(page, rows=rows, next=onward))

    async def read(self, targets: Sequence[Target]) -> list[Reading]:
        """Targets one by one: three or four requests each."""
        return [await self._reading(each) for each in targets]

    async def _reading(self, target: Target) -> Reading:
        try:
            seen, gaps = await self._whole(target.repository, target.number)
        except ForgeError as fault:
            return Reading(target, fault=fault)
        if seen.provider_id != target.provider_id:
            return Reading(target, fault=Unexpected("the number is another pull request's now"))
        return Reading(target, seen, gaps=gaps)

    async def find_number(self, repository: Repository, number: int) -> PullRequest:
        """One pull request by its number."""
        seen, _ = await self._whole(repository, number)
        return seen

    async def find_branch(
        self, repository: Repository, branch: str, owner: str | None
    ) -> tuple[PullRequest, ...]:
        """Those of a branch of one owner; without an owner those of the repository's own branch,
        and the open ones of forks: REST cannot be asked for a branch of any owner."""
        whose = owner or repository.path.partition("/")[0]
        asked = {"state": "all", "head": f"{whose}:{branch}"}
        path = f"{route(repository.path)}/pulls"
        found, _ = await self._api.items(path, asked)
        if owner is None:
            open_ones, _ = await self._api.items(path, {"state": "open"}, pages=BRANCH_PAGES)
            found += open_ones
        seen = {each.number: each for each in (read(rest_payloads.PullRequest, e) for e in found)}
        matching = [each for each in seen.values() if each.head.ref == branch]
        rows = [await self._of_branch(repository, each) for each in matching]
        return tuple(sorted(rows, key=lambda each: each.number, reverse=True))

    async def _of_branch(
        self, repository: Repository, seen: rest_payloads.PullRequest
    ) -> PullRequest:
        if seen.closed_at is not None:
            return await self._lean(repository, seen)
        return await self.find_number(repository, seen.number)

    async def _lean(self, repository: Repository, seen: rest_payloads.PullRequest) -> PullRequest:
        """A row of a list, which says nothing of checks, merging and reviews."""
        tip = await self._tip(repository, seen)
        row = lean(seen.as_graphql(tip))
        return replace(row, checks=None, mergeability=None, review=self._review(seen))

    async def _whole(self, repository: Repository, number: int) -> tuple[PullRequest, Gaps]:
        answer = await self._api.get(f"{route(repository.path)}/pulls/{number}")
        seen = read(rest_payloads.PullRequest, answer.json)
        row = await self._lean(repository, seen)
        merging = mergeability(seen.as_graphql(row.base.sha))
        if row.finished:
            return replace(row, mergeability=merging), self.gaps
        checks = await self._checks(repository, seen)
        refused = (("checks", checks.unreadable),) if checks.unreadable else ()
        return replace(row, checks=checks, mergeability=merging), (*refused, *self.gaps)

    def _review(self, seen: rest_payloads.PullRequest) -> Review | None:
        """Without a token there never is a decision; with one the last known decision stays."""
        if self._why != NEEDS_TOKEN:
            return None
        asked = requested(seen.as_graphql().review_requests)
        return Review(ReviewDecision.NONE, requested=asked, unreadable=NEEDS_TOKEN)

    async def _tip(self, repository: Repository, seen: rest_payloads.PullRequest) -> str | None:
        """The base branch's tip, asked once for each branch: REST's own is that of the last push
        to the head. None where the branch is gone, and for what is finished."""
        key = repository.path, seen.base.ref
        if seen.closed_at is None and key not in self._tips:
            branch = quote(seen.base.ref, safe="")
            try:
                answer = await self._api.get(f"{route(repository.path)}/branches/{branch}")
            except NotVisible:
                self._tips[key] = None
            else:
                self._tips[key] = read(rest_payloads.Branch, answer.json).commit.sha or None
        return self._tips.get(key)

    async def _checks(self, repository: Repository, seen: rest_payloads.PullRequest) -> Checks:
        """Check runs and statuses of the head; workflow runs where they leave a question."""
        sha = seen.head.sha
        commit = f"{route(repository.path)}/commits/{sha}"
        try:
            ran, _ = await self._api.items(f"{commit}/check-runs", {}, "check_runs")
            said, _ = await self._api.items(f"{commit}/status", {}, "statuses")
            checks = [read(rest_payloads.CheckRun, each) for each in ran]
            statuses = [read(rest_payloads.Status, each).as_graphql() for each in said]
            runs = await self._runs(repository, seen.head, checks, statuses)
        except Forbidden as refusal:
            return Checks(sha, CheckVerdict.NONE, unreadable=str(refusal))
        by_suite = {each.check_suite_id: each for each in runs}
        contexts = [*(each.as_graphql(by_suite) for each in checks), *statuses]
        mine = [each for each in runs if each.is_of(seen.head)]
        return checks_of_commit(rest_payloads.commit_of(sha, None, mine), contexts)

    async def _runs(
        self,
        repository: Repository,
        head: rest_payloads.End,
        checks: Sequence[rest_payloads.CheckRun],
        statuses: Sequence[payloads.Context],
    ) -> list[rest_payloads.WorkflowRun]:
        """The workflow runs of a head. Not asked where they change nothing: something failed or
        still runs, and no two jobs share a name."""
        contexts = [*(each.as_graphql({}) for each in checks), *statuses]
        names = [each.name for each in checks]
        settled = verdict_of(contexts) in (CheckVerdict.PASSING, CheckVerdict.NONE)
        if not settled and len(names) == len(set(names)):
            return []
        path = f"{route(repository.path)}/actions/runs"
        found, _ = await self._api.items(path, {"head_sha": head.sha}, "workflow_runs")
        return [read(rest_payloads.WorkflowRun, each) for each in found]


def is_rest_cursor(cursor: str | None) -> bool:
    """Whether a cursor was made here. One of GraphQL's means nothing to REST, and none of REST's
    to GraphQL: a walk that changes over begins anew."""
    return cursor is not None and cursor.startswith(_PAGE) and cursor[len(_PAGE) :].isdecimal()


def _named(asked: Repository, seen: Iterable[rest_payloads.PullRequest]) -> Repository:
    """The repository as an answer names it; an empty page names none."""
    for each in seen:
        if each.base.repo is not None and each.base.repo.node_id:
            return Repository(each.base.repo.node_id, each.base.repo.full_name)
    return asked
