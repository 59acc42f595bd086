"""What the tests of the tools share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.office import Office


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    """The tools over an empty store that nobody syncs."""
    built = Office.build(tmp_path)
    yield built
    built.store.close()
