"""What every test may use."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

# How fast the machine is says nothing of the code; where nobody looks, every run is the same run.
settings.register_profile(
    "steady",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("steady")


@pytest.fixture
def anyio_backend() -> str:
    """The one event loop that the product runs on."""
    return "asyncio"
