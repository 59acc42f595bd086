"""What the tests over real streams share."""

from __future__ import annotations

import pytest

from tests.stdio.inspector import missing


@pytest.fixture(scope="session")
def inspector() -> None:
    """Skips, with the reason, where the Inspector cannot be run."""
    if reason := missing():
        pytest.skip(reason)
