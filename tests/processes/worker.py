"""`python -m tests.processes.worker`: one loop over a store and a shared forge, until killed."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from datetime import timedelta

import anyio

from pullstate.domain.site import Site
from pullstate.store.engine import Store
from pullstate.sync.loop import Loop
from pullstate.sync.readers import Reader, ReaderName
from tests.processes.shared import SITE, SharedForge


class OneReader:
    """A process with one credential."""

    def __init__(self, forge: SharedForge, fingerprint: str) -> None:
        self._reader = Reader(ReaderName(SITE.url, fingerprint), forge)

    async def readers(self) -> Sequence[Reader]:
        return [self._reader]

    async def set_aside(self, reader: Reader) -> bool:
        return False

    async def reconsider(self, site: Site) -> None:
        return None

    async def aclose(self) -> None:
        return None


async def main(
    path: str, host: str, port: str, fingerprint: str, lease_time: str, interval: str
) -> None:
    store = Store.open(path, lease_time=float(lease_time))
    source = OneReader(SharedForge(host, int(port)), fingerprint)
    loop = Loop(store, source, "1.0", interval=timedelta(seconds=float(interval)), quiet=0.0)
    async with anyio.create_task_group() as group:
        group.start_soon(loop.run)
        with anyio.open_signal_receiver(signal.SIGTERM) as signals:
            async for _ in signals:
                group.cancel_scope.cancel()
    store.close()


if __name__ == "__main__":
    anyio.run(main, *sys.argv[1:])
