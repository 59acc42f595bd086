"""Which host a token of the environment belongs to.

The usual variables do not say which host they are for, and a token sent to the wrong host is a
token lost. So each has one owner by rule; one that two hosts could claim goes to neither, and a
note says which line of the configuration file settles it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pullstate.domain.address_error import AddressError
from pullstate.domain.site import ForgeKind, Site, at_host, read_host, site_for_host, web_ports

GITHUB = ("GH_TOKEN", "GITHUB_TOKEN", "GITHUB_PERSONAL_ACCESS_TOKEN")
ENTERPRISE = ("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")
GITLAB = ("GITLAB_TOKEN", "GITLAB_ACCESS_TOKEN", "GITLAB_PERSONAL_ACCESS_TOKEN")
JOB = ("CI_JOB_TOKEN",)


class Unassigned(StrEnum):
    """Why a variable that is set does not go to a host that could want it."""

    TWO_CANDIDATES = "two_candidates"
    HOST_NOT_CONFIGURED = "host_not_configured"  # GH_HOST, GITLAB_HOST or CI_SERVER_HOST names it
    NO_CANDIDATE = "no_candidate"  # no host of that kind is known


@dataclass(frozen=True, slots=True)
class UnassignedToken:
    """A variable that is set and kept from `candidates` (web roots); `line` in a `[[forge]]` of
    the configuration file gives it to one of them."""

    variable: str
    reason: Unassigned
    candidates: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        return f'token_env = "{self.variable}"'


@dataclass(frozen=True, slots=True)
class Claim:
    """Who has a family of variables, and why others (or all) do not."""

    owners: tuple[Site, ...] = ()
    reason: Unassigned | None = None
    candidates: tuple[Site, ...] = ()


def variables_of(
    site: Site, sites: Sequence[Site], environ: Mapping[str, str], claimed: Collection[str]
) -> tuple[str, ...]:
    """The usual variables that belong to `site`, in the order in which they are looked in.

    `claimed` are the variables that the configuration file gives to a host by name.
    """
    return tuple(
        variable
        for family, claim in _claims(sites, environ)
        for variable in family
        if site in claim.owners and variable not in claimed
    )


def unassigned_tokens(
    sites: Sequence[Site], environ: Mapping[str, str], claimed: Collection[str]
) -> tuple[UnassignedToken, ...]:
    """Every usual variable that is set, that nobody claimed, and that a host goes without."""
    return tuple(
        UnassignedToken(variable, claim.reason, tuple(site.url for site in claim.candidates))
        for family, claim in _claims(sites, environ)
        for variable in family
        if claim.reason and _is_set(variable, environ) and variable not in claimed
    )


def _is_set(variable: str, environ: Mapping[str, str]) -> bool:
    return any(environ.get(name, "").strip() for name in (variable, f"{variable}_FILE"))


def _claims(
    sites: Sequence[Site], environ: Mapping[str, str]
) -> tuple[tuple[tuple[str, ...], Claim], ...]:
    githubs = [site for site in sites if site.kind is ForgeKind.GITHUB]
    gitlabs = [site for site in sites if site.kind is ForgeKind.GITLAB]
    return (
        (GITHUB, _github(githubs, environ.get("GH_HOST", "").strip())),
        (ENTERPRISE, _enterprise(githubs, environ.get("GH_HOST", "").strip())),
        (GITLAB, _gitlab(gitlabs, environ.get("GITLAB_HOST", "").strip())),
        (JOB, _job(gitlabs, environ)),
    )


def _github(githubs: Sequence[Site], gh_host: str) -> Claim:
    """github.com's and the only ghe.com tenant's, as gh has it; GH_HOST narrows it to one."""
    cloud = [site for site in githubs if _is_cloud(site.hostname)]
    tenants = tuple(site for site in cloud if site.hostname != "github.com")
    if named := _named(gh_host, cloud):
        return Claim((named,))
    if len(tenants) > 1:
        owners = tuple(site for site in cloud if site not in tenants)
        return Claim(owners, Unassigned.TWO_CANDIDATES, tenants)
    return Claim(tuple(cloud))


def _enterprise(githubs: Sequence[Site], gh_host: str) -> Claim:
    """GH_HOST's, else the only server's. A GH_HOST in GitHub's cloud says nothing of servers."""
    servers = [site for site in githubs if not _is_cloud(site.hostname)]
    return _named_or_only(servers, "" if _is_cloud(_hostname(gh_host)) else gh_host)


def _gitlab(gitlabs: Sequence[Site], gitlab_host: str) -> Claim:
    """GITLAB_HOST's, else the only self-managed one's, else gitlab.com's."""
    if gitlab_host:
        return _named_or_only(gitlabs, gitlab_host)
    self_managed = [site for site in gitlabs if site.hostname != "gitlab.com"]
    return _named_or_only(self_managed or gitlabs, "")


def _job(gitlabs: Sequence[Site], environ: Mapping[str, str]) -> Claim:
    """CI_SERVER_HOST's and nobody else's; CI_SERVER_PORT where several share that host name."""
    host, port = (environ.get(f"CI_SERVER_{name}", "").strip() for name in ("HOST", "PORT"))
    if not host:
        return Claim(reason=Unassigned.NO_CANDIDATE)
    there = [site for site in gitlabs if site.hostname == _hostname(host)]
    if not there:
        return Claim(reason=Unassigned.HOST_NOT_CONFIGURED)
    return _named_or_only([site for site in there if port in ("", str(site.port))], "")


def _named_or_only(candidates: Sequence[Site], host: str) -> Claim:
    if host:
        named = _named(host, candidates)
        return Claim((named,)) if named else Claim(reason=Unassigned.HOST_NOT_CONFIGURED)
    if len(candidates) == 1:
        return Claim(tuple(candidates))
    reason = Unassigned.TWO_CANDIDATES if candidates else Unassigned.NO_CANDIDATE
    return Claim(reason=reason, candidates=tuple(candidates))


def _is_cloud(hostname: str) -> bool:
    return hostname == "github.com" or hostname.endswith(".ghe.com")


def _named(host: str, sites: Sequence[Site]) -> Site | None:
    """The site that `host[:port][/path]` or a web root means; without a path the only one there."""
    if not host:
        return None
    try:
        return site_for_host(host, sites)
    except AddressError:
        return _only_at(host, sites)


def _only_at(host: str, sites: Sequence[Site]) -> Site | None:
    authority, _, path = host.rpartition("://")[2].partition("/")
    try:
        hostname, port = read_host(authority, of=host)
    except AddressError:
        return None
    there = at_host(sites, hostname, web_ports("", port))
    return there[0] if len(there) == 1 and not path.strip("/") else None


def _hostname(host: str) -> str:
    authority = host.rpartition("://")[2].partition("/")[0]
    try:
        return read_host(authority, of=host)[0]
    except AddressError:
        return ""
