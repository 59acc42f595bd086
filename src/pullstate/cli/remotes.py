"""The git remotes of a directory: a server takes an interest in what it was started beside."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from pullstate.domain.address import AddressError, RepositoryAddress, Site, parse_repository
from pullstate.forges.processes import find_executable, run_process

MOST = 5  # forks of forks are nobody's work at hand


def remotes(directory: Path, sites: Sequence[Site]) -> list[RepositoryAddress]:
    """The repositories on configured sites that `directory` has as remotes; none without git."""
    found: dict[tuple[Site, str], RepositoryAddress] = {}
    for text in _spelled(directory):
        try:
            address = parse_repository(text, sites)
        except AddressError:
            continue
        found.setdefault((address.site, address.key), address)
    return list(found.values())[:MOST]


def _spelled(directory: Path) -> list[str]:
    """The remotes' URLs, as `insteadOf` rewrites them; origin first."""
    git = find_executable("git", os.environ)
    if git is None:
        return []
    environ = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}
    try:
        outcome = run_process([git, "-C", str(directory), "remote", "-v"], environ)
    except OSError:
        return []
    lines = outcome.output.decode("utf-8", "replace").splitlines() if outcome.code == 0 else []
    named = [line.split()[:2] for line in lines if len(line.split()) > 1]
    return [url for name, url in sorted(named, key=lambda each: each[0] != "origin")]
