"""GitHub's two APIs at one site: where they are, and how a document is sent there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

import pydantic

from pullstate.domain.site import Site
from pullstate.forges.errors import Unexpected
from pullstate.forges.github.tailoring import introspection, missing_from, tailored
from pullstate.forges.graphql import Result, ask
from pullstate.forges.http import Answer, Credentials, ForgeHttp

HEADERS = {
    "accept": "application/vnd.github+json",
    "x-github-api-version": "2022-11-28",
    "x-github-next-global-id": "1",  # one spelling of an id, whichever API gives it
}
Read = TypeVar("Read", bound=pydantic.BaseModel)


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Where a site's APIs are: a web root, and the paths of REST and GraphQL under it."""

    root: str
    rest: str
    graphql: str

    @classmethod
    def of(cls, site: Site) -> Endpoints:
        """github.com and the ghe.com tenants have a host for it, every server a path."""
        if site.hostname == "github.com" or site.hostname.endswith(".ghe.com"):
            return cls(f"https://api.{site.hostname}", "", "/graphql")
        return cls(f"{site.url}/api", "/v3", "/graphql")


def connected(
    site: Site,
    credentials: Credentials,
    clock: Callable[[], datetime],
    *,
    ca_file: Path | None = None,
) -> ForgeHttp:
    """The way out to a site. Nothing is sent yet."""
    root = Endpoints.of(site).root
    return ForgeHttp(root, credentials, clock, headers=HEADERS, ca_file=ca_file)


class Api:
    """Questions to one site."""

    def __init__(self, site: Site, http: ForgeHttp) -> None:
        self.site, self.http = site, http
        self._endpoints = Endpoints.of(site)
        self._missing: frozenset[str] | None = frozenset() if self._is_current else None

    @property
    def _is_current(self) -> bool:
        """Whether GitHub itself runs it: then it has every field that is asked for."""
        return self._endpoints.rest == ""

    async def ask(self, document: str, **variables: Any) -> Result:
        """Send a GraphQL document, cut to what the site knows."""
        if self._missing is None:
            known = await ask(self.http, self._endpoints.graphql, introspection(), {})
            self._missing = missing_from(known.data)
        text = tailored(document, self._missing)
        return await ask(self.http, self._endpoints.graphql, text, variables)

    async def get(
        self,
        path: str,
        parameters: Mapping[str, str | int] | None = None,
        *,
        etag: str | None = None,
    ) -> Answer:
        """GET a REST path, or the address of a next page."""
        url = path if "://" in path else f"{self._endpoints.rest}{path}"
        return await self.http.get(url, parameters, etag=etag)

    async def items(
        self,
        path: str,
        parameters: Mapping[str, str | int],
        key: str | None = None,
        *,
        pages: int = 100,
    ) -> tuple[list[Any], bool]:
        """A REST list through all its pages, and whether there were more of them than `pages`."""
        answer = await self.get(path, {"per_page": 100, **parameters})
        found = list(_listed(answer.json, key))
        for _ in range(pages - 1):
            if answer.next is None:
                return found, False
            answer = await self.get(answer.next)
            found += _listed(answer.json, key)
        return found, answer.next is not None


def _listed(json: Any, key: str | None) -> Sequence[Any]:
    found = mapping(json).get(key) if key else json
    if not isinstance(found, list):
        raise Unexpected("the forge answered with something else than a list")
    return found


def mapping(json: Any) -> Mapping[str, Any]:
    """An object of an answer; Unexpected where something else stands in its place."""
    if not isinstance(json, dict):
        raise Unexpected("the forge answered with something else than an object")
    return json


def listing(json: Any) -> Sequence[Any]:
    """A list of an answer, null being an empty one; Unexpected where something else stands."""
    return _listed([] if json is None else json, None)


def read(model: type[Read], json: Any) -> Read:
    """What an answer says, as `model`. Unexpected, naming the field, where it cannot be."""
    try:
        return model.model_validate(json)
    except pydantic.ValidationError as error:
        where = ".".join(str(step) for step in error.errors()[0]["loc"] if isinstance(step, str))
        raise Unexpected(f"an answer that cannot be read: {model.__name__}.{where}") from None


def route(path: str) -> str:
    """`/repos/OWNER/NAME` of a repository's path, each part encoded once."""
    return "/repos/" + "/".join(quote(part, safe="") for part in path.split("/"))
