from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sync.stage import Stage


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    built = Stage.build(tmp_path)
    yield built
    built.store.close()
