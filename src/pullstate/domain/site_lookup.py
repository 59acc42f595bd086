"""Which configured site a spelled address lies on, and what is left of it as the path."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import unquote

from pullstate.domain.address_error import AddressError, quoted
from pullstate.domain.remote import Remote, Way, local_path
from pullstate.domain.site import (
    GITHUB_COM,
    GITLAB_COM,
    ForgeKind,
    Site,
    at_host,
    configured,
    read_host,
    unknown_host,
    web_ports,
    with_alias,
)

# ssh through the https port: docs.github.com "Using SSH over the HTTPS port",
# about.gitlab.com/blog "GitLab.com now supports an alternate git+ssh port".
_SSH_OVER_443 = {"ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com"}
# npm and others write `gitlab:group/name`; an alias of the same name goes first.
_SHORTHANDS = {"github": GITHUB_COM.hostname, "gitlab": GITLAB_COM.hostname}
_SERVICE_DOMAINS = (
    "github.com",
    "github.dev",
    "github.io",
    "githubassets.com",
    "githubusercontent.com",
    "gitlab.com",
    "gitlab.io",
)
# GitHub Enterprise with subdomain isolation, and the tenants of ghe.com.
_SERVICE_LABELS = (
    "api",
    "assets",
    "avatars",
    "codeload",
    "gist",
    "media",
    "pages",
    "raw",
    "uploads",
)
_OTHER_FORGES = (
    "bitbucket",
    "bitbucket.org",
    "codeberg.org",
    "dev.azure.com",
    "gitea.com",
    "gitee.com",
    "googlesource.com",
    "hf.co",
    "huggingface.co",
    "launchpad.net",
    "notabug.org",
    "pagure.io",
    "sf.net",
    "source.developers.google.com",
    "sourceforge.net",
    "sr.ht",
    "visualstudio.com",
)


@dataclass(frozen=True, slots=True)
class Place:
    """A path on a site: decoded segments, none empty; on the web a page may follow the path."""

    text: str
    site: Site
    segments: tuple[str, ...]
    is_web: bool


def locate(remote: Remote, sites: Sequence[Site]) -> Place:
    """The site and path that a spelling means among the configured sites; else AddressError."""
    remote = _with_meant_way(remote, sites)
    segments = decoded_segments(remote.path)
    if remote.way is Way.WEB:
        return _on_the_web(remote, segments, sites)
    site = _default_site(sites) if remote.way is Way.BARE else _by_ssh(remote, sites)
    return Place(remote.text, site, segments, is_web=False)


def _with_meant_way(remote: Remote, sites: Sequence[Site]) -> Remote:
    """Web addresses without their scheme, which only the configured sites tell from the others."""
    head, slash, rest = remote.path.partition("/")
    if remote.way is Way.BARE and _is_host(head, rest, sites):
        hostname, _ = read_host(head, of=remote.text)
        return replace(remote, way=Way.WEB, host=head, hostname=hostname, path=slash + rest)
    if remote.way is Way.SCP and not remote.has_user and _is_web_port(remote, head, rest, sites):
        return replace(remote, way=Way.WEB, port=int(head), path=slash + rest)
    return remote


def _is_host(head: str, rest: str, sites: Sequence[Site]) -> bool:
    """No owner on GitHub holds a dot; a host without one must be configured and leave a path."""
    known = head.lower() in {site.hostname for site in sites}
    return "." in head or (known and "/" in rest.strip("/"))


def _is_web_port(remote: Remote, head: str, rest: str, sites: Sequence[Site]) -> bool:
    """`host:8443/owner/name`: git reads a path here, but with a site at that port none is meant."""
    if not (head.isascii() and head.isdigit() and len(head) < 6 and "/" in rest.strip("/")):
        return False
    return bool(at_host(sites, remote.hostname, (int(head),)))


def decoded_segments(path: str) -> tuple[str, ...]:
    """Decoded once, then split: GitLab's own links write a project's path with %2F."""
    return tuple(segment for segment in unquote(path).split("/") if segment)


def _on_the_web(remote: Remote, segments: tuple[str, ...], sites: Sequence[Site]) -> Place:
    for site in at_host(sites, remote.hostname, web_ports(remote.scheme, remote.port)):
        subpath = tuple(site.subpath.split("/")[1:])
        if segments[: len(subpath)] == subpath:
            return Place(remote.text, site, segments[len(subpath) :], is_web=True)
    raise _no_site(remote, sites)


def _by_ssh(remote: Remote, sites: Sequence[Site]) -> Site:
    """Neither ssh nor git:// names the web's port or subpath, so the host alone must decide."""
    if aliased := with_alias(sites, remote.host):
        return aliased
    hostname = _SSH_OVER_443.get(remote.hostname, remote.hostname)
    if remote.way is Way.SCP and not remote.has_user:
        hostname = _SHORTHANDS.get(hostname, hostname)
    found = [site for site in sites if site.hostname == hostname]
    if not found:
        raise _no_site(remote, sites)
    at_default_port = [site for site in found if site.has_default_port] or found
    likeliest = [site for site in at_default_port if not site.subpath] or at_default_port
    if len(likeliest) > 1:
        raise _ambiguous(remote, likeliest)
    return likeliest[0]


