"""Configured forges, and the host names that stand in addresses."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from urllib.parse import urlsplit

from pullstate.domain.address_error import AddressError, quoted, without_secrets

DEFAULT_PORTS = {"https": 443, "http": 80}

_LABEL = r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?"
_HOSTNAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_HOST_AND_PORT = re.compile(r"(?P<host>\[[^\]]*\]|[^:\[\]]*)(?::(?P<port>[^:]*))?")
_PORT = re.compile(r"0*[0-9]{1,5}")
_WEB_ROOT = re.compile(r"(?:(?P<scheme>https?)://)?(?P<authority>[^/?#]*)(?P<path>/[^?#]*)?", re.I)
# What people paste as a GitLab's or GitHub Enterprise's address is often its API's.
_API_PATH = re.compile(r"/api(?:/v[34]|/graphql)?$")
_GITHUB_API = re.compile(r"(?:api|gist|uploads|raw)\.(?P<web>github\.com|[^.]+\.ghe\.com)")
_SUBPATH = re.compile(r"(?:/[A-Za-z0-9_~][A-Za-z0-9._~-]*)*")
_REPOSITORY_FORM = "https://HOST/OWNER/NAME"
_HOST_FORM = "HOST[:PORT][/PATH]"
_WEB_ROOT_FORM = "https://HOST[:PORT][/SUBPATH]"
_WITH_WWW = {"www.github.com": "github.com", "www.gitlab.com": "gitlab.com"}


class ForgeKind(StrEnum):
    """Whose API a site speaks."""

    GITHUB = "github"
    GITLAB = "gitlab"
    DEMO = "demo"


@dataclass(frozen=True, slots=True)
class Site:
    """A configured forge.

    `url` is its web root in canonical form: `scheme://host[:port][/subpath]`, the host in lower
    case, no default port, no trailing slash. `aliases` are ssh host aliases that mean this site.
    """

    kind: ForgeKind
    url: str
    aliases: tuple[str, ...] = ()

    @property
    def host(self) -> str:
        """Host and port as they stand in the URL; an IPv6 address keeps its brackets."""
        return urlsplit(self.url).netloc

    @property
    def hostname(self) -> str:
        """The host alone, an IPv6 address without brackets."""
        return urlsplit(self.url).hostname or ""

    @property
    def port(self) -> int:
        """The port that requests go to: the URL's, else the scheme's own."""
        parts = urlsplit(self.url)
        return parts.port or DEFAULT_PORTS[parts.scheme]

    @property
    def subpath(self) -> str:
        """Where on the host the forge lies: `""`, or `/gitlab`."""
        return urlsplit(self.url).path

    @property
    def has_default_port(self) -> bool:
        """Whether the URL needs no port."""
        return urlsplit(self.url).port is None

    @property
    def name(self) -> str:
        """`host[:port][/subpath]`: what a `host` argument takes and what errors show."""
        return self.host + self.subpath


GITHUB_COM = Site(ForgeKind.GITHUB, "https://github.com")
GITLAB_COM = Site(ForgeKind.GITLAB, "https://gitlab.com")


def parse_site_url(url: str, kind: ForgeKind, aliases: Sequence[str] = ()) -> Site:
    """The site that a configuration names by its web root; an API root is taken for its web root.

    Raises ValueError, in words, on anything but https (http on loopback), on userinfo, query or
    fragment, and on an alias that is no ssh host name.
    """
    for alias in aliases:
        if alias.startswith("[") or not canonical_hostname(alias):
            raise AddressError("bad_alias", f"{quoted(alias, of=alias)} is no ssh host alias.")
    scheme, hostname, port, path = _web_root(url.strip())
    if api := _GITHUB_API.fullmatch(hostname):
        raise AddressError(
            "not_a_repository_host",
            f"{quoted(hostname, of=url)} is not a forge's web root: write https://{api['web']}.",
        )
    if scheme == "http" and not _is_loopback(hostname):
        raise AddressError(
            "not_https",
            "Plain http is taken on loopback only: write the forge's web root with https://.",
        )
    host = f"[{hostname}]" if ":" in hostname else hostname
    if port not in (None, DEFAULT_PORTS[scheme]):
        host = f"{host}:{port}"
    return Site(ForgeKind(kind), f"{scheme}://{host}{path}", tuple(aliases))


def _web_root(url: str) -> tuple[str, str, int | None, str]:
    match = _WEB_ROOT.fullmatch(url)
    if not match or not match["scheme"] or "@" in match["authority"]:
        raise AddressError(
            "bad_site",
            f"{quoted(without_secrets(url), of=url)} is no forge's web root: write "
            "https://host[:port][/subpath], without user name, query or fragment.",
        )
    hostname, port = read_host(match["authority"], of=url, form=_WEB_ROOT_FORM)
    path = _API_PATH.sub("", re.sub("/+", "/", match["path"] or "").rstrip("/"))
    if not _SUBPATH.fullmatch(path) or (path and hostname in _WITH_WWW.values()):
        raise AddressError(
            "bad_site",
            f"{quoted(path, of=url)} is no path that a forge lies at: write its web root, "
            "https://host[:port][/subpath].",
        )
    return match["scheme"].lower(), hostname, port, path


def site_for_host(text: str, sites: Sequence[Site]) -> Site:
    """The configured site that `host[:port][/path]`, an ssh alias or a web root names.

    Raises AddressError `unknown_host`, naming the configured ones; `bad_host`, `non_ascii_host`
    and `empty` where the text is no host at all.
    """
    text = text.strip()
    if not text:
        raise AddressError("empty", f"The host is empty. {configured(sites)}")
    match = _WEB_ROOT.fullmatch(text)
    if not match:
        raise unknown_host(text, sites, of=text)
    authority = match["authority"].rpartition("@")[2]
    hostname, port = read_host(authority, of=text, form=_HOST_FORM)
    path = re.sub("/+", "/", match["path"] or "").rstrip("/")
    for site in at_host(sites, hostname, web_ports(match["scheme"] or "", port)):
        if site.subpath == path:
            return site
    if not match["scheme"] and not path and (aliased := with_alias(sites, authority)):
        return aliased
    raise unknown_host(authority + path, sites, of=text)


def read_host(text: str, *, of: str, form: str = _REPOSITORY_FORM) -> tuple[str, int | None]:
    """`host[:port]` → the host in canonical form (IPv6 without brackets) and the port that is set.

    `of` is the whole text and `form` what it should look like, for errors: AddressError `bad_host`
    or `non_ascii_host`.
    """
    if not text.isascii():
        raise AddressError(
            "non_ascii_host",
            f"The host {quoted(text, of=of)} holds characters outside ASCII, which may only look "
            "like a host you know: write it in ASCII (an international name in its xn-- form).",
        )
    match = _HOST_AND_PORT.fullmatch(text)
    hostname = match and canonical_hostname(match["host"])
    if not match or not hostname:
        raise AddressError(
            "bad_host",
            f"{quoted(text, of=of)} is no host: write {form}, "
            "an IPv6 address in brackets, a user name or password percent-encoded or left out.",
        )
    return hostname, _read_port(match["port"] or "", match["host"], of=of, form=form)


def _read_port(digits: str, host: str, *, of: str, form: str) -> int | None:
    if not digits:
        return None
    if not _PORT.fullmatch(digits) or not 0 < int(digits) < 65536:
        scp = ", or git@HOST:OWNER/NAME without a scheme" if form == _REPOSITORY_FORM else ""
        raise AddressError(
            "bad_host",
            f"What follows {quoted(host, of=of)} and a colon is no port number: write {form}{scp}.",
        )
    return int(digits)


def canonical_hostname(text: str) -> str | None:
    """Lower case, no root dot, IPv6 (in brackets on the way in) compressed; None if it is no host.

    `www.` goes where the site without it is known to be the same.
    """
    if text.startswith("["):
        return _canonical_ipv6(text.strip("[]"))
    hostname = text.lower().removesuffix(".")
    if len(hostname) > 253 or not _HOSTNAME.fullmatch(hostname):
        return None
    return _WITH_WWW.get(hostname, hostname)


def _canonical_ipv6(text: str) -> str | None:
    try:
        return None if "%" in text else str(IPv6Address(text))
    except AddressValueError:
        return None


def _is_loopback(hostname: str) -> bool:
    if hostname == "localhost" or hostname.endswith(".localhost"):
        return True
    try:
        return (IPv6Address if ":" in hostname else IPv4Address)(hostname).is_loopback
    except AddressValueError:
        return False


def web_ports(scheme: str, port: int | None) -> tuple[int, ...]:
    """The ports that a web address may mean, likeliest first; http is taken for https."""
    if port is not None and (scheme, port) != ("http", 80):
        return (port,)
    return {"https": (443,), "http": (80, 443)}.get(scheme.lower(), (443, 80))


def at_host(sites: Sequence[Site], hostname: str, ports: Sequence[int]) -> list[Site]:
    """The sites at a host and the first of the ports that has any, the deepest subpath first."""
    for port in ports:
        found = [site for site in sites if (site.hostname, site.port) == (hostname, port)]
        if found:
            return sorted(found, key=lambda site: len(site.subpath), reverse=True)
    return []


def with_alias(sites: Sequence[Site], alias: str) -> Site | None:
    """The site that an ssh host alias means, in whatever case."""
    wanted = alias.lower()
    return next((site for site in sites if wanted in map(str.lower, site.aliases)), None)


def unknown_host(host: str, sites: Sequence[Site], *, of: str) -> AddressError:
    """The error for a host that is well formed and that no configured site has."""
    return AddressError(
        "unknown_host",
        f"The host {quoted(host, of=of)} is not configured. {configured(sites)} Use one of them, "
        "or add the host (or the ssh alias) to a [[forge]] of the configuration file.",
    )


def configured(sites: Sequence[Site]) -> str:
    """A sentence that names the configured sites, the first twenty of them."""
    names = [site.name for site in sites]
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    return f"Configured: {', '.join(names[:20]) or 'none'}{more}."
