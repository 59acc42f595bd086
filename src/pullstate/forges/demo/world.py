"""A forge's state in memory: pull requests open, run checks, get reviewed, conflict and merge.

Each act bumps `changed_at` where a real forge would: checks, mergeability and a moved base do not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from pullstate.domain.pull_request import (
    Base,
    Check,
    Checks,
    CheckVerdict,
    Head,
    Mergeability,
    MergeVerdict,
    PullRequest,
    Queue,
    Review,
    ReviewDecision,
    Rules,
)
from pullstate.domain.review import Comment, ReviewThread
from pullstate.forges.forge import Repository

Clock = Callable[[], datetime]


@dataclass(slots=True)
class Project:
    """One repository of the world, its pull requests by number and their threads."""

    repository: Repository
    url: str
    pull_requests: dict[int, PullRequest] = field(default_factory=dict)
    threads: dict[int, list[ReviewThread]] = field(default_factory=dict)
    pushes: int = 0
    comments: int = 0


class World:
    """Everything that the demo forge knows. A test builds one by hand; the demo plays a story."""

    def __init__(self, clock: Clock, site_url: str = "https://demo.invalid") -> None:
        self.clock = clock
        self.site_url = site_url
        self.projects: dict[str, Project] = {}

    def create_repository(self, path: str) -> Project:
        """An empty repository at `path`."""
        repository = Repository(str(1000 + len(self.projects)), path)
        project = Project(repository, f"{self.site_url}/{path}")
        self.projects[repository.forge_id] = project
        return project

    def rename_repository(self, project: Project, path: str) -> None:
        """Move a repository; its forge id stays."""
        project.repository = replace(project.repository, path=path)
        project.url = f"{self.site_url}/{path}"

    def find(self, path: str) -> Project | None:
        """The repository at `path`, compared as forges do: without case."""
        wanted = path.casefold()
        return next(
            (p for p in self.projects.values() if p.repository.path.casefold() == wanted), None
        )

    def open(
        self,
        project: Project,
        title: str,
        branch: str,
        *,
        author: str = "ada",
        base: str = "main",
        draft: bool = False,
        rules: Rules | None = None,
    ) -> int:
        """Open a pull request from `branch`; its number."""
        number = max(project.pull_requests, default=0) + 1
        now = self.clock()
        head = Head(branch, self._sha(project), project.repository.path.split("/")[0], project.url)
        opened = PullRequest(
            provider_id=f"DEMO_{project.repository.forge_id}_{number}",
            number=number,
            url=f"{project.url}/pull/{number}",
            title=title,
            author=author,
            head=head,
            base=Base(base, _digest(f"{project.url} {base}")),
            draft=draft,
            opened_at=now,
            changed_at=now,
            review=Review(ReviewDecision.NONE),
            rules=rules or Rules(),
            unresolved_threads=0,
        )
        project.pull_requests[number] = opened
        project.threads[number] = []
        self.set_checks(project, number, CheckVerdict.NONE)
        self.set_mergeability(project, number, MergeVerdict.CLEAN)
        return number

    def push(self, project: Project, number: int) -> str:
        """A new head commit: no check has run on it yet. Its sha."""
        before = project.pull_requests[number]
        head = replace(before.head, sha=self._sha(project))
        self._change(project, number, head=head)
        self.set_checks(project, number, CheckVerdict.NONE)
        verdict = before.mergeability.verdict if before.mergeability else MergeVerdict.CLEAN
        self.set_mergeability(project, number, verdict)
        return head.sha

    def set_checks(
        self, project: Project, number: int, verdict: CheckVerdict, *failing: str
    ) -> None:
        """What the checks of the present head say. Not an update, as on real forges."""
        before = project.pull_requests[number]
        checks = Checks(
            before.head.sha,
            verdict,
            failing=tuple(Check(name, f"{before.url}/checks#{name}") for name in failing),
            names=() if verdict is CheckVerdict.NONE else ("build", "lint", "test"),
        )
        project.pull_requests[number] = replace(before, checks=checks)

    def set_mergeability(self, project: Project, number: int, verdict: MergeVerdict) -> None:
        """Whether it would merge now. Not an update, as on real forges."""
        before = project.pull_requests[number]
        mergeability = Mergeability(verdict, verdict.value, before.head.sha, before.base.sha)
        project.pull_requests[number] = replace(before, mergeability=mergeability)

    def review(
        self, project: Project, number: int, reviewer: str, decision: ReviewDecision
    ) -> None:
        """A review that approves, asks for changes, or (PENDING) a request for one."""
        approved = (reviewer,) if decision is ReviewDecision.APPROVED else ()
        objected = (reviewer,) if decision is ReviewDecision.CHANGES_REQUESTED else ()
        requested = (reviewer,) if decision is ReviewDecision.PENDING else ()
        on_head = True if approved else None
        self._change(
            project, number, review=Review(decision, approved, objected, requested, on_head)
        )

    def open_thread(
        self, project: Project, number: int, author: str, body: str, path: str, line: int
    ) -> str:
        """A review thread on one line; its id."""
        now = self.clock()
        project.comments += 1
        comment = Comment(project.comments, author, body, now, url=f"#r{project.comments}")
        thread = ReviewThread(
            id=f"DEMOT_{project.repository.forge_id}_{project.comments}",
            is_resolved=False,
            is_outdated=False,
            path=path,
            line=line,
            start_line=None,
            original_line=line,
            original_start_line=None,
            side="RIGHT",
            subject="line",
            resolved_by=None,
            comments=(comment,),
        )
        self._set_threads(project, number, [*project.threads[number], thread])
        self._change(project, number)
        return thread.id

    def reply(self, project: Project, number: int, thread_id: str, author: str, body: str) -> None:
        """One more comment in a thread."""
        project.comments += 1
        comment = Comment(project.comments, author, body, self.clock())
        self._each_thread(
            project, number, thread_id, lambda t: replace(t, comments=(*t.comments, comment))
        )
        self._change(project, number)

    def resolve(self, project: Project, number: int, thread_id: str, by: str) -> None:
        """Resolve a thread. Not an update, as on GitHub."""
        self._each_thread(
            project, number, thread_id, lambda t: replace(t, is_resolved=True, resolved_by=by)
        )

    def ready_for_review(self, project: Project, number: int) -> None:
        """No longer a draft."""
        self._change(project, number, draft=False)

    def retitle(self, project: Project, number: int, title: str) -> None:
        """Another title."""
        self._change(project, number, title=title)

    def retarget(self, project: Project, number: int, base: str) -> None:
        """Another base branch."""
        self._change(project, number, base=Base(base, _digest(f"{project.url} {base}")))

    def queue(self, project: Project, number: int, position: int | None) -> None:
        """Into the merge queue, or (None) out of it."""
        queue = None if position is None else Queue(position, "QUEUED")
        self._change(project, number, queue=queue)

    def merge(self, project: Project, number: int) -> None:
        """Merge; the forge stops telling whether it could."""
        now = self.clock()
        self._change(project, number, merged_at=now, closed_at=now, queue=None)
        self.set_mergeability(project, number, MergeVerdict.UNKNOWN)

    def close(self, project: Project, number: int) -> None:
        """Close without merging."""
        self._change(project, number, closed_at=self.clock())

    def reopen(self, project: Project, number: int) -> None:
        """Open a closed one again."""
        self._change(project, number, closed_at=None)

    def delete(self, project: Project, number: int) -> None:
        """Take it away altogether, as an administrator can."""
        del project.pull_requests[number], project.threads[number]

    def populate(self, project: Project, count: int, *, unfinished: int = 0) -> None:
        """`count` pull requests, a minute apart; the newest `unfinished` of them stay open."""
        start = self.clock() - timedelta(minutes=count)
        for n in range(count):
            number = self.open(project, f"Change {n + 1}", f"branch-{n + 1}")
            at = start + timedelta(minutes=n)
            done = at + timedelta(seconds=30) if n < count - unfinished else None
            project.pull_requests[number] = replace(
                project.pull_requests[number],
                opened_at=at,
                changed_at=done or at,
                merged_at=done,
                closed_at=done,
            )

    def _change(self, project: Project, number: int, **fields: object) -> None:
        before = project.pull_requests[number]
        project.pull_requests[number] = replace(before, changed_at=self.clock(), **fields)

    def _each_thread(
        self,
        project: Project,
        number: int,
        thread_id: str,
        act: Callable[[ReviewThread], ReviewThread],
    ) -> None:
        threads = [act(t) if t.id == thread_id else t for t in project.threads[number]]
        self._set_threads(project, number, threads)

    def _set_threads(self, project: Project, number: int, threads: list[ReviewThread]) -> None:
        project.threads[number] = threads
        unresolved = sum(not t.is_resolved for t in threads)
        project.pull_requests[number] = replace(
            project.pull_requests[number], unresolved_threads=unresolved
        )

    def _sha(self, project: Project) -> str:
        project.pushes += 1
        return _digest(f"{project.url} {project.pushes}")


def _digest(text: str) -> str:
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
