"""`list_pull_request_review_threads`, a page at a time: every thread once, in their order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.server.office import Office, Row, thread_ids
from tests.server.threads import comment, kept, thread

pytestmark = pytest.mark.anyio


async def test_the_last_93_of_197_threads_are_the_unresolved_ones(office: Office):
    kept(office, *[thread(n, is_resolved=n <= 104) for n in range(1, 198)])
    for filter_, total in ((None, 197), (True, 104), (False, 93)):
        pages = await office.thread_pages(1, is_resolved=filter_)
        found = thread_ids(*pages)
        assert len(found) == len(set(found)) == total
        assert all(id_.startswith("PRRT_") for id_ in found)
        assert {page["totalCount"] for page in pages} == {total}
        assert {page["unresolvedCount"] for page in pages} == {93}
        assert [page["truncated"] for page in pages] == [True] * (len(pages) - 1) + [False]
    first = await office.threads(1, is_resolved=False, limit=100)
    assert len(first["threads"]) == 93
    assert (first["totalCount"], first["truncated"]) == (93, False)


@pytest.mark.parametrize("limit", [1, 7, 50, 100])
@pytest.mark.parametrize("count", [0, 1, 49, 50, 51, 100, 101])
async def test_the_pages_together_are_all_threads(office: Office, count: int, limit: int):
    kept(office, *[thread(n) for n in range(1, count + 1)])
    pages = await office.thread_pages(1, limit=limit)
    assert thread_ids(*pages) == [f"PRRT_{n:04}" for n in range(1, count + 1)]
    assert all(page["threads"] for page in pages[:-1])
    assert all(("nextPageToken" in page) == page["truncated"] for page in pages)


@pytest.mark.parametrize(
    ("limit", "shown"), [(None, 50), (0, 50), ("", 50), ("7", 7), (100, 100), (5_000, 100)]
)
async def test_a_limit_is_fifty_when_unset_and_capped_at_a_hundred(
    office: Office, limit: Any, shown: int
):
    kept(office, *[thread(n, comment(n, "")) for n in range(1, 131)])
    page = await office.threads(1, limit=limit)
    assert len(page["threads"]) == min(shown, len(page["threads"]))
    assert page["totalCount"] == 130
    assert len(page["threads"]) == shown or shown == 100


async def test_a_thousand_threads_are_paged_by_their_place_and_not_by_their_count(office: Office):
    id_, project = kept(office, *[thread(n) for n in range(1, 1_001)])
    first = await office.threads(1, limit=100)
    project.threads[1] = [thread(0, comment(0)), *project.threads[1][10:]]  # one in, ten out
    office.keep_threads(id_, project, 1)
    rest: list[Row] = []
    cursor = first["nextPageToken"]
    while cursor:
        rest.append(await office.threads(1, limit=100, cursor=cursor))
        cursor = rest[-1].get("nextPageToken")
    assert thread_ids(first, *rest) == [f"PRRT_{n:04}" for n in range(1, 1_001)]
    assert rest[-1]["totalCount"] == 991


async def test_threads_of_one_second_are_told_apart_by_their_thread_ids(office: Office):
    same = comment(1)
    kept(office, *[thread(n, same) for n in range(1, 30)])
    pages = await office.thread_pages(1, limit=4)
    assert thread_ids(*pages) == [f"PRRT_{n:04}" for n in range(1, 30)]


async def test_a_page_of_long_bodies_ends_early_and_the_token_goes_on(office: Office):
    long = "漢" * 10_000
    kept(office, *[thread(n, comment(n, long), comment(n + 100, long)) for n in range(1, 21)])
    pages = await office.thread_pages(1, limit=100)
    assert len(thread_ids(*pages)) == 20
    assert len(pages) > 9
    assert all(page["threads"] for page in pages)
    assert [page["truncated"] for page in pages] == [True] * (len(pages) - 1) + [False]


async def test_a_thread_of_which_everything_is_huge_still_fits_a_page(office: Office):
    long = '😀\n"' * 5_000
    huge = [comment(n, long, author="é" * 5_000, minimized="ü" * 5_000) for n in range(1, 3)]
    huge = [replace(each, url="https://é/" * 900) for each in huge]
    kept(
        office,
        thread(1, *huge, path="目" * 5_000, resolved_by="人" * 5_000, is_resolved=True),
        thread(2),
    )
    pages = await office.thread_pages(1)
    assert thread_ids(*pages) == ["PRRT_0001", "PRRT_0002"]
    assert pages[0]["threads"][0]["firstComment"]["bodyTruncated"] is True


async def test_one_that_is_resolved_between_two_pages_of_the_unresolved_displaces_none(
    office: Office,
):
    id_, project = kept(office, *[thread(n) for n in range(1, 11)])
    first = await office.threads(1, is_resolved=False, limit=4)
    project.threads[1] = [
        replace(each, is_resolved=each.id in ("PRRT_0002", "PRRT_0007"))
        for each in project.threads[1]
    ]
    office.keep_threads(id_, project, 1)
    rest = await office.threads(1, is_resolved=False, cursor=first["nextPageToken"])
    assert thread_ids(first, rest) == [f"PRRT_{n:04}" for n in (1, 2, 3, 4, 5, 6, 8, 9, 10)]
    assert rest["totalCount"] == 8
