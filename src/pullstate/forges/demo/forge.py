"""`DemoForge`: the forge's protocol over a `World`, without a network.

It counts what it is asked (`requests`) and can be told to fail (`fail`), so it is also what the
tests of the sync loop use.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from pullstate.domain.address import Site
from pullstate.domain.merge_request import Facet, FacetBody
from pullstate.domain.pull_request import PullRequest
from pullstate.domain.review import Threads
from pullstate.forges.demo.facets import facet_of
from pullstate.forges.demo.world import Project, World
from pullstate.forges.errors import ForgeError, NotVisible
from pullstate.forges.forge import (
    Delta,
    DeltaReading,
    Limits,
    Page,
    Probe,
    Quota,
    Reading,
    Repository,
    Target,
    ThreadsReading,
)

Order = Callable[[PullRequest], tuple[object, ...]]


class DemoForge:
    """Implements `Forge`. `before_answer` lets a story bring the world up to date."""

    limits = Limits(open_page=25, lean_page=100, read_batch=25, delta_batch=10, threads_batch=10)

    def __init__(
        self, site: Site, world: World, before_answer: Callable[[], None] = lambda: None
    ) -> None:
        self.site = site
        self.world = world
        self.requests: list[tuple[str, str]] = []  # (what was asked, of what), oldest first
        self._before_answer = before_answer
        self._faults: dict[str, deque[ForgeError]] = {}

    def fail(self, question: str, *faults: ForgeError) -> None:
        """The next times that `question` (a method's name) is asked, raise these instead."""
        self._faults.setdefault(question, deque()).extend(faults)

    async def find_repository(self, path: str) -> Repository:
        self._asked("find_repository", path)
        project = self.world.find(path) or self.world.projects.get(path)
        if project is None:
            raise NotVisible("no such repository")
        return project.repository

    async def open_page(self, repository: Repository, cursor: str | None, size: int) -> Page:
        self._asked("open_page", repository.path)
        project = self._project(repository)
        rows = [p for p in project.pull_requests.values() if not p.finished]
        return _page(project, rows, cursor, size)

    async def lean_page(
        self, repository: Repository, cursor: str | None, size: int, *, newest_first: bool = False
    ) -> Page:
        self._asked("lean_page", repository.path)
        project = self._project(repository)
        page = _page(project, project.pull_requests.values(), cursor, size, reverse=newest_first)
        return replace(page, rows=tuple(map(_lean, page.rows)))

    async def newest_change(self, repository: Repository) -> datetime | None:
        self._asked("newest_change", repository.path)
        rows = self._project(repository).pull_requests.values()
        return max((row.changed_at for row in rows), default=None)

    async def changed(self, deltas: Sequence[Delta], size: int) -> list[DeltaReading]:
        self._asked("changed", " ".join(d.repository.path for d in deltas))
        return [self._changed(delta, size) for delta in deltas]

    def _changed(self, delta: Delta, size: int) -> DeltaReading:
        try:
            project = self._project(delta.repository)
        except NotVisible as fault:
            return DeltaReading(delta, fault=fault)
        rows = [p for p in project.pull_requests.values() if p.changed_at >= delta.since]
        page = _page(project, rows, delta.cursor, size, by=_by_change, reverse=True)
        return DeltaReading(delta, replace(page, rows=tuple(map(_lean, page.rows))))

    async def probe(self, repository: Repository, etag: str | None) -> Probe | None:
        self._asked("probe", repository.path)
        project = self._project(repository)
        newest = max((p.changed_at for p in project.pull_requests.values()), default=None)
        fresh = f"{newest} {len(project.pull_requests)}"
        return Probe(unchanged=fresh == etag, etag=fresh)

    async def read(self, targets: Sequence[Target]) -> list[Reading]:
        self._asked("read", " ".join(t.provider_id for t in targets))
        return [self._read(target) for target in targets]

    def _read(self, target: Target) -> Reading:
        try:
            return Reading(target, self._pull_request(target.repository, target.number))
        except NotVisible as fault:
            return Reading(target, fault=fault)

    async def find_number(self, repository: Repository, number: int) -> PullRequest:
        self._asked("find_number", f"{repository.path} {number}")
        return self._pull_request(repository, number)

    async def find_branch(
        self, repository: Repository, branch: str, owner: str | None
    ) -> tuple[PullRequest, ...]:
        self._asked("find_branch", f"{repository.path} {branch}")
        rows = self._project(repository).pull_requests.values()
        return tuple(
            p for p in rows if p.head.branch == branch and owner in (None, "", p.head.owner)
        )

    async def threads(self, targets: Sequence[Target]) -> list[ThreadsReading]:
        self._asked("threads", " ".join(t.provider_id for t in targets))
        return [self._threads(target) for target in targets]

    def _threads(self, target: Target) -> ThreadsReading:
        try:
            project = self._project(target.repository)
            self._pull_request(target.repository, target.number)
        except NotVisible as fault:
            return ThreadsReading(target, fault=fault)
        return ThreadsReading(target, Threads(tuple(project.threads[target.number])))

    async def facet(self, target: Target, facet: Facet) -> FacetBody:
        self._asked("facet", f"{target.provider_id} {facet}")
        project = self._project(target.repository)
        pull_request = self._pull_request(target.repository, target.number)
        return facet_of(facet, pull_request, tuple(project.threads[target.number]))

    def quotas(self) -> tuple[Quota, ...]:
        return ()

    async def aclose(self) -> None:
        return None

    def _asked(self, question: str, of: str) -> None:
        self._before_answer()
        self.requests.append((question, of))
        if faults := self._faults.get(question):
            raise faults.popleft()

    def _project(self, repository: Repository) -> Project:
        project = self.world.projects.get(repository.forge_id)
        if project is None:
            raise NotVisible("no such repository")
        return project

    def _pull_request(self, repository: Repository, number: int) -> PullRequest:
        found = self._project(repository).pull_requests.get(number)
        if found is None:
            raise NotVisible("no such pull request")
        return found


def _by_creation(row: PullRequest) -> tuple[object, ...]:
    return (row.opened_at.timestamp(), row.number)


def _by_change(row: PullRequest) -> tuple[object, ...]:
    return (row.changed_at.timestamp(), row.number)


def _page(
    project: Project,
    rows: object,
    cursor: str | None,
    size: int,
    *,
    by: Order = _by_creation,
    reverse: bool = False,
) -> Page:
    ordered = sorted(rows, key=by, reverse=reverse)
    if cursor is not None:
        stamp, number = cursor.split()
        seen = (float(stamp), int(number))
        ordered = [r for r in ordered if (by(r) < seen if reverse else by(r) > seen)]
    page = tuple(ordered[:size])
    more = len(ordered) > size
    after = " ".join(map(str, by(page[-1]))) if more else None
    return Page(project.repository, page, after)


def _lean(row: PullRequest) -> PullRequest:
    """A row of a list: an unfinished one comes without its observations."""
    if row.finished:
        return replace(row, rules=None, unresolved_threads=None)
    return replace(
        row, checks=None, mergeability=None, review=None, rules=None, unresolved_threads=None
    )
