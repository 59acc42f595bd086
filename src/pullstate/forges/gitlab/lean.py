"""Rows of lists: details alone of unfinished ones, of finished ones all that is kept of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from pullstate.domain.pull_request import PullRequest
from pullstate.forges.errors import Unexpected
from pullstate.forges.forge import Page, Repository
from pullstate.forges.gitlab.api import Api
from pullstate.forges.gitlab.kept import Kept
from pullstate.forges.gitlab.lists import Listed
from pullstate.forges.gitlab.payloads import MergeRequest
from pullstate.forges.gitlab.place import Place
from pullstate.forges.gitlab.projects import Projects
from pullstate.forges.gitlab.rows import Found, Rows
from pullstate.forges.gitlab.translate import Gaps, details, is_finished

SETTLED = timedelta(seconds=75)  # notes move `updated_at` at most once a minute
REMEMBERED = 1000  # finished ones

Change = tuple[str, int, datetime | None]  # a project, a number, when it was changed


class Lean:
    """Makes pages of lean rows of one site."""

    def __init__(self, api: Api, projects: Projects, rows: Rows) -> None:
        self._api, self._projects, self._rows = api, projects, rows
        self._settled: Kept[Change, PullRequest] = Kept(api.http.now, REMEMBERED)

    async def page(self, listed: Listed) -> Page:
        """A page of a walk."""
        finished = [row for row in listed.rows if is_finished(row)]
        return await self._page(listed, await self._enriched(listed.repository, finished))

    async def page_of_changes(self, listed: Listed) -> Page:
        """A page of a delta."""
        finished = [row for row in listed.rows if is_finished(row)]
        return await self._page(listed, await self._enriched_once(listed.repository, finished))

    async def _page(self, listed: Listed, found: Found) -> Page:
        """Rows of a list: of a finished one all that will be kept, of another its details."""
        repository = found.repository
        rest = [row for row in listed.rows if row.iid not in found.rows]
        sources = await self._projects.sources(rest, repository)
        place = Place(self._api.site.url, repository.forge_id, repository.path)
        rows = {number: _listed(row) for number, row in found.rows.items()}
        fault = listed.fault
        for row in rest:
            try:
                rows[row.iid] = details(row, place, sources.get(row.source_project_id or 0, ""))
            except Unexpected as error:
                fault = error
        order = dict.fromkeys(row.iid for row in listed.rows)
        kept = tuple(rows[number] for number in order if number in rows)
        gaps = gaps_of(replace(listed, fault=fault), found)
        return Page(repository, kept, listed.next, gaps)

    async def _enriched(self, repository: Repository, finished: Sequence[MergeRequest]) -> Found:
        """Finished ones with what GraphQL tells of them; where it is silent a list must do."""
        found = Found(repository)
        if not finished:
            return found
        if why := await self._rows.uses_rest(repository):
            found.gaps[0] = (("review", f"finished ones are read without their reviews: {why}"),)
            return found
        found = await self._rows.read_finished(repository, [row.iid for row in finished])
        found.faults.clear()
        return found

    async def _enriched_once(
        self, repository: Repository, finished: Sequence[MergeRequest]
    ) -> Found:
        """The same for a delta, which lists the last changes again and again: nothing of a finished
        one moves once its last change has settled."""
        known = {row.iid: self._settled.get(_change(repository, row)) for row in finished}
        found = await self._enriched(repository, [row for row in finished if not known[row.iid]])
        now = self._api.http.now() + self._api.http.skew  # the forge's clock
        for row in finished:
            if row.iid in found.rows and _is_settled(row, now):
                self._settled.put(_change(repository, row), found.rows[row.iid])
        found.rows |= {number: row for number, row in known.items() if row}
        return found


def _change(repository: Repository, row: MergeRequest) -> Change:
    return repository.forge_id, row.iid, row.updated_at


def _is_settled(row: MergeRequest, now: datetime) -> bool:
    return row.updated_at is not None and now - row.updated_at > SETTLED


def _listed(row: PullRequest) -> PullRequest:
    """One that was reopened while we read has no observations in a list."""
    if row.finished:
        return row
    return replace(row, checks=None, mergeability=None, review=None, queue=None)


def gaps_of(listed: Listed, found: Found) -> Gaps:
    """Each facet once, with the first reason."""
    gaps = dict(found.all_gaps())
    if listed.fault:
        gaps.setdefault("details", str(listed.fault))
    return tuple(gaps.items())
