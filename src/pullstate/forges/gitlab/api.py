"""GitLab's two APIs at one site: where they are, and how a question is sent there.

GitLab counts both against one limit. Addresses that it gives (of next pages) are taken apart: an
install may spell its own host in another way than the one that leads there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qsl, quote, urlsplit

import anyio
import pydantic

from pullstate.domain.site import Site
from pullstate.forges.errors import ForgeError, Unauthorized, Unexpected
from pullstate.forges.gitlab.pace import PER_MINUTE, Pace
from pullstate.forges.gitlab.schema import REFUSALS, NoGraphQL, Schema
from pullstate.forges.graphql import Result, ask
from pullstate.forges.http import Answer, Credentials, ForgeHttp
from pullstate.forges.refusals import WHOLE_HOST
from pullstate.forges.tailoring import tailored

HEADERS = {"accept": "application/json"}
REST, GRAPHQL = "/v4", "/graphql"
Read = TypeVar("Read", bound=pydantic.BaseModel)
Parameters = Mapping[str, str | int]


def connected(
    site: Site,
    credentials: Credentials,
    clock: Callable[[], datetime],
    *,
    ca_file: Path | None = None,
) -> ForgeHttp:
    """The way out to a site, below its subpath. Nothing is sent yet."""
    return ForgeHttp(f"{site.url}/api", credentials, clock, headers=HEADERS, ca_file=ca_file)


class Api:
    """Questions to one site."""

    def __init__(self, site: Site, http: ForgeHttp) -> None:
        self.site, self.http = site, http
        self.schema = Schema(http.now)
        self._pace = Pace(PER_MINUTE.get(site.url))

    async def get(self, path: str, parameters: Parameters | None = None) -> Answer:
        """GET a REST path."""
        await self._wait()
        try:
            return await self.http.get(f"{REST}{path}", parameters, resource=WHOLE_HOST)
        except Unauthorized:
            self.schema.forget()
            raise

    async def items(
        self, path: str, parameters: Parameters | None = None, *, pages: int
    ) -> tuple[list[Any], bool]:
        """A REST list through its pages, and whether there are more of them than `pages`.

        Pages follow the next links: totals are absent above 10,000 rows.
        """
        query: Parameters | None = {"per_page": 100, **(parameters or {})}
        found: list[Any] = []
        for _ in range(pages):
            answer = await self.get(path, query)
            found += listed(answer.json)
            query = next_query(answer)
            if query is None:
                return found, False
        return found, True

    async def ask(self, document: str, **variables: Any) -> Result:
        """Send a GraphQL document, cut to what the site knows.

        NoGraphQL where there is none for this credential. A token that REST refuses too is found
        out by REST.
        """
        missing = await self.schema.missing(self._send)
        try:
            result = await self._send(tailored(document, missing), variables)
        except REFUSALS as error:
            raise self.schema.refuse(str(error)) from None
        except Unexpected as error:
            raise self.schema.strike() or error from None
        self.schema.answered()
        return result

    async def _send(self, document: str, variables: Mapping[str, Any] | None = None) -> Result:
        await self._wait()
        return await ask(self.http, GRAPHQL, document, variables or {}, resource=WHOLE_HOST)

    async def _wait(self) -> None:
        if wait := self._pace.enter(self.http.now()):
            await anyio.sleep(wait.total_seconds())

    async def has_graphql(self) -> bool:
        """Whether GraphQL can be asked; finds out where that is not known."""
        try:
            await self.schema.missing(self._send)
        except NoGraphQL:
            return False
        return True

    async def lacks(self, field: str) -> bool:
        """Whether GraphQL has no such `Type.field`. NoGraphQL where there is none."""
        return field in await self.schema.missing(self._send)


def listed(json: Any) -> list[Any]:
    """The rows of a REST list."""
    if not isinstance(json, list):
        raise Unexpected("the forge answered with something else than a list")
    return json


def next_query(answer: Answer) -> dict[str, str] | None:
    """The parameters of the next page; None on the last one."""
    if answer.next is None:
        return None
    given = dict(parse_qsl(urlsplit(answer.next).query, keep_blank_values=True))
    return {name: value for name, value in given.items() if name not in ("id", "private_token")}


def read(model: type[Read], json: Any) -> Read:
    """What an answer says, as `model`. Unexpected, naming the field, where it cannot be."""
    try:
        return model.model_validate(json)
    except pydantic.ValidationError as error:
        where = ".".join(str(step) for step in error.errors()[0]["loc"] if isinstance(step, str))
        raise Unexpected(f"an answer that cannot be read: {model.__name__}.{where}") from None


def read_all(model: type[Read], rows: list[Any]) -> tuple[list[Read], ForgeError | None]:
    """The rows that can be read, and why another cannot: no reason to lose the rest."""
    found, fault = [], None
    for row in rows:
        try:
            found.append(read(model, row))
        except ForgeError as error:
            fault = fault or error
    return found, fault


def route(project: str, *more: object) -> str:
    """`/projects/ID` of a numeric id or a full path, which is encoded as one part."""
    return "/".join(["/projects", quote(project, safe=""), *map(str, more)])
