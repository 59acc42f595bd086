"""What the store gives and takes beside domain objects. All frozen; every time is aware UTC."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from pullstate.domain.freshness import Fault, Freshness
from pullstate.domain.merge_request import FacetBody
from pullstate.domain.pull_request import PullRequest
from pullstate.domain.site import ForgeKind


class Depth(StrEnum):
    """How much of a repository is wanted, least first."""

    ONE = "one"  # single pull requests that were asked about
    OPEN = "open"  # the open ones and the newest 1,000, the rest at the lowest priority
    ALL = "all"  # everything


class Interest(StrEnum):
    """Who wants a repository: `by` of `track`."""

    COMMAND = "command"
    CONFIGURATION = "configuration"
    REMOTE = "remote"
    QUESTION = "question"


NAMED = (Interest.COMMAND, Interest.CONFIGURATION)  # lasting, and kept in a file beside the store


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository of the store, under whatever address it has now."""

    id: int
    site_url: str
    kind: ForgeKind
    path: str  # as the forge spells it, once it was asked
    forge_id: str | None
    depth: Depth | None  # None: nobody wants it (any more); what is stored stays
    tracked: bool  # named by `pullstate track` or the configuration
    remote: bool  # a git remote of a directory that a server was started in
    asked_at: datetime | None  # the last question
    swept: bool  # its first sweep is complete
    listed: bool = True  # False once another repository lives at its address

    @property
    def url(self) -> str:
        """Its canonical address."""
        return f"{self.site_url}/{self.path}"


@dataclass(frozen=True, slots=True)
class Standing:
    """A repository, how its sync stands, and the newest change of all when that was read."""

    repository: Repository
    freshness: Freshness
    newest_change: int


@dataclass(frozen=True, slots=True)
class FacetTimes:
    """When each observation of a pull request was last read; None when never."""

    details: datetime | None
    checks: datetime | None
    mergeability: datetime | None
    review: datetime | None
    threads: datetime | None  # the last complete reading
    head: datetime | None  # when the present head was first seen
    base: datetime | None  # when the base's tip was last seen to move


@dataclass(frozen=True, slots=True)
class ListedPullRequest:
    """A pull request as a list needs it."""

    id: int
    handle: str
    pull_request: PullRequest


@dataclass(frozen=True, slots=True)
class StoredPullRequest:
    """A pull request as it is known, with what only the store knows of it."""

    id: int
    handle: str
    repository_id: int
    pull_request: PullRequest
    first_seen_at: datetime
    gone_at: datetime | None  # the forge said twice that it does not exist
    observed: FacetTimes
    asked_at: datetime | None  # the last question about it that was noted


class PageKey(NamedTuple):
    """Where a page ended, in the total order: unfinished first, newest first, highest number."""

    unfinished: bool
    opened_at: datetime
    number: int


def key_of(pull_request: PullRequest) -> PageKey:
    """The place of a pull request in the order of `page`."""
    return PageKey(not pull_request.finished, pull_request.opened_at, pull_request.number)


@dataclass(frozen=True, slots=True)
class ThreadCounts:
    total: int
    unresolved: int


@dataclass(frozen=True, slots=True)
class ThreadState:
    """What is known of a pull request's threads. `gap` is why the last reading was incomplete."""

    observed_at: datetime | None  # the last complete reading
    complete: bool
    gap: str | None
    changed_at_when_read: datetime | None


@dataclass(frozen=True, slots=True)
class StoredFacet:
    """A facet as it was last read. `fault` is why a later attempt failed; the body stays."""

    body: FacetBody | None
    head_sha: str
    changed_at_when_read: datetime | None
    observed_at: datetime | None
    fault: str | None


@dataclass(frozen=True, slots=True)
class StoredChange:
    """One event of the feed."""

    seq: int
    kind: str
    old: str | None
    new: str | None
    names: tuple[str, ...]
    at: datetime
    repository_id: int
    repository_url: str
    pull_request_id: int
    handle: str
    number: int
    title: str


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a `record` did; `ids` are those of the rows given, in their order."""

    inserted: int
    changed: int
    unchanged: int
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Sweep:
    """How far a repository's reads have come."""

    stage: str = "open"  # the backfill's walk: "open", "all", "rest" or "done"
    swept: bool = False  # what its depth needs for the first time is there: no longer UNREAD
    cursor: str | None = None  # of the backfill
    watermark: datetime | None = None  # the forge's time
    began_at: datetime | None = None  # the backfill; what was opened before then is history
    as_of: datetime | None = None
    next_delta_at: datetime | None = None
    next_roll_call_at: datetime | None = None
    roll_call_cursor: str | None = None
    roll_call_began_at: datetime | None = None
    probes_skipped: int = 0  # deltas in a row that a 304 saved
    interval: timedelta = timedelta(seconds=60)
    gaps: tuple[tuple[str, str], ...] = ()
    fault: Fault | None = None
    failures: int = 0  # in a row
    reader: str | None = None  # who reads it


@dataclass(frozen=True, slots=True)
class Limit:
    """What is left of a resource for a reader."""

    resource: str
    limit: int | None
    remaining: int | None
    resets_at: datetime | None
    not_before: datetime | None


@dataclass(frozen=True, slots=True)
class Refusal:
    """A reader that the forge does not let see a repository."""

    reader: str
    kind: str
    at: datetime


@dataclass(frozen=True, slots=True)
class RepositoryStatus:
    """One line of `status`."""

    repository: Repository
    sweep: Sweep
    pull_requests: int
    unfinished: int


@dataclass(frozen=True, slots=True)
class StoreStatus:
    """Counts over everything stored."""

    repositories: tuple[RepositoryStatus, ...]
    pull_requests: int
    unfinished: int
    threads: int
    last_change: int
    open_wishes: int
