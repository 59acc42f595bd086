"""A repository in which everything is going on, for people who look and for benchmarks."""

from __future__ import annotations

from collections.abc import Callable

from tests.simulators.github.model import PullRequest, Repository
from tests.simulators.github.world import World

Situation = Callable[[World, PullRequest], None]


def populate(
    world: World, name: str, count: int, *, unfinished: int | None = None, threads: int = 0
) -> Repository:
    """A repository with `count` pull requests, all but the newest `unfinished` merged.

    The unfinished ones take turns at the situations below. The newest has `threads` review
    threads, of which the last `threads * 93 // 197` are unresolved.
    """
    repository = world.create_repository(name)
    made = world.open_pull_requests(repository, count, unfinished=unfinished)
    waiting = [each for each in made if each.state == "OPEN"]
    for index, pull_request in enumerate(waiting):
        SITUATIONS[index % len(SITUATIONS)](world, pull_request)
    if made:
        _discuss(world, made[-1], threads)
    return repository


def _discuss(world: World, pull_request: PullRequest, threads: int) -> None:
    resolved = threads - threads * 93 // 197
    for index in range(threads):
        thread = world.open_thread(pull_request, "alice", f"src/part{index % 9}.py", index + 1)
        if index < resolved:
            world.resolve(thread, "bob")


def _approved(world: World, pull_request: PullRequest) -> None:
    world.set_checks(pull_request, build="SUCCESS", lint="SUCCESS")
    world.review(pull_request, "alice", "APPROVED", "Good.")


def _refused(world: World, pull_request: PullRequest) -> None:
    world.set_checks(pull_request, build="SUCCESS")
    world.review(pull_request, "bob", "CHANGES_REQUESTED", "Not yet.")


def _failing(world: World, pull_request: PullRequest) -> None:
    world.set_checks(pull_request, build="SUCCESS", test="FAILURE")


def _running(world: World, pull_request: PullRequest) -> None:
    world.set_checks(pull_request, build="SUCCESS", test="IN_PROGRESS")


def _conflicting(world: World, pull_request: PullRequest) -> None:
    world.set_mergeable(pull_request, "CONFLICTING")


def _draft(world: World, pull_request: PullRequest) -> None:
    world.set_draft(pull_request)


def _queued(world: World, pull_request: PullRequest) -> None:
    _approved(world, pull_request)
    world.enqueue(pull_request)


def _plain(world: World, pull_request: PullRequest) -> None:
    world.request_review(pull_request, "carol")


SITUATIONS: list[Situation] = [
    _approved,
    _refused,
    _failing,
    _running,
    _conflicting,
    _draft,
    _queued,
    _plain,
]
