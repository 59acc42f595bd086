"""A repository's address as somebody spelled it, taken apart without asking which forges exist.

The grammar is git's (`git help fetch`, GIT URLS): a URL, or `[user@]host:path` where a colon comes
before the first slash, or a local path; beside it what people write to people: `owner/name`,
`host/owner/name`.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from pullstate.domain.address_error import AddressError, quoted, without_secrets
from pullstate.domain.site import read_host

TEXT_LIMIT = 2048

_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#]*)(?P<tail>.*)")
_REMOTE_HELPER = re.compile(r"(?P<helper>[A-Za-z0-9][A-Za-z0-9+.-]*)::")
_BRACKETED = re.compile(
    r"(?P<user>[^/\[\]]*@)?\[(?:(?P<inner_user>[^/\[\]]*)@)?(?P<host>[^/\[\]@]*)\](?P<tail>.*)"
)
_LOCAL = re.compile(
    r"[/\\]"  # absolute, and \\server\share
    r"|\.{1,2}(?:[/\\]|$)"
    r"|~[^/\\:@]*(?:[/\\]|$)"
    r"|[A-Za-z]:(?:[/\\]|$)"  # a drive
    r"|(?:git\+)?file:"
    r"|[^/:@%]*\.(?:git|bundle)$",
    re.I,
)
# Controls, blanks and what no address holds unescaped; non-ASCII is judged where it stands.
_BAD_CHARACTER = re.compile(r'[\x00-\x20\x7f-\x9f\\<>"`]')

_WEB_SCHEMES = {"https": "https", "http": "http", "git+https": "https", "git+http": "http"}
_SSH_SCHEMES = {"ssh", "git+ssh", "ssh+git", "git"}


class Way(StrEnum):
    """By which grammar a text was read, which decides what its host and path can mean."""

    WEB = "web"  # a web address: port and subpath count, pages follow the path
    SSH = "ssh"  # ssh:// or git://: the port is not the web's
    SCP = "scp"  # host:path
    BARE = "bare"  # owner/name, or host/owner/name


@dataclass(frozen=True, slots=True)
class Remote:
    """The parts of a spelling. `path` is still percent-encoded and ends before "?" and "#"."""

    text: str
    way: Way
    path: str
    fragment: str = ""
    scheme: str = ""  # of a web address that has one
    host: str = ""  # as spelled, without user and port
    hostname: str = ""  # in canonical form
    port: int | None = None
    has_user: bool = False


def read_remote(text: str) -> Remote:
    """Take a spelling apart; AddressError for what cannot name a repository on any forge."""
    text = text.strip()
    _refuse_what_is_no_address(text)
    if url := _URL.fullmatch(text):
        return _from_url(text, url)
    if bracketed := _BRACKETED.fullmatch(text):
        return _from_bracketed(text, bracketed)
    return _from_bare(text)


def _refuse_what_is_no_address(text: str) -> None:
    if not text:
        raise AddressError(
            "empty", "The address is empty: write https://HOST/OWNER/NAME, or OWNER/NAME."
        )
    if len(text) > TEXT_LIMIT:
        raise AddressError(
            "too_long", f"The address is longer than {TEXT_LIMIT} characters: write it alone."
        )
    if _LOCAL.match(text):
        raise local_path(text)
    if bad := _BAD_CHARACTER.search(text):
        raise bad_characters(bad[0], of=text)
    if helper := _REMOTE_HELPER.match(text):
        raise AddressError(
            "remote_helper",
            f"{quoted(helper['helper'], of=text)} names a git remote helper, which is not run here:"
            " write the repository's web address, https://HOST/OWNER/NAME.",
        )


def local_path(text: str) -> AddressError:
    """The error for a path on somebody's disk."""
    return AddressError(
        "local_path",
        f"{quoted(without_secrets(text), of=text)} is a path on a disk, not a repository on a "
        "forge: write what `git remote get-url origin` prints there.",
    )


def bad_characters(character: str, *, of: str) -> AddressError:
    """The error for a character that no address holds."""
    return AddressError(
        "bad_characters",
        f"The address {quoted(without_secrets(of), of=of)} holds {character!a}, which no "
        "repository's address does: write the address alone, as https://HOST/OWNER/NAME.",
    )


def _from_url(text: str, url: re.Match[str]) -> Remote:
    scheme = url["scheme"].lower()
    if scheme not in _WEB_SCHEMES and scheme not in _SSH_SCHEMES:
        raise AddressError(
            "unsupported_scheme",
            f"Addresses that begin with {quoted(url['scheme'], of=text)}:// are not read here: "
            "write https://HOST/OWNER/NAME or git@HOST:OWNER/NAME.",
        )
    _, at, authority = url["authority"].rpartition("@")
    way = Way.WEB if scheme in _WEB_SCHEMES else Way.SSH
    return _from_host(
        text, way, authority, url["tail"], bool(at), scheme=_WEB_SCHEMES.get(scheme, "")
    )


def _from_bracketed(text: str, match: re.Match[str]) -> Remote:
    """`[::1]:path`, `user@[::1]:path`, `[user@host:port]:path` (git's), or a bracketed web host."""
    inner, tail = match["host"], match["tail"]
    host = f"[{inner}]" if inner.count(":") > 1 else inner
    has_user = match["user"] is not None or match["inner_user"] is not None
    if tail.startswith(":"):
        return _from_host(text, Way.SCP, host, tail[1:], has_user)
    port, slash, rest = tail.partition("/")
    return _from_host(text, Way.WEB, host + port, slash + rest, has_user)


def _from_bare(text: str) -> Remote:
    head, slash, rest = text.partition("/")
    _, at, authority = head.rpartition("@")
    host, colon, first = authority.partition(":")
    if colon:
        return _from_host(text, Way.SCP, host, first + slash + rest, bool(at))
    if at:
        return _from_host(text, Way.WEB, host, slash + rest, has_user=True)
    path, fragment = _path_and_fragment(text)
    return Remote(text, Way.BARE, path, fragment)


def _from_host(
    text: str, way: Way, authority: str, tail: str, has_user: bool, scheme: str = ""
) -> Remote:
    hostname, port = read_host(authority, of=text)
    path, fragment = _path_and_fragment(tail)
    host = re.sub(r":[0-9]*$", "", authority) if not authority.endswith("]") else authority
    return Remote(text, way, path, fragment, scheme, host, hostname, port, has_user)


def _path_and_fragment(tail: str) -> tuple[str, str]:
    before, _, fragment = tail.partition("#")
    return before.partition("?")[0], fragment
