from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sync.databases import KINDS, empty
from tests.sync.stage import Stage


@pytest.fixture(params=KINDS)
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    """A stage on each kind of database."""
    with empty(request.param, tmp_path) as place:
        built = Stage.build(place)
        yield built
        built.store.close()
