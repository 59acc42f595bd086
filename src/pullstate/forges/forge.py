"""`Forge`: what the sync loop asks of a forge, whichever it is.

One Forge speaks to one site with one credential (a reader). It keeps no state of the sync: cursors
go in and come out as opaque text. It maps answers to the domain and raises `ForgeError`s; partial
answers are data: a facet that could not be read is `None` (not seen) or says `unreadable`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from pullstate.domain.address import Site
from pullstate.domain.merge_request import Facet, FacetBody
from pullstate.domain.pull_request import PullRequest
from pullstate.domain.review import Threads
from pullstate.forges.errors import ForgeError

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)  # before every change


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository as the forge names it now; `forge_id` stays when `path` moves."""

    forge_id: str
    path: str


@dataclass(frozen=True, slots=True)
class Target:
    """One pull request to read."""

    repository: Repository
    number: int
    provider_id: str


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a walk. `next` is None at its end; `gaps` are (facet, why unreadable)."""

    repository: Repository
    rows: tuple[PullRequest, ...]
    next: str | None
    gaps: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """What re-reading one target gave: the pull request, or why not.

    `NotVisible` means that the forge says it does not exist; any other fault says nothing of it.
    """

    target: Target
    pull_request: PullRequest | None = None
    fault: ForgeError | None = None
    gaps: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ThreadsReading:
    """Threads of one target, or why they could not be read (then nothing is known of them)."""

    target: Target
    threads: Threads | None = None
    fault: ForgeError | None = None


@dataclass(frozen=True, slots=True)
class Delta:
    """A question for what changed: rows with `changed_at >= since`; `cursor` continues one."""

    repository: Repository
    since: datetime
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class DeltaReading:
    """One page of a delta (`page.next` is None once `since` is reached), or why not."""

    delta: Delta
    page: Page | None = None
    fault: ForgeError | None = None


@dataclass(frozen=True, slots=True)
class Probe:
    """Whether a repository's newest change is still the one that `etag` vouches for."""

    unchanged: bool
    etag: str | None


@dataclass(frozen=True, slots=True)
class Quota:
    """What is left of one resource in the window that ends at `resets_at`."""

    resource: str
    limit: int
    remaining: int
    resets_at: datetime


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one request may ask: sizes of pages and batches, the forge's own numbers."""

    open_page: int  # rows of a page with all facts
    lean_page: int  # rows of a page of details
    read_batch: int  # targets of one re-reading
    delta_batch: int  # repositories of one delta
    threads_batch: int  # targets of one threads reading


class Forge(Protocol):
    """What the sync loop asks of a forge."""

    site: Site
    limits: Limits

    async def find_repository(self, path: str) -> Repository:
        """The repository at an address, followed through renames. NotVisible where none is."""
        ...

    async def open_page(self, repository: Repository, cursor: str | None, size: int) -> Page:
        """Unfinished pull requests with all facts, oldest first."""
        ...

    async def lean_page(
        self, repository: Repository, cursor: str | None, size: int, *, newest_first: bool = False
    ) -> Page:
        """Every pull request by creation; unfinished ones come without their observations."""
        ...

    async def newest_change(self, repository: Repository) -> datetime | None:
        """When any pull request last changed, by the forge's clock; None where there is none."""
        ...

    async def changed(self, deltas: Sequence[Delta], size: int) -> list[DeltaReading]:
        """Lean rows that changed, at most `limits.delta_batch` repositories in one request."""
        ...

    async def probe(self, repository: Repository, etag: str | None) -> Probe | None:
        """A free look whether anything was updated; None where the forge has no such thing."""
        ...

    async def read(self, targets: Sequence[Target]) -> list[Reading]:
        """Re-read targets with all facts, at most `limits.read_batch`, in one request."""
        ...

    async def find_number(self, repository: Repository, number: int) -> PullRequest:
        """One pull request by its number. NotVisible where the number is none."""
        ...

    async def find_branch(
        self, repository: Repository, branch: str, owner: str | None
    ) -> tuple[PullRequest, ...]:
        """Every pull request opened from a branch (of one head owner, if named), with all facts."""
        ...

    async def threads(self, targets: Sequence[Target]) -> list[ThreadsReading]:
        """All review threads with all comments, at most `limits.threads_batch` targets."""
        ...

    async def facet(self, target: Target, facet: Facet) -> FacetBody:
        """One facet of a pull request, whole."""
        ...

    def quotas(self) -> tuple[Quota, ...]:
        """What the last answers said is left, per resource."""
        ...

    async def aclose(self) -> None:
        """Close connections."""
        ...
