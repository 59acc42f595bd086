"""What REST gives: repositories by address, the free probe, and pull requests without GraphQL."""

from __future__ import annotations

from pullstate.forges.errors import PullRequestsDisabled, Unexpected
from pullstate.forges.forge import Probe, Repository
from pullstate.forges.github.api import Api, route


async def repository(api: Api, path: str) -> Repository:
    """The repository at an address, as it is named now."""
    found = (await api.get(route(path))).json
    if not isinstance(found, dict) or not {"node_id", "full_name"} <= found.keys():
        raise Unexpected("an answer that is no repository")
    if found.get("has_pull_requests") is False:
        raise PullRequestsDisabled("the repository has pull requests turned off")
    return Repository(str(found["node_id"]), str(found["full_name"]))


async def probe(api: Api, repository: Repository, etag: str | None) -> Probe:
    """The newest change by REST, against an ETag: 304 says that nothing was updated.

    Not `/issues`, whose `updated_at` ignores review comments.
    """
    newest = {"state": "all", "sort": "updated", "direction": "desc", "per_page": 1}
    answer = await api.get(f"{route(repository.path)}/pulls", newest, etag=etag)
    if answer.unchanged:
        return Probe(unchanged=True, etag=answer.etag or etag)
    return Probe(unchanged=False, etag=answer.etag)
