"""`pullstate track` and `untrack`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import click

from pullstate.cli.options import Failed, Misused
from pullstate.domain.address import AddressError, RepositoryAddress, parse_repository
from pullstate.settings import Settings
from pullstate.store import reading, writing
from pullstate.store.engine import Store
from pullstate.store.errors import StoreError
from pullstate.store.records import Depth, Interest


def track(settings: Settings, urls: Iterable[str]) -> None:
    """Track every one, or none where one of them cannot be."""
    addresses = [_address(settings, url) for url in urls]
    with _opened(settings) as store:
        for address in addresses:
            known = store.write_now(writing.track, address, Depth.ALL, by=Interest.COMMAND)
            click.echo(f"tracking {known.url}")


def untrack(settings: Settings, urls: Iterable[str]) -> None:
    """Untrack every one that is tracked; Failed at the end where one was not."""
    addresses = [_address(settings, url) for url in urls]
    with _opened(settings) as store:
        strangers = [address.url for address in addresses if not _untrack(store, address)]
    if strangers:
        raise Failed(f"Not tracked: {', '.join(strangers)}.")


def _untrack(store: Store, address: RepositoryAddress) -> bool:
    known = store.read_now(reading.find_repository, address)
    if known is None or not store.write_now(writing.untrack, known.id):
        return False
    click.echo(f"no longer tracking {known.url}")
    return True


def _address(settings: Settings, url: str) -> RepositoryAddress:
    try:
        return parse_repository(url, settings.sites)
    except AddressError as error:
        raise Misused(error.sentence) from None


@contextmanager
def _opened(settings: Settings) -> Iterator[Store]:
    """The store; Failed with its words where it cannot be used."""
    try:
        store = Store.open(settings.store)
        try:
            yield store
        finally:
            store.close()
    except StoreError as error:
        raise Failed(str(error)) from None
