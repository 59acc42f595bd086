"""Places with a running server, of one test or of one module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.place import Place, Server, place


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Place]:
    """A place of the test's own."""
    with place(tmp_path) as here:
        yield here


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A place that the tests of a module share: each has repositories of its own in it."""
    with place(tmp_path_factory.mktemp("there")) as there:
        yield there


@pytest.fixture(scope="module")
def server(there: Place) -> Iterator[Server]:
    """The server over it."""
    with there.serving() as server:
        yield server
        assert "Traceback" not in "".join(server.stderr.read)
