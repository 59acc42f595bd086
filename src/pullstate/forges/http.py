"""The way out to a forge: the only import of httpx.

A token goes to its own host and nowhere else: requests and redirects to another origin are
refused before anything is sent. Error texts are ours; they hold no URL and no token.
"""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.metadata import version
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import anyio
import httpx

from pullstate.forges.errors import ForgeError, Overloaded, Unexpected, Unreachable
from pullstate.forges.forge import Quota
from pullstate.forges.refusals import Received, quota_of, refusal_of, skew_of
from pullstate.forges.token_values import Token

CONNECT_SECONDS, READ_SECONDS, WHOLE_SECONDS = 5.0, 20.0, 60.0
MAX_BODY = 32 * 1024 * 1024  # bytes, decompressed
MAX_REDIRECTS = 5

TRANSPORT_ERRORS = (
    httpx.HTTPError,
    httpx.InvalidURL,
    httpx.CookieConflict,
    httpx.StreamError,
    OSError,  # TimeoutError is one
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
    anyio.EndOfStream,
)

Credentials = Callable[[], Awaitable[Token | None]]
"""Asked before each request: the token to send, or None to ask without one. Whoever gives them
learns by `Unauthorized` that the last one was refused."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that was read. `json` is None where `unchanged`, and where there was no body."""

    status: int
    json: Any
    headers: Mapping[str, str]
    url: str

    @property
    def unchanged(self) -> bool:
        return self.status == 304

    @property
    def etag(self) -> str | None:
        return self.headers.get("etag")

    @property
    def next(self) -> str | None:
        """The address of the next page, from the Link header."""
        for link in self.headers.get("link", "").split(","):
            address, _, relations = link.partition(";")
            if 'rel="next"' in relations.replace(" ", ""):
                return address.strip().strip("<>")
        return None


class ForgeHttp:
    """Requests to one forge's API, JSON in and out. Every method raises `ForgeError`s only."""

    def __init__(
        self,
        root: str,
        credentials: Credentials,
        clock: Callable[[], datetime],
        *,
        headers: Mapping[str, str] | None = None,
        ca_file: Path | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """`root` is the API's web root; ValueError unless it is https, or http on loopback."""
        self._root = root.rstrip("/")
        self._origin = _origin(self._root)
        if self._origin[0] != "https" and not _is_loopback(self._origin[1]):
            raise ValueError("plain http is for loopback only")
        self._credentials, self._clock = credentials, clock
        self._headers = {"user-agent": f"pullstate/{version('pullstate')}", **(headers or {})}
        self._ca_file, self._transport = ca_file, transport
        self._client: httpx.AsyncClient | None = None
        self._quotas: dict[str, Quota] = {}
        self.skew = timedelta(0)

    @property
    def host(self) -> str:
        """Host and port, for messages."""
        return urlsplit(self._root).netloc.rpartition("@")[2]

    def now(self) -> datetime:
        """Our clock."""
        return self._clock()

    def quotas(self) -> tuple[Quota, ...]:
        """What the last answers said is left, per resource."""
        return tuple(self._quotas.values())

    async def authorised(self) -> bool:
        """Whether there is a token to send now."""
        return await self._credentials() is not None

    async def get(
        self,
        path: str,
        parameters: Mapping[str, str | int] | None = None,
        *,
        etag: str | None = None,
        resource: str = "core",
    ) -> Answer:
        """GET a path under the root, or an address that an answer gave, following redirects."""
        url = str(httpx.URL(self._address(path), params=parameters)) if parameters else path
        more = {"if-none-match": etag} if etag else {}
        return await self._ask("GET", self._address(url), more, None, resource)

    async def post(self, path: str, body: Any, *, resource: str = "core") -> Answer:
        """POST JSON to a path under the root."""
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        more = {"content-type": "application/json"}
        return await self._ask("POST", self._address(path), more, content, resource)

    async def aclose(self) -> None:
        """Close connections; a later request opens new ones."""
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

    def _address(self, path: str) -> str:
        url = path if "://" in path else f"{self._root}/{path.lstrip('/')}"
        if _origin(url) != self._origin:
            raise Unexpected("the forge gave an address on another host, which is not followed")
        return url

    async def _ask(
        self, method: str, url: str, more: Mapping[str, str], content: bytes | None, resource: str
    ) -> Answer:
        for _ in range(MAX_REDIRECTS + 1):
            received = await self._send(method, url, more, content, resource)
            if received.status not in (301, 302, 303, 307, 308):
                return self._read(received)
            if method != "GET" and received.status not in (307, 308):
                raise Unexpected("the forge redirects a request that cannot be sent again")
            url = self._address(_joined(url, received.headers.get("location", "")))
        raise Unexpected(f"more than {MAX_REDIRECTS} redirects")

    def _read(self, received: Received) -> Answer:
        if quota := quota_of(received):
            self._quotas[quota.resource] = quota
        if (skew := skew_of(received)) is not None:
            self.skew = skew
        if refusal := refusal_of(received):
            raise refusal
        return Answer(received.status, _parsed(received), received.headers, received.url)

    async def _send(
        self, method: str, url: str, more: Mapping[str, str], content: bytes | None, resource: str
    ) -> Received:
        token = await self._credentials()
        headers = {**self._headers, **more, **(dict([token.header()]) if token else {})}
        try:
            with anyio.fail_after(WHOLE_SECONDS):
                status, answered, body = await self._exchange(method, url, headers, content)
        except TRANSPORT_ERRORS as error:
            raise _translated(error, self.host) from None
        return Received(status, answered, body, self._clock(), url, resource)

    async def _exchange(
        self, method: str, url: str, headers: Mapping[str, str], content: bytes | None
    ) -> tuple[int, Mapping[str, str], bytes]:
        client = self._opened()
        async with client.stream(method, url, headers=headers, content=content) as response:
            body = bytearray()
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > MAX_BODY:
                    raise Overloaded(f"an answer of more than {MAX_BODY // 2**20} MiB")
            found = {name.lower(): value for name, value in response.headers.items()}
            return response.status_code, found, bytes(body)

    def _opened(self) -> httpx.AsyncClient:
        """One client, made with the first request: a TLS context takes time to load."""
        if self._client is None:
            loopback = _is_loopback(self._origin[1])
            try:
                self._client = httpx.AsyncClient(
                    verify=_trust(self._ca_file),
                    timeout=httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS),
                    follow_redirects=False,
                    trust_env=not loopback,  # a proxy of the environment cannot reach our loopback
                    transport=self._transport,
                )
            except (ImportError, ValueError, httpx.InvalidURL):
                raise Unreachable("the proxy that the environment names cannot be used") from None
        return self._client


