"""A simulated GitHub, and the client that asks it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from pullstate.domain.site import ForgeKind, Site
from pullstate.forges.forge import Repository, Target
from pullstate.forges.github import GitHub, connected
from pullstate.forges.token_values import Scheme, Secret, Token
from tests.simulators.github import TOKEN, ManualClock, World, running
from tests.simulators.github import GitHub as Simulator
from tests.simulators.github.model import PullRequest as SimulatedPullRequest
from tests.simulators.github.model import Repository as SimulatedRepository


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def simulator(clock: ManualClock) -> Iterator[Simulator]:
    with running(World(clock=clock)) as served:
        yield served


@pytest.fixture
def world(simulator: Simulator) -> World:
    return simulator.world


@pytest.fixture
def rocket(world: World) -> SimulatedRepository:
    return world.create_repository("acme/rocket")


@pytest.fixture
def repository(rocket: SimulatedRepository) -> Repository:
    return Repository(rocket.id, rocket.name_with_owner)


def client(
    simulator: Simulator, clock: Callable, token: str | None = TOKEN, kind: str = "environment"
) -> GitHub:
    """A client of a simulated site; without a token it asks as nobody."""
    sent = Token(Secret(token), kind, Scheme.BEARER) if token else None

    async def credentials() -> Token | None:
        return sent

    site = Site(ForgeKind.GITHUB, simulator.url)
    return GitHub(site, connected(site, credentials, clock))


@pytest.fixture
async def github(simulator: Simulator, clock: ManualClock) -> AsyncIterator[GitHub]:
    made = client(simulator, clock)
    yield made
    await made.aclose()


@pytest.fixture
async def stranger(simulator: Simulator, clock: ManualClock) -> AsyncIterator[GitHub]:
    """A client without a token."""
    made = client(simulator, clock, token=None)
    yield made
    await made.aclose()


def target(repository: Repository, change: SimulatedPullRequest) -> Target:
    return Target(repository, change.number, change.id)
