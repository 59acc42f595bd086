"""Where a project lies: the addresses of what is in it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """The site's web root, and the project's id and path."""

    root: str
    project_id: str
    path: str

    @property
    def url(self) -> str:
        return f"{self.root}/{self.path}"

    def merge_request(self, iid: int) -> str:
        """A merge request's page."""
        return f"{self.url}/-/merge_requests/{iid}"

    def below_host(self, path: str) -> str:
        """The address of a path that begins behind the host, as GraphQL gives them."""
        scheme, _, rest = self.root.partition("://")
        return f"{scheme}://{rest.partition('/')[0]}{path}"
