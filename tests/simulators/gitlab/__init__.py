"""A GitLab to test against: REST and GraphQL over HTTP, from a world that tests change in words."""

from tests.simulators.gitlab import diffs, mergeability
from tests.simulators.gitlab.reviewing import position
from tests.simulators.gitlab.server import Running, running
from tests.simulators.gitlab.world import DEFAULT_TOKEN, Clock, World

__all__ = [
    "DEFAULT_TOKEN",
    "Clock",
    "Running",
    "World",
    "diffs",
    "mergeability",
    "position",
    "running",
]
