"""A simulated GitLab below a subpath, and the client that asks it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from pullstate.domain.site import ForgeKind, Site
from pullstate.forges.forge import Repository, Target
from pullstate.forges.gitlab import GitLab, connected
from pullstate.forges.token_values import Scheme, Secret, Token
from tests.simulators.gitlab import DEFAULT_TOKEN, Clock, Running, World, running
from tests.simulators.gitlab.model import MergeRequest, Project


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def world(clock: Clock) -> World:
    return World(clock=clock)


@pytest.fixture
def simulator(world: World) -> Iterator[Running]:
    with running(world) as served:
        yield served


@pytest.fixture
def project(world: World) -> Project:
    return world.project("group/sub/tool")


@pytest.fixture
def repository(project: Project) -> Repository:
    return Repository(str(project.id), project.path)


def client(
    simulator: Running,
    clock: Callable,
    token: str | None = DEFAULT_TOKEN,
    scheme: Scheme = Scheme.PRIVATE_TOKEN,
    ca_file: Path | None = None,
) -> GitLab:
    """A client of a simulated site; without a token it asks as nobody."""
    sent = Token(Secret(token), "environment", scheme) if token else None

    async def credentials() -> Token | None:
        return sent

    site = Site(ForgeKind.GITLAB, simulator.base)
    return GitLab(site, connected(site, credentials, clock, ca_file=ca_file))


@pytest.fixture
async def gitlab(simulator: Running, clock: Clock) -> AsyncIterator[GitLab]:
    made = client(simulator, clock)
    yield made
    await made.aclose()


def target(repository: Repository, change: MergeRequest) -> Target:
    return Target(repository, change.iid, f"gid://gitlab/MergeRequest/{change.id}")


def asked(simulator: Running) -> list[str]:
    """What the simulator was asked, in order: `METHOD path` below the API, without the query."""
    return [
        f"{request.method} {request.path.partition('/api/')[2]}"
        for request in simulator.log.matching()
    ]
