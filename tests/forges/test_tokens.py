"""Where a host's token comes from: the order, the one owner, refused values, and silence."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import json
import logging
import os
import pickle
import stat
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import psutil
import pytest

from pullstate.domain.site import GITHUB_COM, GITLAB_COM, ForgeKind, Site
from pullstate.forges.processes import Outcome, find_executable, run_process
from pullstate.forges.token_sources import RECHECK
from pullstate.forges.token_values import looks_like_token
from pullstate.forges.tokens import (
    ConfiguredSource,
    Scheme,
    Secret,
    Surroundings,
    Token,
    TokenSources,
    fingerprint,
    token_sources,
    unassigned,
)

GHES = Site(ForgeKind.GITHUB, "https://ghe.example.com:8443", ("ghe-work",))
GHES_TOO = Site(ForgeKind.GITHUB, "https://code.example.org")
TENANT = Site(ForgeKind.GITHUB, "https://acme.ghe.com")
TENANT_TOO = Site(ForgeKind.GITHUB, "https://octo.ghe.com")
LAB = Site(ForgeKind.GITLAB, "https://gitlab.example.com")
LAB_TOO = Site(ForgeKind.GITLAB, "https://lab.example.org:8929")
SUBPATH = Site(ForgeKind.GITLAB, "https://example.com/gitlab")
SUBPATH_TOO = Site(ForgeKind.GITLAB, "https://example.com/lab")
DEMO = Site(ForgeKind.DEMO, "https://demo.invalid")


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def no_process(arguments: Sequence[str], environ: Mapping[str, str], timeout: float) -> Outcome:
    raise AssertionError(f"no process is expected, but {arguments[0]} was started")


def sources(
    environ: Mapping[str, str],
    *sites: Site,
    configured: Mapping[Site, Sequence[ConfiguredSource]] | None = None,
    **surroundings: object,
) -> dict[Site, TokenSources]:
    every = dict.fromkeys((GITHUB_COM, GITLAB_COM, *sites), ())
    return token_sources(every | dict(configured or {}), Surroundings(environ, **surroundings))


def revealed(found: TokenSources, owner: str | None = None) -> str | None:
    token = found.current(owner)
    return token.secret.reveal() if token else None


def who_gets(environ: Mapping[str, str], *sites: Site) -> dict[str, str]:
    """Site name → the token it would send, for those that have one."""
    found = sources(environ, *sites, run=no_process)
    return {site.name: value for site, each in found.items() if (value := revealed(each))}


def script(folder: Path, name: str, body: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


# Which host a variable belongs to


@pytest.mark.parametrize(
    ("environ", "sites", "expected"),
    [
        ({"GH_TOKEN": "t"}, (), {"github.com": "t"}),
        ({"GITHUB_TOKEN": "t"}, (GHES, LAB), {"github.com": "t"}),
        ({"GITHUB_PERSONAL_ACCESS_TOKEN": "t"}, (GHES,), {"github.com": "t"}),
        ({"GH_TOKEN": "t", "GH_HOST": "ghe.example.com:8443"}, (GHES,), {"github.com": "t"}),
        ({"GH_TOKEN": "t"}, (TENANT,), {"github.com": "t", "acme.ghe.com": "t"}),
        ({"GH_TOKEN": "t", "GH_HOST": "acme.ghe.com"}, (TENANT,), {"acme.ghe.com": "t"}),
        ({"GH_TOKEN": "t", "GH_HOST": "github.com"}, (TENANT,), {"github.com": "t"}),
        ({"GH_TOKEN": "t", "GH_HOST": "acme.ghe.com"}, (), {"github.com": "t"}),
        ({"GH_TOKEN": "t"}, (TENANT, TENANT_TOO), {"github.com": "t"}),
        ({"GH_TOKEN": "t", "GH_HOST": "octo.ghe.com"}, (TENANT, TENANT_TOO), {"octo.ghe.com": "t"}),
        ({"GH_ENTERPRISE_TOKEN": "t"}, (), {}),
        ({"GH_ENTERPRISE_TOKEN": "t"}, (TENANT,), {}),
        ({"GH_ENTERPRISE_TOKEN": "t"}, (GHES,), {"ghe.example.com:8443": "t"}),
        ({"GITHUB_ENTERPRISE_TOKEN": "t"}, (GHES, LAB), {"ghe.example.com:8443": "t"}),
        ({"GH_ENTERPRISE_TOKEN": "t"}, (GHES, GHES_TOO), {}),
        (
            {"GH_ENTERPRISE_TOKEN": "t", "GH_HOST": "CODE.example.org"},
            (GHES, GHES_TOO),
            {"code.example.org": "t"},
        ),
        (
            {"GH_ENTERPRISE_TOKEN": "t", "GH_HOST": "https://code.example.org/"},
            (GHES, GHES_TOO),
            {"code.example.org": "t"},
        ),
        ({"GH_ENTERPRISE_TOKEN": "t", "GH_HOST": "elsewhere.example"}, (GHES,), {}),
        ({"GH_ENTERPRISE_TOKEN": "t", "GH_HOST": "ghe.example.com"}, (GHES,), {}),
        ({"GH_ENTERPRISE_TOKEN": "t", "GH_HOST": "not a host"}, (GHES,), {}),
        (
            {"GH_ENTERPRISE_TOKEN": "t", "GH_HOST": "github.com"},
            (GHES,),
            {"ghe.example.com:8443": "t"},
        ),
        ({"GH_ENTERPRISE_TOKEN": "t", "GH_HOST": ""}, (GHES,), {"ghe.example.com:8443": "t"}),
        ({"GITLAB_TOKEN": "t"}, (), {"gitlab.com": "t"}),
        ({"GITLAB_ACCESS_TOKEN": "t"}, (GHES,), {"gitlab.com": "t"}),
        ({"GITLAB_PERSONAL_ACCESS_TOKEN": "t"}, (LAB,), {"gitlab.example.com": "t"}),
        ({"GITLAB_TOKEN": "t"}, (SUBPATH,), {"example.com/gitlab": "t"}),
        ({"GITLAB_TOKEN": "t"}, (LAB, LAB_TOO), {}),
        ({"GITLAB_TOKEN": "t", "GITLAB_HOST": "gitlab.com"}, (LAB,), {"gitlab.com": "t"}),
        (
            {"GITLAB_TOKEN": "t", "GITLAB_HOST": "lab.example.org:8929"},
            (LAB, LAB_TOO),
            {"lab.example.org:8929": "t"},
        ),
        (
            {"GITLAB_TOKEN": "t", "GITLAB_HOST": "https://example.com/gitlab"},
            (SUBPATH, LAB),
            {"example.com/gitlab": "t"},
        ),
        (
            {"GITLAB_TOKEN": "t", "GITLAB_HOST": "example.com"},
            (SUBPATH, LAB),
            {"example.com/gitlab": "t"},
        ),
        ({"GITLAB_TOKEN": "t", "GITLAB_HOST": "example.com"}, (SUBPATH, SUBPATH_TOO), {}),
        ({"GITLAB_TOKEN": "t", "GITLAB_HOST": "elsewhere.example"}, (LAB,), {}),
        ({"GITLAB_TOKEN": "t", "GITLAB_HOST": "github.com"}, (LAB,), {}),
        ({"CI_JOB_TOKEN": "t"}, (LAB,), {}),
        ({"CI_JOB_TOKEN": "t", "CI_SERVER_HOST": "gitlab.com"}, (LAB,), {"gitlab.com": "t"}),
        (
            {"CI_JOB_TOKEN": "t", "CI_SERVER_HOST": "gitlab.example.com"},
            (LAB, LAB_TOO),
            {"gitlab.example.com": "t"},
        ),
        (
            {"CI_JOB_TOKEN": "t", "CI_SERVER_HOST": "lab.example.org", "CI_SERVER_PORT": "8929"},
            (LAB, LAB_TOO),
            {"lab.example.org:8929": "t"},
        ),
        (
            {"CI_JOB_TOKEN": "t", "CI_SERVER_HOST": "lab.example.org", "CI_SERVER_PORT": "443"},
            (LAB_TOO,),
            {},
        ),
        ({"CI_JOB_TOKEN": "t", "CI_SERVER_HOST": "elsewhere.example"}, (LAB,), {}),
        (
            {"CI_JOB_TOKEN": "t", "CI_SERVER_HOST": "gitlab.com", "GITLAB_HOST": LAB.host},
            (LAB,),
            {"gitlab.com": "t"},
        ),
        ({"GH_TOKEN": "t", "GITLAB_TOKEN": "t"}, (DEMO,), {"github.com": "t", "gitlab.com": "t"}),
        ({"ACME_TOKEN": "t", "GITHUB_PAT": "t"}, (GHES, LAB), {}),
    ],
)  # fmt: skip
def test_an_environment_token_goes_to_its_own_host_only(
    environ: dict[str, str], sites: tuple[Site, ...], expected: dict[str, str]
) -> None:
    assert who_gets(environ, *sites) == expected


@pytest.mark.parametrize(
    ("environ", "sites", "expected"),
    [
        (
            {"GH_ENTERPRISE_TOKEN": "t"},
            (GHES, GHES_TOO),
            [("GH_ENTERPRISE_TOKEN", "two_candidates", (GHES.url, GHES_TOO.url))],
        ),
        (
            {"GITLAB_TOKEN": "t", "GITLAB_ACCESS_TOKEN": ""},
            (LAB, LAB_TOO),
            [("GITLAB_TOKEN", "two_candidates", (LAB.url, LAB_TOO.url))],
        ),
        (
            {"GITLAB_TOKEN_FILE": "/run/secrets/gitlab"},
            (LAB, LAB_TOO),
            [("GITLAB_TOKEN", "two_candidates", (LAB.url, LAB_TOO.url))],
        ),
        (
            {"GH_TOKEN": "t"},
            (TENANT, TENANT_TOO),
            [("GH_TOKEN", "two_candidates", (TENANT.url, TENANT_TOO.url))],
        ),
        ({"GH_ENTERPRISE_TOKEN": "t"}, (), [("GH_ENTERPRISE_TOKEN", "no_candidate", ())]),
        (
            {"GITLAB_TOKEN": "t", "GITLAB_HOST": "elsewhere.example"},
            (),
            [("GITLAB_TOKEN", "host_not_configured", ())],
        ),
        ({"CI_JOB_TOKEN": "t"}, (), [("CI_JOB_TOKEN", "no_candidate", ())]),
        (
            {"CI_JOB_TOKEN": "t", "CI_SERVER_HOST": "elsewhere.example"},
            (),
            [("CI_JOB_TOKEN", "host_not_configured", ())],
        ),
        ({"GH_TOKEN": "t", "GITLAB_TOKEN": "t", "GH_ENTERPRISE_TOKEN": ""}, (GHES, LAB), []),
        ({}, (GHES, GHES_TOO, LAB, LAB_TOO), []),
    ],
)
def test_a_token_that_is_kept_from_a_host_is_noted(
    environ: dict[str, str], sites: tuple[Site, ...], expected: list[tuple[object, ...]]
) -> None:
    notes = unassigned(dict.fromkeys((GITHUB_COM, GITLAB_COM, *sites), ()), environ)
    assert [(note.variable, str(note.reason), note.candidates) for note in notes] == expected
    assert all(note.line == f'token_env = "{note.variable}"' for note in notes)


def test_the_line_that_a_note_asks_for_settles_it() -> None:
    environ = {"GITLAB_TOKEN": "t"}
    configured = {LAB: (ConfiguredSource(env="GITLAB_TOKEN"),), LAB_TOO: ()}
    found = sources(environ, configured=configured, run=no_process)
    assert {site: revealed(each) for site, each in found.items()} == {
        GITHUB_COM: None, GITLAB_COM: None, LAB: "t", LAB_TOO: None
    }  # fmt: skip
    assert unassigned(dict.fromkeys((GITLAB_COM,), ()) | configured, environ) == ()


def test_a_variable_that_the_file_gives_to_a_host_leaves_its_usual_one() -> None:
    configured = {GHES: (ConfiguredSource(env="GH_TOKEN"),)}
    found = sources({"GH_TOKEN": "t", "GITHUB_TOKEN": "u"}, configured=configured, run=no_process)
    assert revealed(found[GHES]) == "t"
    assert revealed(found[GITHUB_COM]) == "u"


# The order


ALL_OF_GITHUB = {
    "GITHUB_TOKEN_FILE": "file",
    "GH_TOKEN": "a",
    "GITHUB_TOKEN": "b",
    "GITHUB_PERSONAL_ACCESS_TOKEN": "c",
}


def test_sources_are_asked_in_their_order_and_each_401_moves_on(tmp_path: Path) -> None:
    (tmp_path / "configured").write_text("first")
    (tmp_path / "named").write_text("second")
    script(tmp_path / "bin", "gh", "echo last")
    environ = ALL_OF_GITHUB | {
        "GITHUB_TOKEN_FILE": str(tmp_path / "named"), "PATH": str(tmp_path / "bin")
    }  # fmt: skip
    configured = {GITHUB_COM: (ConfiguredSource(file=str(tmp_path / "configured")),)}
    github = sources(environ, configured=configured)[GITHUB_COM]
    seen = []
    while token := github.current():
        seen.append((token.secret.reveal(), token.source))
        github.reject(token)
    assert seen == [
        ("first", "file (token_file)"),
        ("second", "file (GITHUB_TOKEN_FILE)"),
        ("a", "environment GH_TOKEN"),
        ("b", "environment GITHUB_TOKEN"),
        ("c", "environment GITHUB_PERSONAL_ACCESS_TOKEN"),
        ("last", "gh auth token"),
    ]
    assert list(github.rejected) == [name for _, name in seen]
    assert github.looked_in() == github.rejected
    assert [candidate.name for candidate in github.candidates()] == [name for _, name in seen]


def test_gitlabs_job_token_is_the_last_of_the_environment(tmp_path: Path) -> None:
    names = ("CI_JOB_TOKEN", "GITLAB_PERSONAL_ACCESS_TOKEN", "GITLAB_ACCESS_TOKEN", "GITLAB_TOKEN")
    environ = {name: name.lower() for name in names} | {"CI_SERVER_HOST": "gitlab.com"}
    assert sources(environ)[GITLAB_COM].looked_in() == (
        "environment GITLAB_TOKEN",
        "environment GITLAB_ACCESS_TOKEN",
        "environment GITLAB_PERSONAL_ACCESS_TOKEN",
        "environment CI_JOB_TOKEN",
        "glab configuration",
    )


def test_without_any_token_the_places_that_were_looked_in_are_named() -> None:
    found = sources({"HOME": "/nonexistent"}, GHES, DEMO)
    assert {site.name: each.current() for site, each in found.items()} == dict.fromkeys(
        ("github.com", "gitlab.com", GHES.name, DEMO.name)
    )
    assert found[GITHUB_COM].looked_in() == (
        "environment GH_TOKEN",
        "environment GITHUB_TOKEN",
        "environment GITHUB_PERSONAL_ACCESS_TOKEN",
        "gh auth token",
    )
    assert found[GHES].looked_in() == (
        "environment GH_ENTERPRISE_TOKEN",
        "environment GITHUB_ENTERPRISE_TOKEN",
        "gh auth token",
    )
    assert found[DEMO].looked_in() == ()
    assert found[GITHUB_COM].rejected == found[GITHUB_COM].problems == ()


@pytest.mark.parametrize("blank", ["", " ", "\n", "\t \n"])
def test_an_empty_variable_counts_as_unset(blank: str) -> None:
    assert who_gets({"GH_TOKEN": blank, "GITHUB_TOKEN": "t"}) == {"github.com": "t"}
    assert who_gets({"GH_TOKEN_FILE": blank, "GITHUB_TOKEN": "t"}) == {"github.com": "t"}


def test_building_the_sources_starts_and_reads_nothing(tmp_path: Path) -> None:
    def no_file(path: Path) -> bytes:
        raise AssertionError("nothing is read before the first question")

    script(tmp_path, "gh", "echo t")
    configured = {
        GITHUB_COM: (ConfiguredSource(file="/x"), ConfiguredSource(command=("gh", "auth", "token")))
    }
    environ = {"PATH": str(tmp_path), "GH_TOKEN_FILE": "/y"}
    found = sources(environ, GHES, LAB, configured=configured, run=no_process, read=no_file)
    assert all(each.looked_in() and not each.rejected for each in found.values())


# Per owner


def test_each_owner_has_its_own_token_and_others_the_general_one() -> None:
    configured = {
        GITHUB_COM: (
            ConfiguredSource(env="GENERAL"),
            ConfiguredSource(env="ACME", owner="acme"),
            ConfiguredSource(env="OCTO", owner="Octo"),
        )
    }
    environ = {"GENERAL": "g", "ACME": "a", "OCTO": "o"}
    github = sources(environ, configured=configured, run=no_process)[GITHUB_COM]
    owners = (None, "acme", "ACME", "octo", "acme-labs", "")
    assert [revealed(github, owner) for owner in owners] == ["g", "a", "a", "o", "g", "g"]
    assert github.owners() == ("acme", "Octo")
    token = github.current("octo")
    assert token is not None
    assert (token.owner, token.source) == ("Octo", "environment OCTO for Octo")
    github.reject(token)
    assert [revealed(github, owner) for owner in owners] == ["g", "a", "a", "g", "g", "g"]


def test_a_groups_token_serves_its_subgroups_and_the_nearest_group_goes_first() -> None:
    names = {"ACME": "acme", "TEAM": "acme/team", "OTHER": "acme/team2"}
    given = tuple(ConfiguredSource(env=env, owner=owner) for env, owner in names.items())
    lab = sources({name: name for name in names}, configured={LAB: given})[LAB]
    owners = ("acme", "acme/other", "acme/team", "Acme/Team/deep", "acme/team2", "acmes")
    assert [revealed(lab, owner) for owner in owners] == [
        "ACME", "ACME", "TEAM", "TEAM", "OTHER", None
    ]  # fmt: skip


def test_an_owners_token_is_never_the_general_one() -> None:
    configured = {GITHUB_COM: (ConfiguredSource(env="ACME", owner="acme"),)}
    github = sources({"ACME": "a"}, configured=configured)[GITHUB_COM]
    assert (revealed(github, "acme"), revealed(github), revealed(github, "other")) == (
        "a", None, None
    )  # fmt: skip


# Refused values


def test_a_refused_value_comes_back_at_once_when_its_source_has_another(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("old\n")
    configured = {GITHUB_COM: (ConfiguredSource(file=str(path)),)}
    github = sources({"GH_TOKEN": "next"}, configured=configured)[GITHUB_COM]
    github.reject(github.current())
    assert revealed(github) == "next"
    assert github.rejected == ("file (token_file)",)
    path.write_text("new\n")
    assert revealed(github) == "new"
    assert github.rejected == ()
    path.write_text("old\n")
    assert revealed(github) == "old"


def test_a_rotated_file_counts_from_the_next_request_on(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("one")
    github = sources({"GH_TOKEN_FILE": str(path)})[GITHUB_COM]
    assert revealed(github) == "one"
    replacement = tmp_path / "new"
    replacement.write_text("two")
    replacement.replace(path)
    assert revealed(github) == "two"
    path.unlink()
    assert revealed(github) is None
    assert github.problems == (("file (GH_TOKEN_FILE)", "names a file that does not exist"),)
    path.write_text("three")
    assert (revealed(github), github.problems) == ("three", ())


def test_the_same_value_in_another_source_is_refused_with_it() -> None:
    github = sources({"GH_TOKEN": "t", "GITHUB_TOKEN": "t"}, run=no_process)[GITHUB_COM]
    github.reject(github.current())
    assert github.current() is None
    assert github.rejected == ("environment GH_TOKEN", "environment GITHUB_TOKEN")


def test_refused_values_are_tried_again_when_the_forge_is_asked_again() -> None:
    github = sources({"GH_TOKEN": "t"}, run=no_process)[GITHUB_COM]
    token = github.current()
    github.reject(token)
    assert github.current() is None
    github.reconsider()
    assert github.current() == token


def test_a_refusal_on_one_host_says_nothing_of_another() -> None:
    found = sources({"GH_TOKEN": "t"}, TENANT, run=no_process)
    found[TENANT].reject(found[TENANT].current())
    assert revealed(found[GITHUB_COM]) == "t"


# What a value may be


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("ghp_x\n", "ghp_x"),
        (" \tghp_x \r\n", "ghp_x"),
        ("Bearer ghp_x", "ghp_x"),
        ("token ghp_x", "ghp_x"),
        ("tokenish", "tokenish"),
        ("a.b-c_d~e+f/g=", "a.b-c_d~e+f/g="),
    ],
)
def test_a_value_is_stripped_to_the_token(value: str, expected: str) -> None:
    assert who_gets({"GH_TOKEN": value}) == {"github.com": expected}


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("ghp_SECRET\nghp_OTHER", "holds more than one word"),
        ("ghp_SECRET ghp_OTHER", "holds more than one word"),
        ("ghp_SECRET\x00", "holds control characters"),
        ("ghp_SEC\x1bRET", "holds control characters"),
        ("ghp_SECRET\x7fx", "holds control characters"),
        ("ghp_SECRÉT", "holds characters that are not ASCII"),
        ("ghp_SECRET\u200b", "holds characters that are not ASCII"),
        ("ghp_SECRET\ud800", "holds characters that are not ASCII"),
        ("${SECRET}", "holds a placeholder that nobody filled in"),
        ("${env:SECRET}", "holds a placeholder that nobody filled in"),
        ("$SECRET", "holds a placeholder that nobody filled in"),
        ("%SECRET%", "holds a placeholder that nobody filled in"),
        ("<your-SECRET>", "holds a placeholder that nobody filled in"),
        ("SECRET" * 2000, "is longer than 8192 characters"),
    ],
)
def test_what_cannot_be_a_token_is_refused_without_quoting_it(value: str, problem: str) -> None:
    github = sources({"GH_TOKEN": value, "GITHUB_TOKEN": "t"}, run=no_process)[GITHUB_COM]
    assert revealed(github) == "t"
    assert github.problems == (("environment GH_TOKEN", problem),)
    assert "SECRET" not in repr(github.problems)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"t\n", ("t", None)),
        (b"\xef\xbb\xbft\r\n", ("t", None)),
        (b"", (None, None)),
        (b"\n\n", (None, None)),
        ("t\n".encode("utf-16"), (None, "names a file that is not UTF-8 text")),
        (b"caf\xe9", (None, "names a file that is not UTF-8 text")),
        (None, (None, "names a file that does not exist")),
    ],
)
def test_a_token_file_holds_a_token_or_the_problem_is_said(
    tmp_path: Path, content: bytes | None, expected: tuple[str | None, str | None]
) -> None:
    path = tmp_path / "token"
    if content is not None:
        path.write_bytes(content)
    github = sources({"GH_TOKEN_FILE": str(path)})[GITHUB_COM]
    assert (revealed(github), dict(github.problems).get("file (GH_TOKEN_FILE)")) == expected


def test_a_pipe_or_a_folder_is_no_token_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", Path("/dev/null")):
        github = sources({"GH_TOKEN_FILE": str(path)})[GITHUB_COM]
        assert github.current() is None
        assert dict(github.problems) == {"file (GH_TOKEN_FILE)": "names a file that cannot be read"}


def test_a_tilde_in_the_name_of_a_file_is_the_users_folder(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("t")
    assert who_gets({"GH_TOKEN_FILE": "~/t", "HOME": str(tmp_path)}) == {"github.com": "t"}


# The header


@pytest.mark.parametrize(
    ("site", "environ", "header"),
    [
        (GITHUB_COM, {"GH_TOKEN": "t"}, ("Authorization", "Bearer t")),
        (GITHUB_COM, {"GH_TOKEN": "token t"}, ("Authorization", "Bearer t")),
        (GITLAB_COM, {"GITLAB_TOKEN": "glpat-t"}, ("PRIVATE-TOKEN", "glpat-t")),
        (GITLAB_COM, {"GITLAB_TOKEN": "Bearer t"}, ("Authorization", "Bearer t")),
        (GITLAB_COM, {"GITLAB_TOKEN": "glcbt-64_t"}, ("JOB-TOKEN", "glcbt-64_t")),
        (
            GITLAB_COM,
            {"CI_JOB_TOKEN": "t", "CI_SERVER_HOST": "gitlab.com"},
            ("JOB-TOKEN", "t"),
        ),
    ],
)
def test_a_token_travels_in_the_header_of_its_kind(
    site: Site, environ: dict[str, str], header: tuple[str, str]
) -> None:
    token = sources(environ, run=no_process)[site].current()
    assert token is not None
    assert token.header() == header


def test_a_job_token_that_the_file_names_travels_as_one() -> None:
    configured = {LAB: (ConfiguredSource(env="CI_JOB_TOKEN"),)}
    token = sources({"CI_JOB_TOKEN": "t"}, configured=configured)[LAB].current()
    assert token is not None
    assert token.scheme is Scheme.JOB_TOKEN


# gh


ECHOING_GH = """
echo "$@" >> "$HOME/asked"
env | grep -E '^(GH|GITHUB|GITLAB)_.*TOKEN=' >> "$HOME/leaked"
for given in "$GH_TOKEN" "$GITHUB_TOKEN" "$GH_ENTERPRISE_TOKEN" "$GITHUB_ENTERPRISE_TOKEN"; do
  if [ -n "$given" ]; then echo "$given"; exit 0; fi
