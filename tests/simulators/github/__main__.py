"""`python -m tests.simulators.github`: the forge as a process; prints its address first."""

from __future__ import annotations

import argparse
import gc
import signal

from tests.simulators.github.ground import ManualClock
from tests.simulators.github.populating import populate
from tests.simulators.github.server import running
from tests.simulators.github.world import TOKEN, World

ENDS = (signal.SIGTERM, signal.SIGINT)


def main() -> None:
    asked = _arguments()
    world = World(without=asked.without, clock=ManualClock() if asked.frozen else None)
    populate(world, asked.repository, asked.prs, unfinished=asked.unfinished, threads=asked.threads)
    gc.freeze()
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)
    with running(world, latency=asked.latency, port=asked.port) as github:
        print(github.url, flush=True)  # noqa: T201
        signal.sigwait(ENDS)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.simulators.github", epilog=f"It accepts the token {TOKEN}."
    )
    parser.add_argument("--port", type=int, default=0, help="0: a free one")
    parser.add_argument("--prs", type=int, default=20, help="so many pull requests")
    parser.add_argument("--unfinished", type=int, help="of which so many are open; default all")
    parser.add_argument("--threads", type=int, default=0, help="on the newest one")
    parser.add_argument("--repository", default="acme/rocket")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds for every request")
    parser.add_argument("--without", nargs="*", default=[], metavar="TYPE.FIELD")
    parser.add_argument("--frozen", action="store_true", help="a clock that /_control moves")
    return parser.parse_args()


if __name__ == "__main__":
    main()
