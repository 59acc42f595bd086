"""Flag, environment, file, default: what wins, and what is said of what cannot be used."""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path

import pytest

from pullstate.configuration_file import (
    ConfigurationMissing,
    ConfigurationNotToml,
    ConfigurationUnreadable,
    Conflict,
    InvalidValue,
    SettingsError,
    UnknownKey,
)
from pullstate.domain.address import GITHUB_COM, GITLAB_COM, ForgeKind, Site
from pullstate.domain.merge_request import FileDiff
from pullstate.forges.tokens import ConfiguredSource, Surroundings, token_sources
from pullstate.settings import Places, Settings, load_settings

GHES = '[[forge]]\nkind = "github"\nurl = "https://ghe.example.com:8443"\n'
LAB = '[[forge]]\nkind = "gitlab"\nurl = "https://example.com/gitlab"\n'


@pytest.fixture
def places(tmp_path: Path) -> Places:
    found = Places(tmp_path / "config", tmp_path / "home", tmp_path / "current")
    for folder in (found.configuration, found.home, found.current):
        folder.mkdir()
    return found


def load(places: Places, toml: str = "", environ: Mapping[str, str] | None = None) -> Settings:
    (places.configuration / "config.toml").write_text(toml)
    return load_settings(environ or {}, places=places)


def refused(places: Places, toml: str, environ: Mapping[str, str] | None = None) -> SettingsError:
    with pytest.raises(SettingsError) as caught:
        load(places, toml, environ)
    return caught.value


def sentence(places: Places, toml: str) -> str:
    """What is said, with the file's path shortened."""
    return str(refused(places, toml)).replace(str(places.configuration / "config.toml"), "FILE")


# What is there without a file


def test_without_anything_set_the_defaults_hold(places: Places) -> None:
    settings = load_settings({}, places=places)
    assert settings.file == places.configuration / "config.toml"
    assert (settings.has_file, settings.store, settings.log_level) == (False, None, "WARNING")
    assert (settings.interval, settings.quota_share) == (60.0, 0.5)
    assert settings.sites == (GITHUB_COM, GITLAB_COM)
    assert [forge.named for forge in settings.forges] == [False, False]
    assert settings.tokens == {GITHUB_COM: (), GITLAB_COM: ()}
    assert (settings.default_site, settings.default_gitlab) == (GITHUB_COM, GITLAB_COM)
    assert settings.repositories == ()
    assert settings.exclusion.decide(FileDiff("docs/a.md", None, "added", 1, 0)) is None


@pytest.mark.parametrize("toml", ["", "# nothing\n", "[sync]\n[track]\n[diffs]\n"])
def test_an_empty_file_changes_nothing(places: Places, toml: str) -> None:
    settings = load(places, toml)
    assert settings.has_file
    assert (settings.interval, settings.sites) == (60.0, (GITHUB_COM, GITLAB_COM))


@pytest.mark.parametrize("environ", [{}, {"PATH": "/bin"}, {"HOME": "/nonexistent"}])
def test_a_thin_environment_is_enough(environ: dict[str, str]) -> None:
    code = (
        "import os; from pullstate.settings import load_settings;"
        "s = load_settings(os.environ); print(s.file.is_absolute(), s.store)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], env=environ, capture_output=True, text=True
    )
    assert (result.stdout, result.stderr) == ("True None\n", "")


# Every section of the file

EVERYTHING = """
[sync]
interval = 90
quota_share = 0.25

[track]
repositories = ["https://github.com/acme/rocket", "git@ghe-work:acme/Tools.git",
                "https://x:SECRET@example.com/gitlab/group/sub/app.git"]

[[forge]]
kind = "github"
url = "https://GHE.example.com:8443/"
token_env = "ACME_TOKEN"
aliases = ["ghe-work"]
ca_file = "acme.pem"
[[forge.token]]
owner = "acme"
env = "ACME_FINE_TOKEN"
[[forge.token]]
owner = "octo"
file = "~/octo-token"

[[forge]]
kind = "gitlab"
url = "https://example.com/gitlab"
token_command = "pass show 'gitlab token'"

[diffs]
exclude = ["docs/generated/**", "!docs/generated/api.md"]
"""


