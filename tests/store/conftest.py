"""Stores for tests: each on SQLite, and on PostgreSQL too where the environment names one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url, text

from pullstate.domain.address import GITHUB_COM, RepositoryAddress
from pullstate.store import writing
from pullstate.store.engine import Store
from pullstate.store.records import Depth, Interest, Repository
from pullstate.store.schema import metadata
from tests.domain.readings import NOON

POSTGRES = "PULLSTATE_TEST_POSTGRES"
KINDS = ["sqlite", "postgres"] if os.environ.get(POSTGRES) else ["sqlite"]
ADDRESS = RepositoryAddress(GITHUB_COM, "acme/rocket")


@pytest.fixture(scope="session")
def made_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a schema and nothing in it, to be copied."""
    path = tmp_path_factory.mktemp("made") / "pullstate.db"
    Store.open(path).close()
    return path


@pytest.fixture
def path(made_file: Path, tmp_path: Path) -> Path:
    """The path of an empty store of this test's own."""
    return Path(shutil.copy(made_file, tmp_path / "pullstate.db"))


@pytest.fixture(scope="session")
def made_schema() -> Iterator[str]:
    """The URL of a PostgreSQL schema of this run's own."""
    name = f"pullstate_{os.getpid()}"
    given = os.environ[POSTGRES]
    engine = create_engine(given)
    with engine.begin() as connection:
        connection.execute(text(f"CREATE SCHEMA {name}"))
    url = make_url(given).update_query_dict({"options": f"-c search_path={name}"})
    yield url.render_as_string(hide_password=False)
    with engine.begin() as connection:
        connection.execute(text(f"DROP SCHEMA {name} CASCADE"))
    engine.dispose()


@pytest.fixture
def server_url(made_schema: str) -> str:
    """The URL of an empty schema: whatever an earlier test left is gone."""
    engine = create_engine(made_schema)
    metadata.drop_all(engine)
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE IF EXISTS alembic_version"))
    engine.dispose()
    return made_schema


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest) -> str:
    """Where an empty store of each kind lies."""
    if request.param == "sqlite":
        return str(request.getfixturevalue("path"))
    return request.getfixturevalue("server_url")


@pytest.fixture
def open_store() -> Iterator[Callable[..., Store]]:
    """Opens stores that are closed at the end of the test."""
    opened: list[Store] = []

    def open_(*args: object, **kwargs: object) -> Store:
        opened.append(Store.open(*args, **kwargs))  # type: ignore[arg-type]
        return opened[-1]

    yield open_
    for store in opened:
        store.close()


@pytest.fixture
def store(url: str, open_store: Callable[..., Store]) -> Store:
    """An open store with nothing in it."""
    return open_store(url)


@pytest.fixture
def repository(store: Store) -> Repository:
    """A repository that a command tracks."""
    return track(store)


def track(
    store: Store,
    path: str = "acme/rocket",
    depth: Depth = Depth.ALL,
    by: Interest = Interest.COMMAND,
    at: datetime = NOON,
) -> Repository:
    """Track a repository on github.com."""
    address = RepositoryAddress(GITHUB_COM, path)
    return store.write_now(writing.track, address, depth, by, at)
