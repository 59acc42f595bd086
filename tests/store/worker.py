"""What a process of its own does to a store: `python -m tests.store.worker WHAT STORE …`."""

from __future__ import annotations

import sys
from itertools import count

from pullstate.domain.address import GITHUB_COM, RepositoryAddress
from pullstate.domain.pull_request import PullRequest
from pullstate.store import lease, reading, writing
from pullstate.store.engine import Store
from pullstate.store.errors import FencedOut
from pullstate.store.lease import Fence
from pullstate.store.records import Depth, Interest, Sweep
from tests.domain.readings import NOON, full

ROWS = 100
AT = NOON


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def page(number: int, title: str = "") -> list[PullRequest]:
    first = number * ROWS + 1
    return [full(n, title=title or f"Change {n}") for n in range(first, first + ROWS)]


def tracked(store: Store, path: str) -> int:
    address = RepositoryAddress(GITHUB_COM, path)
    return store.write_now(writing.track, address, Depth.ALL, Interest.COMMAND).id


def start(url: str) -> None:
    """Open the store when told to, as all others do at the same moment; say which one it is."""
    say("ready")
    sys.stdin.readline()
    store = Store.open(url)
    say(store.id, tracked(store, "acme/rocket"))


def write_page(connection, repository_id: int, number: int) -> None:
    writing.record(connection, repository_id, page(number), AT)
    writing.save_sweep(connection, repository_id, Sweep(cursor=str(number + 1)))


def sweep(url: str) -> None:
    """Walk page after page, from the stored cursor on, until killed."""
    store = Store.open(url)
    repository_id = tracked(store, "acme/rocket")
    at = int(store.read_now(reading.sweep, repository_id).cursor or 0)
    for number in count(at):
        store.write_now(write_page, repository_id, number)
        say(number)


def record(url: str, path: str, pages: str) -> None:
    """Record some pages, and read one after each."""
    store = Store.open(url)
    repository_id = tracked(store, path)
    for number in range(int(pages)):
        store.write_now(writing.record, repository_id, page(number), AT)
        store.read_now(reading.page, repository_id, limit=20)
    say("done")


def contend(url: str, holder: str, pages: str) -> None:
    """Take the lease whenever it is free, write a page under it, and give it up."""
    store = Store.open(url)
    repository_id = tracked(store, "acme/rocket")
    written = 0
    while written < int(pages):
        fence = store.write_now(lease.take, "reader", holder, 15.0)
        if fence is None:
            continue
        written += write_under(store, fence, repository_id)
        store.write_now(lease.release, fence)
    say("done")


def write_under(store: Store, fence: Fence, repository_id: int) -> int:
    """Add one to a counter under the lease: read and write in one transaction."""
    try:
        store.write_as_now(fence, add_one, repository_id)
    except FencedOut:
        return 0
    return 1


def add_one(connection, repository_id: int) -> None:
    known = reading.sweep(connection, repository_id)
    writing.save_sweep(connection, repository_id, Sweep(failures=known.failures + 1))


WORK = {"start": start, "sweep": sweep, "record": record, "contend": contend}

if __name__ == "__main__":
    WORK[sys.argv[1]](*sys.argv[2:])