def _trust(ca_file: Path | None) -> ssl.SSLContext | bool:
    """The usual authorities, and those of a private one's file beside them."""
    if ca_file is None:
        return True
    context = httpx.create_ssl_context()
    try:
        context.load_verify_locations(ca_file)
    except (OSError, ssl.SSLError):
        raise Unreachable("the configured ca_file cannot be read as certificates") from None
    return context


def _translated(error: Exception, host: str) -> ForgeError:
    """A failure between us and the forge, in our words.

    An answer that breaks off or cannot be decoded is one that a smaller page may mend.
    """
    kind = type(error).__name__
    if isinstance(error, (httpx.RemoteProtocolError, httpx.DecodingError)):
        return Overloaded(f"the answer of {host} broke off ({kind})")
    if isinstance(error, (TimeoutError, httpx.TimeoutException)):
        return Unreachable(f"no answer from {host} in time ({kind})")
    return Unreachable(f"no connection to {host} ({kind})")


def _parsed(received: Received) -> Any:
    if received.status == 304 or not received.body:
        return None
    try:
        found = json.loads(received.body)
        return _storable(found) if _UNSTORABLE_ESCAPE.search(received.body) else found
    except (ValueError, RecursionError):
        raise Overloaded("an answer that is no whole JSON") from None


# Text that no database takes: NUL, and halves of a surrogate pair. JSON can only escape them.
_UNSTORABLE_ESCAPE = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def _storable(value: Any) -> Any:
    """The same with a replacement character for each of them."""
    if isinstance(value, str):
        return _UNSTORABLE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_storable(each) for each in value]
    if isinstance(value, dict):
        return {name: _storable(each) for name, each in value.items()}
    return value


def _origin(url: str) -> tuple[str, str, int]:
    """Scheme, host and port; ("", "", 0) of what is no web address."""
    try:
        parts = urlsplit(url)
        port = parts.port or {"https": 443, "http": 80}.get(parts.scheme, 0)
        return parts.scheme, parts.hostname or "", port
    except ValueError:
        return "", "", 0


def _joined(url: str, location: str) -> str:
    """Where a redirect leads; "://" where to is no web address."""
    try:
        return urljoin(url, location)
    except ValueError:
        return "://"


def _is_loopback(hostname: str) -> bool:
    if hostname == "localhost" or hostname.endswith(".localhost"):
        return True
    try:
        return ip_address(hostname).is_loopback
    except ValueError:
        return False
