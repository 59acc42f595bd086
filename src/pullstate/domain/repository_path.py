"""What may be a repository's path on each forge, and where it ends in a web page's address."""

import re
from collections.abc import Sequence

from pullstate.domain.address_error import AddressError, quoted
from pullstate.domain.remote import bad_characters
from pullstate.domain.site import ForgeKind, Site
from pullstate.domain.site_lookup import Place

_NAME = re.compile(r"[A-Za-z0-9._-]+")
_BAD_CHARACTER = re.compile(r'[\x00-\x20\x7f-\x9f\\<>"`^{|}%]')
_GIT_SUFFIX = re.compile(r"\.git$", re.I)
_WIKI_SUFFIX = re.compile(r"\.wiki$", re.I)
_REFERENCE = re.compile(r"(?P<name>[A-Za-z0-9._-]*)!(?P<number>[0-9]+)")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# First segments that are GitHub's own pages, so that no account can have them.
_GITHUB_OWN = _words("""
    about account api apps codespaces collections contact customer-stories dashboard enterprise
    enterprises events explore features gist issues join login logout marketplace new notifications
    organizations orgs pricing pulls search sessions settings signup site sponsors stars topics
    trending users watching
""")
# Third segments of GitHub's pages of a repository. Another one is more likely a GitLab path that
# was put on the wrong host, and guessing its first two segments would answer for a stranger.
_GITHUB_PAGES = _words("""
    actions activity agents archive assets attestations blame blob branches checks codespaces commit
    commits community compare contributors custom-properties delete dependabot deployments
    discussions edit environments files find forks git-receive-pack git-upload-pack graphs hovercard
    info invitations issues labels media merge-queue milestone milestones models network new
    notifications packages pkgs projects pull pulls pulse queue raw releases rules runs search
    security settings stargazers subscription suites tags tarball tree upload watchers wiki zipball
""")
# docs.gitlab.com/user/reserved_names: no account or top-level group can have these names, …
_GITLAB_OWN = _words("""
    - admin api assets dashboard explore files groups health_check help import jwt oauth profile
    projects public s search snippets unsubscribes uploads users v2
""")
# … and no group or project below these: they begin a page in addresses without /-/.
_GITLAB_PAGES = _words("""
    badges blame blob builds commits create create_dir edit files find_file new preview raw refs
    tree update wikis
""")
# Names that a project may have, and that began pages before GitLab put them behind /-/.
_GITLAB_NUMBERED = {"issues", "jobs", "milestones", "pipelines", "snippets"}
_GITLAB_SHA = re.compile(r"[0-9a-f]{7,64}")


def split_page(kind: ForgeKind, segments: Sequence[str]) -> tuple[list[str], list[str]]:
    """A web address's path → the repository's segments, and those of the page behind them."""
    cut = 2 if kind is not ForgeKind.GITLAB else _gitlab_cut(segments)
    page = list(segments[cut:])
    return list(segments[:cut]), page[1:] if page[:1] == ["-"] and cut > 1 else page


def _gitlab_cut(segments: Sequence[str]) -> int:
    for index, segment in enumerate(segments):
        if segment == "-":
            return index
        if index and _GIT_SUFFIX.search(segment):
            return index + 1
        if index > 1 and segment in _GITLAB_PAGES:
            return _legacy_cut(segments[:index])
    return _legacy_cut(segments)


def _legacy_cut(segments: Sequence[str]) -> int:
    starts = range(2, len(segments))
    pages = (start for start in starts if _is_legacy_page(*segments[start : start + 2]))
    return next(pages, len(segments))


def _is_legacy_page(name: str, after: str = "") -> bool:
    if name == "merge_requests" or (name == "compare" and "..." in after):
        return True
    if name == "commit":
        return bool(_GITLAB_SHA.fullmatch(after))
    return name in _GITLAB_NUMBERED and after.isascii() and after.isdigit()


