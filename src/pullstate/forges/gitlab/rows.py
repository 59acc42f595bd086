"""Merge requests with all their facts: fifty of one project in one GraphQL request.

Where GraphQL does not answer they are read one by one, by REST. A number that GraphQL leaves out
is asked for by REST too, before anybody concludes that it is gone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from pullstate.domain.pull_request import PullRequest
from pullstate.forges.errors import (
    Forbidden,
    ForgeError,
    NotTheApi,
    NotVisible,
    Overloaded,
    RateLimited,
    Unexpected,
    Unreachable,
)
from pullstate.forges.forge import Repository
from pullstate.forges.gitlab import documents
from pullstate.forges.gitlab.api import Api, read
from pullstate.forges.gitlab.batch import BatchSize
from pullstate.forges.gitlab.payloads import Facts
from pullstate.forges.gitlab.place import Place
from pullstate.forges.gitlab.projects import Projects
from pullstate.forges.gitlab.rest_rows import RestRows
from pullstate.forges.gitlab.schema import NoGraphQL
from pullstate.forges.gitlab.translate import Gaps, extra_of, is_finished, whole
from pullstate.forges.graphql import Refused, Result

BATCH = 50
FINISHED_BATCH = 100
SMALLER_AT_MOST = 2  # times that one question is asked anew with half of the numbers
UNCHECKED = frozenset({"unchecked", "cannot_be_merged_recheck"})

_FACETS = {
    "headPipeline": "checks",
    "jobs": "checks",
    "approvalsLeft": "review",
    "approvedBy": "review",
    "changeRequesters": "review",
    "reviewers": "review",
    "mergeRequestInteraction": "review",
    "reviewState": "review",
    "detailedMergeStatus": "mergeability",
    "mergeStatusEnum": "mergeability",
    "mergeabilityChecks": "mergeability",
}


@dataclass(slots=True)
class Found:
    """What was read, by number. `repository` is the project as it is named now."""

    repository: Repository
    rows: dict[int, PullRequest] = field(default_factory=dict)
    gaps: dict[int, Gaps] = field(default_factory=dict)
    faults: dict[int, ForgeError] = field(default_factory=dict)
    unchecked: list[int] = field(default_factory=list)  # GitLab checks them when one is asked for
    locked: list[int] = field(default_factory=list)  # whose merge is under way, if asked

    def all_gaps(self) -> Gaps:
        """Each facet once, with the first reason."""
        found: dict[str, str] = {}
        for gaps in self.gaps.values():
            for facet, why in gaps:
                found.setdefault(facet, why)
        for fault in self.faults.values():
            if not isinstance(fault, NotVisible):  # gone since it was listed
                found.setdefault("details", str(fault))
        return tuple(found.items())


@dataclass(slots=True)
class Asking:
    """What is still asked of one project: numbers, by which document, how many at once."""

    document: str
    size: BatchSize
    waiting: list[int]
    with_locked: bool = False

    def next(self) -> tuple[str, list[int], bool]:
        """The document and the numbers of the next question, and whether it is the last one."""
        batch = self.waiting[: self.size.now]
        last = len(batch) == len(self.waiting)
        locked = self.with_locked and last
        return documents.WITH_LOCKED if locked else self.document, batch, last


class Rows:
    """Reads merge requests of one site."""

    def __init__(self, api: Api, projects: Projects, rest: RestRows) -> None:
        self._api, self._projects, self._rest = api, projects, rest
        self._size = BatchSize(BATCH)
        self._finished_size = BatchSize(FINISHED_BATCH)

    async def uses_rest(self, repository: Repository) -> str | None:
        """Why merge requests of a project are read by REST alone; None where they are not."""
        if why := self._projects.hidden(repository):
            return why
        await self._api.has_graphql()
        return self._api.schema.refused()

    async def read(
        self, repository: Repository, numbers: Sequence[int], *, with_locked: bool = False
    ) -> Found:
        """Merge requests of one project. Raises where nothing could be asked.

        `with_locked` finds out whose merge is under way, along with the last of the questions.
        """
        found, waiting = Found(repository), list(dict.fromkeys(numbers))
        asking = Asking(documents.MERGE_REQUESTS, self._size, waiting, with_locked)
        try:
            missing = await self._by_graphql(found, asking)
        except NoGraphQL as error:
            await self._by_rest(found, asking.waiting, str(error))
        else:
            await self._confirm(found, missing)
        return found

    async def read_finished(self, repository: Repository, numbers: Sequence[int]) -> Found:
        """Finished ones of one project with what is kept of them, a hundred at once. Those that
        GraphQL does not tell are left out."""
        found = Found(repository)
        asking = Asking(documents.FINISHED, self._finished_size, list(dict.fromkeys(numbers)))
        with suppress(NoGraphQL):
            await self._by_graphql(found, asking)
        return found

    async def _by_graphql(self, found: Found, asking: Asking) -> list[int]:
        """Read all that is asked; the numbers that GraphQL left out."""
        missing: list[int] = []
        last = not (asking.waiting or asking.with_locked)
        while not last:
            batch, last, result = await self._answer(found, asking)
            del asking.waiting[: len(batch)]
            await self._take(found, result)
            missing += [n for n in batch if n not in found.rows and n not in found.faults]
        return missing

    async def _answer(self, found: Found, asking: Asking) -> tuple[list[int], bool, Result]:
        """The next answer; where that is about too many, one about half of them."""
        for again in range(SMALLER_AT_MOST, -1, -1):
            document, batch, last = asking.next()
            try:
                result = await self._ask(found, document, batch)
            except Overloaded as error:
                if isinstance(error, NotTheApi) or not again or len(batch) <= 1:
                    raise
                asking.size.too_much(len(batch))
            except Unreachable:
                asking.size.lost(len(batch))
                raise
            else:
                asking.size.worked(len(batch))
                return batch, last, result
        raise AssertionError("the last attempt ends in one way or the other")

    async def _ask(self, found: Found, document: str, batch: Sequence[int]) -> Result:
        """One answer about the project, wherever it has moved to."""
        result = await self._projects.ask(found.repository, document, batch)
        found.repository = Repository(found.repository.forge_id, result.data["project"]["fullPath"])
        return result

    async def _take(self, found: Found, result: Result) -> None:
        seen = _seen(result, found)
        project = result.data["project"]
        locked = (project.get("locked") or {}).get("nodes") or ()
        found.locked += [int(each["iid"]) for each in locked if each]
        required = bool(project.get("onlyAllowMergeIfPipelineSucceeds"))
        unreadable = None
        if any(facts.head_pipeline is None for facts, _ in seen.values()):
            unreadable = await self._projects.pipelines_unreadable(found.repository)
        for facts, refused in seen.values():
            self._add(found, facts, refused, required, unreadable)

    def _add(
        self,
        found: Found,
        facts: Facts,
        refused: Sequence[Refused],
        required: bool,
        unreadable: str | None,
    ) -> None:
        place = Place(self._api.site.url, found.repository.forge_id, found.repository.path)
        gaps = dict(_gaps(refused))
        extra = extra_of(
            facts,
            place,
            pipeline_required=required,
            checks_unreadable=gaps.get("checks") or unreadable,
            review_unreadable=gaps.get("review"),
        )
        if extra.checks_unreadable:
            gaps["checks"] = extra.checks_unreadable
        source = self._source(facts, place)
        try:
            found.rows[facts.iid] = whole(facts, place, source, extra)
        except Unexpected as error:
            found.faults[facts.iid] = error
            return
        found.gaps[facts.iid] = tuple(gaps.items())
        if not is_finished(facts) and (facts.merge_status or "").lower() in UNCHECKED:
            found.unchecked.append(facts.iid)

    def _source(self, facts: Facts, place: Place) -> str:
        """The path of the project that it comes from; "" where that is gone or hidden."""
        if str(facts.source_project_id) == place.project_id:
            return place.path
        path = facts.source_project.full_path if facts.source_project else ""
        self._projects.note_path(facts.source_project_id, path)
        return path

    async def _confirm(self, found: Found, missing: Sequence[int]) -> None:
        """GraphQL leaves out what is gone and what may not be seen alike: REST tells them apart.

        One that may not be seen stands for the others.
        """
        for place, number in enumerate(missing):
            try:
                row, gaps = await self._rest.row(found.repository, number)
            except Forbidden as error:
                found.faults.update(dict.fromkeys(missing[place:], error))
                return
            except NotVisible as error:
                found.faults[number] = error
            else:
                found.rows[number], found.gaps[number] = row, gaps

    async def _by_rest(self, found: Found, waiting: Sequence[int], why: str) -> None:
        """One by one. What stops us on the way says nothing of those that were read before."""
        for place, number in enumerate(waiting):
            try:
                row, gaps = await self._rest.row(found.repository, number)
            except (NotVisible, Forbidden, Unexpected) as error:
                found.faults[number] = error
                continue
            except (RateLimited, Unreachable) as error:
                if not found.rows:
                    raise
                found.faults.update(dict.fromkeys(waiting[place:], error))
                return
            said = () if row.finished else (("review", f"read by REST alone: {why}"),)
            found.rows[number], found.gaps[number] = row, (*gaps, *said)


def _seen(result: Result, found: Found) -> dict[int, tuple[Facts, Sequence[Refused]]]:
    """The merge requests of an answer, each with what was refused in it."""
    connection = result.data["project"].get("mergeRequests")
    if connection is None:
        raise result.missing("project", "mergeRequests")
    seen: dict[int, tuple[Facts, Sequence[Refused]]] = {}
    for index, node in enumerate(connection.get("nodes") or ()):
        number = _number(node)
        if number is None:
            continue
        try:
            refused = result.below("project", "mergeRequests", "nodes", index)
            seen[number] = read(Facts, node), refused
        except Unexpected as error:
            found.faults[number] = error
    return seen


def _number(node: Mapping[str, Any] | None) -> int | None:
    text = str(node.get("iid")) if node else ""
    return int(text) if text.isdecimal() else None


def _gaps(refused: Sequence[Refused]) -> Gaps:
    found: dict[str, str] = {}
    for each in refused:
        names = [step for step in each.path if isinstance(step, str)]
        facet = next((_FACETS[name] for name in names if name in _FACETS), "details")
        found.setdefault(facet, str(each.error()))
    return tuple(found.items())
