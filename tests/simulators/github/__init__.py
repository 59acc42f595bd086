"""A GitHub over HTTP on the loopback interface: GraphQL and REST over a world that tests change.

world = World()
rocket = world.create_repository("acme/rocket")
change = world.open_pull_request(rocket, head="fix")
with running(world) as github:
    ...  # configure github.url as a forge of kind github, with TOKEN
    world.set_checks(change, build="FAILURE")
    github.faults.add(faults.secondary_limit(retry_after=30))
    github.log.wait_for("/graphql")
"""

from tests.simulators.github import faults
from tests.simulators.github.ground import ManualClock
from tests.simulators.github.model import ChangedFile
from tests.simulators.github.server import GitHub, running
from tests.simulators.github.world import TOKEN, World

__all__ = ["TOKEN", "ChangedFile", "GitHub", "ManualClock", "World", "faults", "running"]