def repository_path(place: Place) -> str:
    """The repository's path at a place, or AddressError for what no repository can be called."""
    for segment in place.segments:
        if segment in (".", ".."):
            raise _bad_path(segment, place)
    own, page = split_page(place.site.kind, place.segments)
    if not place.is_web:
        own, page = [*place.segments], []
    names = _names(own, place)
    _check_owned(names, place)
    _check_depth(names, page, place)
    return "/".join(names)


def _names(own: Sequence[str], place: Place) -> list[str]:
    """The segments without `.git`, each found to be a name that a forge gives."""
    names = [*own[:-1], *(_GIT_SUFFIX.sub("", name) for name in own[-1:])]
    for position, name in enumerate(names):
        if bad := _BAD_CHARACTER.search(name):
            raise bad_characters(bad[0], of=place.text)
        if reference := _REFERENCE.fullmatch(name):
            raise reference_error(reference["number"], place.text)
        if (
            not _NAME.fullmatch(name)
            or _GIT_SUFFIX.search(name)
            or _is_option(position, name, place)
        ):
            raise _bad_path(name, place)
    return names


def _is_option(position: int, name: str, place: Place) -> bool:
    """GitHub has repositories whose names begin with a dash, but no owners; GitLab has neither."""
    return name.startswith("-") and (position == 0 or place.site.kind is ForgeKind.GITLAB)


def _check_owned(names: Sequence[str], place: Place) -> None:
    own_pages = _GITLAB_OWN if place.site.kind is ForgeKind.GITLAB else _GITHUB_OWN
    if len(names) < 2 or names[0].lower() in own_pages:
        what = f"{quoted('/'.join(names), of=place.text)} on" if names else "The address of"
        raise AddressError(
            "no_repository",
            f"{what} {place.site.name} names no repository: write {shape(place.site)}.",
        )
    if _WIKI_SUFFIX.search(names[-1]):
        raise AddressError(
            "is_a_wiki",
            f"{quoted(names[-1], of=place.text)} is a wiki, which has no pull requests: leave out "
            "the .wiki to name its repository.",
        )


def shape(site: Site) -> str:
    """What a repository's address looks like on a site, for errors."""
    gitlab = site.kind is ForgeKind.GITLAB
    return f"{site.url}/{'GROUP/PROJECT' if gitlab else 'OWNER/NAME'}"


def _check_depth(names: Sequence[str], page: Sequence[str], place: Place) -> None:
    if place.site.kind is not ForgeKind.GITLAB:
        if len(names) > 2 or (page and page[0].lower() not in _GITHUB_PAGES):
            raise _too_many_segments(place)
    elif split_page(ForgeKind.GITLAB, names)[1]:
        raise _bad_path(names[-1], place)


def _too_many_segments(place: Place) -> AddressError:
    return AddressError(
        "too_many_segments",
        f"A repository on {place.site.name} is OWNER/NAME, and {len(place.segments)} segments "
        f"follow the host here: write {shape(place.site)}, an ssh port as "
        "ssh://git@HOST:PORT/OWNER/NAME, a GitLab project with its own host.",
    )


def _bad_path(name: str, place: Place) -> AddressError:
    return AddressError(
        "bad_path",
        f"{quoted(name, of=place.text)} cannot stand in a repository's path on {place.site.name}: "
        f"write {shape(place.site)} as the forge shows it, in letters, digits, dots, dashes and "
        "underscores.",
    )


def reference_error(number: str, text: str) -> AddressError:
    """The error for `owner/name#1` and `group/name!1` where a whole address is asked for."""
    name = text.rstrip("0123456789!#")
    return AddressError(
        "is_a_pull_request",
        f"{quoted(name, of=text)} with a number ({quoted(number, of=number)}) is a reference to "
        "one pull request: write OWNER/NAME or https://HOST/OWNER/NAME for the repository, the "
        "pull request's web address for the pull request.",
    )
