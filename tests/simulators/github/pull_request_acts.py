"""Acts on pull requests themselves: opened, pushed to, retargeted, queued, merged, closed."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from tests.simulators.github.check_acts import CheckActs
from tests.simulators.github.checks import Commit
from tests.simulators.github.ground import act
from tests.simulators.github.identifiers import node_id
from tests.simulators.github.model import (
    ChangedFile,
    Label,
    MergeQueueEntry,
    PullRequest,
    Repository,
)


class PullRequestActs(CheckActs):
    @act
    def open_pull_request(
        self,
        repository: Repository,
        *,
        title: str = "",
        head: str = "",
        base: str = "main",
        author: str = "octocat",
        draft: bool = False,
        fork: str | None = None,
        oid: str | None = None,
        body: str = "",
        at: datetime | None = None,
        database_id: int | None = None,
    ) -> PullRequest:
        """Open a pull request from branch `head`, of the fork of account `fork` if one is named.

        `at` dates it back; `oid` is a head commit that others may share.
        """
        number, at = repository.next_number, (at or self.now()).replace(microsecond=0)
        head = head or f"change-{number}"
        source = self.fork(repository, fork) if fork else repository
        commit = self.commit(repository, oid=oid)
        source.branches[head] = commit
        database_id = database_id or self.next_id()
        made = PullRequest(
            repository,
            number,
            database_id,
            title or f"Change {number}",
            self.account(author),
            commit,
            head,
            source.owner,
            source,
            base,
            self._tip(repository, base).oid,
            at,
            at,
            node_id("PR", repository.database_id, database_id),
            body,
            is_draft=draft,
            unknown_for=self.mergeability_lag,
            commits=[commit],
            files=[ChangedFile(f"change-{number}.txt", change_type="ADDED")],
        )
        repository.next_number += 1
        repository.pull_requests[number] = self.known(made)
        repository.changed()
        return made

    @act
    def open_pull_requests(
        self, repository: Repository, count: int, *, unfinished: int | None = None, **more: Any
    ) -> list[PullRequest]:
        """Open many, a minute apart, the last one now; all but the newest `unfinished` merged."""
        first, made = self.now() - timedelta(minutes=count), []
        merged = 0 if unfinished is None else count - unfinished
        for index in range(count):
            at = first + timedelta(minutes=index + 1)
            made.append(self.open_pull_request(repository, at=at, **more))
            if index < merged:
                self.merge(made[-1], at=at)
        return made

    @act
    def push(self, pull_request: PullRequest, *, oid: str | None = None) -> Commit:
        """A new head without checks; threads stay where they are (see `outdate`)."""
        commit = self.commit(pull_request.repository, oid=oid)
        pull_request.head = commit
        pull_request.commits.append(commit)
        if pull_request.head_repository:
            pull_request.head_repository.branches[pull_request.head_ref_name] = commit
        pull_request.base_ref_oid = self._tip(
            pull_request.repository, pull_request.base_ref_name
        ).oid
        self.compute_again(pull_request)
        self.touch(pull_request)
        return commit

    @act
    def edit(
        self, pull_request: PullRequest, *, title: str | None = None, body: str | None = None
    ) -> None:
        pull_request.title = pull_request.title if title is None else title
        pull_request.body = pull_request.body if body is None else body
        self.touch(pull_request)

    @act
    def set_draft(self, pull_request: PullRequest, draft: bool = True) -> None:
        pull_request.is_draft = draft
        self.touch(pull_request)

    @act
    def retarget(self, pull_request: PullRequest, base: str) -> None:
        pull_request.base_ref_name = base
        pull_request.base_ref_oid = self._tip(pull_request.repository, base).oid
        self.compute_again(pull_request)
        self.touch(pull_request)

    @act
    def merge(
        self, pull_request: PullRequest, by: str = "octocat", *, at: datetime | None = None
    ) -> None:
        """Merged, closed in the same second, out of the queue; its base moves.

        `at` dates it back; then the base stays where it is.
        """
        pull_request.updated_at = pull_request.merged_at = pull_request.closed_at = at or self.now()
        pull_request.state, pull_request.merged_by = "MERGED", self.account(by)
        pull_request.merge_queue_entry, pull_request.mergeability = None, "UNKNOWN"
        base = pull_request.base_ref_name
        if at is None:
            pull_request.merge_commit = self.move_base(pull_request.repository, base)
        pull_request.repository.changed()

    @act
    def close(self, pull_request: PullRequest) -> None:
        pull_request.state, pull_request.merge_queue_entry = "CLOSED", None
        pull_request.closed_at = self.touch(pull_request)

    @act
    def reopen(self, pull_request: PullRequest) -> None:
        pull_request.state, pull_request.closed_at = "OPEN", None
        self.compute_again(pull_request)
        self.touch(pull_request)

    @act
    def delete_head_repository(self, pull_request: PullRequest) -> None:
        """The fork is gone; the pull request stays, with the names that it had. No bump."""
        fork = pull_request.head_repository
        if fork is None or fork is pull_request.repository:
            raise ValueError("its head is not in a fork")
        self.delete_repository(fork)

    @act
    def enqueue(
        self, pull_request: PullRequest, position: int = 1, state: str = "QUEUED"
    ) -> MergeQueueEntry:
        at, who = self.touch(pull_request), pull_request.author
        entry = MergeQueueEntry(pull_request, position, state, at, who, self.next_id())
        pull_request.merge_queue_entry = entry
        return entry

    @act
    def dequeue(self, pull_request: PullRequest) -> None:
        pull_request.merge_queue_entry = None
        self.touch(pull_request)

    @act
    def set_mergeable(
        self, pull_request: PullRequest, mergeable: str, *, unknown_for: int = 0
    ) -> None:
        """MERGEABLE or CONFLICTING, said after `unknown_for` requests that ask. No bump."""
        pull_request.mergeability, pull_request.unknown_for = mergeable, unknown_for
        pull_request.repository.changed()

    @act
    def set_merge_state(self, pull_request: PullRequest, state: str | None) -> None:
        """Force `mergeStateStatus`; `None` lets it follow from the rest again. No bump."""
        pull_request.forced_merge_state = state

    @act
    def set_review_decision(self, pull_request: PullRequest, decision: str | None) -> None:
        """Force `reviewDecision`, `NONE` for null; `None` lets it follow from rules and reviews."""
        pull_request.forced_review_decision = decision

    @act
    def set_labels(self, pull_request: PullRequest, names: Iterable[str]) -> None:
        repository = pull_request.repository.database_id
        pull_request.labels = [Label(repository, name, self.next_id()) for name in names]
        self.touch(pull_request)

    @act
    def set_files(self, pull_request: PullRequest, files: Iterable[ChangedFile | str]) -> None:
        """What the head changes; a plain path is one added line."""
        given = [ChangedFile(each) if isinstance(each, str) else each for each in files]
        pull_request.files = given
        pull_request.additions = sum(each.additions for each in given)
        pull_request.deletions = sum(each.deletions for each in given)

    def _tip(self, repository: Repository, branch: str) -> Commit:
        return repository.branches.get(branch) or self.commit(repository, branch=branch)
