"""RepositoryAddress: every way to spell a repository, and why what is none of them is refused."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path

import pytest

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

GITHUB, GITLAB, DEMO = ForgeKind.GITHUB, ForgeKind.GITLAB, ForgeKind.DEMO
SITES = (
    parse_site_url("https://github.com", GITHUB, ("github.com-job", "hub")),
    GITLAB_COM,
    parse_site_url("https://initech.ghe.com", GITHUB),
    parse_site_url("https://code.initech.test", GITHUB, ("Code-SSH",)),
    parse_site_url("https://code.initech.test:9443", GITHUB),
    parse_site_url("https://lab.initech.test:9443", GITLAB),
    parse_site_url("https://initech.test/lab", GITLAB),
    parse_site_url("https://initech.test/lab/nested", GITLAB),
    parse_site_url("https://198.51.100.7", GITLAB),
    parse_site_url("https://[2001:db8::7]:9443", GITLAB),
    parse_site_url("https://twice.test:1443", GITHUB),
    parse_site_url("https://twice.test:2443", GITHUB),
    parse_site_url("http://127.0.0.1:40123", GITHUB),
    parse_site_url("http://localhost:40124", GITLAB),
    parse_site_url("https://demo.invalid", DEMO),
)

SHARED_ROWS = Path(__file__).parents[3] / "shared" / "cases" / "addresses.json"


def outcome(text: str, sites: tuple[Site, ...] = SITES) -> str:
    """The canonical address, or the error's code."""
    try:
        return str(parse_repository(text, sites))
    except AddressError as error:
        return error.code


def refusal(text: str) -> AddressError:
    with pytest.raises(AddressError) as caught:
        parse_repository(text, SITES)
    return caught.value


