"""Answers as a person reads them: the same objects that `--json` prints."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

Row = dict[str, Any]

PIPED_WIDTH = 160

_COLOURS = {
    "APPROVED": "green",
    "APPROVED_WAITING": "cyan",
    "CHANGES_REQUESTED": "yellow",
    "CLEAN": "green",
    "CLOSED": "bright_black",
    "CONFLICTING": "red",
    "DRAFT": "bright_black",
    "FAILING": "red",
    "MERGED": "magenta",
    "PASSING": "green",
    "PENDING": "yellow",
    "ok": "green",
    "failing": "red",
    "paused": "yellow",
    "stale": "yellow",
    "partial": "yellow",
    "unread": "yellow",
}
_PREFIXES = ("PULL_REQUEST_STATE_", "REVIEW_DECISION_", "CHECKS_", "MERGEABILITY_")


def show(answer: RenderableType) -> None:
    """Print for a person; colours, and its width, where standard output is a terminal."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = PIPED_WIDTH
    console.print(answer, crop=False)


def pull_requests(reply: Row) -> RenderableType:
    """`list`: a line each, and how fresh they are."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("#", "STATE", "CHECKS", "MERGE", "REVIEW"):
        table.add_column(column, no_wrap=True, min_width=len(column))
    for column in ("BRANCH", "TITLE"):
        table.add_column(column)  # these two alone give way where the width does not do
    for row in reply["pullRequests"]:
        table.add_row(
            str(row["number"]),
            word(row["state"]),
            word(row["checks"]),
            word(row["mergeability"]),
            word(row["reviewDecision"]),
            _cut(row["headBranch"]),
            _cut(row["title"]),
        )
    lines: list[RenderableType] = [Text(reply["repositoryUrl"], style="bold"), table]
    if "branchState" in reply:
        lines.append(Text.assemble("branch: ", word(reply["branchState"])))
    if "nextPageToken" in reply:
        lines.append(Text(f"more: --cursor {reply['nextPageToken']}", style="dim"))
    return Group(*lines, freshness(reply["sync"]))


def threads(reply: Row) -> RenderableType:
    """`threads`: unresolved first, then by file and line."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("", "WHERE", "WHO", "WHAT", "ID"):
        whole = column in ("", "ID")  # an id broken in two cannot be copied
        table.add_column(column, overflow="fold", no_wrap=whole)
    for row in sorted(reply["threads"], key=_place):
        first = row["firstComment"] or {"author": "", "body": ""}
        table.add_row(
            _thread_mark(row),
            Text(_where(row)),
            Text(first["author"]),
            Text(_first_line(first["body"])),
            Text(row["id"], style="dim"),
        )
    counts = f"{reply['totalCount']} threads, {reply['unresolvedCount']} unresolved"
    more = ", more follow or could not be read" if reply["truncated"] else ""
    return Group(table, Text(counts + more), freshness(reply["sync"]))


def freshness(sync: Row) -> Text:
    """The sync block in a line."""
    parts = [f"synced {_age(sync['ageSeconds'])} ago" if "ageSeconds" in sync else "never synced"]
    parts += [sync[name] for name in ("reason",) if name in sync]
    parts += [f"{facet}: {why}" for facet, why in sync.get("facets", {}).items()]
    return Text.assemble(word(sync["state"]), " ", Text("; ".join(parts), style="dim"))


def word(value: str) -> Text:
    """An enum's value without its prefix, in its colour."""
    short = value
    for prefix in _PREFIXES:
        short = short.removeprefix(prefix)
    return Text(short.lower().replace("_", " "), style=_COLOURS.get(short, ""))


def _cut(words: str) -> Text:
    """One line, however narrow its column is."""
    return Text(words, no_wrap=True, overflow="ellipsis")


def clock_time(moment: datetime) -> str:
    """Hours, minutes and seconds, where the reader is."""
    return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone().strftime("%H:%M:%S")


def _age(seconds: int) -> str:
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def _place(row: Row) -> tuple[bool, str, int]:
    return (row["isResolved"], row["path"] or "", _line(row) or 0)


def _line(row: Row) -> int | None:
    return row["line"] or row["originalLine"]


def _where(row: Row) -> str:
    line = _line(row)
    return f"{row['path'] or ''}:{line}" if line else row["path"] or ""


def _thread_mark(row: Row) -> Text:
    if row["isResolved"]:
        return Text("resolved", style="bright_black")
    return Text("outdated" if row["isOutdated"] else "open", style="yellow")


def _first_line(body: str) -> str:
    return next((line for line in body.splitlines() if line.strip()), "")