def test_every_key_of_the_file_arrives(places: Places) -> None:
    (places.configuration / "acme.pem").write_text("")
    settings = load(places, EVERYTHING)
    assert (settings.interval, settings.quota_share) == (90.0, 0.25)
    assert [address.url for address in settings.repositories] == [
        "https://github.com/acme/rocket",
        "https://ghe.example.com:8443/acme/Tools",
        "https://example.com/gitlab/group/sub/app",
    ]
    *_, ghes, lab = settings.forges
    assert ghes.site == Site(ForgeKind.GITHUB, "https://ghe.example.com:8443", ("ghe-work",))
    assert ghes.ca_file == places.configuration / "acme.pem"
    assert ghes.tokens == (
        ConfiguredSource(env="ACME_FINE_TOKEN", owner="acme"),
        ConfiguredSource(file=str(places.home / "octo-token"), owner="octo"),
        ConfiguredSource(env="ACME_TOKEN"),
    )
    assert lab.tokens == (ConfiguredSource(command=("pass", "show", "gitlab token")),)
    assert (ghes.named, lab.named) == (True, True)
    assert "SECRET" not in repr(settings)


def test_the_tokens_of_the_file_reach_their_hosts_and_owners(places: Places) -> None:
    (places.configuration / "acme.pem").write_text("")
    (places.home / "octo-token").write_text("o")
    settings = load(places, EVERYTHING)
    found = token_sources(
        settings.tokens, Surroundings({"ACME_TOKEN": "a", "ACME_FINE_TOKEN": "f"})
    )
    ghes = found[settings.sites[2]]
    tokens = [ghes.current(owner) for owner in (None, "acme", "octo")]
    assert [token and token.secret.reveal() for token in tokens] == ["a", "f", "o"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ('"pass show acme"', ("pass", "show", "acme")),
        ("'C:\\tools\\get.exe'", ("C:toolsget.exe",)),
        ('["C:\\\\tools\\\\get.exe", "a b"]', ("C:\\tools\\get.exe", "a b")),
        ('"~/bin/token --host x"', ("{home}/bin/token", "--host", "x")),
        ('"/opt/token"', ("/opt/token",)),
    ],
)
def test_a_token_command_is_split_as_a_shell_would_and_a_list_is_taken_as_it_is(
    places: Places, value: str, expected: tuple[str, ...]
) -> None:
    forge = load(places, f"{GHES}token_command = {value}").forges[-1]
    assert forge.tokens[0].command == tuple(
        word.format(home=places.home) if "{home}" in word else word for word in expected
    )


def test_a_known_forge_that_is_named_keeps_what_the_file_says(places: Places) -> None:
    toml = '[[forge]]\nkind = "github"\nurl = "https://www.github.com"\naliases = ["work"]\n'
    settings = load(places, toml + 'token_env = "WORK"')
    work = Site(ForgeKind.GITHUB, "https://github.com", ("work",))
    assert settings.sites == (GITLAB_COM, work)
    assert (settings.default_site, settings.default_gitlab) == (work, GITLAB_COM)
    assert settings.tokens[work] == (ConfiguredSource(env="WORK"),)


@pytest.mark.parametrize(
    ("toml", "site", "gitlab"),
    [
        ("", "github.com", "gitlab.com"),
        (GHES, "ghe.example.com:8443", "gitlab.com"),
        (LAB, "example.com/gitlab", "example.com/gitlab"),
        (GHES + LAB, "github.com", "example.com/gitlab"),
        (LAB + LAB.replace("/gitlab", "/lab"), "github.com", "gitlab.com"),
        (LAB + LAB.replace("example.com/gitlab", "gitlab.com"), "github.com", "gitlab.com"),
        ('[[forge]]\nkind = "gitlab"\nurl = "https://gitlab.com"', "gitlab.com", "gitlab.com"),
        ('[[forge]]\nkind = "demo"\nurl = "https://demo.invalid"', "demo.invalid", "gitlab.com"),
    ],
)  # fmt: skip
def test_the_only_forge_that_is_named_is_the_default(
    places: Places, toml: str, site: str, gitlab: str
) -> None:
    settings = load(places, toml)
    assert (settings.default_site.name, settings.default_gitlab.name) == (site, gitlab)


def test_a_repository_that_is_listed_twice_is_tracked_once(places: Places) -> None:
    toml = '[track]\nrepositories = ["acme/rocket", "git@github.com:ACME/Rocket.git", "acme/x"]'
    assert [address.path for address in load(places, toml).repositories] == [
        "acme/rocket",
        "acme/x",
    ]