done
echo kept-by-gh
"""


def test_gh_is_asked_for_its_own_login_and_not_for_the_environments(tmp_path: Path) -> None:
    script(tmp_path / "bin", "gh", ECHOING_GH)
    environ = {
        "HOME": str(tmp_path), "PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin",
        "GH_TOKEN": "e1", "GITHUB_TOKEN": "e2", "GH_ENTERPRISE_TOKEN": "e3",
        "GITHUB_ENTERPRISE_TOKEN": "e4", "GITLAB_TOKEN": "e5", "GH_HOST": GHES.host,
    }  # fmt: skip
    for site, count in ((GITHUB_COM, 2), (GHES, 2)):
        found = sources(environ, GHES)[site]
        for _ in range(count):
            found.reject(found.current())
        token = found.current()
        assert token is not None
        assert (token.secret.reveal(), token.source) == ("kept-by-gh", "gh auth token")
    assert (tmp_path / "asked").read_text().splitlines() == [
        "auth token --hostname github.com",
        "auth token --hostname ghe.example.com:8443",
    ]
    assert (tmp_path / "leaked").read_text() == ""


@pytest.mark.parametrize(
    "body",
    ["exit 1", "echo 'no oauth token found' >&2; exit 1", "exit 0", "echo", "kill -9 $$"],
)
def test_a_gh_that_is_logged_in_nowhere_is_no_problem(tmp_path: Path, body: str) -> None:
    script(tmp_path, "gh", body)
    github = sources({"PATH": str(tmp_path)})[GITHUB_COM]
    assert (github.current(), github.problems) == (None, ())


def test_a_gh_that_cannot_be_started_is_said(tmp_path: Path) -> None:
    path = script(tmp_path, "gh", "")
    path.write_bytes(b"\x00\x01")
    github = sources({"PATH": str(tmp_path)})[GITHUB_COM]
    assert github.current() is None
    assert github.problems == (("gh auth token", "names a command that cannot be started"),)


def test_a_gh_that_hangs_is_stopped_with_all_that_it_started(tmp_path: Path) -> None:
    marker = f"86399.{os.getpid()}"  # nobody else sleeps this long
    script(tmp_path, "gh", f"/bin/sleep {marker} & /bin/sleep {marker}")
    github = sources(
        {"PATH": str(tmp_path)}, run=lambda command, environ, _: run_process(command, environ, 0.3)
    )[GITHUB_COM]
    assert github.current() is None
    assert github.problems == (("gh auth token", "gave no short answer within 3 seconds"),)
    left = [p for p in psutil.process_iter(["cmdline"]) if marker in (p.info["cmdline"] or [])]
    _, alive = psutil.wait_procs(left, timeout=10)
    assert alive == []


def test_a_commands_answer_is_kept_while_it_serves(tmp_path: Path) -> None:
    script(tmp_path / "bin", "gh", ECHOING_GH)
    clock = Clock()
    environ = {"HOME": str(tmp_path), "PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin"}
    github = sources(environ, clock=clock)[GITHUB_COM]
    threads = [threading.Thread(target=github.current) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    clock.now += 10 * RECHECK
    assert revealed(github) == "kept-by-gh"
    assert len((tmp_path / "asked").read_text().splitlines()) == 1


def test_only_the_question_for_a_token_waits_for_a_slow_source(tmp_path: Path) -> None:
    started, go_on = threading.Event(), threading.Event()

    def run(arguments: Sequence[str], environ: Mapping[str, str], timeout: float) -> Outcome:
        started.set()
        assert go_on.wait(60)
        return Outcome(0, b"t")

    script(tmp_path, "gh", "")
    github = sources({"PATH": str(tmp_path)}, run=run)[GITHUB_COM]
    asking = threading.Thread(target=github.current)
    asking.start()
    assert started.wait(60)
    github.reject(Token(Secret("t"), "gh auth token", Scheme.BEARER))
    assert (github.rejected, github.problems) == (("gh auth token",), ())
    go_on.set()
    asking.join()
    assert github.current() is None
    github.reconsider()
    assert revealed(github) == "t"


def test_a_refused_command_is_asked_again_at_once_and_then_now_and_then(tmp_path: Path) -> None:
    answers = iter(["old", "old", "new"])
    asked: list[str] = []

    def run(arguments: Sequence[str], environ: Mapping[str, str], timeout: float) -> Outcome:
        asked.append(answer := next(answers))
        return Outcome(0, answer.encode())

    script(tmp_path, "gh", "")
    clock = Clock()
    github = sources({"PATH": str(tmp_path)}, run=run, clock=clock)[GITHUB_COM]
    github.reject(github.current())
    assert (github.current(), github.current(), asked) == (None, None, ["old", "old"])
    clock.now += RECHECK
    assert revealed(github) == "new"
    assert (asked, github.rejected) == (["old", "old", "new"], ())


def test_a_login_that_gh_writes_down_counts_at_once(tmp_path: Path) -> None:
    script(tmp_path / "bin", "gh", 'cat "$HOME/.config/gh/hosts.yml"')
    hosts = tmp_path / ".config" / "gh" / "hosts.yml"
    environ = {"HOME": str(tmp_path), "PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin"}
    github = sources(environ, clock=Clock())[GITHUB_COM]
    assert github.current() is None
    hosts.parent.mkdir(parents=True)
    hosts.write_text("first")
    assert revealed(github) == "first"
    github.reject(github.current())
    assert github.current() is None
    hosts.write_text("second")
    assert revealed(github) == "second"


# glab


GLAB = """
git_protocol: ssh
hosts:
    gitlab.com:
        token: !!null glpat-com
        api_host: gitlab.com
    gitlab.example.com:
        is_oauth2: "true"
        token: "oauth-token"
        oauth2_refresh_token: refresh
    lab.example.org:8929:
        token: glpat-port
    example.com/gitlab: {token: glpat-subpath}
    Empty.example.com:
        token:
