"""A GitLab to test against: REST and GraphQL over HTTP, from a world that tests change in words.

world = World(version="17.3.0", clock=Clock())
project = world.project("group/sub/app", approvals_required=1)
mr = world.open_merge_request(project, "topic", reviewers=["ann"])
with running(world) as gitlab:
    ...  # ask gitlab.api and gitlab.graphql with PRIVATE-TOKEN: gitlab.token
    world.approve(mr, "ann")
    gitlab.faults.add(server_error(502, request="/discussions"))
    gitlab.log.matching("GET .*/merge_requests")
"""

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