# Who wins


def test_the_environment_goes_before_the_file(places: Places) -> None:
    settings = load(places, "[sync]\ninterval = 90", {"PULLSTATE_SYNC_INTERVAL": "5"})
    assert settings.interval == 5.0


def test_the_flag_goes_before_the_environment(places: Places) -> None:
    for name in ("flag", "variable"):
        (places.current / f"{name}.toml").write_text(f'[track]\nrepositories = ["acme/{name}"]')
    environ = {"PULLSTATE_CONFIG": "variable.toml", "PULLSTATE_STORE": "variable.db"}
    (places.configuration / "config.toml").write_text("interval = 1")
    by_variable = load_settings(environ, places=places)
    by_flag = load_settings(environ, config="flag.toml", store="flag.db", places=places)
    assert [s.repositories[0].name for s in (by_variable, by_flag)] == ["variable", "flag"]
    assert [s.store for s in (by_variable, by_flag)] == [
        str(places.current / "variable.db"),
        str(places.current / "flag.db"),
    ]


@pytest.mark.parametrize("blank", ["", "  "])
def test_an_empty_variable_counts_as_unset(places: Places, blank: str) -> None:
    names = ("CONFIG", "STORE", "SYNC_INTERVAL", "LOG")
    settings = load(places, "[sync]\ninterval = 90", {f"PULLSTATE_{name}": blank for name in names})
    assert (settings.interval, settings.store, settings.log_level) == (90.0, None, "WARNING")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("60", 60.0), ("0.5", 0.5), (".5", 0.5), ("5.", 5.0), (" 7 ", 7.0), ("86400", 86400.0)],
)
def test_the_interval_of_the_environment_is_a_number_of_seconds(
    places: Places, text: str, expected: float
) -> None:
    assert load(places, "", {"PULLSTATE_SYNC_INTERVAL": text}).interval == expected


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("0", "a number out of bounds"), ("-5", "a number out of bounds"),
        ("0.01", "a number out of bounds"), ("86401", "a number out of bounds"),
        ("9" * 400, "a number out of bounds"), ("1e3", "a number out of bounds"),
        ("nan", "text that is no number"), ("inf", "text that is no number"),
        ("1_000", "text that is no number"), ("60s", "text that is no number"),
        ("١٢", "text that is no number"), ("true", "text that is no number"),
    ],
)  # fmt: skip
def test_another_interval_is_refused_in_words(places: Places, text: str, kind: str) -> None:
    error = refused(places, "", {"PULLSTATE_SYNC_INTERVAL": text})
    assert str(error) == (
        f"PULLSTATE_SYNC_INTERVAL in the environment is {kind}: write a number of seconds "
        "from 0.1 to 86400, such as 60."
    )
    assert (type(error), error.key) == (InvalidValue, "PULLSTATE_SYNC_INTERVAL")


@pytest.mark.parametrize(("text", "level"), [("debug", "DEBUG"), ("Info", "INFO")])
def test_the_log_level_is_taken_in_any_case(places: Places, text: str, level: str) -> None:
    assert load(places, "", {"PULLSTATE_LOG": text}).log_level == level


@pytest.mark.parametrize("text", ["verbose", "10", "warn ing", "trace"])
def test_another_log_level_is_refused_with_the_list(places: Places, text: str) -> None:
    assert str(refused(places, "", {"PULLSTATE_LOG": text})) == (
        "PULLSTATE_LOG in the environment is text that is no level: write one of debug, info, "
        "warning, error, critical."
    )


# The store


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ("store.db", "{current}/store.db"),
        ("a b/s?#%.db", "{current}/a b/s?#%.db"),
        ("~/s.db", "{home}/s.db"),
        ("~", "{home}"),
        ("~other/s.db", "{current}/~other/s.db"),
        ("/var/s.db", "/var/s.db"),
        ("sqlite:///s.db", "sqlite:///{current}/s.db"),
        ("sqlite:///~/s.db", "sqlite:///{home}/s.db"),
        ("sqlite:////var/s.db", "sqlite:////var/s.db"),
        ("sqlite+pysqlite:///s.db?timeout=3", "sqlite+pysqlite:///{current}/s.db?timeout=3"),
        ("sqlite:///a%3Fb.db", "sqlite:///{current}/a%3Fb.db"),
        ("sqlite://", "sqlite://"),
        ("sqlite:///:memory:", "sqlite:///:memory:"),
        ("sqlite:///file:x?mode=memory&uri=true", "sqlite:///file:x?mode=memory&uri=true"),
        (
            "postgresql://u:pw@db.example.com/pullstate",
            "postgresql://u:pw@db.example.com/pullstate",
        ),
    ],
)
def test_the_store_is_an_absolute_path_or_a_url(places: Places, named: str, expected: str) -> None:
    wanted = expected.format(home=places.home, current=places.current)
    assert load_settings({"PULLSTATE_STORE": named}, places=places).store == wanted
    assert load_settings({}, store=named, places=places).store == wanted