"""
EMPTY = Site(ForgeKind.GITLAB, "https://empty.example.com")
WRONG_PORT = Site(ForgeKind.GITLAB, "https://gitlab.com:8443")


@pytest.mark.parametrize(
    ("site", "expected"),
    [
        (GITLAB_COM, ("PRIVATE-TOKEN", "glpat-com")),
        (LAB, ("Authorization", "Bearer oauth-token")),
        (LAB_TOO, ("PRIVATE-TOKEN", "glpat-port")),
        (SUBPATH, ("PRIVATE-TOKEN", "glpat-subpath")),
        (EMPTY, None),
        (WRONG_PORT, None),
        (Site(ForgeKind.GITLAB, "https://other.example.com"), None),
    ],
)
def test_glabs_login_serves_its_own_host(
    tmp_path: Path, site: Site, expected: tuple[str, str] | None
) -> None:
    (tmp_path / "config.yml").write_text(GLAB)
    found = sources({"GLAB_CONFIG_DIR": str(tmp_path)}, site, run=no_process)[site]
    token = found.current()
    assert (token and token.header()) == expected
    assert found.looked_in()[-1] == "glab configuration"


def test_glabs_login_for_a_host_serves_the_only_forge_there(tmp_path: Path) -> None:
    (tmp_path / "config.yml").write_text("hosts: {example.com: {token: t}}")
    environ = {"GLAB_CONFIG_DIR": str(tmp_path)}
    assert revealed(sources(environ, SUBPATH)[SUBPATH]) == "t"
    both = sources(environ, SUBPATH, SUBPATH_TOO)
    assert (revealed(both[SUBPATH]), revealed(both[SUBPATH_TOO])) == (None, None)


@pytest.mark.parametrize(
    ("variable", "value", "place"),
    [
        ("GLAB_CONFIG_DIR", "conf", "conf/config.yml"),
        ("HOME", "", ".config/glab-cli/config.yml"),
        ("XDG_CONFIG_HOME", "xdg", "xdg/glab-cli/config.yml"),
        ("HOME", "", "Library/Application Support/glab-cli/config.yml"),
    ],
)
def test_glabs_file_is_found_where_glab_keeps_it(
    tmp_path: Path, variable: str, value: str, place: str
) -> None:
    path = tmp_path / place
    path.parent.mkdir(parents=True)
    path.write_text(GLAB)
    assert revealed(sources({variable: str(tmp_path / value)})[GITLAB_COM]) == "glpat-com"


def test_glabs_folder_by_name_hides_the_usual_ones(tmp_path: Path) -> None:
    path = tmp_path / ".config" / "glab-cli" / "config.yml"
    path.parent.mkdir(parents=True)
    path.write_text(GLAB)
    environ = {"HOME": str(tmp_path), "GLAB_CONFIG_DIR": str(tmp_path / "none")}
    assert sources(environ)[GITLAB_COM].current() is None


@pytest.mark.parametrize(
    "content",
    ["", "hosts:", "hosts: []", "- a", "hosts: {gitlab.com: t}", "a: [", "\x00",
     "hosts: {gitlab.com: {token: [t]}}", "hosts: {gitlab.com: {user: t}}", "&a [*a]"],
)  # fmt: skip
def test_a_glab_file_without_a_token_is_passed_over(tmp_path: Path, content: str) -> None:
    (tmp_path / "config.yml").write_text(content)
    lab = sources({"GLAB_CONFIG_DIR": str(tmp_path)}, run=no_process)[GITLAB_COM]
    assert (lab.current(), lab.problems) == (None, ())


def test_a_token_that_glab_renews_counts_with_the_next_reading(tmp_path: Path) -> None:
    path = tmp_path / "config.yml"
    path.write_text("hosts: {gitlab.com: {token: old, is_oauth2: true}}")
    lab = sources({"GLAB_CONFIG_DIR": str(tmp_path)})[GITLAB_COM]
    lab.reject(lab.current())
    assert lab.current() is None
    path.write_text("hosts: {gitlab.com: {token: new, is_oauth2: true}}")
    assert revealed(lab) == "new"


def test_a_token_in_glabs_keyring_is_asked_of_glab(tmp_path: Path) -> None:
    script(tmp_path / "bin", "glab", 'echo "$@" > "$HOME/asked"; echo "${GITLAB_TOKEN:-kept}"')
    (tmp_path / "config.yml").write_text(
        "hosts: {gitlab.example.com: {use_keyring: 'true', is_oauth2: 'true'}}"
    )
    environ = {
        "HOME": str(tmp_path), "PATH": str(tmp_path / "bin"), "GLAB_CONFIG_DIR": str(tmp_path),
        "GITLAB_TOKEN": "e", "GITLAB_HOST": "gitlab.com",
    }  # fmt: skip
    token = sources(environ, LAB)[LAB].current()
    assert token is not None
    assert token.header() == ("Authorization", "Bearer kept")
    assert (tmp_path / "asked").read_text() == "config get token --host gitlab.example.com\n"


# token_command


def command_source(*arguments: str) -> dict[Site, Sequence[ConfiguredSource]]:
    return {GHES: (ConfiguredSource(command=arguments),)}


def test_a_token_command_gets_its_arguments_as_they_stand_and_no_shell(tmp_path: Path) -> None:
    script(tmp_path, "vault", 'printf "%s\\n" "$@" > "$HOME/asked"; echo t')
    configured = command_source("vault", "a b; rm *", "$HOME", "-x")
    environ = {"PATH": str(tmp_path), "HOME": str(tmp_path)}
    assert revealed(sources(environ, configured=configured)[GHES]) == "t"
    assert (tmp_path / "asked").read_text().splitlines() == ["a b; rm *", "$HOME", "-x"]


def test_a_command_does_not_read_what_the_client_sends_to_the_server() -> None:
    code = (
        "import sys; from pullstate.forges.processes import run_process;"
        "print(run_process(['/bin/cat'], {}).output, repr(sys.stdin.read()))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], input="wire", capture_output=True, text=True, check=True
    )
    assert result.stdout == "b'' 'wire'\n"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("missing",), "names no command in PATH"),
        (("./vault",), "names no command in PATH"),
        (("bin/vault",), "names no command in PATH"),
        (("/nonexistent/vault",), "names no command in PATH"),
        (("failing",), "ended with an error"),
        (("garbled",), "prints what is not UTF-8 text"),
        (("chatty",), "holds more than one word"),
    ],
)
def test_a_token_command_that_fails_is_said_and_the_next_source_serves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], problem: str
) -> None:
    script(tmp_path / "bin", "vault", "echo wrong")
    script(tmp_path / "bin", "failing", "echo SECRET; echo SECRET >&2; exit 3")
    script(tmp_path / "bin", "garbled", "printf '\\377\\376'")
    script(tmp_path / "bin", "chatty", "echo Enter SECRET:")
    monkeypatch.chdir(tmp_path)
    environ = {"PATH": f"bin:.:{tmp_path / 'bin'}:/usr/bin:/bin", "GH_ENTERPRISE_TOKEN": "t"}
    found = sources(environ, configured=command_source(*arguments))[GHES]
    assert revealed(found) == "t"
    assert found.problems == (("command (token_command)", problem),)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("head -c 60000 /dev/zero | tr '\\0' x", "is longer than 8192 characters"),
        ("yes x", "gave no short answer within 3 seconds"),
        ("exec 1>&-; exec sleep 86399.5", "gave no short answer within 3 seconds"),
    ],
)
def test_an_answer_without_an_end_is_cut_off(tmp_path: Path, body: str, problem: str) -> None:
    script(tmp_path, "flood", body)
    environ = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    found = sources(
        environ,
        configured=command_source("flood"),
        run=lambda command, environ, _: run_process(command, environ, 1.0),
    )[GHES]
    assert found.current() is None
    assert found.problems[0][1] == problem


def test_only_absolute_folders_of_the_path_are_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = script(tmp_path / "bin", "gh", "")
    monkeypatch.chdir(tmp_path)
    assert find_executable("gh", {"PATH": ".::bin"}) is None
    assert find_executable("gh", {}) is None
    assert find_executable("gh", {"PATH": f".:{tmp_path / 'bin'}"}) == str(found)


# Silence


CANARY = "ghp_C4n4ry0123456789abcdefghijklmnopqrst"


def by_environment(tmp_path: Path) -> tuple[Site, dict[str, str], ConfiguredSource | None]:
    return GITHUB_COM, {"GITHUB_TOKEN": CANARY}, None


def by_job(tmp_path: Path) -> tuple[Site, dict[str, str], ConfiguredSource | None]:
    return GITLAB_COM, {"CI_JOB_TOKEN": CANARY, "CI_SERVER_HOST": "gitlab.com"}, None


def by_named_file(tmp_path: Path) -> tuple[Site, dict[str, str], ConfiguredSource | None]:
    (tmp_path / "t").write_text(CANARY)
    return GITHUB_COM, {"GH_TOKEN_FILE": str(tmp_path / "t")}, None


def by_token_env(tmp_path: Path) -> tuple[Site, dict[str, str], ConfiguredSource | None]:
    return GHES, {"ACME": CANARY}, ConfiguredSource(env="ACME")


def by_token_file(tmp_path: Path) -> tuple[Site, dict[str, str], ConfiguredSource | None]:
    (tmp_path / "t").write_text(CANARY)
    return GHES, {}, ConfiguredSource(file=str(tmp_path / "t"))


def by_token_command(tmp_path: Path) -> tuple[Site, dict[str, str], ConfiguredSource | None]:
    script(tmp_path, "vault", f"echo {CANARY}; echo {CANARY} >&2")
    return GHES, {"PATH": str(tmp_path)}, ConfiguredSource(command=("vault", CANARY))


def by_owner(tmp_path: Path) -> tuple[Site, dict[str, str], ConfiguredSource | None]:
    return GHES, {"ACME": CANARY}, ConfiguredSource(env="ACME", owner="acme")


def by_gh(tmp_path: Path) -> tuple[Site, dict[str, str], ConfiguredSource | None]:
    script(tmp_path, "gh", f"echo {CANARY}")
    return GITHUB_COM, {"PATH": str(tmp_path)}, None


def by_glab(tmp_path: Path) -> tuple[Site, dict[str, str], ConfiguredSource | None]:
    (tmp_path / "config.yml").write_text(f"hosts: {{gitlab.com: {{token: {CANARY}}}}}")
    return GITLAB_COM, {"GLAB_CONFIG_DIR": str(tmp_path)}, None


WAYS = [by_environment, by_job, by_named_file, by_token_env, by_token_file, by_token_command,
        by_owner, by_gh, by_glab]  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_no_way_in_shows_the_token_again(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    way: Callable[[Path], tuple[Site, dict[str, str], ConfiguredSource | None]],
) -> None:
    caplog.set_level(logging.DEBUG)
    site, environ, source = way(tmp_path)
    configured = {site: (source,) if source else ()}
    surroundings = Surroundings(environ)
    found = token_sources(configured, surroundings)[site]
    token = found.current("acme")
    assert token is not None
    assert token.secret.reveal() == CANARY
    things = [token, token.secret, found, found.candidates(), configured, surroundings]
    things += [found.looked_in(), unassigned(configured, environ), fingerprint(token, b"k" * 16)]
    logging.getLogger("anyone").warning("%s %r %s", token, token.secret, things)
    found.reject(token)
    things += [found.rejected, found.problems, vars(found)]
    shown = [f"{thing}{thing!r}{thing!a}" for thing in things]
    shown += [*failures(token), caplog.text, *capfd.readouterr()]
    assert CANARY not in "".join(shown)


def failures(token: Token) -> list[str]:
    """The words of every error that somebody's attempt to write a token down ends with."""
    attempts: list[Callable[[], object]] = [
        lambda: json.dumps(token.secret),
        lambda: pickle.dumps(token),
        lambda: setattr(token.secret, "_text", "x"),
        lambda: format(token.secret, "40"),
        lambda: fingerprint(token, b"short"),
        lambda: token.secret + "x",
    ]
    words = []
    for attempt in attempts:
        with contextlib.suppress(AssertionError):
            try:
                attempt()
            except Exception as error:
                words.append("".join(traceback.format_exception(error)))
            else:
                raise AssertionError("an attempt to write a token down succeeded")
    assert len(words) == len(attempts)
    return words


