"""Acts on repositories: creation, renaming, deletion, branches and their rules."""

from __future__ import annotations

from typing import Any

from tests.simulators.github.checks import Commit
from tests.simulators.github.ground import ORGANIZATION, Ground, act
from tests.simulators.github.identifiers import commit_hash
from tests.simulators.github.model import BranchRules, PullRequest, Repository


class RepositoryActs(Ground):
    def __init__(self, **ground: Any) -> None:
        super().__init__(**ground)
        self._names: dict[str, Repository] = {}
        self._former_names: dict[str, Repository] = {}
        self.repositories: dict[int, Repository] = {}
        self.mergeability_lag = 0
        """So many times GitHub says UNKNOWN after each push, retarget and move of a base."""

    def find_repository(self, name: str, *, follow_renames: bool = True) -> Repository | None:
        """The repository of this `owner/name`, in any case, by a former name too."""
        found = self._names.get(name.lower())
        return found or (self._former_names.get(name.lower()) if follow_renames else None)

    @act
    def create_repository(
        self, name: str, *, private: bool = False, database_id: int | None = None
    ) -> Repository:
        """A new repository `owner/name`. A name that led elsewhere after a rename is taken over."""
        if name.lower() in self._names:
            raise ValueError(f"{name} exists already")
        owner, _, short = name.partition("/")
        account = self.account(owner, ORGANIZATION)
        made = Repository(self.site, account, short, database_id or self.next_id(), self.now())
        made.is_private = private
        self._former_names.pop(name.lower(), None)
        self._names[name.lower()] = self.repositories[made.database_id] = self.known(made)
        self.commit(made, branch=made.default_branch)
        return made

    @act
    def fork(self, repository: Repository, owner: str) -> Repository:
        """A fork under another owner, or the one that is there already."""
        name = f"{owner}/{repository.name}"
        self.account(owner)
        if found := self.find_repository(name, follow_renames=False):
            return found
        made = self.create_repository(name, private=repository.is_private)
        made.is_fork = True
        return made

    @act
    def rename_repository(self, repository: Repository, name: str) -> None:
        """To a new `owner/name`; the old one leads here until another repository takes it."""
        if name.lower() in self._names:
            raise ValueError(f"{name} exists already")
        old = repository.name_with_owner.lower()
        self._former_names[old] = self._names.pop(old)
        owner, _, repository.name = name.partition("/")
        repository.owner = self.account(owner, ORGANIZATION)
        self._former_names.pop(name.lower(), None)
        self._names[name.lower()] = repository
        repository.changed()

    @act
    def delete_repository(self, repository: Repository) -> None:
        """Gone with all that is in it; its name is free. What came from a fork loses its head."""
        repository.deleted = True
        del self._names[repository.name_with_owner.lower()]
        self._former_names = {
            name: other for name, other in self._former_names.items() if other is not repository
        }
        for other in self.repositories.values():
            for pull_request in other.pull_requests.values():
                if pull_request.head_repository is repository:
                    pull_request.head_repository = None
            other.changed()

    @act
    def set_private(self, repository: Repository, private: bool = True) -> None:
        repository.is_private = private

    @act
    def set_pull_requests_enabled(self, repository: Repository, enabled: bool) -> None:
        """Off: what is there is hidden until it is on again."""
        repository.pull_requests_enabled = enabled
        repository.changed()

    @act
    def open_issue(self, repository: Repository) -> int:
        """An issue takes the next number, which no pull request has then."""
        repository.next_number += 1
        return repository.next_number - 1

    @act
    def set_rules(self, repository: Repository, branch: str = "main", **rules: Any) -> BranchRules:
        """What `branch` asks of its pull requests; without rules there is none to read."""
        made = BranchRules(pattern=branch, **rules)
        repository.rules[branch] = made
        repository.changed()
        return made

    @act
    def commit(
        self, repository: Repository, *, branch: str | None = None, oid: str | None = None
    ) -> Commit:
        """A new commit, or the one that has this `oid`; `branch` then points at it."""
        oid = oid or commit_hash(f"{repository.database_id} {self.next_id()}")
        if oid not in repository.commits:
            repository.commits[oid] = Commit(repository, oid, self.now())
        if branch:
            repository.branches[branch] = repository.commits[oid]
        return repository.commits[oid]

    @act
    def move_base(self, repository: Repository, branch: str = "main") -> Commit:
        """A push to `branch`. Open pull requests into it are computed anew; none is bumped."""
        moved = self.commit(repository, branch=branch)
        for pull_request in repository.pull_requests.values():
            if pull_request.state == "OPEN" and pull_request.base_ref_name == branch:
                self.compute_again(pull_request)
        return moved

    @act
    def delete_branch(self, repository: Repository, branch: str) -> None:
        repository.branches.pop(branch, None)

    def compute_again(self, pull_request: PullRequest) -> None:
        """Mergeability is not known until it was asked for `mergeability_lag` times."""
        pull_request.unknown_for = self.mergeability_lag
        pull_request.repository.changed()
