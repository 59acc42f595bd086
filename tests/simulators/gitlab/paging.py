"""GitLab's offset paging: pages of at most 100, next links, totals only of what is small."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlencode

from tests.simulators.gitlab.access import Refused, invalid
from tests.simulators.gitlab.world import World

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Page:
    number: int
    size: int

    @property
    def start(self) -> int:
        return (self.number - 1) * self.size


def page_of(query: dict[str, str]) -> Page:
    """`page` and `per_page`, 20 when unset and 100 at most."""

    def number(name: str, default: int) -> int:
        value = query.get(name) or str(default)
        if not value.lstrip("-").isdigit():
            raise invalid(name)
        return int(value)

    size = number("per_page", 20)
    if size < 1:
        raise invalid("per_page", "does not have a valid value")
    return Page(max(1, number("page", 1)), min(size, 100))


def paginate(
    world: World,
    rows: Sequence[Row],
    url: str,
    query_string: str,
    shape: Callable[[Row], Any],
    *,
    limited: bool = False,
) -> tuple[list[Any], dict[str, str]]:
    """One page's rows and its headers; `limited` lists end at the offset limit."""
    query = dict(parse_qsl(query_string, keep_blank_values=True))
    if query.get("pagination") == "keyset":
        words = "Keyset pagination is not yet available for this type of request"
        raise Refused(world.keyset_status, {"error": words})
    page = page_of(query)
    if limited and page.number * page.size > world.max_offset:
        raise _beyond(world.max_offset)
    chosen = rows[page.start : page.start + page.size]
    headers = _headers(page, len(rows), len(rows) <= world.count_limit)
    headers["Link"] = _links(page, headers, url, query_string)
    return [shape(row) for row in chosen], headers


def _beyond(limit: int) -> Refused:
    words = (
        f"Offset pagination has a maximum allowed offset of {limit} for requests that return "
        "objects of type MergeRequest. Remaining records can be retrieved using keyset pagination."
    )
    return Refused(405, {"error": words})


def _headers(page: Page, total: int, counted: bool) -> dict[str, str]:
    more = page.start + page.size < total
    headers = {
        "X-Per-Page": str(page.size),
        "X-Page": str(page.number),
        "X-Next-Page": str(page.number + 1) if more else "",
        "X-Prev-Page": str(page.number - 1) if page.number > 1 else "",
    }
    if counted:
        pages = max(1, -(-total // page.size))
        headers |= {"X-Total": str(total), "X-Total-Pages": str(pages)}
    return headers


def _links(page: Page, headers: dict[str, str], url: str, query_string: str) -> str:
    kept = [
        (name, value)
        for name, value in parse_qsl(query_string, keep_blank_values=True)
        if name not in ("page", "per_page", "private_token")
    ]

    def link(relation: str, number: str) -> str:
        query = urlencode([*kept, ("page", number), ("per_page", str(page.size))])
        return f'<{url}?{query}>; rel="{relation}"'

    wanted = {
        "prev": headers["X-Prev-Page"],
        "next": headers["X-Next-Page"],
        "first": "1",
        "last": headers.get("X-Total-Pages", ""),
    }
    return ", ".join(link(relation, number) for relation, number in wanted.items() if number)