def test_a_secret_survives_copying_unseen_and_compares_by_value() -> None:
    secret = Secret("s3cr3t")
    assert copy.deepcopy(secret) == copy.copy(secret) == Secret("s3cr3t") != Secret("other")
    assert secret != "s3cr3t"
    assert Secret("\ud800") == Secret("\ud800") != secret
    assert len({secret, Secret("s3cr3t"), Secret("other")}) == 2
    token = Token(secret, "x", Scheme.BEARER)
    assert "s3cr3t" not in repr(dataclasses.asdict(token))


def test_a_fingerprint_tells_tokens_apart_and_stores_too() -> None:
    one, same, other = (Token(Secret(text), text, Scheme.BEARER) for text in ("a", "a", "b"))
    key = b"0123456789abcdef"
    assert fingerprint(one, key) == fingerprint(same, key) != fingerprint(other, key)
    assert fingerprint(one, key) != fingerprint(one, b"another key of 16")
    with pytest.raises(ValueError, match="at least 16 bytes"):
        fingerprint(one, b"")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ghp_abcdef", True),
        ("github_pat_11ABC", True),
        ("glpat-abc", True),
        ("Bearer gho_abc", True),
        ("curl -H PRIVATE-TOKEN:glpat-abc", True),
        ("https://x:ghs_abc@github.com", True),
        ("0123456789abcdef0123456789abcdef01234567", True),
        ("ACME_TOKEN", False),
        ("GHP_", False),
        ("pass show github/token", False),
        ("/run/secrets/glpat", False),
        ("vault kv get -field=token secret/gh", False),
    ],
)
def test_a_token_is_known_by_its_shape(text: str, expected: bool) -> None:
    assert looks_like_token(text) is expected
