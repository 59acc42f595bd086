"""`python -m tests.simulators.gitlab --port P`: a GitLab with a few merge requests."""

from __future__ import annotations

import argparse
import gc
import signal

from tests.simulators.gitlab.server import running
from tests.simulators.gitlab.world import Clock, World

ENDS = (signal.SIGTERM, signal.SIGINT)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--root", default="/gitlab", help="the install's subpath")
    parser.add_argument("--version", default="18.0.1-ee")
    parser.add_argument("--edition", choices=("ee", "ce"), default="ee")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds")
    parser.add_argument("--project", default="group/sub/app")
    parser.add_argument("--merge-requests", type=int, default=3)
    parser.add_argument("--frozen", action="store_true", help="a clock that /_control moves")
    asked = parser.parse_args()
    clock = Clock() if asked.frozen else None
    world = World(version=asked.version, edition=asked.edition, clock=clock)
    project = world.project(asked.project)
    world.fill(project, asked.merge_requests, states=("merged", "closed", "opened"))
    gc.freeze()
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)
    with running(world, asked.root, asked.latency, port=asked.port) as gitlab:
        print(gitlab.base.removesuffix(asked.root.rstrip("/")), flush=True)  # noqa: T201
        signal.sigwait(ENDS)


if __name__ == "__main__":
    main()
