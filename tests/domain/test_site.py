"""Site: a configured web root made canonical, and found again by its host."""

from __future__ import annotations

import pytest

from pullstate.domain.address import (
    GITLAB_COM,
    AddressError,
    ForgeKind,
    Site,
    parse_site_url,
    site_for_host,
)

GITHUB, GITLAB = ForgeKind.GITHUB, ForgeKind.GITLAB
SITES = (
    parse_site_url("https://github.com", GITHUB, ("hub",)),
    GITLAB_COM,
    parse_site_url("https://code.initech.test", GITHUB, ("Code-SSH",)),
    parse_site_url("https://code.initech.test:9443", GITHUB),
    parse_site_url("https://lab.initech.test:9443", GITLAB),
    parse_site_url("https://initech.test/lab", GITLAB),
    parse_site_url("https://initech.test/lab/nested", GITLAB),
    parse_site_url("https://[2001:db8::7]:9443", GITLAB),
    parse_site_url("http://127.0.0.1:40123", GITHUB),
    parse_site_url("http://localhost:40124", GITLAB),
)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("github.com", "https://github.com"), ("GitHub.com.", "https://github.com"),
        ("www.github.com", "https://github.com"), ("https://github.com/", "https://github.com"),
        ("hub", "https://github.com"), ("code-ssh", "https://code.initech.test"),
        ("code.initech.test:443", "https://code.initech.test"),
        ("code.initech.test:9443", "https://code.initech.test:9443"),
        ("initech.test/lab/", "https://initech.test/lab"),
        ("https://initech.test/lab", "https://initech.test/lab"),
        ("initech.test/lab/nested", "https://initech.test/lab/nested"),
        ("[2001:DB8::7]:9443", "https://[2001:db8::7]:9443"),
        ("localhost:40124", "http://localhost:40124"),
        (" http://127.0.0.1:40123 ", "http://127.0.0.1:40123"),
        ("https://t@gitlab.com", "https://gitlab.com"),
    ],
)  # fmt: skip
def test_a_host_names_its_site(text: str, url: str) -> None:
    assert site_for_host(text, SITES).url == url


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.url)
def test_a_sites_name_and_url_name_it(site: Site) -> None:
    assert site_for_host(site.name, SITES) == site
    assert site_for_host(site.url, SITES) == site


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("evil.test", "unknown_host"), ("initech.test", "unknown_host"),
        ("lab.initech.test", "unknown_host"), ("code.initech.test:1", "unknown_host"),
        ("github.com/ada/engine", "unknown_host"), ("initech.test/LAB", "unknown_host"),
        ("github.com?x", "unknown_host"), ("https://hub", "unknown_host"),
        ("api.github.com", "unknown_host"), ("", "empty"), ("git hub.com", "bad_host"),
        ("-x", "bad_host"), ("github.com:x", "bad_host"), ("gіthub.com", "non_ascii_host"),
    ],
)  # fmt: skip
def test_what_is_no_configured_host_is_refused(text: str, code: str) -> None:
    with pytest.raises(AddressError) as caught:
        site_for_host(text, SITES)

    assert caught.value.code == code
    assert code != "unknown_host" or "code.initech.test:9443" in caught.value.sentence


@pytest.mark.parametrize(
    ("url", "canonical", "hostname", "port", "subpath"),
    [
        ("https://Code.Initech.Test/", "https://code.initech.test", "code.initech.test", 443, ""),
        ("https://code.test.:443", "https://code.test", "code.test", 443, ""),
        ("https://www.gitlab.com/api/v4/", "https://gitlab.com", "gitlab.com", 443, ""),
        ("https://code.test:9443/api/v3", "https://code.test:9443", "code.test", 9443, ""),
        ("https://code.test/api/graphql", "https://code.test", "code.test", 443, ""),
        ("https://code.test//Lab/x/", "https://code.test/Lab/x", "code.test", 443, "/Lab/x"),
        ("https://[2001:DB8:0::7]:9443", "https://[2001:db8::7]:9443", "2001:db8::7", 9443, ""),
        ("http://127.0.0.1:40123/", "http://127.0.0.1:40123", "127.0.0.1", 40123, ""),
        ("http://127.9.9.9:80", "http://127.9.9.9", "127.9.9.9", 80, ""),
        ("http://[::1]:40123/lab", "http://[::1]:40123/lab", "::1", 40123, "/lab"),
        ("HTTP://localhost:443", "http://localhost:443", "localhost", 443, ""),
        ("https://xn--bcher-kva.test", "https://xn--bcher-kva.test", "xn--bcher-kva.test", 443, ""),
    ],
)  # fmt: skip
def test_a_configured_web_root_is_made_canonical(url, canonical, hostname, port, subpath) -> None:
    site = parse_site_url(url, GITLAB, ["lab-ssh"])

    assert (site.url, site.hostname, site.port) == (canonical, hostname, port)
    assert site.subpath == subpath
    assert site.url.endswith(f"://{site.host}{site.subpath}") and site.name == site.host + subpath
    assert parse_site_url(site.url, GITLAB, ["lab-ssh"]) == site


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://code.test", "https://"), ("http://128.0.0.1", "loopback"),
        ("http://10.0.0.1:8080", "loopback"), ("http://localhost.evil.test", "loopback"),
        ("http://127.0.0.1.evil.test", "loopback"), ("code.test", "write https://"),
        ("ssh://code.test", "write https://"), ("", "write https://"),
        ("https://hunter2@code.test", "without user name"), ("https://code.test?x=1", "query"),
        ("https://code.test/#x", "fragment"), ("https://code.test/a b", "no path"),
        ("https://code.test/../x", "no path"), ("https://code.test/a%2Fb", "no path"),
        ("https://github.com/ada/engine", "no path"),
        ("https://api.github.com", "write https://github.com"),
        ("https://api.initech.ghe.com/", "write https://initech.ghe.com"), ("https://", "no host"),
        ("https://bücher.test", "xn--"), ("https://code.test:x", "no port"),
        ("https://-x.test", "no host"),
    ],
)  # fmt: skip
def test_a_web_root_that_cannot_be_one_is_refused_in_words(url: str, words: str) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        parse_site_url(url, GITHUB)

    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("alias", ["", "-oProxyCommand=x", "a b", "git@host", "[::1]", "a/b", "é"])
def test_an_alias_that_ssh_could_not_take_is_refused(alias: str) -> None:
    with pytest.raises(ValueError, match="alias"):
        parse_site_url("https://code.test", GITHUB, [alias])
