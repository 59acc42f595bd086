"""What can go wrong with the store.

StoreError
├── StoreBusy           somebody else is writing, for longer than we wait
├── StoreTooNew         written by a newer pullstate than this one may read
├── StoreReadOnly       it can be read but not written: permissions, medium, or a newer pullstate
├── StoreFull           no room on the disk
├── StoreDamaged        the file is not, or no longer, a database
├── StoreUnreachable    it cannot be opened, or its server does not answer
├── StoreMisplaced      its path is on a network or virtual file system
├── FencedOut           the lease that a write was done under belongs to somebody else now
└── Untracked           the repository to be written was untracked or purged meanwhile

Each text is for a person: it says what to do, and never shows a password.
"""

from __future__ import annotations


class StoreError(Exception):
    """The store did not do what was asked."""


class StoreBusy(StoreError):
    """Somebody else is writing, for longer than we wait."""


class StoreTooNew(StoreError):
    """The store was written by a newer pullstate than this one may read."""


class StoreReadOnly(StoreError):
    """The store can be read but not written."""


class StoreFull(StoreError):
    """There is no room on the disk."""


class StoreDamaged(StoreError):
    """The file is not, or no longer, a database."""


class StoreUnreachable(StoreError):
    """The store cannot be opened, or its server does not answer."""


class StoreMisplaced(StoreError):
    """The path is on a network or virtual file system, where SQLite loses data."""


class FencedOut(StoreError):
    """The lease that this write was done under belongs to somebody else now."""


class Untracked(StoreError):
    """The repository to be written was untracked or purged meanwhile."""
