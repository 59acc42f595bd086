"""GraphQL answers: data, what of it was refused, and what is no answer at all."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from pullstate.forges.errors import Forbidden, NotVisible, Overloaded, RateLimited, Unexpected
from pullstate.forges.graphql import Refused, Result, ask
from pullstate.forges.http import ForgeHttp

pytestmark = pytest.mark.anyio
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


async def asked(answer: Any, **headers: str) -> Result:
    async def nobody() -> None:
        return None

    response = httpx.Response(200, json=answer, headers=headers)
    transport = httpx.MockTransport(lambda _: response)
    http = ForgeHttp("https://forge.test", nobody, lambda: NOW, transport=transport)
    return await ask(http, "/graphql", "query { a }", {})


def error(kind: str | None = None, *path: str | int, **more: Any) -> dict[str, Any]:
    said: dict[str, Any] = {"message": "the forge's own words", **more}
    if kind:
        said["type"] = kind
    if path:
        said["path"] = list(path)
    return said


@pytest.mark.parametrize("kind", ["RATE_LIMITED", "RATE_LIMIT"])
@pytest.mark.parametrize("data", [None, {"a": None}])
async def test_a_rate_limit_comes_with_status_200(kind: str, data: Any):
    reset = str(int((NOW + timedelta(minutes=40)).timestamp()))
    left = {"x-ratelimit-limit": "5000", "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset}
    left["x-ratelimit-resource"] = "graphql"
    with pytest.raises(RateLimited) as caught:
        await asked({"data": data, "errors": [error(kind)]}, **left)
    assert caught.value.until == NOW + timedelta(minutes=40)
    assert (caught.value.resource, caught.value.secondary) == ("graphql", False)


async def test_a_rate_limit_that_does_not_say_until_when_is_a_minute():
    with pytest.raises(RateLimited) as caught:
        await asked({"errors": [error("RATE_LIMITED")]})
    assert caught.value.until == NOW + timedelta(seconds=60)


@pytest.mark.parametrize(
    "refusal",
    [
        error("RESOURCE_LIMITS_EXCEEDED"),
        error("MAX_NODE_LIMIT_EXCEEDED"),
        error(message="Something went wrong while executing your query."),
        error(message="Query has complexity of 300, which exceeds max complexity of 250"),
        error(message="Request timed out. Please try a less complex query"),
        error(message="Timeout on validation of query"),
    ],
)
async def test_too_much_work_may_be_mended_by_a_smaller_page(refusal: dict[str, Any]):
    with pytest.raises(Overloaded):
        await asked({"data": None, "errors": [refusal]})


@pytest.mark.parametrize(
    ("refusal", "expected"),
    [
        (error("FORBIDDEN"), Forbidden),
        (error("INSUFFICIENT_SCOPES"), Forbidden),
        (error("NOT_FOUND"), NotVisible),
        (error("UNPROCESSABLE"), Unexpected),
        (error(extensions={"code": "undefinedField"}), Unexpected),
        (error(), Unexpected),
        (error("<script>"), Unexpected),
    ],
)
async def test_no_data_is_told_by_its_error_in_our_words(refusal, expected):
    with pytest.raises(expected) as caught:
        await asked({"data": None, "errors": [refusal]})
    assert type(caught.value) is expected
    assert "own words" not in str(caught.value)
    assert "script" not in str(caught.value)


@pytest.mark.parametrize("answer", [[], "x", 7, None, {}, {"data": None}, {"errors": []}])
async def test_what_is_no_answer_is_an_error(answer: Any):
    with pytest.raises((Overloaded, Unexpected)):
        await asked(answer)


@pytest.mark.parametrize("errors", [None, "x", [None, 7, {"path": "a"}, {"message": None}]])
async def test_errors_of_any_shape_leave_the_data(errors: Any):
    assert (await asked({"data": {"a": 1}, "errors": errors})).data == {"a": 1}


async def test_what_was_refused_is_found_by_its_path():
    result = await asked(
        {
            "data": {"nodes": [None, {"checks": None}, {"checks": 1}]},
            "errors": [error("FORBIDDEN", "nodes", 0), error("NOT_FOUND", "nodes", 1, "checks")],
        }
    )
    assert isinstance(result.missing("nodes", 0), Forbidden)
    assert isinstance(result.missing("nodes", 1, "checks"), NotVisible)
    assert isinstance(result.missing("nodes", 0, "checks"), Forbidden)
    assert isinstance(result.missing("nodes", 2), Unexpected)
    assert result.below("nodes", 1) == (Refused(("checks",), "NOT_FOUND"),)
    assert result.below("nodes", 0) == ()
    assert result.below("nodes", 2) == ()


async def test_what_a_refused_part_took_with_it_is_forbidden_and_never_gone():
    errors = [error("FORBIDDEN", "nodes", 0, "mergeable"), error("NOT_FOUND", "nodes", 1, "base")]
    result = await asked({"data": {"nodes": [None, None]}, "errors": errors})
    assert isinstance(result.missing("nodes", 0), Forbidden)
    assert isinstance(result.missing("nodes", 1), Unexpected)


def test_the_refused_field_is_the_last_name_of_its_path():
    assert Refused(("nodes", 3, "commits", "nodes", 0), "FORBIDDEN").field == "nodes"
    assert Refused(("nodes", 3, "reviewDecision"), "FORBIDDEN").field == "reviewDecision"
    assert Refused((), "").field == ""


async def test_an_error_without_a_path_is_about_no_part():
    result = await asked({"data": {"a": None}, "errors": [error("FORBIDDEN")]})
    assert isinstance(result.missing("a"), Unexpected)