def test_a_stores_password_is_not_in_the_settings_repr(places: Places) -> None:
    settings = load_settings({}, store="postgresql://u:pw@h/d?password=pw2", places=places)
    assert "pw" not in repr(settings)


def test_a_sqlite_url_with_two_slashes_is_refused(places: Places) -> None:
    with pytest.raises(InvalidValue, match="two slashes"):
        load_settings({}, store="sqlite://store.db", places=places)


# Files that cannot be read


def test_a_file_that_was_named_and_is_missing_is_an_error(places: Places) -> None:
    for environ, flag in (({"PULLSTATE_CONFIG": "no.toml"}, None), ({}, "no.toml")):
        with pytest.raises(ConfigurationMissing) as caught:
            load_settings(environ, config=flag, places=places)
        assert str(caught.value) == f"{places.current / 'no.toml'} does not exist."
        assert caught.value.file == places.current / "no.toml"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\xef\xbb\xbf[sync]\n", "begins with a byte order mark: save it as UTF-8 without one."),
        (
            "[sync]\n".encode("utf-16"),
            "begins with a byte order mark: save it as UTF-8 without one.",
        ),
        (b"[sync]\n# caf\xe9\n", "is not UTF-8 text (line 2): save it as UTF-8."),
        (b"#" * (1024 * 1024 + 1), "is larger than 1048576 bytes."),
    ],
)
def test_a_file_that_is_not_utf_8_is_refused(places: Places, content: bytes, words: str) -> None:
    file = places.configuration / "config.toml"
    file.write_bytes(content)
    with pytest.raises(ConfigurationUnreadable) as caught:
        load_settings({}, places=places)
    assert str(caught.value) == f"{file} {words}"


def test_a_folder_or_a_pipe_is_no_configuration_file(places: Places) -> None:
    os.mkfifo(places.current / "pipe")
    for name, what in (("", "a folder"), ("pipe", "no regular file")):
        path = places.current / name
        with pytest.raises(ConfigurationUnreadable) as caught:
            load_settings({}, config=str(path), places=places)
        assert str(caught.value) == f"{path} is {what}: name a TOML file."


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_without_permission_is_refused(places: Places) -> None:
    file = places.configuration / "config.toml"
    file.write_text("")
    file.chmod(0)
    with pytest.raises(ConfigurationUnreadable, match="cannot be read: Permission denied"):
        load_settings({}, places=places)


def test_a_name_that_no_file_can_have_is_refused(places: Places) -> None:
    with pytest.raises(ConfigurationUnreadable, match="cannot be read: File name too long"):
        load_settings({}, config="x" * 5000, places=places)


@pytest.mark.parametrize(
    ("toml", "where"),
    [
        ("[sync]\ninterval 60\n", "(at line 2, column 10)."),
        ("[sync\n", "(at line 1, column 6)."),
        ("[sync]\ninterval =", "(at line 2, the end of the file)."),
        ("[sync]\n[sync]\n", "(at line 2, column 6)."),
        ("[track]\nrepositories = 'a", "(at line 2, the end of the file)."),
        ("token = ghp_SECRET\n", "(at line 1, column 9)."),
    ],
)
def test_a_syntax_error_says_where_and_what(places: Places, toml: str, where: str) -> None:
    found = sentence(places, toml)
    assert found.startswith("FILE is not TOML: ")
    assert found.endswith(where)
    assert len(found) > len("FILE is not TOML: ") + len(where)
    assert "SECRET" not in found
    assert type(refused(places, toml)) is ConfigurationNotToml


def test_a_file_nested_without_end_is_refused(places: Places) -> None:
    assert sentence(places, "a = " + "[" * 100_000).startswith("FILE is not TOML: ")


# Misspelt keys


