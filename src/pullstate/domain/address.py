"""RepositoryAddress: parse every way in which a repository is spelled, and print one.

The steps: `remote` takes the text apart, `site_lookup` finds the configured site it lies on,
`repository_path` tells the repository from the page behind it. An address that was parsed prints
as a URL that parses to the same address.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pullstate.domain.address_error import AddressError, quoted
from pullstate.domain.remote import read_remote
from pullstate.domain.repository_path import reference_error, repository_path, shape, split_page
from pullstate.domain.site import (
    GITHUB_COM,
    GITLAB_COM,
    ForgeKind,
    Site,
    parse_site_url,
    site_for_host,
)
from pullstate.domain.site_lookup import Place, decoded_segments, locate

__all__ = [
    "GITHUB_COM",
    "GITLAB_COM",
    "AddressError",
    "ForgeKind",
    "RepositoryAddress",
    "Site",
    "parse_path",
    "parse_pull_request_url",
    "parse_repository",
    "parse_site_url",
    "site_for_host",
]

_NUMBER = re.compile(r"(?P<number>0*[0-9]{1,10})(?:\.(?:diff|patch|json))?")
_REFERENCE = re.compile(r"[0-9]+")
# Numbers are 32-bit integers in both forges' GraphQL schemas.
_LARGEST_NUMBER = 2**31 - 1


@dataclass(frozen=True, slots=True)
class RepositoryAddress:
    """Where a repository lies: `path` is `owner/name` or `group/sub/name`, as it was spelled.

    Addresses are the same when site and `key` are: forges ignore case in paths.
    """

    site: Site
    path: str

    @property
    def url(self) -> str:
        """The canonical address: the site's web root and the path."""
        return f"{self.site.url}/{self.path}"

    @property
    def owner(self) -> str:
        """All but the last segment: an account, or the whole path of a group."""
        return self.path.rpartition("/")[0]

    @property
    def name(self) -> str:
        """The last segment."""
        return self.path.rpartition("/")[2]

    @property
    def key(self) -> str:
        """The path folded, for comparing."""
        return self.path.casefold()

    def __str__(self) -> str:
        return self.url


def parse_repository(text: str, sites: Sequence[Site]) -> RepositoryAddress:
    """The repository that a git remote, a web address or a shorthand names on a configured site.

    `owner/name` alone is on github.com, or on the only site. Raises AddressError, and nothing
    else, on any text that names none.
    """
    remote = read_remote(text)
    place = locate(remote, sites)
    if not place.is_web and _REFERENCE.fullmatch(remote.fragment):
        raise reference_error(remote.fragment, remote.text)
    return _confirmed(RepositoryAddress(place.site, repository_path(place)), place, sites)


def parse_path(text: str, site: Site) -> RepositoryAddress:
    """The repository at a path on a site: `owner/name`, `group/sub/name`, plain or %2F-encoded.

    Raises AddressError as for a repository; nothing but the path is taken here.
    """
    place = Place(text, site, decoded_segments(text.strip()), is_web=False)
    return _confirmed(RepositoryAddress(site, repository_path(place)), place, [site])


def _confirmed(
    address: RepositoryAddress, place: Place, sites: Sequence[Site]
) -> RepositoryAddress:
    """Where one site lies below another, an address of the outer may read as one of the inner."""
    if locate(read_remote(address.url), sites).site != address.site:
        raise AddressError(
            "ambiguous_host",
            f"{quoted(address.path, of=place.text)} on {address.site.name} begins like another "
            "configured forge: write the web address of the repository that is meant.",
        )
    return address


def parse_pull_request_url(text: str, sites: Sequence[Site]) -> tuple[RepositoryAddress, int]:
    """The repository and number that the web address of a pull or merge request names.

    Any tab, query or fragment behind the number is ignored. AddressError `not_a_web_address`,
    `is_an_issue`, `is_a_group` or `no_pull_request_number` for other pages, else as for a
    repository.
    """
    place = locate(read_remote(text), sites)
    if not place.is_web:
        raise _wants_page("not_a_web_address", "is not a web address", place)
    own, page = split_page(place.site.kind, place.segments)
    if place.site.kind is ForgeKind.GITLAB and (len(own) == 1 or own[:1] == ["groups"]):
        raise _wants_page("is_a_group", "is a group or a user, not a merge request", place)
    address = _confirmed(RepositoryAddress(place.site, repository_path(place)), place, sites)
    return address, _number(page, place)


def _number(page: Sequence[str], place: Place) -> int:
    kind, given, *_ = [*page, "", ""]
    if kind in ("issues", "work_items") and given:
        raise _wants_page("is_an_issue", "is an issue", place)
    wanted = "merge_requests" if place.site.kind is ForgeKind.GITLAB else "pull"
    match = _NUMBER.fullmatch(given) if kind == wanted else None
    if not match or not 0 < int(match["number"]) <= _LARGEST_NUMBER:
        raise _wants_page("no_pull_request_number", "holds no pull request's number", place)
    return int(match["number"])


def _wants_page(code: str, why: str, place: Place) -> AddressError:
    page = "-/merge_requests" if place.site.kind is ForgeKind.GITLAB else "pull"
    return AddressError(
        code,
        f"{quoted('/'.join(place.segments), of=place.text)} on {place.site.name} {why}: write "
        f"{shape(place.site)}/{page}/NUMBER.",
    )
