"""What is stored of one merge request, as one reading of the store finds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from sqlalchemy import Connection

from pullstate.domain.address import ForgeKind
from pullstate.domain.freshness import Freshness
from pullstate.domain.merge_request import Facet, FacetBody, Notes, Overview
from pullstate.server.asking import Asked, look
from pullstate.server.context import Context
from pullstate.server.facet_age import INTERVALS, Age, age_of
from pullstate.server.merge_request_question import Named, Question
from pullstate.store import reading
from pullstate.store.records import Depth, Repository, StoredFacet, StoredPullRequest


@dataclass(frozen=True, slots=True)
class View:
    """What is stored; without `stored` nothing is."""

    asked: Asked
    others: tuple[Repository | None, ...]  # what the other names that were sent lead to
    freshness: Freshness
    now: datetime
    stored: StoredPullRequest | None = None
    facets: Mapping[Facet, StoredFacet] = field(default_factory=dict)
    more_notes: bool = False

    @property
    def known(self) -> bool:
        """Whether it is stored, and either kept up with its whole repository or read lately."""
        if self.stored is None or self.stored.gone_at is not None:
            return False
        if self.kept_up:
            return True
        read_at = self.stored.observed.details
        return read_at is not None and self.now - read_at <= INTERVALS * self.freshness.interval

    @property
    def kept_up(self) -> bool:
        """Whether the sync would notice by itself that it moved."""
        return self.freshness.swept and self.asked.repository.depth in (Depth.OPEN, Depth.ALL)

    @property
    def overview(self) -> Overview | None:
        body = self.body(Facet.OVERVIEW)
        return body if isinstance(body, Overview) else None

    def body(self, facet: Facet) -> FacetBody | None:
        """A facet as it was last read."""
        kept = self.facets.get(facet)
        return kept.body if kept else None

    def age(self, facet: Facet) -> Age:
        """How far what is stored of a facet can be trusted."""
        assert self.stored is not None
        return age_of(
            facet,
            self.facets.get(facet),
            self.stored,
            self.now,
            self.freshness.interval,
            settles_late=self.asked.address.site.kind is ForgeKind.GITLAB,
        )


async def view_of(context: Context, question: Question) -> View:
    """Read the store; the repository is taken up where nobody tracks it yet. ToolError."""
    see = partial(_view, question=question, now=context.clock())
    return await look(context, question.named.address, Depth.ONE, see)


def _view(conn: Connection, asked: Asked, question: Question, now: datetime) -> View:
    repository = asked.repository.id
    others = _others(conn, question.named)
    known = asked.freshness
    stored = reading.pull_request(conn, repository, question.named.number)
    if stored is None:
        return View(asked, others, known, now)
    wanted = (Facet.OVERVIEW, *question.facets)
    patches = question.detail == "full_patch"
    read = {facet: reading.facet(conn, stored.id, facet, patches=patches) for facet in wanted}
    facets = {facet: kept for facet, kept in read.items() if kept is not None}
    more = _put_notes(conn, stored.id, facets, question)
    return View(asked, others, known, now, stored, facets, more)


def _others(conn: Connection, named: Named) -> tuple[Repository | None, ...]:
    found = []
    if named.numeric_id is not None:
        found.append(reading.by_forge_id(conn, named.site.url, named.numeric_id))
    if named.also is not None:
        found.append(reading.find_repository(conn, named.also))
    return tuple(found)


def _put_notes(
    conn: Connection, pull_request: int, facets: dict[Facet, StoredFacet], question: Question
) -> bool:
    """Put the page that is asked for in the place of the notes; whether another follows it."""
    kept = facets.get(Facet.NOTES)
    if kept is None or not isinstance(kept.body, Notes):
        return False
    page, more = reading.note_page(conn, pull_request, question.notes_page, question.notes_per_page)
    facets[Facet.NOTES] = replace(kept, body=replace(kept.body, items=page))
    return more