@pytest.mark.parametrize(
    ("toml", "expected"),
    [
        ("[sync]\nintervall = 5",
         'The key "intervall" of [sync] in FILE is not known: write interval.'),
        ("[sync]\nquotaShare = 1",
         'The key "quotaShare" of [sync] in FILE is not known: write quota_share.'),
        ("[synk]\n", 'The key "synk" in FILE is not known: write sync.'),
        ("[[forges]]\n", 'The key "forges" in FILE is not known: write forge.'),
        ("[diff]\n", 'The key "diff" in FILE is not known: write diffs.'),
        ("repos = []",
         'The key "repos" in FILE is not known: write repositories under [track].'),
        ("interval = 5", 'The key "interval" in FILE is not known: write interval under [sync].'),
        ("[sync]\nrepositories = []",
         'The key "repositories" of [sync] in FILE is not known: write repositories under '
         "[track]."),
        (GHES + "token-env = 'X'",
         'The key "token-env" of the 1st [[forge]] in FILE is not known: write token_env.'),
        (GHES + LAB + "alias = ['x']",
         'The key "alias" of the 2nd [[forge]] in FILE is not known: write aliases.'),
        (GHES.replace("url", "ulr"),
         'The key "ulr" of the 1st [[forge]] in FILE is not known: write url.'),
        (GHES + "host = 'x'", 'The key "host" of the 1st [[forge]] in FILE is not known: write '),
        (GHES + "[[forge.token]]\nowner = 'a'\nenvironment = 'X'",
         'The key "environment" of the 1st [[forge.token]] of the 1st [[forge]] in FILE is not '
         "known: write env."),
        (GHES + "[[forge.token]]\nowner = 'a'\nenv = 'X'\naliases = ['x']",
         'The key "aliases" of the 1st [[forge.token]] of the 1st [[forge]] in FILE is not known: '
         "write aliases under [[forge]]."),
        (GHES + "env = 'X'",
         'The key "env" of the 1st [[forge]] in FILE is not known: write token_env.'),
        (GHES + "[[forge.token]]\nowner = 'a'\ntoken_env = 'X'",
         'The key "token_env" of the 1st [[forge.token]] of the 1st [[forge]] in FILE is not '
         "known: write env."),
        (GHES + "[[forge.tokens]]\n",
         'The key "tokens" of the 1st [[forge]] in FILE is not known: write token.'),
        ("url = 'https://x'", 'The key "url" in FILE is not known: write url under [[forge]].'),
        ('"ghp_C4n4ry0123456789" = 1', 'The key "***" in FILE is not known: write '),
        ('"a\\u001b[31m\\nb" = 1', 'The key "a\\x1b[31m\\nb" in FILE is not known: write '),
        ('"" = 1', 'The key "" in FILE is not known: write '),
    ],
)  # fmt: skip
def test_a_misspelt_key_names_the_nearest_right_one(
    places: Places, toml: str, expected: str
) -> None:
    found = sentence(places, toml)
    assert found.startswith(expected)
    assert found.endswith(".")
    error = refused(places, toml)
    assert isinstance(error, UnknownKey)
    assert error.nearest.rpartition(".")[2] in found


def test_a_misspelt_key_is_named_before_the_right_one_is_missed(places: Places) -> None:
    toml = '[sync]\ninterval = "x"\n[[forge]]\nkind = "github"\nadress = "https://x"'
    assert '"adress"' in sentence(places, toml)


# Wrong values


OUT = "in FILE is a number out of bounds"
NUMBER_OF_SECONDS = "write a number of seconds from 0.1 to 86400, such as interval = 60."
SHARE = "write a share above 0 and up to 1, such as quota_share = 0.5."
VARIABLE = (
    "write the name of the environment variable that holds the token, such as "
    'token_env = "ACME_TOKEN".'
)
ADDRESSES = (
    "write a list of addresses in quotation marks, such as "
    'repositories = ["https://github.com/acme/rocket"].'
)


