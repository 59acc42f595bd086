"""One REST call: who sends it, what it asks for, how it is answered or refused."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from tests.simulators.github.model import Repository
from tests.simulators.github.tokens import Viewer
from tests.simulators.github.world import World

DEFAULT_PAGE, LARGEST_PAGE = 30, 100
DOCUMENTATION = "https://docs.github.com/rest"


@dataclass(slots=True)
class Answer:
    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, payload: Any, status: int = 200, **headers: str) -> Answer:
        """JSON; a header's name is written with `_` for `-`."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        named.setdefault("content-type", "application/json; charset=utf-8")
        return cls(status, json_bytes(payload), named)


def json_bytes(payload: Any) -> bytes:
    """Compact UTF-8, with escapes where the text has no UTF-8 (lone surrogates)."""
    try:
        return json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(payload, separators=(",", ":")).encode()


class RestRefusal(Exception):
    """An answer with a status of 400 or more."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message

    @property
    def answer(self) -> Answer:
        return Answer.of(
            {
                "message": self.message,
                "documentation_url": DOCUMENTATION,
                "status": str(self.status),
            },
            self.status,
        )


def missing() -> RestRefusal:
    return RestRefusal(404, "Not Found")


@dataclass(slots=True)
class Call:
    world: World
    viewer: Viewer
    api: str
    """The root of the addresses in the answer: `https://host/api/v3`."""
    route: str
    """What follows `/repos/OWNER/NAME`."""
    parameters: dict[str, str]
    variables: dict[str, Any]
    """What stands in the route's `{…}`."""
    repository: Repository | None = None
    finds_no_checks: bool = False

    @property
    def found(self) -> Repository:
        assert self.repository is not None
        return self.repository

    def wants(self, parameter: str, default: str = "") -> str:
        return self.parameters.get(parameter) or default

    def page(
        self,
        items: Sequence[Any],
        shape: Callable[[Any, str], Any],
        within: Callable[[int, list[Any]], Any] | None = None,
    ) -> Answer:
        """A page of `items`, with Link headers through `/repositories/ID` as GitHub writes them."""
        size = min(max(self._number("per_page", DEFAULT_PAGE), 1), LARGEST_PAGE)
        number = max(self._number("page", 1), 1)
        shown = [shape(each, self.api) for each in items[(number - 1) * size : number * size]]
        answer = Answer.of(within(len(items), shown) if within else shown)
        if link := self._link(number, -(-len(items) // size)):
            answer.headers["link"] = link
        return answer

    def _number(self, parameter: str, default: int) -> int:
        given = self.wants(parameter)
        return int(given) if given.isdigit() else default

    def _link(self, number: int, last: int) -> str:
        pages = {}
        if number > 1:
            pages |= {"prev": min(number - 1, max(last, 1)), "first": 1}
        if number < last:
            pages |= {"next": number + 1, "last": last}
        return ", ".join(f'<{self._address(page)}>; rel="{rel}"' for rel, page in pages.items())

    def _address(self, page: int) -> str:
        query = urlencode({**self.parameters, "page": page}, safe=":/")
        return f"{self.api}/repositories/{self.found.database_id}{self.route}?{query}"


def etag(body: bytes, viewer: Viewer) -> str:
    """Of one address for one token: another token's answer has another."""
    digest = hashlib.sha256(viewer.token.encode() + b"\0" + body).hexdigest()
    return f'W/"{digest}"'
