"""One merge request or pull request as a person reads it: what `show` prints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from pullstate.cli.tables import freshness, word

Row = dict[str, Any]


def merge_request(reply: Row) -> RenderableType:
    """The merge request, then each facet that was asked for."""
    return Group(*_lines(reply))


def _lines(reply: Row) -> Iterator[RenderableType]:
    yield Text(f"!{reply['iid']} {reply['title']}", style="bold")
    yield Text(reply["web_url"])
    state = reply["state"] + (", draft" if reply["draft"] else "")
    yield Text.assemble(state, ", ", word(reply["pull_request_state"]))
    yield Text(f"{reply['author']}: {reply['source_branch']} → {reply['target_branch']}")
    for name in ("labels", "reviewers"):
        if reply[name]:
            yield Text(f"{name}: {', '.join(reply[name])}")
    if reply["description"]:
        yield Text(f"\n{reply['description']}")
    for facet, lines in _FACETS.items():
        if facet in reply:
            yield Text(f"\n{facet.upper()}", style="bold")
            yield from map(Text, _facet(reply[facet], lines))
    yield Text()
    yield freshness(reply["sync"])


def _facet(facet: Row, lines: Callable[[Row], Iterable[str]]) -> Iterator[str]:
    """What could not be read says why; what is out of date has both."""
    if "error" in facet:
        yield f"not up to date: {facet['error']}"
    if facet.keys() - {"error"}:
        yield from lines(facet)
        if facet.get("truncated"):
            yield "more could not be shown or read"


def _diffs(diffs: Row) -> Iterator[str]:
    if stats := diffs.get("stats"):
        yield f"{stats['files']} files, +{stats['additions']} -{stats['deletions']}"
    for file in diffs.get("files", []):
        counts = f"+{file['additions']} -{file['deletions']}"
        yield f"{file['status']:<9}{counts:>12}  {file['path']}"
        if "patch" in file:
            yield file["patch"]
    for file in diffs.get("excluded_files", []):
        yield f"left out ({file['reason']}): {file['path']}"


def _commits(commits: Row) -> Iterator[str]:
    for item in commits.get("items", []):
        yield f"{item['sha'][:12]}  {item['title']}  ({item['author']}, {item['authored_at']})"


def _notes(notes: Row) -> Iterator[str]:
    for item in notes.get("items", []):
        yield from _note(item)
    if notes.get("metadata", {}).get("has_more"):
        yield f"more: --notes-page {notes['metadata']['page'] + 1}"


def _note(note: Row) -> Iterator[str]:
    review = f", {note['review_state']}" if "review_state" in note else ""
    yield f"{note['author']}, {note['created_at']}{review}:"
    yield from (f"  {line}" for line in note["body"].splitlines())


def _pipelines(pipelines: Row) -> Iterator[str]:
    for item in pipelines.get("items", []):
        yield f"{item['status']:<12}{item['ref']} {item['sha'][:12]}  {item['web_url']}"
        for job in item["failed_jobs"]:
            yield f"  failed: {job['name']}  {job['web_url']}"


def _conflicts(conflicts: Row) -> Iterator[str]:
    says = {True: "yes", False: "no", None: "not known"}[conflicts.get("has_conflicts")]
    yield says + (f": {conflicts['reason']}" if conflicts.get("reason") else "")
    yield from (file["path"] for file in conflicts.get("files", []))


def _discussions(discussions: Row) -> Iterator[str]:
    for item in discussions.get("items", []):
        resolved = "resolved" if item["resolved"] else "open"
        yield f"{item['id']} ({resolved if item['resolvable'] else 'not resolvable'})"
        for note in item["notes"]:
            yield from (f"  {line}" for line in _note(note))


_FACETS: dict[str, Callable[[Row], Iterable[str]]] = {
    "diffs": _diffs,
    "commits": _commits,
    "notes": _notes,
    "pipelines": _pipelines,
    "conflicts": _conflicts,
    "discussions": _discussions,
}