@pytest.mark.parametrize(
    ("toml", "expected"),
    [
        ('[sync]\ninterval = "60"', f"sync.interval in FILE is text: {NUMBER_OF_SECONDS}"),
        ("[sync]\ninterval = true", f"sync.interval in FILE is true or false: {NUMBER_OF_SECONDS}"),
        ("[sync]\ninterval = [60]", f"sync.interval in FILE is a list: {NUMBER_OF_SECONDS}"),
        ("[sync]\ninterval = 2026-01-01",
         f"sync.interval in FILE is a date or a time: {NUMBER_OF_SECONDS}"),
        ("[sync]\ninterval.x = 1", f"sync.interval in FILE is a section: {NUMBER_OF_SECONDS}"),
        ("[sync]\ninterval = 0", f"sync.interval {OUT}: {NUMBER_OF_SECONDS}"),
        ("[sync]\ninterval = -1", f"sync.interval {OUT}: {NUMBER_OF_SECONDS}"),
        ("[sync]\ninterval = nan", f"sync.interval {OUT}: {NUMBER_OF_SECONDS}"),
        ("[sync]\ninterval = inf", f"sync.interval {OUT}: {NUMBER_OF_SECONDS}"),
        (f"[sync]\ninterval = 1{'0' * 400}", "sync.interval in FILE is a number"),
        ("[sync]\nquota_share = 0", f"sync.quota_share {OUT}: {SHARE}"),
        ("[sync]\nquota_share = 50", f"sync.quota_share {OUT}: {SHARE}"),
        ("[sync]\nquota_share = ''", f"sync.quota_share in FILE is an empty text: {SHARE}"),
        ("sync = 60", "sync in FILE is a number: write its keys under a line [sync]."),
        ("[[sync]]", "sync in FILE is a list: write its keys under a line [sync]."),
        ('[track]\nrepositories = "acme/rocket"',
         f"track.repositories in FILE is text: {ADDRESSES}"),
        ('[track]\nrepositories = ["acme/rocket", 5]',
         f"The 2nd of track.repositories in FILE is a number: {ADDRESSES}"),
        ('[track]\nrepositories = [""]',
         f"The 1st of track.repositories in FILE is an empty text: {ADDRESSES}"),
        ("[forge]\nkind = 'github'",
         "forge in FILE is a section: write the keys of each forge under a line [[forge]], "
         "with two brackets."),
        ("forge = ['https://x']",
         "The 1st [[forge]] in FILE is text: write the keys of each forge under a line "
         "[[forge]], with two brackets."),
        ("[[forge]]\nkind = 'github'",
         "The 1st [[forge]] in FILE has no url: write the address of its start page, such as "
         'url = "https://ghe.example.com".'),
        (GHES + "[[forge]]\nurl = 'https://x.example'",
         'The 2nd [[forge]] in FILE has no kind: write kind = "github", kind = "gitlab" or '
         'kind = "demo".'),
        ("[[forge]]\nkind = 'gitea'\nurl = 'https://x.example'",
         "forge.kind of the 1st [[forge]] in FILE is text that does not fit: write "
         'kind = "github", kind = "gitlab" or kind = "demo".'),
        ("[[forge]]\nkind = 1\nurl = 'https://x.example'",
         "forge.kind of the 1st [[forge]] in FILE is a number: write "
         'kind = "github", kind = "gitlab" or kind = "demo".'),
        (GHES + "token_env = 5",
         f"forge.token_env of the 1st [[forge]] in FILE is a number: {VARIABLE}"),
        (GHES + "token_env = ''",
         f"forge.token_env of the 1st [[forge]] in FILE is an empty text: {VARIABLE}"),
        (GHES + "token_env = '$ACME'",
         f"forge.token_env of the 1st [[forge]] in FILE is text that does not fit: {VARIABLE}"),
        (GHES + "token_env = 'ghp_C4n4ry'",
         "forge.token_env of the 1st [[forge]] in FILE holds what looks like a token itself, "
         f"which is never written here: {VARIABLE}"),
        (GHES + "token = 'glpat-C4n4ry'",
         "forge.token of the 1st [[forge]] in FILE is text: write [[forge.token]] with owner and "
         "one of env, file and command, or without an owner token_env, token_file or "
         "token_command; the token itself stays out of this file."),
        (GHES + "[forge.token]\nowner = 'a'",
         "forge.token of the 1st [[forge]] in FILE is a section: write [[forge.token]] with "),
        (GHES + "token_command = 'pass \"x'",
         "forge.token_command of the 1st [[forge]] in FILE has a quotation mark or a backslash "
         "without its end: write the command that prints the token, such as "
         'token_command = "pass show acme".'),
        (GHES + "token_command = ' '",
         "forge.token_command of the 1st [[forge]] in FILE names no command: write "),
        (GHES + "token_command = []",
         "forge.token_command of the 1st [[forge]] in FILE names no command: write "),
        (GHES + "token_command = ['a', 1]",
         "forge.token_command of the 1st [[forge]] in FILE is neither text nor a list of texts: "),
        (GHES + "token_command = './token'",
         "forge.token_command of the 1st [[forge]] in FILE begins with a path that is not "
         "absolute: write "),
        (GHES + "token_command = 'echo ghp_C4n4ry'",
         "forge.token_command of the 1st [[forge]] in FILE holds what looks like a token itself"),
        (GHES + "token_file = 'github_pat_C4n4ry'",
         "forge.token_file of the 1st [[forge]] in FILE holds what looks like a token itself"),
        (GHES + "token_env = 'A'\ntoken_file = 'b'",
         "The 1st [[forge]] in FILE has both token_env and token_file: write one of them."),
        (GHES + "[[forge.token]]\nowner = 'a'\nenv = 'A'\ncommand = 'b'",
         "The 1st [[forge.token]] of the 1st [[forge]] in FILE has both env and command: write "
         "one of them."),
        (GHES + "[[forge.token]]\nowner = 'a'",
         "The 1st [[forge.token]] of the 1st [[forge]] in FILE has none of env, file and "
         "command: write one of them."),
        (GHES + "[[forge.token]]\nenv = 'A'",
         "The 1st [[forge.token]] of the 1st [[forge]] in FILE has no owner: write the account "
         'or group that the token reads, such as owner = "acme".'),
        (GHES + "[[forge.token]]\nowner = 'a b'\nenv = 'A'",
         "forge.token.owner of the 1st [[forge.token]] of the 1st [[forge]] in FILE is text that "
         "does not fit: write the account or group "),
        (GHES + "aliases = 'ghe-work'",
         "forge.aliases of the 1st [[forge]] in FILE is text: write a list of ssh host aliases, "
         'such as aliases = ["ghe-work"].'),
        (GHES + "aliases = ['ok', '']",
         "The 2nd of forge.aliases of the 1st [[forge]] in FILE is an empty text: write "),
        (GHES + "aliases = ['a b']",
         "forge.aliases of the 1st [[forge]] in FILE cannot be used: "),
        (GHES + "ca_file = 'missing.pem'",
         "forge.ca_file of the 1st [[forge]] in FILE names "),
        (LAB + "[[forge]]\nkind = 'github'\nurl = 'http://ghe.example.com'",
         "forge.url of the 2nd [[forge]] in FILE cannot be used: "),
        ("[[forge]]\nkind = 'github'\nurl = 'https://me:C4n4ry@ghe.example.com'",
         "forge.url of the 1st [[forge]] in FILE cannot be used: "),
        ("[[forge]]\nkind = 'gitlab'\nurl = 'https://github.com'",
         "forge.kind of the 1st [[forge]] in FILE is not what github.com is: write "
         'kind = "github".'),
        ('[track]\nrepositories = ["acme/rocket", "https://unknown.example/a/b"]',
         "The 2nd of track.repositories in FILE cannot be used: "),
        ('[track]\nrepositories = ["https://x:C4n4ry@unknown.example/a/b"]',
         "The 1st of track.repositories in FILE cannot be used: "),
        ("[diffs]\nexclude = 'docs/**'",
         'diffs.exclude in FILE is text: write a list of patterns in gitignore\'s syntax, such as '
         'exclude = ["docs/api/**"].'),
        ("[diffs]\nexclude = ['docs/', '!']",
         "The 2nd of diffs.exclude in FILE is no pattern of gitignore's syntax: write one as a "
         ".gitignore has it."),
        ("[diffs]\nexclude = ['[z-a]']", "The 1st of diffs.exclude in FILE is no pattern of "),
        ("[diffs]\nexclude = ['a\\']", "The 1st of diffs.exclude in FILE is no pattern of "),
    ],
)  # fmt: skip
def test_a_wrong_value_is_one_sentence_with_its_key_its_kind_and_what_to_write(
    places: Places, toml: str, expected: str
) -> None:
    found = sentence(places, toml)
    assert found.startswith(expected)
    assert found.endswith(".")
    assert "\n" not in found
    error = refused(places, toml)
    assert isinstance(error, InvalidValue)
    assert "C4n4ry" not in "".join(traceback.format_exception(error))


