"""An ASGI application served over HTTP on the loopback interface, from a thread of this process."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn

START_SECONDS = 10.0


class _Server(uvicorn.Server):
    """uvicorn without its ten ticks a second: it starts and stops at once."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None

    async def main_loop(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        self.ready.set()
        await self._stop.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for task in list(self.server_state.tasks):
            task.cancel()
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        await asyncio.gather(*self.server_state.tasks, return_exceptions=True)

    def stop(self) -> None:
        if self._loop is not None and self._stop is not None:
            self._loop.call_soon_threadsafe(self._stop.set)


def configuration(app: Any, tls: tuple[Path, Path] | None = None) -> uvicorn.Config:
    """How every simulator is served; `tls` is a certificate file and its key file.

    No Date header is added here: a simulated forge says its own world's time.
    """
    certificate, key = tls or (None, None)
    return uvicorn.Config(
        app,
        loop="asyncio",
        ws="none",
        lifespan="off",
        proxy_headers=False,
        server_header=False,
        date_header=False,
        access_log=False,
        log_level="critical",
        timeout_keep_alive=75,
        ssl_certfile=certificate,
        ssl_keyfile=key,
    )


def listening_socket(port: int = 0) -> socket.socket:
    """A bound and listening loopback socket, so that connecting works before the loop runs."""
    # asyncio turns Nagle's delay off only where the protocol is named.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(2048)
    return listener


@contextmanager
def serving(app: Any, *, port: int = 0, tls: tuple[Path, Path] | None = None) -> Iterator[str]:
    """Serve `app` while the block runs; yields `http://127.0.0.1:PORT`, or https with `tls`."""
    listener = listening_socket(port)
    number = listener.getsockname()[1]
    server = _Server(configuration(app, tls))
    thread = threading.Thread(
        target=server.run, kwargs={"sockets": [listener]}, name=f"simulator-{number}", daemon=True
    )
    thread.start()
    try:
        if not server.ready.wait(START_SECONDS):
            raise RuntimeError("the simulator did not start")
        yield f"{'https' if tls else 'http'}://127.0.0.1:{number}"
    finally:
        server.stop()
        thread.join(START_SECONDS)
        listener.close()
