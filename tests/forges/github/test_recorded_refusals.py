"""Every recorded refusal is told for what it is."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import httpx
import pytest

from pullstate.forges.errors import (
    Forbidden,
    ForgeError,
    NotVisible,
    RateLimited,
    Unauthorized,
    Unexpected,
)
from pullstate.forges.graphql import ask
from pullstate.forges.http import ForgeHttp
from tests.forges.github.recordings import DATA, MISSING

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(not DATA.exists(), reason=MISSING)]
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SOON, MINUTE = timedelta(seconds=3), timedelta(seconds=60)


def forge(response: httpx.Response) -> ForgeHttp:
    async def nobody() -> None:
        return None

    transport = httpx.MockTransport(lambda _: response)
    return ForgeHttp("https://api.github.com", nobody, lambda: NOW, transport=transport)


def wiremock(path: Path) -> httpx.Response:
    """A recorded mapping as the answer that it gives now."""
    response = json.loads(path.read_text())["response"]
    headers = {name: filled(value) for name, value in response["headers"].items()}
    return httpx.Response(response["status"], headers=headers, text=response.get("body", "{}"))


def filled(value: str | list[str]) -> str:
    """A header with the time that its template asks for: as seconds, or as a date."""
    text = ", ".join(value) if isinstance(value, list) else value
    if "{{" not in text:
        return text
    offset = re.search(r"offset='(\d+) seconds'", text)
    at = NOW + timedelta(seconds=int(offset[1]) if offset else 0)
    return str(int(at.timestamp())) if "unix" in text else format_datetime(at, usegmt=True)


def limits() -> dict[str, Path]:
    found = sorted((DATA / "hub4j").glob("*LimitHandlerTest*/map.2-*")) if DATA.exists() else []
    return {path.parent.name.removeprefix("AbuseLimitHandlerTest."): path for path in found}


EXPECTED = {
    "testHandler_Fail": (timedelta(seconds=30), "*"),
    "testHandler_HttpStatus_Fail": (timedelta(seconds=30), "*"),
    "testHandler_Wait_Secondary_Limits": (MINUTE, "*"),
    "testHandler_Wait_Secondary_Limits_Body_Marker_Only": (MINUTE, "*"),
    "testHandler_Wait_Secondary_Limits_Too_Many_Requests": (timedelta(seconds=8), "*"),
    "testHandler_Wait_Secondary_Limits_Too_Many_Requests_Date_Retry_After": (
        timedelta(seconds=8),
        "*",
    ),
    "testHandler_Wait_Secondary_Limits_Too_Many_Requests_Date_Retry_After_Missing_Date_Header": (
        timedelta(seconds=8),
        "*",
    ),
    "testHandler_Wait_Secondary_Limits_Too_Many_Requests_No_Retry_After": (MINUTE, "*"),
    "RateLimitHandlerTest.testHandler_Fail": (SOON, "core"),
    "RateLimitHandlerTest.testHandler_HttpStatus_Fail": (SOON, "core"),
}


def test_every_recorded_limit_is_expected():
    assert limits().keys() == EXPECTED.keys()


@pytest.mark.parametrize("name", EXPECTED)
async def test_a_recorded_limit_holds_as_long_as_it_says(name: str):
    wait, resource = EXPECTED[name]
    with pytest.raises(RateLimited) as caught:
        await forge(wiremock(limits()[name])).get("/x")
    assert caught.value.until == NOW + wait
    assert caught.value.resource == resource
    assert caught.value.secondary == (resource == "*")


async def test_the_answer_after_a_limit_is_one():
    for path in sorted((DATA / "hub4j").glob("RateLimitHandlerTest*/map.3-*")):
        assert (await forge(wiremock(path)).get("/x")).status == 200


@pytest.mark.parametrize(
    ("file", "status", "error"),
    [
        ("GraphQL.bad-credentials-401.json", 401, Unauthorized),
        ("GraphQL.malformed-json-400.json", 400, Unexpected),
        ("GraphQL.malformed-query-200.json", 200, Unexpected),
        ("GraphQL.missing-variable-in-request-200.json", 200, Unexpected),
        ("pr_not_found.body", 404, NotVisible),
    ],
)
async def test_a_recorded_refusal_of_graphql_is_told(
    file: str, status: int, error: type[ForgeError]
):
    response = httpx.Response(status, text=(DATA / "gidgethub" / file).read_text())
    with pytest.raises(error) as caught:
        await ask(forge(response), "/graphql", "query { viewer { login } }", {})
    assert type(caught.value) is error


async def test_a_recorded_answer_of_graphql_is_read():
    text = (DATA / "gidgethub" / "GraphQL.success-200.json").read_text()
    result = await ask(forge(httpx.Response(200, text=text)), "/graphql", "", {})
    assert result.data["viewer"]["name"]
    assert result.refused == ()


async def test_a_recorded_partial_refusal_stands_at_its_path():
    [path] = (DATA / "hub4j").glob("*AutoMergeFailure/map.5-graphql.json")
    result = await ask(forge(wiremock(path)), "/graphql", "", {})
    assert result.data == {"enablePullRequestAutoMerge": None}
    assert [each.kind for each in result.refused] == ["UNPROCESSABLE"]
    assert "verified email" not in str(result.missing("enablePullRequestAutoMerge"))


async def test_a_recorded_rename_is_followed():
    scenario = json.loads(
        (DATA / "octokit-fixtures/rename-repository.raw-fixture.json").read_text()
    )
    moved = [each for each in scenario if each["status"] == 301]
    there = [each for each in scenario if each["status"] == 200]
    assert moved
    place = moved[0]["response"]["url"]
    responses = [
        httpx.Response(301, headers={"location": place}, json=moved[0]["response"]),
        httpx.Response(200, json=there[-1]["response"]),
    ]

    async def nobody() -> None:
        return None

    transport = httpx.MockTransport(lambda _: responses.pop(0))
    http = ForgeHttp("https://api.github.com", nobody, lambda: NOW, transport=transport)
    assert "full_name" in (await http.get(moved[0]["path"])).json


def test_a_permission_is_no_limit():
    assert not issubclass(Forbidden, RateLimited)