ACCEPTED = {
    "https://github.com/ada/engine": [
        "https://github.com/ada/engine", "https://github.com/ada/engine.git/",
        "https://github.com/ada/engine.GIT", "http://github.com:80/ada/engine",
        "HTTPS://GITHUB.COM:0443/ada/engine", "https://github.com:/ada/engine",
        "https://www.github.com/ada/engine", "www.github.com/ada/engine",
        "https://github.com./ada/engine", "git@github.com.:ada/engine.git",
        "git+http://github.com/ada/engine", "git://github.com:9418/ada/engine.git",
        "ssh+git://github.com/ada/engine", "ssh://git@github.com:22/ada/engine.git",
        "ssh://git@github.com:8022//ada//engine.git", "ssh://git@ssh.github.com/ada/engine",
        "git@ssh.github.com:ada/engine.git", "org-77@github.com:ada/engine.git",
        "git@GitHub.com:ada/engine", "github.com:/ada/engine/", "[git@github.com:22]:ada/engine",
        "[github.com]:ada/engine", "git@[github.com]:ada/engine.git",
        "git@github.com/ada/engine.git", "github:ada/engine", "github:ada/engine#main",
        "git@github.com-job:ada/engine", "ssh://git@github.com-job/ada/engine", "hub:ada/engine",
        "ada/engine", "ada/engine/", "\tada/engine\n", "ada%2Fengine", "github.com/ada/engine#5",
        "github.com:443/ada/engine", "https://github.com/%61da/engine",
        "https://github.com/ada/engine.git/info/refs?service=git-upload-pack",
        "https://github.com/ada/engine/pull/9/commits/0a1b2c#diff-4",
        "https://github.com/ada/engine/issues/9", "https://github.com/ada/engine/compare/a...b",
        "https://github.com/ada/engine/actions/runs/1/job/2", "github.com/ada/engine/wiki/Home",
        "https://github.com/ada/engine/tree/feature%2Fx%20y",
        "https://github.com/ada/engine/pulls?q=a",
        "https://github.com/ada/engine/blob/main/vendored.git/x",
        "https://github.com/ada/engine/queue/main",
    ],
    "https://github.com/ada/-": ["https://github.com/ada/-", "git@github.com:ada/-.git"],
    "https://github.com/443/engine": ["github.com:443/engine", "git@github.com:443/engine"],
    "https://gitlab.com/ada/sub/engine": [
        "https://gitlab.com/ada/sub/engine.git", "https://www.gitlab.com/ada/sub/engine",
        "git@gitlab.com:ada/sub/engine.git", "ssh://git@altssh.gitlab.com:443/ada/sub/engine.git",
        "gitlab:ada/sub/engine", "https://gitlab.com/ada%2fsub%2Fengine/-/issues",
        "https://gitlab.com/ada/sub/engine/-/",
        "https://gitlab.com/ada/sub/engine/-/blob/m/-/x.git",
        "https://gitlab.com/ada/sub/engine.git/-/tree/main",
        "https://gitlab.com/ada/sub/engine/merge_requests", "gitlab.com/ada/sub/engine/issues/4",
        "https://gitlab.com/ada/sub/engine/tree/main/-/x",
        "https://gitlab.com/ada/sub/engine/wikis/home",
        "https://gitlab.com/ada/sub/engine/commit/0a1b2c3d",
        "gitlab.com/ada/sub/engine/compare/a...b",
        "https://gitlab.com/ada/sub/engine/pipelines/8/builds",
        "https://gitlab.com/ada/sub/engine/merge_requests/8/commits",
        "https://gitlab.com/ada/sub/engine/raw/m/x",
    ],
    "https://gitlab.com/ada/merge_requests": [
        "https://gitlab.com/ada/merge_requests", "gitlab.com/ada/merge_requests/-/merge_requests/1",
    ],
    "https://gitlab.com/ada/sub/issues": ["https://gitlab.com/ada/sub/issues"],
    "https://initech.ghe.com/ada_corp/engine": ["initech@initech.ghe.com:ada_corp/engine.git"],
    "https://code.initech.test/ada/engine": [
        "code.initech.test/ada/engine", "git@code.initech.test:ada/engine",
        "ssh://git@code.initech.test:9443/ada/engine", "http://code.initech.test/ada/engine/pull/1",
        "code-ssh:ada/engine", "ssh://git@CODE-SSH:2222/ada/engine",
    ],
    "https://code.initech.test:9443/ada/engine": [
        "https://code.initech.test:9443/ada/engine", "http://code.initech.test:9443/ada/engine",
        "code.initech.test:9443/ada/engine/pull/4",
    ],
    "https://code.initech.test/9443/engine": ["code.initech.test:9443/engine"],
    "https://lab.initech.test:9443/ada/engine": [
        "git@lab.initech.test:ada/engine.git", "ssh://git@lab.initech.test:22/ada/engine",
        "lab.initech.test:9443/ada/engine",
    ],
    "https://lab.initech.test:9443/9443/ada/engine": ["git@lab.initech.test:9443/ada/engine"],
    "https://initech.test/lab/ada/engine": [
        "https://initech.test/lab/ada/engine/-/merge_requests/1", "initech.test//lab//ada/engine",
        "https://initech.test:443/lab/ada/engine.git",
    ],
    "https://initech.test/lab/nested/ada/engine": ["https://initech.test/lab/nested/ada/engine"],
    "https://198.51.100.7/ada/engine": ["198.51.100.7/ada/engine", "git@198.51.100.7:ada/engine"],
    "https://[2001:db8::7]:9443/ada/engine": [
        "https://[2001:DB8:0:0::7]:9443/ada/engine", "ssh://git@[2001:db8::7]:22/ada/engine.git",
        "[2001:db8::7]:ada/engine", "[git@2001:db8::7]:ada/engine", "[2001:db8::7]:9443/ada/engine",
    ],
    "http://127.0.0.1:40123/ada/engine": [
        "http://127.0.0.1:40123/ada/engine.git", "127.0.0.1:40123/ada/engine",
        "git@127.0.0.1:ada/engine", "https://127.0.0.1:40123/ada/engine/pull/3",
    ],
    "http://localhost:40124/ada/engine": [
        "http://localhost:40124/ada/engine", "localhost:40124/ada/engine", "localhost:ada/engine",
    ],
    "https://demo.invalid/ada/engine": [
        "https://demo.invalid/ada/engine/pull/3", "demo.invalid/ada/engine",
    ],
}  # fmt: skip

