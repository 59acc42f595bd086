"""What happens to a merge request from its opening to its end."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from tests.simulators.gitlab import diffs
from tests.simulators.gitlab.model import (
    Commit,
    DiffVersion,
    FileDiff,
    MergeRequest,
    Project,
    User,
)

if TYPE_CHECKING:
    from tests.simulators.gitlab.world import World


class Proposing:
    """Acts on merge requests; a part of `World`."""

    def open_merge_request(
        self: World,
        project: Project,
        source_branch: str | None = None,
        *,
        title: str | None = None,
        target_branch: str | None = None,
        author: User | str | None = None,
        source_project: Project | None = None,
        files: Iterable[FileDiff] | None = None,
        commits: int = 1,
        draft: bool = False,
        labels: Iterable[str] = (),
        reviewers: Iterable[str] = (),
        at: datetime | None = None,
        iid: int | None = None,
        **more: Any,
    ) -> MergeRequest:
        """A new one whose merge check has already run; `at` backdates it, `more` sets fields."""
        with self.lock:
            number = iid or self.number(f"mr of {project.id}")
            at, branch = at or self.now, source_branch or f"feature-{number}"
            target = target_branch or project.default_branch
            base = project.branches.setdefault(target, self.sha(project.path, target))
            mr = MergeRequest(
                id=self.number("merge request", 500_001),
                iid=number,
                project=project,
                title=title or f"Change number {number}",
                source_branch=branch,
                target_branch=target,
                author=self._bearer(author),
                created_at=at,
                updated_at=at,
                prepared_at=at,
                sha=self.sha(project.path, branch),
                base_sha=base,
                start_sha=base,
                source_project=source_project or project,
                draft=draft,
                labels=list(labels),
                reviewers=dict.fromkeys(reviewers, "UNREVIEWED"),
                diffs=list(files) if files is not None else [diffs.modified("README.md")],
            )
            mr.title = f"Draft: {mr.title}" if draft else mr.title
            for name, value in more.items():
                setattr(mr, name, value)
            self._commit(mr, commits, at)
            project.merge_requests[number] = mr
            return mr

    def push(
        self: World,
        mr: MergeRequest,
        *,
        files: Iterable[FileDiff] | None = None,
        commits: int = 1,
        conflicting_files: Iterable[str] = (),
        forced: bool = False,
        author: User | str | None = None,
    ) -> str:
        """New commits on the source branch: a new head, no check of it yet, a system note.

        The head pipeline stays the former head's until one is created for the new head.
        """
        with self.lock:
            if files is not None:
                mr.diffs = list(files)
            if forced:
                mr.commits.clear()
            mr.sha = self.sha(mr.project.path, mr.source_branch, "push")
            mr.behind = 0 if forced else mr.behind
            mr.start_sha = mr.base_sha = mr.project.branches[mr.target_branch]
            self._commit(mr, commits, self.now)
            mr.conflicting_files = tuple(conflicting_files)
            self._reset_review(mr)
            self._uncheck(mr)
            self.system_note(mr, f"added {commits} commit{'s' * (commits != 1)}", author)
            return mr.sha

    def move_target(self: World, project: Project, branch: str | None = None, **marks: Any) -> str:
        """Somebody else's commit lands on a branch: merge requests into it are unchecked.

        `conflicts={iid: [path]}` says what the next merge check of each will find.
        """
        with self.lock:
            name = branch or project.default_branch
            project.branches[name] = self.sha(project.path, name)
            for mr in project.merge_requests.values():
                if mr.state == "opened" and mr.target_branch == name:
                    mr.behind += 1
                    found = marks.get("conflicts", {}).get(mr.iid)
                    mr.conflicting_files = tuple(found) if found else mr.conflicting_files
                    self._uncheck(mr)
            return project.branches[name]

    def set_conflicts(self: World, mr: MergeRequest, *paths: str) -> None:
        """Conflicts that the merge check has found already; no path: none."""
        with self.lock:
            mr.conflicting_files = paths
            self.check_mergeability(mr)

    def check_mergeability(self: World, mr: MergeRequest) -> None:
        """The merge check's verdict; it never moves `updated_at` (`Gitlab::Timeless`)."""
        with self.lock:
            mr.merge_status = "cannot_be_merged" if mr.conflicting_files else "can_be_merged"

    def request_merge_check(self: World, mr: MergeRequest) -> None:
        """What a single GET does: an unchecked one is checked in the background."""
        if mr.state == "opened" and mr.merge_status in ("unchecked", "cannot_be_merged_recheck"):
            rechecked = mr.merge_status == "cannot_be_merged_recheck"
            mr.merge_status = "cannot_be_merged_rechecking" if rechecked else "checking"
            self.jobs.append(lambda: self.check_mergeability(mr))

    def merge(self: World, mr: MergeRequest, by: User | str | None = None) -> None:
        with self.lock:
            mr.state, mr.merged_at, mr.merged_by = "merged", self.now, self._bearer(by)
            mr.merge_commit_sha = self.sha(mr.project.path, "merge", mr.iid)
            mr.updated_at = self.now
            mr.project.branches[mr.target_branch] = mr.merge_commit_sha

    def close(self: World, mr: MergeRequest, by: User | str | None = None) -> None:
        with self.lock:
            mr.state, mr.closed_at, mr.closed_by = "closed", self.now, self._bearer(by)
            mr.updated_at = self.now

    def reopen(self: World, mr: MergeRequest, by: User | str | None = None) -> None:
        with self.lock:
            mr.state, mr.closed_at, mr.closed_by = "opened", None, None
            mr.updated_at = self.now
            self._uncheck(mr)

    def lock_for_merge(self: World, mr: MergeRequest) -> None:
        """A merge is under way: `locked` until it ends."""
        with self.lock:
            mr.state, mr.updated_at = "locked", self.now

    def retarget(self: World, mr: MergeRequest, branch: str) -> None:
        with self.lock:
            mr.target_branch, mr.updated_at = branch, self.now
            base = mr.project.branches.setdefault(branch, self.sha(mr.project.path, branch))
            mr.base_sha = mr.start_sha = base
            self._uncheck(mr)

    def mark_draft(self: World, mr: MergeRequest, draft: bool = True) -> None:
        with self.lock:
            title = mr.title.removeprefix("Draft: ")
            mr.draft, mr.title = draft, f"Draft: {title}" if draft else title
            mr.updated_at = self.now

    def edit(self: World, mr: MergeRequest, **columns: Any) -> None:
        """Title, description, labels, assignees: columns of its own."""
        with self.lock:
            for name, value in columns.items():
                setattr(mr, name, value)
            mr.updated_at = self.now

    def delete_merge_request(self: World, mr: MergeRequest) -> None:
        with self.lock:
            mr.deleted = True
            mr.project.merge_requests.pop(mr.iid, None)

    def _bearer(self: World, who: User | str | None) -> User:
        return self.user(who) if isinstance(who, str) else who or self.root

    def _uncheck(self: World, mr: MergeRequest) -> None:
        failed = mr.merge_status.startswith("cannot_be_merged")
        mr.merge_status = "cannot_be_merged_recheck" if failed else "unchecked"

    def _reset_review(self: World, mr: MergeRequest) -> None:
        if mr.project.reset_approvals_on_push:
            for approval in mr.approvals:
                mr.reviewers[approval.user.username] = "UNAPPROVED"
            mr.approvals.clear()

    def _commit(self: World, mr: MergeRequest, count: int, at: datetime) -> None:
        who = mr.author or self.root
        for left in range(count - 1, -1, -1):
            head = mr.sha if left == 0 else self.sha(mr.project.path, mr.source_branch, left)
            parent = mr.commits[0].id if mr.commits else mr.base_sha
            title = f"Step {len(mr.commits) + 1} of {mr.source_branch}"
            mr.commits.insert(
                0,
                Commit(
                    head,
                    title,
                    f"{title}\n",
                    who.name,
                    f"{who.username}@example.com",
                    at - timedelta(seconds=left),
                    (parent,),
                ),
            )
        size = mr.changes_count or str(len(mr.diffs))
        number = self.number("diff version", 9_001)
        mr.versions.insert(0, DiffVersion(number, mr.sha, mr.base_sha, mr.start_sha, at, size))

    def _filled(
        self: World, project: Project, at: datetime, state: str, n: int, files: list[FileDiff]
    ) -> MergeRequest:
        mr = self.open_merge_request(
            project, f"filled-{n}", title=f"Filled {n}", at=at, files=files
        )
        ended = min(at + timedelta(hours=1), self.now)
        if state in ("merged", "closed"):
            mr.state, mr.updated_at = state, ended
            setattr(mr, f"{state}_at", ended)
            setattr(mr, f"{state}_by", self.root)
        elif state != "opened":
            mr.state = state
        return mr
