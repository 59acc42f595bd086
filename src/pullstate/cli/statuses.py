"""`pullstate status`: what is stored, how fresh it is, and what fails."""

from __future__ import annotations

import json
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pullstate.cli import tables
from pullstate.cli.options import Failed, print_json
from pullstate.cli.running import VERSION, Running, now
from pullstate.domain import freshness
from pullstate.domain.site import Site
from pullstate.server.answers import sync_block
from pullstate.settings import Settings
from pullstate.store import lease, reading
from pullstate.store.describing import describe
from pullstate.store.engine import Store
from pullstate.store.errors import StoreError

Row = dict[str, Any]


def status(settings: Settings, as_json: bool) -> None:
    """Print the state of the store. Failed where it cannot be opened."""
    try:
        told = _told(Store.open(settings.store), Running(settings))
    except StoreError as error:
        raise Failed(str(error)) from None
    if as_json:
        print_json(json.dumps(told))
    else:
        tables.show(_shown(told))


def _told(store: Store, running: Running) -> Row:
    known, place = store.read_now(reading.status), describe(store)
    return {
        "version": VERSION,
        "store": place.url,
        "bytes": place.size,
        "database": place.database,
        "hasWalFix": place.has_wal_fix,
        "notes": list(place.notes),
        "readOnly": place.read_only,
        "configuration": str(running.settings.file) if running.settings.has_file else None,
        "processes": len(store.read_now(lease.live, now())),
        "pullRequests": known.pull_requests,
        "unfinished": known.unfinished,
        "threads": known.threads,
        "forges": [_forge(site, running) for site in running.settings.sites],
        "repositories": [_repository(store, line) for line in known.repositories],
    }


def _forge(site: Site, running: Running) -> Row:
    """A forge, and where its token is: never the token."""
    sources = running.tokens[site]
    token = sources.current()
    return {
        "url": site.url,
        "kind": site.kind.value,
        "token": token.source if token else None,
        "lookedIn": list(sources.looked_in()),
        "problems": dict(sources.problems),
    }


def _repository(store: Store, line: reading.RepositoryStatus) -> Row:
    facts = store.read_now(reading.freshness, line.repository.id, now())
    return {
        "repositoryUrl": line.repository.url,
        "depth": line.repository.depth,
        "tracked": line.repository.tracked,
        "pullRequests": line.pull_requests,
        "unfinished": line.unfinished,
        "sync": sync_block(freshness.report(facts, now())),
    }


def _shown(told: Row) -> RenderableType:
    place = f"store {told['store']}, {told['bytes']:,} bytes, {told['database']}"
    flawed = ", which lacks a fix for writers beside each other" * (told["hasWalFix"] is False)
    head = [
        Text(f"pullstate {told['version']}, {told['processes']} processes running"),
        Text(f"{place}{flawed}{', read only' if told['readOnly'] else ''}"),
        *(Text(note, style="yellow") for note in told["notes"]),
        *(Text(_token_line(forge)) for forge in told["forges"]),
        Text(f"{told['pullRequests']} pull requests, {told['unfinished']} unfinished"),
    ]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("REPOSITORY", "DEPTH", "PRS", "OPEN", "SYNC"):
        table.add_column(column)
    passing = [row for row in told["repositories"] if _only_asked_about(row)]
    for row in (row for row in told["repositories"] if row not in passing):
        table.add_row(
            Text(row["repositoryUrl"]),
            row["depth"] or "untracked",
            str(row["pullRequests"]),
            str(row["unfinished"]),
            tables.freshness(row["sync"]),
        )
    return Group(*head, table, *map(_one_line, passing))


def _only_asked_about(row: Row) -> bool:
    """Whether nobody tracks it and nothing of it was ever read: most often a mistyped name."""
    return not (row["tracked"] or row["pullRequests"] or "asOf" in row["sync"])


def _one_line(row: Row) -> Text:
    """`--json` has the whole of it."""
    line = Text(row["repositoryUrl"] + " ", no_wrap=True, overflow="ellipsis")
    return line.append_text(tables.freshness(row["sync"]))


def _token_line(forge: Row) -> str:
    problems = "".join(f"; {source} {what}" for source, what in forge["problems"].items())
    if forge["token"]:
        return f"{forge['url']}: token from {forge['token']}{problems}"
    if not forge["lookedIn"]:
        return f"{forge['url']}: needs no token"
    return f"{forge['url']}: no token in {', '.join(forge['lookedIn'])}{problems}"