@pytest.mark.parametrize(
    ("toml", "expected"),
    [
        (GHES + GHES, "FILE names ghe.example.com:8443 twice: write one [[forge]] for it."),
        (GHES + GHES.replace("ghe.", "GHE.").replace("8443", "8443/"),
         "FILE names ghe.example.com:8443 twice: write one [[forge]] for it."),
        (LAB + LAB.replace("example.com/", "EXAMPLE.com.:443//"),
         "FILE names example.com/gitlab twice: write one [[forge]] for it."),
        (LAB + LAB.replace('kind = "gitlab"', 'kind = "github"'),
         "FILE names example.com/gitlab twice: write one [[forge]] for it."),
        ("[[forge]]\nkind = 'github'\nurl = 'https://github.com'\n"
         "[[forge]]\nkind = 'github'\nurl = 'https://www.github.com:443/'",
         "FILE names github.com twice: write one [[forge]] for it."),
        (GHES + "aliases = ['work']\n" + LAB + "aliases = ['Work']",
         "FILE has the alias work for ghe.example.com:8443, but it already means another forge: "
         "write each alias once."),
        (GHES + "aliases = ['github.com']",
         "FILE has the alias github.com for ghe.example.com:8443, but it already means another "
         "forge: write each alias once."),
        (GHES + "token_env = 'X'\n" + LAB + "[[forge.token]]\nowner = 'a'\nenv = 'X'",
         "FILE gives the token in X to ghe.example.com:8443 and to example.com/gitlab: a token "
         "belongs to one host, so write another variable for one of them."),
    ],
)  # fmt: skip
def test_two_settings_that_cannot_both_hold_are_refused(
    places: Places, toml: str, expected: str
) -> None:
    assert sentence(places, toml) == expected
    assert type(refused(places, toml)) is Conflict


