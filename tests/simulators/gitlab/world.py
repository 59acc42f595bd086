"""A GitLab's state, and what people and machines do to it, in words.

Every act takes the world's lock, so that a test may act while the server answers. Times come from
the world's own clock. `updated_at` moves as on a real GitLab:

- a change of the merge request's own columns (title, state, target branch, draft, labels,
  reviewers) sets it;
- a note, a system note, a resolved thread and all that leaves one (a push, an approval) only
  *touch* it, and a touch does nothing within a minute of the last `updated_at`
  (`ThrottledTouch::TOUCH_INTERVAL`);
- pipelines, the merge check and a move of the target branch leave it alone.
"""

from __future__ import annotations

import hashlib
import itertools
import threading
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.simulators.gitlab import diffs
from tests.simulators.gitlab.building import Building
from tests.simulators.gitlab.model import MergeRequest, Project, Token, User
from tests.simulators.gitlab.proposing import Proposing
from tests.simulators.gitlab.reviewing import Reviewing

DEFAULT_TOKEN = "glpat-simulated-token"
TOUCH_INTERVAL = timedelta(minutes=1)


def wall_clock() -> datetime:
    return datetime.now(UTC)


class Clock:
    """A clock that moves when it is told to."""

    def __init__(self, now: datetime = datetime(2025, 6, 2, 9, 0, tzinfo=UTC)) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float = 0.0, **more: float) -> datetime:
        self.now += timedelta(seconds=seconds, **more)
        return self.now


class World(Proposing, Reviewing, Building):
    """`version` and `edition` ("ee", "ce") decide what the API has; see `versions.py`."""

    def __init__(
        self,
        *,
        version: str = "18.0.1-ee",
        edition: str = "ee",
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        self.version, self.edition = version, edition
        self.clock = clock or wall_clock
        self.lock = threading.RLock()
        self.projects: dict[int, Project] = {}
        self.users: dict[str, User] = {}
        self.tokens: dict[str, Token] = {}
        self.moved: dict[str, int] = {}
        """Former full path → project id."""
        self.jobs: list[Callable[[], None]] = []
        """Background jobs: what a request asked for and the next request finds done."""
        self.anonymous_access = True
        self.decodes_slashes = False
        """A proxy in front decodes `%2F`: encoded project paths meet no route."""
        self.graphql_mode = "on"
        """`on`, `absent` (404), `refused` (403) or `unauthorized` (401)."""
        self.rate_limit: int | None = None
        """Requests a minute and token; `None`: no RateLimit headers, no limit."""
        self.hides_refused_pipelines = True
        """Where pipelines may not be read, `head_pipeline` is absent; else it is null."""
        self.conflicts_endpoint = False
        """Real GitLabs have no REST endpoint for conflicting files."""
        self.keyset_status = 405
        self.max_offset = 50_000
        self.count_limit = 10_000
        """Above so many rows a list has no totals and no last page."""
        self._numbers: dict[str, itertools.count[int]] = {}
        self._salt = itertools.count()
        self.root = self.user("root", "Administrator")
        self.token(DEFAULT_TOKEN, self.root)

    @property
    def now(self) -> datetime:
        return self.clock()

    def number(self, kind: str, start: int = 1) -> int:
        return next(self._numbers.setdefault(kind, itertools.count(start)))

    def sha(self, *of: object) -> str:
        """A commit id that no other call gives."""
        text = "/".join(map(str, (*of, next(self._salt))))
        return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()

    def user(self, username: str, name: str | None = None, **more: Any) -> User:
        """The user of that name, made if need be."""
        with self.lock:
            if username not in self.users:
                number = self.number("user")
                self.users[username] = User(number, username, name or username.title(), **more)
            return self.users[username]

    def token(self, secret: str, user: User | str | None = None, **more: Any) -> Token:
        with self.lock:
            bearer = self.user(user) if isinstance(user, str) else user or self.root
            self.tokens[secret] = Token(secret, bearer, **more)
            return self.tokens[secret]

    def project(self, path: str, *, id: int | None = None, **more: Any) -> Project:
        """A new project with one commit on its default branch."""
        with self.lock:
            number = id or self.number("project", 101)
            project = Project(number, path, self.now, **more)
            project.branches.setdefault(project.default_branch, self.sha(path, "base"))
            self.projects[number] = project
            self.moved.pop(path, None)
            return project

    def fork(self, of: Project, path: str, **more: Any) -> Project:
        return self.project(path, forked_from=of, visibility=of.visibility, **more)

    def move_project(self, project: Project, path: str) -> None:
        """A rename or transfer: the former path redirects until another project takes it."""
        with self.lock:
            self.moved[project.path] = project.id
            project.path = path
            self.moved.pop(path, None)

    def delete_project(self, project: Project) -> None:
        """Gone with its redirects; merge requests that came from it lose their source."""
        with self.lock:
            project.deleted = True
            self.projects.pop(project.id, None)
            self.moved = {path: id for path, id in self.moved.items() if id != project.id}
            for other in self.projects.values():
                for mr in other.merge_requests.values():
                    if mr.source_project is project:
                        mr.source_project = None

    def find(self, reference: str | int) -> Project | None:
        """By numeric id or full path, case-insensitively; former paths are not looked at."""
        if str(reference).isdigit():
            return self.projects.get(int(reference))
        wanted = str(reference).lower()
        return next((p for p in self.projects.values() if p.path.lower() == wanted), None)

    def merge_request(self, reference: str | int, iid: int) -> MergeRequest:
        project = self.find(reference)
        if project is None:
            raise KeyError(reference)
        return project.merge_requests[iid]

    def touch(self, mr: MergeRequest) -> None:
        """As GitLab touches a noteable: at most once a minute."""
        if self.now - mr.updated_at > TOUCH_INTERVAL:
            mr.updated_at = self.now

    def run_jobs(self) -> None:
        """Do what earlier requests left to background jobs."""
        with self.lock:
            jobs, self.jobs = self.jobs, []
            for job in jobs:
                job()

    def fill(
        self,
        project: Project,
        count: int,
        *,
        states: Iterable[str] = ("opened",),
        every: timedelta = timedelta(minutes=10),
        files: int = 1,
    ) -> list[MergeRequest]:
        """`count` merge requests at once, oldest first, `every` so far apart, the last one now.

        The states go round; merged and closed ones were so an hour after they were opened.
        """
        with self.lock:
            start, turn = self.now - every * max(count - 1, 0), itertools.cycle(states)
            shared = [diffs.modified(f"src/file{n}.py") for n in range(files)]
            return [
                self._filled(project, start + every * n, next(turn), n, shared)
                for n in range(count)
            ]
