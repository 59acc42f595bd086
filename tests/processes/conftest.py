from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sync.databases import KINDS, empty


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Where an empty database of each kind lies."""
    with empty(request.param, tmp_path) as found:
        yield found
