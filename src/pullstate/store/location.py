"""Where a store lies: the path or URL that was named, or the default one; private either way."""

from __future__ import annotations

import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_data_path
from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from pullstate.store.errors import StoreMisplaced, StoreUnreachable

FILE_NAME = "pullstate.db"
MOUNTS = Path("/proc/mounts")
LASTING = Path("/var/tmp")  # survives a restart of the machine, unlike most /tmp

# WAL needs shared memory between processes, which these do not give: files come out damaged.
# https://sqlite.org/wal.html, https://sqlite.org/howtocorrupt.html#_filesystems_with_broken_or_missing_lock_implementations
_REMOTE = re.compile(
    r"nfs\d?|cifs|smb\d?|smbfs|9p|fuse|fuse\..*|virtiofs|afs|ceph|lustre|ncpfs|beegfs|gpfs|ocfs2|gfs2"
    r"|vboxsf|vmhgfs|prl_fs|drvfs|davfs|coda|orangefs|pvfs2"
)
_OCTAL = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True, slots=True)
class Location:
    """`path` is None on a server. `notes` tell a person what was done differently, and why."""

    url: URL
    path: Path | None
    notes: tuple[str, ...] = ()


def locate(named: str | Path | None, mounts: Path = MOUNTS, lasting: Path = LASTING) -> Location:
    """The place of the store that was named (a path or a SQLAlchemy URL), or of the default one.

    Raises StoreMisplaced for a named path on a network or virtual file system, StoreUnreachable
    for a URL that no store can have. The default falls back to a private folder on a local disk.
    """
    if named is None or named == "":
        return _default(mounts, lasting)
    if isinstance(named, Path) or "://" not in named:
        return _file(Path(named).expanduser(), mounts)
    url = _parsed(named)
    if url.get_backend_name() == "postgresql":
        return Location(url.set(drivername="postgresql+psycopg"), None)
    if url.get_backend_name() != "sqlite":
        raise StoreUnreachable(
            f"A store is SQLite or PostgreSQL, not {url.get_backend_name()}: name a file, or "
            "postgresql://USER@HOST/DATABASE."
        )
    if not url.database or url.database == ":memory:" or url.database.startswith("file:"):
        raise StoreUnreachable(
            "A store that several processes share cannot lie in memory: name a file, "
            "sqlite:////absolute/path/pullstate.db."
        )
    return _file(Path(url.database).expanduser(), mounts)


def shown(url: URL) -> str:
    """A URL without its secrets."""
    safe = {name: "***" if "pass" in name.lower() else value for name, value in url.query.items()}
    return url.set(query=safe).render_as_string(hide_password=True)


def file_system(path: Path, mounts: Path = MOUNTS) -> str:
    """The type of the file system that a path lies on; "" where the system does not tell."""
    try:
        lines = mounts.read_text("utf-8", "replace").splitlines()
    except OSError:
        return ""
    place, best, kind = path.resolve(), -1, ""
    for line in lines:
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = Path(_OCTAL.sub(lambda code: chr(int(code[1], 8)), fields[1]))
        depth = len(point.parts)
        if depth >= best and place.is_relative_to(point):
            best, kind = depth, fields[2]
    return kind


def is_remote(path: Path, mounts: Path = MOUNTS) -> str | None:
    """The type of a network or virtual file system that a path lies on; None on a local one."""
    kind = file_system(path, mounts)
    return kind if _REMOTE.fullmatch(kind) else None


def make_private_folder(folder: Path) -> None:
    """Create a folder that only its owner may enter; an existing one is left as it is."""
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)


def make_private_file(path: Path) -> None:
    """Create an empty file that only its owner may read; an existing one is left as it is."""
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


def _parsed(text: str) -> URL:
    try:
        return make_url(re.sub(r"^postgres://", "postgresql://", text))
    except (ArgumentError, ValueError):
        raise StoreUnreachable(
            "The store's URL cannot be read: write a path, sqlite:////absolute/path/pullstate.db "
            "or postgresql://USER@HOST/DATABASE."
        ) from None


def _file(path: Path, mounts: Path) -> Location:
    path = path.resolve()  # SQLite keeps its journal beside the real file
    if kind := is_remote(path, mounts):
        raise StoreMisplaced(
            f"{path} lies on a {kind} file system, where SQLite loses data: name a path on a "
            "local disk, or a PostgreSQL database."
        )
    if path.is_dir():
        path = path / FILE_NAME
    return _at(path)


def _at(path: Path, *notes: str) -> Location:
    return Location(URL.create("sqlite", database=str(path)), path, notes)


def _default(mounts: Path, lasting: Path) -> Location:
    folder = user_data_path("pullstate", appauthor=False)
    why = _unfit(folder, mounts)
    if why is None:
        return _at(folder / FILE_NAME)
    fallback = _private_fallback(mounts, lasting)
    return _at(fallback / FILE_NAME, f"{folder} {why}; the store is at {fallback} instead")


def _unfit(folder: Path, mounts: Path) -> str | None:
    if kind := is_remote(folder, mounts):
        return f"lies on a {kind} file system, where SQLite loses data"
    if (folder / FILE_NAME).is_file():
        return None
    try:
        make_private_folder(folder)
    except OSError as error:
        return f"cannot be made ({error.strerror})"
    return None if os.access(folder, os.W_OK | os.X_OK) else "cannot be written"


def _private_fallback(mounts: Path, lasting: Path) -> Path:
    """A folder of this user alone outside the home, refused when somebody else made it."""
    fit = os.access(lasting, os.W_OK | os.X_OK) and not is_remote(lasting, mounts)
    root = lasting if fit else Path(tempfile.gettempdir())
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    folder = root / f"pullstate-{user}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        raise StoreUnreachable(f"{folder} cannot be made: {error.strerror}") from None
    owned = not hasattr(os, "getuid") or (found.st_uid == os.getuid() and not found.st_mode & 0o077)
    if folder.is_symlink() or not folder.is_dir() or not owned:
        raise StoreUnreachable(
            f"{folder} is not a private folder of yours: set PULLSTATE_STORE to a path on a "
            "local disk."
        )
    return folder
