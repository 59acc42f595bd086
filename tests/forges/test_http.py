"""The way out to a forge: what is sent where, what is followed, and how failures are told."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from pullstate.forges.errors import (
    Forbidden,
    NotTheApi,
    NotVisible,
    Overloaded,
    RateLimited,
    Unauthorized,
    Unexpected,
    Unreachable,
)
from pullstate.forges.http import MAX_BODY, ForgeHttp
from pullstate.forges.token_values import Scheme, Secret, Token
from tests.simulators.certificates import private_authority
from tests.simulators.serving import serving

pytestmark = pytest.mark.anyio
NOW = datetime(2026, 12, 2, 7, 0, tzinfo=UTC)
ROOT = "https://api.forge.test/v3"
SECRET = "glpat-aVerySecretToken00"
Handler = Callable[[httpx.Request], httpx.Response]


def forge(handler: Handler, root: str = ROOT, scheme: Scheme = Scheme.BEARER) -> ForgeHttp:
    async def credentials() -> Token:
        return Token(Secret(SECRET), "test", scheme)

    return ForgeHttp(root, credentials, lambda: NOW, transport=httpx.MockTransport(handler))


def answers(*responses: httpx.Response) -> tuple[Handler, list[httpx.Request]]:
    """A handler that gives one response after the other, and what it was asked."""
    asked: list[httpx.Request] = []
    left = list(responses)

    def handle(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return left.pop(0) if len(left) > 1 else left[0]

    return handle, asked


def every_httpx_error() -> list[type[Exception]]:
    found: list[type[Exception]] = []
    for name in dir(httpx):
        each = getattr(httpx, name)
        if isinstance(each, type) and issubclass(each, Exception):
            found.append(each)
    return found


def made(error: type[Exception]) -> Exception:
    if issubclass(error, httpx.HTTPStatusError):
        request = httpx.Request("GET", ROOT)
        return error("it says", request=request, response=httpx.Response(500, request=request))
    try:
        return error(f"it says {SECRET}")
    except TypeError:
        return error()


def test_httpx_has_errors_to_translate():
    assert len(every_httpx_error()) > 20


@pytest.mark.parametrize("error", every_httpx_error(), ids=lambda error: error.__name__)
async def test_every_error_of_httpx_is_translated(error: type[Exception]):
    def fail(request: httpx.Request) -> httpx.Response:
        raise made(error)

    with pytest.raises(Unreachable) as caught:
        await forge(fail).get("/x")
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    assert "api.forge.test" in str(caught.value)


@pytest.mark.parametrize("error", [httpx.RemoteProtocolError, httpx.DecodingError])
async def test_an_answer_that_breaks_off_may_be_mended_by_a_smaller_page(error):
    def fail(request: httpx.Request) -> httpx.Response:
        raise error("peer closed connection")

    with pytest.raises(Overloaded):
        await forge(fail).get("/x")


async def test_an_error_of_our_own_is_not_hidden():
    def fail(request: httpx.Request) -> httpx.Response:
        raise KeyError("a bug")

    with pytest.raises(KeyError):
        await forge(fail).get("/x")


@pytest.mark.parametrize(
    ("scheme", "header", "value"),
    [
        (Scheme.BEARER, "authorization", f"Bearer {SECRET}"),
        (Scheme.PRIVATE_TOKEN, "private-token", SECRET),
        (Scheme.JOB_TOKEN, "job-token", SECRET),
    ],
)
async def test_the_token_travels_in_its_own_header(scheme, header, value):
    handle, asked = answers(httpx.Response(200, json=[]))
    await forge(handle, scheme=scheme).get("/x")
    assert asked[0].headers[header] == value
    assert asked[0].headers["user-agent"].startswith("pullstate/")


async def test_credentials_are_asked_before_each_request():
    given = [Token(Secret("one"), "a", Scheme.BEARER), None]

    async def credentials() -> Token | None:
        return given.pop(0)

    handle, asked = answers(httpx.Response(200, json=[]))
    http = ForgeHttp(ROOT, credentials, lambda: NOW, transport=httpx.MockTransport(handle))
    await http.get("/x")
    await http.get("/x")
    assert asked[0].headers["authorization"] == "Bearer one"
    assert "authorization" not in asked[1].headers


async def test_an_etag_is_sent_and_a_304_says_unchanged():
    handle, asked = answers(
        httpx.Response(200, json=[1], headers={"etag": 'W/"a"'}), httpx.Response(304)
    )
    http = forge(handle)
    first = await http.get("/pulls", {"per_page": 1})
    again = await http.get("/pulls", {"per_page": 1}, etag=first.etag)
    assert (first.json, first.etag, first.unchanged) == ([1], 'W/"a"', False)
    assert (again.json, again.unchanged) == (None, True)
    assert asked[1].headers["if-none-match"] == 'W/"a"'


async def test_a_next_page_is_read_from_the_link_header():
    link = f'<{ROOT}/pulls?page=1>; rel="prev", <{ROOT}/pulls?page=3>; rel="next"'
    handle, _ = answers(httpx.Response(200, json=[], headers={"link": link}))
    answer = await forge(handle).get("/pulls")
    assert answer.next == f"{ROOT}/pulls?page=3"
    assert (await forge(answers(httpx.Response(200, json=[]))[0]).get("/pulls")).next is None


async def test_a_redirect_within_the_host_is_followed_with_the_token():
    moved = httpx.Response(301, headers={"location": "/v3/repositories/7"})
    handle, asked = answers(moved, httpx.Response(200, json={"id": 7}))
    assert (await forge(handle).get("/repos/a/b")).json == {"id": 7}
    assert str(asked[1].url) == f"{ROOT}/repositories/7"
    assert asked[1].headers["authorization"] == f"Bearer {SECRET}"


@pytest.mark.parametrize(
    "location",
    [
        "https://elsewhere.test/v3/x",
        "//elsewhere.test/x",
        "http://api.forge.test/v3/x",
        "https://api.forge.test:8443/v3/x",
        "https://api.forge.test.evil.test/x",
        "https://api.forge.test@evil.test/x",
        "file:///etc/passwd",
        "https://[broken/x",
    ],
)
async def test_a_redirect_to_another_origin_is_not_followed(location: str):
    handle, asked = answers(httpx.Response(302, headers={"location": location}))
    with pytest.raises(Unexpected) as caught:
        await forge(handle).get("/x")
    assert len(asked) == 1
    assert "evil" not in str(caught.value)


async def test_an_address_on_another_host_is_never_asked():
    handle, asked = answers(httpx.Response(200, json=[]))
    with pytest.raises(Unexpected):
        await forge(handle).get("https://evil.test/pulls?page=2")
    assert asked == []


async def test_redirects_end():
    handle, asked = answers(httpx.Response(302, headers={"location": f"{ROOT}/x"}))
    with pytest.raises(Unexpected, match="redirects"):
        await forge(handle).get("/x")
    assert len(asked) == 6


async def test_a_post_is_sent_again_only_where_the_forge_asks_for_that():
    moved = httpx.Response(307, headers={"location": f"{ROOT}/y"})
    handle, asked = answers(moved, httpx.Response(200, json={}))
    await forge(handle).post("/x", {"query": "ü"})
    assert [each.method for each in asked] == ["POST", "POST"]
    assert json.loads(asked[1].content) == {"query": "ü"}
    handle, asked = answers(httpx.Response(301, headers={"location": f"{ROOT}/y"}))
    with pytest.raises(Unexpected):
        await forge(handle).post("/x", {})
    assert len(asked) == 1


async def test_a_redirect_without_a_place_is_unexpected():
    handle, asked = answers(httpx.Response(302))
    with pytest.raises(Unexpected):
        await forge(handle).get("/x")
    assert len(asked) <= 6


@pytest.mark.parametrize(
    "root", ["http://forge.test", "ftp://forge.test", "http://10.0.0.1", "forge.test", ""]
)
def test_plain_http_is_for_loopback_only(root: str):
    with pytest.raises(ValueError, match="loopback"):
        forge(answers(httpx.Response(200))[0], root)


@pytest.mark.parametrize(
    "root", ["http://localhost:80", "http://127.0.0.1:1/api", "http://[::1]:9", "https://a.test"]
)
async def test_loopback_and_https_are_asked(root: str):
    handle, asked = answers(httpx.Response(200, json=1))
    assert (await forge(handle, root).get("/x")).json == 1
    assert len(asked) == 1


async def test_a_subpath_stays_before_the_path():
    handle, asked = answers(httpx.Response(200, json=1))
    await forge(handle, "https://a.test/gitlab/api/v4").get("/projects/a%2Fb", {"page": 2})
    assert asked[0].url.raw_path == b"/gitlab/api/v4/projects/a%2Fb?page=2"


async def test_a_body_without_end_is_not_read_to_the_end():
    sent = 0

    async def endless():
        nonlocal sent
        while True:
            sent += 1
            yield b" " * 1024 * 1024

    handle, _ = answers(httpx.Response(200, content=endless()))
    with pytest.raises(Overloaded):
        await forge(handle).get("/x")
    assert sent <= MAX_BODY // 2**20 + 2


@pytest.mark.parametrize(
    ("status", "headers", "body", "error"),
    [
        (401, {}, b'{"message":"Bad credentials"}', Unauthorized),
        (403, {}, b'{"message":"Must have push access"}', Forbidden),
        (451, {}, b'{"message":"Repository access blocked"}', Forbidden),
        (404, {}, b'{"message":"Not Found"}', NotVisible),
        (410, {}, b"{}", NotVisible),
        (400, {}, b'{"message":"Problems parsing JSON"}', Unexpected),
        (422, {}, b'{"message":"Validation Failed"}', Unexpected),
        (500, {}, b"{}", Unexpected),
        (502, {}, b"", Overloaded),
        (503, {}, b"{}", Overloaded),
        (504, {}, b"upstream timed out", Overloaded),
        (500, {"content-type": "text/html"}, b"<html>", Overloaded),
        (200, {"content-type": "text/html"}, b"<!DOCTYPE html><html>", NotTheApi),
        (200, {"content-type": "application/json"}, b"  <html>", NotTheApi),
        (404, {"content-type": "text/html; charset=utf-8"}, b"<html>404</html>", NotTheApi),
        (401, {"content-type": "text/html"}, b"<html>sign in</html>", NotTheApi),
        (200, {}, b'{"data":{"nodes":[1,', Overloaded),
        (200, {}, b"\xff\xfe{", Overloaded),
        (200, {}, b"[" * 100_000, Overloaded),
    ],
)
async def test_refusals_are_told_apart(status, headers, body, error):
    handle, _ = answers(httpx.Response(status, headers=headers, content=body))
    with pytest.raises(error) as caught:
        await forge(handle).get("/x")
    assert type(caught.value) is error
    assert "Bad credentials" not in str(caught.value)


async def test_a_proxy_that_decodes_paths_is_explained():
    page = httpx.Response(404, headers={"content-type": "text/html"}, content=b"<html>")
    with pytest.raises(Overloaded, match="AllowEncodedSlashes"):
        await forge(answers(page)[0]).get("/projects/group%2Fproject")


async def test_single_sign_on_is_explained():
    sso = {"x-github-sso": "required; url=https://github.com/orgs/acme/sso?token=abc"}
    with pytest.raises(Forbidden, match="single sign-on") as caught:
        await forge(answers(httpx.Response(403, headers=sso, json={}))[0]).get("/x")
    assert "abc" not in str(caught.value)


@pytest.mark.parametrize(
    ("body", "read"),
    [
        (rb'["\ud83d\ude80"]', ["\U0001f680"]),
        (rb'["a\ud83d", {"x": "\uDE80\udfffb"}]', ["a\ufffd", {"x": "\ufffd\ufffdb"}]),
        (rb'["a\u0000b"]', ["a\ufffdb"]),
        (rb'["\\ud83d \\u0000"]', ["\\ud83d \\u0000"]),
        ("['🚀']".replace("'", '"').encode(), ["🚀"]),
    ],
)
async def test_text_that_no_database_takes_is_replaced(body: bytes, read: list):
    assert (await forge(answers(httpx.Response(200, content=body))[0]).get("/x")).json == read


@pytest.mark.parametrize("proxy", ["socks5://proxy.test:1080", "nonsense://x"])
async def test_a_proxy_that_cannot_be_used_is_said(monkeypatch, proxy: str):
    async def nobody() -> None:
        return None

    monkeypatch.setenv("HTTPS_PROXY", proxy)
    with pytest.raises(Unreachable, match="proxy"):
        await ForgeHttp(ROOT, nobody, lambda: NOW).get("/x")


async def test_an_empty_answer_is_no_json():
    answer = await forge(answers(httpx.Response(204))[0]).get("/x")
    assert (answer.status, answer.json) == (204, None)


def limits(remaining: int, reset: datetime, prefix: str = "x-ratelimit-") -> dict[str, str]:
    return {
        f"{prefix}limit": "5000",
        f"{prefix}remaining": str(remaining),
        f"{prefix}reset": str(int(reset.timestamp())),
    }


SECONDARY = b'{"message":"You have exceeded a secondary rate limit. Please wait a few minutes"}'
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


@pytest.mark.parametrize("status", [403, 429])
@pytest.mark.parametrize("prefix", ["x-ratelimit-", "RateLimit-"])
async def test_nothing_left_is_the_primary_limit_until_its_reset(status: int, prefix: str):
    headers = limits(0, NOW + HOUR, prefix)
    handle, _ = answers(httpx.Response(status, headers=headers, json={"message": "limit"}))
    with pytest.raises(RateLimited) as caught:
        await forge(handle).get("/x", resource="core")
    limit = caught.value
    assert (limit.until, limit.resource, limit.secondary) == (NOW + HOUR, "core", False)


@pytest.mark.parametrize(
    ("status", "headers", "body", "wait"),
    [
        (403, {"retry-after": "30", **limits(4000, NOW + HOUR)}, b"{}", timedelta(seconds=30)),
        (429, {"retry-after": "8"}, SECONDARY, timedelta(seconds=8)),
        (429, {"retry-after": "Wed, 02 Dec 2026 08:00:00 GMT"}, SECONDARY, HOUR),
        (403, {"gh-limited-by": "search-elapsed-time"}, b"{}", MINUTE),
        (403, limits(21, NOW + HOUR), SECONDARY, MINUTE),
        (403, {}, b'{"message":"You have triggered an abuse detection mechanism."}', MINUTE),
        (429, {}, b"Retry later", MINUTE),
        (429, {"content-type": "text/html"}, b"<html>Too many</html>", MINUTE),
        (429, {"retry-after": "soon"}, b"{}", MINUTE),
        (429, {"retry-after": "Wed, 99 Foo 2026"}, b"{}", MINUTE),
        (429, {"retry-after": ""}, b"{}", MINUTE),
    ],
)
async def test_a_secondary_limit_holds_for_the_host_as_long_as_it_says(status, headers, body, wait):
    handle, _ = answers(httpx.Response(status, headers=headers, content=body))
    with pytest.raises(RateLimited) as caught:
        await forge(handle).get("/x")
    limit = caught.value
    assert (limit.until, limit.resource, limit.secondary) == (NOW + wait, "*", True)


@pytest.mark.parametrize("reset", ["", "soon", "-5", "99999999999999999999"])
async def test_a_reset_that_cannot_be_read_still_waits(reset: str):
    headers = {"x-ratelimit-limit": "60", "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset}
    with pytest.raises(RateLimited) as caught:
        await forge(answers(httpx.Response(403, headers=headers, json={}))[0]).get("/x")
    assert NOW < caught.value.until <= NOW + MINUTE


async def test_the_forges_times_are_put_on_our_clock():
    theirs = NOW + timedelta(minutes=20)
    date = theirs.strftime("%a, %d %b %Y %H:%M:%S GMT")
    headers = {"date": date, **limits(0, theirs + HOUR)}
    http = forge(answers(httpx.Response(403, headers=headers, json={}))[0])
    with pytest.raises(RateLimited) as caught:
        await http.get("/x")
    assert caught.value.until == NOW + HOUR
    assert http.skew == timedelta(minutes=20)


async def test_latency_is_no_skew():
    date = (NOW - timedelta(seconds=2)).strftime("%a, %d %b %Y %H:%M:%S GMT")
    headers = {"date": date, "retry-after": "Wed, 02 Dec 2026 08:00:00 GMT"}
    http = forge(answers(httpx.Response(429, headers=headers, json={}))[0])
    with pytest.raises(RateLimited) as caught:
        await http.get("/x")
    assert caught.value.until == datetime(2026, 12, 2, 8, 0, tzinfo=UTC)


async def test_quotas_are_kept_by_resource():
    core = {**limits(4999, NOW + HOUR), "x-ratelimit-resource": "core"}
    graphql = {**limits(4990, NOW + HOUR), "x-ratelimit-resource": "graphql"}
    handle, _ = answers(
        httpx.Response(200, json=1, headers=core), httpx.Response(200, json=1, headers=graphql)
    )
    http = forge(handle)
    await http.get("/x")
    await http.post("/graphql", {}, resource="graphql")
    assert {each.resource: each.remaining for each in http.quotas()} == {
        "core": 4999,
        "graphql": 4990,
    }
    assert {each.resets_at for each in http.quotas()} == {NOW + HOUR}


async def test_answers_without_limits_leave_no_quota():
    http = forge(answers(httpx.Response(200, json=1))[0])
    await http.get("/x")
    assert http.quotas() == ()


async def test_no_error_shows_a_token_or_where_it_was_sent():
    texts: list[str] = []
    for response in (
        httpx.Response(302, headers={"location": f"https://{SECRET}@evil.test/"}),
        httpx.Response(401, json={"message": SECRET}),
        httpx.Response(403, json={"message": SECRET}),
        httpx.Response(500, text=SECRET),
        httpx.Response(200, text=SECRET),
    ):
        with pytest.raises(Exception) as caught:
            await forge(answers(response)[0]).get(f"/x?private_token={SECRET}")
        texts += [str(caught.value), repr(caught.value)]
    assert not [text for text in texts if SECRET in text]


async def test_a_private_authority_is_trusted_beside_the_usual_ones(tmp_path: Path):

    certificates = private_authority(tmp_path)

    async def app(scope, receive, send):
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"[1]"})

    async def nobody() -> None:
        return None

    with serving(app, tls=certificates.tls) as url:
        trusting = ForgeHttp(url, nobody, lambda: NOW, ca_file=certificates.authority)
        assert (await trusting.get("/x")).json == [1]
        await trusting.aclose()
        wary = ForgeHttp(url, nobody, lambda: NOW)
        with pytest.raises(Unreachable):
            await wary.get("/x")
        await wary.aclose()
    broken = tmp_path / "broken.pem"
    broken.write_text("no certificate")
    with pytest.raises(Unreachable, match="ca_file"):
        await ForgeHttp(url, nobody, lambda: NOW, ca_file=broken).get("/x")
