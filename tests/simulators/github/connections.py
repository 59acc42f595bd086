"""Connections as GitHub pages them: opaque cursors, `first` or `last`."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tests.simulators.github.errors import Refusal
from tests.simulators.github.model import PullRequest, Repository

Key = tuple[Any, int]


@dataclass(slots=True)
class PageInfo:
    has_next_page: bool
    has_previous_page: bool
    start_cursor: str | None
    end_cursor: str | None


@dataclass(slots=True)
class Connection:
    nodes: Sequence[Any]
    page_info: PageInfo
    everything: Sequence[Any]
    """The list that this is a page of."""

    @property
    def total_count(self) -> int:
        return len(self.everything)


def connection(
    items: Sequence[Any],
    first: int | None = None,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
) -> Connection:
    """A page of a list by position: most of GitHub's cursors are no more than an offset."""
    start = _offset(after) if after else 0
    end = _offset(before) - 1 if before else len(items)
    start, end = _window(start, min(end, len(items)), first, last)
    return _page(items, start, end, lambda index: encode_cursor(index + 1))


def pull_request_page(
    repository: Repository,
    first: int | None = None,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
    **filters: Any,
) -> Connection:
    """A page of pull requests by key: one that moves or appears shifts no other."""
    order = filters.pop("orderBy", None) or {"field": "CREATED_AT", "direction": "ASC"}
    keys, items = _sorted(repository, order["field"], order["direction"] == "DESC", filters)
    start = bisect_right(keys, _key(after)) if after else 0
    end = bisect_left(keys, _key(before)) if before else len(items)
    start, end = _window(start, end, first, last)
    return _page(items, start, end, lambda index: encode_cursor(_plain(keys[index])))


def _sorted(
    repository: Repository, field: str, descending: bool, filters: dict[str, Any]
) -> tuple[list[Key], list[PullRequest]]:
    def make() -> tuple[list[Key], list[PullRequest]]:
        chosen = _chosen(repository.pull_requests.values(), **filters)
        sign = -1 if descending else 1
        pairs = sorted(
            ((_sort_key(each, field, sign), each) for each in chosen), key=lambda pair: pair[0]
        )
        return [key for key, _ in pairs], [each for _, each in pairs]

    key = (field, descending, repr(sorted(filters.items())))
    return repository.listing(key, make)


def _sort_key(pull_request: PullRequest, field: str, sign: int) -> Key:
    if field == "COMMENTS":
        value = len(pull_request.comments)
    elif field == "UPDATED_AT":
        value = int(pull_request.updated_at.timestamp())
    else:
        value = int(pull_request.created_at.timestamp())
    return sign * value, sign * pull_request.database_id


def _chosen(
    pull_requests: Iterable[PullRequest],
    states: Iterable[str] | None = None,
    headRefName: str | None = None,
    baseRefName: str | None = None,
    labels: Iterable[str] | None = None,
) -> Iterable[PullRequest]:
    for each in pull_requests:
        if states and each.state not in states:
            continue
        if headRefName is not None and each.head_ref_name != headRefName:
            continue
        if baseRefName is not None and each.base_ref_name != baseRefName:
            continue
        if labels and not {label.name for label in each.labels} & set(labels):
            continue
        yield each


def _window(start: int, end: int, first: int | None, last: int | None) -> tuple[int, int]:
    if first is not None:
        return start, min(end, start + first)
    if last is not None:
        return max(start, end - last), end
    return start, end


def _page(items: Sequence[Any], start: int, end: int, cursor: Any) -> Connection:
    page = items[start:end]
    info = PageInfo(
        has_next_page=end < len(items),
        has_previous_page=start > 0,
        start_cursor=cursor(start) if page else None,
        end_cursor=cursor(end - 1) if page else None,
    )
    return Connection(page, info, items)


def encode_cursor(value: Any) -> str:
    return b64encode(f"cursor:v2:{json.dumps(value)}".encode()).decode()


def _decode(cursor: str) -> Any:
    try:
        kind, version, value = b64decode(cursor, validate=True).decode().split(":", 2)
        if (kind, version) != ("cursor", "v2"):
            raise ValueError(cursor)
        return json.loads(value)
    except ValueError:
        message = f"`{cursor}` does not appear to be a valid cursor."
        raise Refusal("INVALID_CURSOR_ARGUMENTS", message) from None


def _offset(cursor: str) -> int:
    return int(_decode(cursor))


def _key(cursor: str) -> Key:
    value, number = _decode(cursor)
    return value, number


def _plain(key: Key) -> list[Any]:
    return list(key)


def timestamp(moment: datetime | None) -> str | None:
    """RFC 3339 in UTC with `Z`, as both of GitHub's interfaces write it."""
    return moment and f"{moment.isoformat()[:19]}Z"