def _ambiguous(remote: Remote, found: Sequence[Site]) -> AddressError:
    return AddressError(
        "ambiguous_host",
        f"The host {quoted(remote.host, of=remote.text)} has several configured forges: write the "
        f"web address, which begins with {' or '.join(site.url for site in found)}.",
    )


def _default_site(sites: Sequence[Site]) -> Site:
    """`owner/name` alone is on github.com, or on the only site there is."""
    found = at_host(sites, GITHUB_COM.hostname, (GITHUB_COM.port,)) or sites
    if len(found) != 1:
        raise AddressError(
            "unknown_host",
            "An address without a host means github.com, which is not configured. "
            f"{configured(sites)} Write https://HOST/OWNER/NAME.",
        )
    return found[0]


def _no_site(remote: Remote, sites: Sequence[Site]) -> AddressError:
    """The error for a host that no site has, by what is known of the host."""
    shown = quoted(remote.host, of=remote.text)
    if _is_service(remote, sites):
        return AddressError(
            "not_a_repository_host",
            f"{shown} serves no repositories with pull requests (an API, gists, files or pages): "
            "write the repository's own web address, such as https://github.com/OWNER/NAME.",
        )
    if _is_other_forge(remote.hostname):
        return AddressError(
            "unsupported_forge",
            f"{shown} is neither GitHub nor GitLab, the forges read here. {configured(sites)}",
        )
    if remote.way is Way.SCP and not remote.has_user and "." not in remote.hostname:
        return _unknown_alias(remote, sites)
    port = f":{remote.port}" if remote.port and remote.way is Way.WEB else ""
    return unknown_host(remote.host + port, sites, of=remote.text)


def _unknown_alias(remote: Remote, sites: Sequence[Site]) -> AddressError:
    if len(remote.host) == 1:
        return local_path(remote.text)
    return AddressError(
        "unknown_host_alias",
        f"{quoted(remote.host, of=remote.text)} before the colon is neither a configured host nor "
        f"an ssh alias of one. {configured(sites)} Write https://HOST/OWNER/NAME, or add the alias "
        "to its [[forge]] in the configuration file.",
    )


def _is_service(remote: Remote, sites: Sequence[Site]) -> bool:
    hostname = remote.hostname
    if hostname in (GITHUB_COM.hostname, GITLAB_COM.hostname):
        return False
    label, _, parent = hostname.partition(".")
    hosts = {site.hostname for site in sites if site.kind is ForgeKind.GITHUB}
    is_gist = hostname == "gist" and remote.way is Way.SCP and not remote.has_user
    own = label in _SERVICE_LABELS and parent in hosts
    return is_gist or own or _is_within(hostname, _SERVICE_DOMAINS)


def _is_other_forge(hostname: str) -> bool:
    return _is_within(hostname, _OTHER_FORGES) or hostname.startswith("git-codecommit.")


def _is_within(hostname: str, domains: Sequence[str]) -> bool:
    return any(hostname == domain or hostname.endswith("." + domain) for domain in domains)
