"""A process is a reader for each credential that it finds, and for none without one but GitHub."""

from __future__ import annotations

from pathlib import Path

import pytest

from pullstate.domain.site import GITHUB_COM, GITLAB_COM, Site
from pullstate.forges.demo import DemoForge, World
from pullstate.forges.http import Credentials
from pullstate.forges.tokens import ConfiguredSource, Surroundings, token_sources
from pullstate.sync.readers import ANONYMOUS, ForgeSource
from pullstate.sync.sources import CredentialSource
from tests.sync.home import now

pytestmark = pytest.mark.anyio

SALT = b"of one store only"


class Forge(DemoForge):
    """One that remembers with what it was connected, and whether it was closed."""

    def __init__(self, site: Site, credentials: Credentials) -> None:
        super().__init__(site, World(now))
        self.credentials, self.closed = credentials, False

    async def aclose(self) -> None:
        self.closed = True


def source(environ: dict[str, str], **configured: ConfiguredSource) -> CredentialSource:
    found = {GITHUB_COM: list(configured.values()), GITLAB_COM: []}
    surroundings = Surroundings({"PATH": "", **environ}, read=_no_file)
    return CredentialSource(token_sources(found, surroundings), Forge, SALT)


def _no_file(path: Path) -> bytes:
    raise FileNotFoundError(path)


async def names(of: ForgeSource) -> list[str]:
    return [str(reader.name) for reader in await of.readers()]


async def test_without_any_credential_github_is_read_without_and_gitlab_not_at_all():
    assert await names(source({})) == [f"https://github.com {ANONYMOUS}"]


async def test_a_credential_makes_one_reader_that_sends_it_and_does_not_name_it():
    of = source({"GITLAB_TOKEN": "glpat-secret", "GH_TOKEN": "ghp_secret"})
    readers = await of.readers()
    assert sorted(reader.site.url for reader in readers) == [
        "https://github.com",
        "https://gitlab.com",
    ]
    for reader in readers:
        token = await reader.forge.credentials()
        assert token.secret.reveal() in ("glpat-secret", "ghp_secret")
        assert "secret" not in str(reader.name)


async def test_the_same_credential_is_the_same_reader_and_the_same_forge():
    of = source({"GH_TOKEN": "ghp_secret"})
    assert (await of.readers())[0].forge is (await of.readers())[0].forge


async def test_another_store_names_the_same_credential_otherwise():
    environ = {"GH_TOKEN": "ghp_secret"}
    one, two = source(environ), source(environ)
    two.salt = b"of another store!"
    assert await names(one) != await names(two)


async def test_an_owners_own_credential_is_a_reader_of_its_own():
    own = ConfiguredSource(env="ACME", owner="acme")
    of = source({"ACME": "github_pat_acme", "GH_TOKEN": "ghp_secret"}, own=own)
    assert sorted(reader.name.owner for reader in await of.readers()) == ["", "acme"]


async def test_a_refused_credential_gives_way_to_the_next_and_none_is_left_after_it():
    environ = {"GH_TOKEN": "ghp_one", "GITHUB_TOKEN": "ghp_two"}
    of = source(environ)
    [first] = await of.readers()
    assert await of.set_aside(first)
    [second] = await of.readers()
    assert second.name != first.name
    assert first.forge.closed
    assert not await of.set_aside(second)
    assert await of.readers() == []


async def test_a_site_that_had_a_credential_is_not_read_without_one():
    environ = {"GH_TOKEN": "ghp_one"}
    of = source(environ)
    await of.readers()
    of.tokens[GITHUB_COM].reject(of.tokens[GITHUB_COM].current())
    assert await of.readers() == []


async def test_what_was_refused_is_tried_again_when_it_is_reconsidered():
    of = source({"GH_TOKEN": "ghp_one"})
    [first] = await of.readers()
    await of.set_aside(first)
    await of.reconsider(first.site)
    assert [reader.name for reader in await of.readers()] == [first.name]


async def test_closing_closes_every_forge():
    of = source({"GH_TOKEN": "ghp_one", "GITLAB_TOKEN": "glpat-two"})
    forges = [reader.forge for reader in await of.readers()]
    await of.aclose()
    assert all(forge.closed for forge in forges)