REFUSED = {
    "empty": ["", " \t\n", "\u2003"],
    "too_long": ["a/" + "b" * 2047, "https://github.com/ada/" + "x" * 2048],
    "local_path": [
        "/home/ada/engine", "/home/ada/my engine", "//share/ada/engine", "./engine", "../../engine",
        ".", "..", "~", "~/engine", "~ada/engine.git", "D:\\src\\my engine", "d:/engine", "D:",
        "D:engine", "\\\\share\\ada\\engine", "\\\\?\\C:\\engine", "..\\engine",
        "file:///srv/engine.git", "FILE://host/engine", "file:engine", "git+file:///srv/engine",
        "engine.git", "engine.bundle",
    ],
    "bad_characters": [
        "https://github.com/ada/en gine", "ada/en\tgine", "ada/en\x00gine", "ada/engine\x1b[31m/x",
        "https://github.com/ada\\engine", "ada\\engine", "`ada/engine`", '"ada/engine"',
        "https://github.com/ada/en%0Agine", "https://github.com/ada/en%5cgine",
        "gitlab:ada/en%00gine", "https://github.com/ada%252Fengine/x",
        "https://github.com/%252e%252e/engine", "ada/en%zzgine", "git@github.com:ada/{engine}",
        "ada/en\x85gine", "sh::ls -l",
    ],
    "bad_path": [
        "https://github.com/ada/.", "https://github.com/../engine", "https://github.com/ada/%2e%2E",
        "https://github.com/ada/engine/tree/../../x", "https://github.com/./ada/engine", "ada/..",
        "git@github.com:ada/.git", "https://github.com/ada/engine.git.git", "ada/engine@v4",
        "git@github.com:~ada/engine", "-ada/engine", "git@gitlab.com:ada/-engine", "аda/engine",
        "https://github.com/ada/engіne", "https://github.com/ada/en\u202egine",
        "ada/en%E2%80%8Bgine", "https://gitlab.com/ada/en%ffgine",
        "https://github.com/ada/engine;x=1", "ada/engine,x",
        "ssh://git@gitlab.com/ada/engine/-/merge_requests/1", "git@gitlab.com:ada/sub/tree.git",
        "git@gitlab.com:ada/engine.git/x", "git@gitlab.com:ada/sub/merge_requests.git",
        "ada/en\ud800gine",
    ],
    "bad_host": [
        "https://github.com:ada/engine", "ssh://git@github.com:ada/engine.git",
        "https:///ada/engine", "https://github.com:0/ada/engine", "https://github.com:65536/a/b",
        "https://github.com:4x3/a/b", "https://github..com/ada/engine",
        "https://github.com../ada/engine", "https://github%2Ecom/ada/engine",
        "ssh://-oProxyCommand=x/ada/engine", "git@-oProxyCommand=x:ada/engine", ":ada/engine",
        "git@:ada/engine", "https://[::g]/ada/engine", "https://[fe80::1%25eth0]/ada/engine",
        "https://2001:db8::7/ada/engine", "[engine](https://github.com/ada/engine)",
        "'https://github.com/ada/engine'", "https://a.com,b.com/x/y",
        "https://" + "a" * 254 + "/ada/engine", "https://github.com&.evil.test/ada/engine",
    ],
    "non_ascii_host": [
        "https://ɡithub.com/ada/engine", "git@gitlаb.com:ada/engine",
        "https://github。com/ada/engine", "https://git\u200bhub.com/ada/engine",
        "githuｂ.com/ada/engine", "https://\u212aode.test/ada/engine",
        "https://github.com:４４３/ada/engine", "https://bücher.test/ada/engine",
    ],
    "unknown_host": [
        "https://evil.test/ada/engine", "evil.test/ada/engine", "git@evil.test:ada/engine",
        "evil.test:ada/engine", "https://github.com@evil.test/ada/engine",
        "https://github.com.evil.test/ada/engine", "https://evilgithub.com/ada/engine",
        "git@evil:ada/engine", "ssh://evil/ada/engine", "https://code.initech.test:9444/ada/engine",
        "https://lab.initech.test/ada/engine", "https://github.com:80/ada/engine",
        "https://initech.test/ada/engine", "https://initech.test/labs/ada/engine",
        "https://initech.test/Lab/ada/engine", "https://other.ghe.com/ada/engine",
        "https://hub/ada/engine", "https://xn--thub-8pa.com/ada/engine",
        "https://127.0.0.1/ada/engine", "http://2130706433:40123/ada/engine",
        "https://https://github.com/ada/engine", "git@https://github.com/ada/engine",
    ],
    "unknown_host_alias": [
        "gh:ada/engine", "gl:ada/engine", "origin:ada/engine", "data:text",
        "https:/github.com/ada/engine",
    ],
    "not_a_repository_host": [
        "https://gist.github.com/ada/0a1b", "gist:0a1b", "git@gist.github.com:0a1b.git",
        "https://api.github.com/graphql", "https://raw.githubusercontent.com/ada/engine/main/x",
        "https://codeload.github.com/ada/engine/zip/main", "https://ada.github.io/engine",
        "https://github.dev/ada/engine", "https://docs.github.com/en/rest",
        "https://ssh.github.com/ada/engine", "https://ada.gitlab.io/engine",
        "https://registry.gitlab.com/ada/engine", "https://api.initech.ghe.com/repos/ada/engine",
        "https://gist.code.initech.test/ada/0a1b",
    ],
    "unsupported_forge": [
        "https://bitbucket.org/ada/engine", "bitbucket:ada/engine",
        "https://ada@dev.azure.com/ada/x/_git/engine", "git@ssh.dev.azure.com:v3/ada/x/engine",
        "https://ada.visualstudio.com/x/_git/engine", "https://codeberg.org/ada/engine",
        "git@git.sr.ht:~ada/engine", "https://android.googlesource.com/platform/x",
        "https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/engine",
    ],
    "unsupported_scheme": [
        "ftp://github.com/ada/engine", "svn+ssh://github.com/ada/engine",
        "rsync://github.com/ada/engine", "s3://bucket/engine", "ws://github.com/ada/engine",
        "git+x://github.com/ada/engine", "github.com://ada/engine",
    ],
    "remote_helper": [
        "hg::https://evil.test/x", "gcrypt::git@github.com:ada/engine", "fd::17/ada",
        "github.com::ada/engine",
    ],
    "no_repository": [
        "https://github.com", "github.com", "https://github.com/ada", "git@github.com:engine.git",
        "ada", "ada/", "https://github.com/orgs/ada/repositories",
        "https://github.com/settings/tokens", "github.com/marketplace/x",
        "https://github.com/search?q=ada/engine", "https://github.com/Users/ada/projects/1",
        "orgs/ada", "https://code.initech.test/api/v3/repos/ada/engine", "https://gitlab.com/ada",
        "https://gitlab.com/-/snippets/1", "https://gitlab.com/groups/ada/-/merge_requests",
        "https://gitlab.com/api/v4/projects/ada%2Fengine", "https://gitlab.com/users/ada/projects",
        "https://gitlab.com/ada/-/epics", "https://initech.test/lab",
        "https://gitlab.com/projects/278964", "gitlab.com/dashboard/merge_requests",
        "git@gitlab.com:engine",
    ],
    "is_a_pull_request": [
        "ada/engine#7", "#7", "!7", "ada/sub/engine!7", "gitlab:ada/engine!7",
        "github:ada/engine#7", "git@github.com:ada/engine.git#7", "https://gitlab.com/ada/engine!7",
    ],
    "is_a_wiki": [
        "https://github.com/ada/engine.wiki.git", "git@gitlab.com:ada/sub/engine.wiki.git",
        "ada/engine.wiki",
    ],
    "too_many_segments": [
        "git@github.com:22/ada/engine.git", "https://github.com/ada/sub/engine", "ada/sub/engine",
        "github.com:8022/a/b", "ssh://git@github.com/ada/engine/pull/1",
        "https://github.com/ada/sub/engine.git", "https://demo.invalid/a/b/c",
        "https://github.com/ada/engine/-/merge_requests/1",
    ],
    "ambiguous_host": [
        "git@twice.test:ada/engine", "ssh://git@twice.test:1443/ada/engine",
        "git@initech.test:ada/engine",
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("canonical", "text"), [(url, text) for url, texts in ACCEPTED.items() for text in texts]
)
def test_a_spelling_is_read_as_the_repository_it_means(canonical: str, text: str) -> None:
    assert outcome(text) == canonical


@pytest.mark.parametrize("canonical", ACCEPTED)
def test_a_canonical_address_is_read_as_itself(canonical: str) -> None:
    assert outcome(canonical) == canonical


@pytest.mark.parametrize(
    ("code", "text"), [(code, text) for code, texts in REFUSED.items() for text in texts]
)
def test_what_names_no_repository_is_refused_for_its_reason(code: str, text: str) -> None:
    assert outcome(text) == code


@pytest.mark.parametrize("text", [text for texts in REFUSED.values() for text in texts])
def test_a_refusal_is_a_sentence_that_says_what_to_write_instead(text: str) -> None:
    sentence = refusal(text).sentence

    assert sentence.endswith(".")
    assert any(words in sentence for words in ("rite ", "Use ", "leave out", "Configured"))
    assert sentence.replace("…", "").isascii() and sentence.isprintable()


@pytest.mark.skipif(not SHARED_ROWS.exists(), reason="the shared sample of addresses is not here")
def test_the_shared_sample_is_read_as_it_says() -> None:
    sites = (
        parse_site_url("https://github.com", GITHUB, ("github.com-work", "work")),
        GITLAB_COM,
        parse_site_url("https://acme.ghe.com", GITHUB),
        parse_site_url("https://octocorp.ghe.com", GITHUB),
        parse_site_url("https://ghe.example.com", GITHUB, ("github-enterprise",)),
        parse_site_url("https://ghe.example.com:8443", GITHUB),
        *(
            parse_site_url(f"https://{host}", GITLAB)
            for host in ("gitlab.example.com", "gitlab.example.com:8443", "example.com/gitlab")
        ),
        *(
            parse_site_url(f"https://{host}", GITLAB)
            for host in ("192.0.2.10", "[2001:db8::1]:8443", "[::1]")
        ),
    )
    rows = json.loads(SHARED_ROWS.read_text(encoding="utf-8"))

    wrong = [
        (row["input"], outcome(row["input"], sites))
        for row in rows
        if outcome(row["input"], sites) != (row["canonical"] or row["error"])
    ]
    assert rows and wrong == []


def test_an_unknown_host_is_refused_with_the_names_of_the_configured_ones() -> None:
    sentence = refusal("https://evil.test/ada/engine").sentence

    assert '"evil.test"' in sentence
    for name in ("github.com", "code.initech.test:9443", "initech.test/lab", "[2001:db8::7]:9443"):
        assert name in sentence


def test_a_long_list_of_configured_hosts_is_cut() -> None:
    sites = [Site(GITLAB, f"https://lab{number}.test") for number in range(25)]

    with pytest.raises(AddressError, match=r"lab19\.test and 5 more\."):
        parse_repository("https://evil.test/ada/engine", sites)


def test_an_ambiguous_host_is_refused_with_the_addresses_to_choose_from() -> None:
    sentence = refusal("git@twice.test:ada/engine").sentence

    assert "https://twice.test:1443 or https://twice.test:2443" in sentence


def test_an_address_of_an_outer_site_that_reads_as_an_inner_one_is_refused() -> None:
    outer, inner = Site(GITLAB, "https://both.test"), Site(GITLAB, "https://both.test/lab")

    assert outcome("git@both.test:ada/engine", (outer, inner)) == "https://both.test/ada/engine"
    assert outcome("git@both.test:lab/ada/engine", (outer, inner)) == "ambiguous_host"


@pytest.mark.parametrize(
    ("sites", "expected"),
    [
        ((GITHUB_COM, GITLAB_COM), "https://github.com/ada/engine"),
        ((Site(DEMO, "https://demo.invalid"),), "https://demo.invalid/ada/engine"),
        ((GITLAB_COM,), "https://gitlab.com/ada/engine"),
        ((GITLAB_COM, Site(GITHUB, "https://code.initech.test")), "unknown_host"),
        ((), "unknown_host"),
    ],
)
def test_owner_and_name_alone_are_on_github_com_or_on_the_only_site(
    sites: tuple[Site, ...], expected: str
) -> None:
    assert outcome("ada/engine", sites) == expected


def test_an_alias_goes_before_a_host_of_the_same_name() -> None:
    lab = Site(GITLAB, "https://lab.test", aliases=("gitlab", "github.com"))

    assert outcome("gitlab:ada/engine", (GITHUB_COM, lab)) == "https://lab.test/ada/engine"
    assert outcome("git@github.com:ada/engine", (GITHUB_COM, lab)) == "https://lab.test/ada/engine"
    assert outcome("https://github.com/a/b", (GITHUB_COM, lab)) == "https://github.com/a/b"


def test_a_configured_site_is_read_even_where_its_host_looks_like_another_service() -> None:
    site = Site(GITLAB, "https://docs.gitlab.com")

    assert outcome("https://docs.gitlab.com/a/b", (site,)) == "https://docs.gitlab.com/a/b"


SECRET_SPELLINGS = [
    "https://{}@github.com/ada/engine", "https://ada:{}@evil.test/ada/engine",
    "{}@evil.test:ada/engine", "ada:{}@evil.test:ada/engine", "ada:{}@evil.test/ada/engine",
    "https://ada:{}@github.com/ada", "https://ada:{}/x@github.com/ada/engine",
    "https://ada:x/{}@github.com/ada/engine", "https://ada:{}#x@github.com/ada/engine",
    "https://ada:x?{}@github.com/ada/engine", "https://ada:{}%40github.com/ada/engine",
    "https://ada:{}%2540github.com/ada/engine", "https://ada:{}＠github.com/ada/engine",
    "https://ada@x.test:{}@evil.test/ada/engine", "https://ada:{} x@github.com/ada/engine",
    "file://ada:{}@host/engine", "ftp://{}@host/engine", "/srv/{}@host/engine",
    "hg::https://{}@evil.test/x", "ada:{}@github.com/ada/engine#7", "[{}@evil.test:22]:ada/engine",
    "https://evil.test/ada/engine?private_token={}", "ada/x y#{}", "https://ada:{}@github.com/../x",
    "https://ada:{}@github.com/ada/engine.wiki", "https://ada:{}@github.com/a/b/c/d",
    "https://ada:{}@gіthub.com/ada/engine", "https://ada:{}@gitlab.com/ada/engine!7",
    "ssh://{}@twice.test/ada/engine",
]  # fmt: skip


@pytest.mark.parametrize("spelling", SECRET_SPELLINGS)
@pytest.mark.parametrize("read", [parse_repository, parse_pull_request_url, site_for_host])
def test_neither_an_address_nor_an_error_shows_what_stood_before_the_host(spelling, read) -> None:
    try:
        shown = repr(read(spelling.format("hunter2hunter2"), SITES))
    except AddressError as error:
        shown = f"{error!r} {error} {error.args} {error.__cause__!r} {error.__context__!r}"

    assert "hunter2" not in shown


@pytest.mark.parametrize(
    "token", ["ghp_0a1b2c3d", "github_pat_0A_1b", "glpat-0a1b-2c", "gho_0a1b", "glcbt-64_0a1b"]
)
def test_a_token_is_not_quoted_wherever_it_stands(token: str) -> None:
    for text in ("{}", "{}:x", "https://{}/ada/engine", "/srv/{}", "ada/x y {}", "ada/{}!"):
        assert token not in str(refusal(text.format(token)))


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("ada/" + "e" * 200 + " x", '"ada/' + "e" * 75 + '…"'),
        ("https://github.com/ada/en\u202egine", r'"en\u202egine"'),
        ("https://gіthub.com/ada/engine", r'"g\u0456thub.com"'),
        ("/srv/x\x1b[2J\ny", r'"/srv/x\x1b[2J\ny"'),
        ('ada/"x"', "\"ada/'x'\""),
    ],
)
def test_the_text_is_quoted_short_and_with_nothing_hidden(text: str, quote: str) -> None:
    assert quote in refusal(text).sentence


