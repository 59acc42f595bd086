"""What holds for every address and every text."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from pullstate.domain.address import (
    GITHUB_COM,
    GITLAB_COM,
    AddressError,
    ForgeKind,
    RepositoryAddress,
    Site,
    parse_path,
    parse_pull_request_url,
    parse_repository,
    parse_site_url,
    site_for_host,
)

SITES = (
    Site(ForgeKind.GITHUB, "https://github.com", ("hub",)),
    GITLAB_COM,
    Site(ForgeKind.GITHUB, "https://code.test:9443"),
    Site(ForgeKind.GITLAB, "https://lab.test"),
    Site(ForgeKind.GITLAB, "https://lab.test/lab"),
    Site(ForgeKind.GITLAB, "https://[2001:db8::7]"),
    Site(ForgeKind.GITHUB, "http://127.0.0.1:40123"),
    Site(ForgeKind.DEMO, "https://demo.invalid"),
)
PIECES = [
    "https://", "http://", "ssh://", "git+ssh://", "git@", "user:pw@", "@", ":", "//", "/", "#",
    "?", "!", "..", ".", "-", "%2F", "%2e", "%25", "%40", "[", "]", "[2001:db8::7]", "github.com",
    "gitlab.com", "code.test", ":9443", "lab.test", "lab", "127.0.0.1:40123", "demo.invalid", "hub",
    "gitlab", "ada", "engine", ".git", ".wiki", "7", "443", "pull", "pulls", "merge_requests",
    "tree", "issues", "groups", "orgs", "compare", "a...b", "\\", " ", "é", "\u200b", "\ud800",
    "\x00", "::", "~", "C:",
]  # fmt: skip

names = st.from_regex(r"[A-Za-z0-9_.][A-Za-z0-9._-]{0,8}", fullmatch=True)
# No "@" in these: what follows the last one is the host's.
passwords = st.text(st.characters(codec="ascii", exclude_characters="@"), max_size=20)
mosaics = st.lists(st.sampled_from(PIECES) | names, max_size=10).map("".join)
texts = st.text(max_size=60) | mosaics
sites = st.sampled_from(SITES)
spellings = st.sampled_from([
    "https://{user}@{host}/{path}", "ssh://{user}@{host}/{path}", "{user}@{host}:{path}",
    "ftp://{user}@{host}/{path}", "{user}@{host}/{path}/pull/7", "[{user}@{host}]:{path}",
    "https://{user}@{host}/{path}/-/merge_requests/7", "https://{user}@evil.test/{path}",
    "https://{user}%40{host}/{path}",
])  # fmt: skip


def parsed(text: str) -> RepositoryAddress | None:
    try:
        return parse_repository(text, SITES)
    except AddressError:
        return None


@given(texts)
@example("github.com/" + "a/" * 1000)
@example("[" * 2000)
@example("git@" * 500 + ":")
@example("https://" + "a-" * 1000)
def test_any_text_is_an_address_or_an_address_error(text: str) -> None:
    for read in (parse_repository, parse_pull_request_url, site_for_host):
        try:
            read(text, SITES)
        except AddressError as error:
            assert error.code and error.sentence.endswith(".")
            assert error.sentence.replace("…", "").isascii() and error.sentence.isprintable()


@given(texts)
def test_any_text_is_a_web_root_or_a_value_error(text: str) -> None:
    for url in (text, f"https://{text}"):
        try:
            site = parse_site_url(url, ForgeKind.GITLAB)
        except ValueError:
            continue
        assert parse_site_url(site.url, ForgeKind.GITLAB) == site
        assert site_for_host(site.name, [site]) == site


@given(mosaics)
@example("git@lab.test:lab/ada/engine")
@example("git@gitlab.com:ada/sub/tree.git")
@example("ada/engine.git.git")
@example("git@gitlab.com:ada/engine/merge_requests")
def test_an_address_prints_as_what_is_parsed_as_the_same_address(text: str) -> None:
    if address := parsed(text):
        assert parse_repository(str(address), SITES) == address


@given(sites, st.lists(names, min_size=1, max_size=4).map("/".join))
def test_a_path_is_read_on_a_site_as_in_a_web_address_of_it(site: Site, path: str) -> None:
    try:
        address = parse_path(path, site)
    except AddressError:
        return
    assert parse_repository(f"{site.url}/{path}", [site]) == address


@given(st.lists(names, min_size=2, max_size=2).map("/".join))
def test_every_grammar_reads_one_path_alike(path: str) -> None:
    web = parsed(f"https://gitlab.com/{path}")
    starts = ("git@gitlab.com:", "ssh://git@gitlab.com/", "gitlab:", "gitlab.com/")

    assert [parsed(start + path) for start in starts] == [web] * 4


@given(st.lists(names, min_size=2, max_size=2).map("/".join), st.integers(1, 2**31 - 1))
def test_a_pull_requests_page_leads_back_to_its_repository(path: str, number: int) -> None:
    for site, page in ((GITHUB_COM, "pull"), (GITLAB_COM, "-/merge_requests")):
        if address := parsed(f"{site.url}/{path}"):
            found = parse_pull_request_url(f"{address}/{page}/{number}", SITES)
            assert (found[0].url, found[1]) == (address.url, number)


@given(spellings, passwords, sites, st.lists(names, max_size=3).map("/".join))
def test_what_stands_before_the_host_is_never_shown(
    spelling: str, password: str, site: Site, path: str
) -> None:
    text = spelling.format(user=f"x:{password}hunter2{password}", host=site.host, path=path)
    for read in (parse_repository, parse_pull_request_url, site_for_host):
        try:
            shown = repr(read(text, SITES))
        except AddressError as error:
            shown = f"{error!r} {error.__context__!r}"
        assert "hunter2" not in shown