@pytest.mark.parametrize(
    "toml",
    [
        GHES + GHES.replace(":8443", ""),
        GHES + GHES.replace(":8443", ":9443"),
        LAB + LAB.replace("/gitlab", "/lab"),
        GHES + "aliases = ['ghe.example.com', 'work']\n" + LAB + "aliases = ['lab']",
        GHES + "aliases = ['ghe.example.com']\n" + GHES.replace(":8443", ""),
        GHES + "token_env = 'X'\n[[forge.token]]\nowner = 'a'\nenv = 'X'\n" + LAB,
    ],
)
def test_settings_that_only_resemble_each_other_are_taken(places: Places, toml: str) -> None:
    assert len(load(places, toml).forges) >= 3


# The project's own patterns


@pytest.mark.parametrize(
    ("patterns", "excluded", "shown"),
    [
        (["docs/generated/**", "!docs/generated/api.md"],
         ["docs/generated/a.md", "docs/generated/x/y"], ["docs/generated/api.md", "docs/a.md"]),
        (["*.snap", "!keep.snap"], ["a/b.snap"], ["keep.snap", "a/keep.snap", "snap"]),
        (["/build", "fixtures/"], ["build", "build/x", "a/fixtures/x"], ["a/build", "fixtures"]),
        (["# a comment", "", "a/**/b"], ["a/b", "a/x/y/b"], ["# a comment", "b"]),
        (["!src/a.py"], [], ["src/a.py"]),
    ],
)  # fmt: skip
def test_patterns_mean_what_they_mean_in_a_gitignore(
    places: Places, tmp_path: Path, patterns: list[str], excluded: list[str], shown: list[str]
) -> None:
    matches = load(places, f"[diffs]\nexclude = {patterns}").exclusion.matches
    assert [path for path in (*excluded, *shown) if matches(path)] == excluded
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / ".gitignore").write_text("\n".join(patterns))
    by_git = subprocess.run(
        ["git", "-C", tmp_path, "check-ignore", "--no-index", *excluded, *shown],
        capture_output=True,
        text=True,
        check=False,
    )
    assert by_git.stdout.splitlines() == excluded


def test_a_negated_pattern_does_not_bring_back_a_lockfile(places: Places) -> None:
    policy = load(places, "[diffs]\nexclude = ['*.lock', '!uv.lock']").exclusion
    exclusion = policy.decide(FileDiff("uv.lock", None, "added", 1, 0))
    assert exclusion is not None
    assert [str(entry.reason) for entry in exclusion.paths] == ["generated/lockfile"]