def test_an_error_survives_copying_and_pickling() -> None:
    error = refusal("gh:ada/engine")

    for twin in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert (twin.code, twin.sentence, str(twin)) == (error.code, error.sentence, error.sentence)


def test_an_address_tells_its_parts() -> None:
    address = parse_repository("https://gitlab.com/Ada/Sub/Engine.git", SITES)

    assert (address.owner, address.name, address.key) == ("Ada/Sub", "Engine", "ada/sub/engine")
    assert address == RepositoryAddress(GITLAB_COM, "Ada/Sub/Engine")
    assert str(address) == address.url == "https://gitlab.com/Ada/Sub/Engine"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ada/sub/engine", "https://gitlab.com/ada/sub/engine"),
        (" ada%2Fsub%2fengine ", "https://gitlab.com/ada/sub/engine"),
        ("/ada/engine.git/", "https://gitlab.com/ada/engine"), ("ada", "no_repository"),
        ("", "no_repository"), ("ada/..", "bad_path"), ("a/b#1", "bad_path"), ("a/b?x", "bad_path"),
        ("a/b!1", "is_a_pull_request"), ("https://gitlab.com/a/b", "bad_path"),
        ("a/b/-/merge_requests/1", "bad_path"), ("a/b c", "bad_characters"),
        ("a/" + "b" * 2048, "too_long"),
    ],
)  # fmt: skip
def test_a_path_on_a_known_site_is_read_alone(text: str, expected: str) -> None:
    try:
        assert str(parse_path(text, GITLAB_COM)) == expected
    except AddressError as error:
        assert error.code == expected


