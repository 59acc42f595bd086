"""GraphQL: the root fields and a repository's."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tests.simulators.github import verdicts
from tests.simulators.github.asking import Asking, Info, Ref, answers, ref
from tests.simulators.github.checks import CheckRun, CheckSuite, StatusContext
from tests.simulators.github.connections import Connection, connection, pull_request_page
from tests.simulators.github.conversation import ReviewComment
from tests.simulators.github.errors import Refusal, not_found
from tests.simulators.github.model import Account, PullRequest, Repository


@answers("Query.viewer")
def _viewer(_: Any, info: Info) -> Account | None:
    return info.context.viewer.user


@answers("Query.rateLimit")
def _rate_limit(_: Any, info: Info) -> SimpleNamespace:
    asking: Asking = info.context
    return SimpleNamespace(
        cost=asking.cost,
        node_count=asking.node_count,
        limit=asking.budget.limit,
        remaining=asking.budget.remaining,
        used=asking.budget.used,
        reset_at=asking.budget.reset_at,
    )


@answers("Query.repository")
def _repository(
    _: Any,
    info: Info,
    owner: str,
    name: str,
    followRenames: bool = True,
) -> Repository:
    asking: Asking = info.context
    found = asking.world.find_repository(f"{owner}/{name}", follow_renames=followRenames)
    if visible := asking.world.visible(found, asking.viewer):
        return visible
    raise not_found("Repository", f"name '{owner}/{name}'")


@answers("Query.node")
def _node(_: Any, info: Info, id: str) -> Any:
    return find_node(info.context, id)


@answers("Query.nodes")
def _nodes(_: Any, info: Info, ids: list[str]) -> list[Any]:
    return [_node_or_refusal(info.context, each) for each in ids]


def _node_or_refusal(asking: Asking, node: str) -> Any:
    try:
        return find_node(asking, node)
    except Refusal as refusal:  # graphql-core places a returned exception at the item's own path
        return refusal


def find_node(asking: Asking, node: str) -> Any:
    """What has this id, if the viewer may see it and it is not deleted."""
    found = asking.world.nodes.get(node)
    if found is None or not _may_see_node(asking, found):
        raise not_found("node", f"global id of '{node}'")
    return found


def _may_see_node(asking: Asking, found: Any) -> bool:
    repository = _repository_of(found)
    return (
        asking.viewer.may_see(repository)
        and (repository.pull_requests_enabled or found is repository)
        and verdicts.is_visible(found, asking.viewer)
    )


def _repository_of(found: Any) -> Repository:
    match found:
        case Repository():
            return found
        case PullRequest():
            return found.repository
        case ReviewComment():
            return found.thread.pull_request.repository
        case CheckSuite() | StatusContext():
            return found.commit.repository
        case CheckRun():
            return found.suite.commit.repository
    return found.pull_request.repository


@answers("Repository.pullRequest")
def _pull_request(repository: Repository, _: Info, number: int) -> PullRequest:
    found = repository.pull_requests.get(number)
    if found is None or not repository.pull_requests_enabled:
        raise not_found("PullRequest", f"number of {number}")
    return found


@answers("Repository.pullRequests")
def _pull_requests(repository: Repository, _: Info, **arguments: Any) -> Connection:
    if not repository.pull_requests_enabled:
        return connection([])
    return pull_request_page(repository, **arguments)


@answers("Repository.defaultBranchRef")
def _default_branch(repository: Repository, _: Info) -> Ref | None:
    return ref(repository, repository.default_branch)


@answers("Repository.ref")
def _named_ref(repository: Repository, _: Info, qualifiedName: str) -> Ref | None:
    return ref(repository, qualifiedName.removeprefix("refs/heads/"))