# Pull and merge requests


PULL_REQUEST_SEVEN = {
    "https://github.com/ada/engine": [
        "https://github.com/ada/engine/pull/7", "github.com/ada/engine/pull/7/",
        "https://github.com/ada/engine.git/pull/7", "https://x@github.com/ada/engine/pull/007.diff",
        "https://github.com/ada/engine/pull/7/files?w=1#diff",
        "http://github.com/ada/engine/pull/7#x",
    ],
    "http://127.0.0.1:40123/ada/engine": ["http://127.0.0.1:40123/ada/engine/pull/7"],
    "https://demo.invalid/ada/engine": ["https://demo.invalid/ada/engine/pull/7"],
    "https://code.initech.test:9443/ada/engine": ["code.initech.test:9443/ada/engine/pull/7"],
    "https://gitlab.com/ada/sub/engine": [
        "https://gitlab.com/ada/sub/engine/-/merge_requests/7",
        "https://gitlab.com/ada/sub/engine/-/merge_requests/7/diffs?tab=x#note_1",
        "https://gitlab.com/ada/sub/engine/-/merge_requests/7.patch",
        "https://gitlab.com/ada%2Fsub%2Fengine/-/merge_requests/7",
        "https://gitlab.com/ada/sub/engine/merge_requests/7",
        "https://gitlab.com/ada/sub/engine/merge_requests/7/commits",
    ],
    "https://gitlab.com/ada/merge_requests": ["gitlab.com/ada/merge_requests/-/merge_requests/7"],
    "https://initech.test/lab/ada/engine": [
        "https://initech.test/lab/ada/engine/-/merge_requests/7",
    ],
    "https://[2001:db8::7]:9443/a/b": ["https://[2001:db8::7]:9443/a/b/-/merge_requests/7"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("canonical", "text"),
    [(url, text) for url, texts in PULL_REQUEST_SEVEN.items() for text in texts],
)
def test_a_pull_requests_page_names_its_repository_and_number(canonical: str, text: str) -> None:
    address, number = parse_pull_request_url(text, SITES)

    assert (str(address), number) == (canonical, 7)


def test_the_largest_number_is_that_of_32_bits() -> None:
    assert parse_pull_request_url("github.com/a/b/pull/2147483647", SITES)[1] == 2147483647


NO_PULL_REQUEST = {
    "is_an_issue": [
        "https://github.com/ada/engine/issues/7", "https://gitlab.com/ada/engine/-/issues/7#note_1",
        "https://gitlab.com/ada/engine/issues/7", "https://gitlab.com/ada/engine/-/work_items/7",
    ],
    "is_a_group": [
        "https://gitlab.com/ada", "https://gitlab.com/groups/ada",
        "https://gitlab.com/groups/ada/sub/-/merge_requests",
        "https://initech.test/lab/ada/-/epics/7",
    ],
    "no_pull_request_number": [
        "https://github.com/ada/engine", "https://github.com/ada/engine/pulls",
        "https://github.com/ada/engine/pull", "https://github.com/ada/engine/pulls/7",
        "https://github.com/ada/engine/pull/new/topic", "https://github.com/ada/engine/pull/0",
        "https://github.com/ada/engine/pull/-7", "https://github.com/ada/engine/pull/7x",
        "https://github.com/ada/engine/pull/٧", "https://github.com/ada/engine/pull/2147483648",
        "https://github.com/ada/engine/pull/" + "9" * 40,
        "https://github.com/ada/engine/commit/0a1b2c3",
        "https://github.com/ada/engine/discussions/7",
        "https://gitlab.com/ada/engine/-/merge_requests",
        "https://gitlab.com/ada/engine/-/merge_requests/new",
        "https://gitlab.com/ada/engine/-/pipelines/7", "https://gitlab.com/ada/engine/pull/7",
        "https://gitlab.com/ada/sub",
    ],
    "not_a_web_address": [
        "ada/engine#7", "gitlab:ada/engine!7", "git@github.com:ada/engine.git",
        "ssh://github.com/ada/engine/pull/7",
    ],
    "no_repository": [
        "https://github.com/ada", "https://github.com/orgs/ada/pulls",
        "https://gitlab.com/dashboard/merge_requests",
    ],
    "too_many_segments": [
        "https://github.com/ada/sub/engine/-/merge_requests/7",
        "https://github.com/ada/engine/merge_requests/7",
    ],
    "unknown_host": [
        "https://evil.test/ada/engine/pull/7", "https://initech.test/ada/engine/-/merge_requests/7",
    ],
    "not_a_repository_host": ["https://api.github.com/repos/ada/engine/pulls/7"],
    "bad_path": [
        "https://gitlab.com/ada/../engine/-/merge_requests/7",
        "https://github.com/ada/engine/pull/7/../8",
    ],
    "empty": ["", "  "],
    "local_path": ["/ada/engine/pull/7"],
    "bad_characters": ["see https://github.com/ada/engine/pull/7"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("code", "text"), [(code, text) for code, texts in NO_PULL_REQUEST.items() for text in texts]
)
def test_another_page_is_refused_with_what_to_send(code: str, text: str) -> None:
    with pytest.raises(AddressError) as caught:
        parse_pull_request_url(text, SITES)

    assert caught.value.code == code
    assert "rite " in caught.value.sentence or "Use " in caught.value.sentence


def test_the_refusal_of_a_page_shows_the_form_of_that_forge() -> None:
    with pytest.raises(AddressError, match="/lab/GROUP/PROJECT/-/merge_requests/NUMBER"):
        parse_pull_request_url("https://initech.test/lab/ada/engine", SITES)
    with pytest.raises(AddressError, match="/OWNER/NAME/pull/NUMBER"):
        parse_pull_request_url("https://github.com/ada/engine/issues/7", SITES)
