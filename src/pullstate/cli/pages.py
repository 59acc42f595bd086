"""One merge request or pull request as a person reads it: what `show` prints.

The lines are made from the same object that `--json` prints, and what it says of its own gaps is
said here too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from pullstate.cli.tables import freshness, word

Row = dict[str, Any]

_COLOURS = {
    "added": "green",
    "deleted": "red",
    "renamed": "cyan",
    "success": "green",
    "failed": "red",
    "failure": "red",
    "canceled": "red",
    "cancelled": "red",
    "timed_out": "red",
    "running": "yellow",
    "pending": "yellow",
    "queued": "yellow",
    "in_progress": "yellow",
    "APPROVED": "green",
    "CHANGES_REQUESTED": "yellow",
}
_PATCH_COLOURS = {"+": "green", "-": "red", "@": "cyan", "\\": "bright_black"}
_TIMES = (("created_at", "opened"), ("merged_at", "merged"), ("closed_at", "closed"))


def merge_request(reply: Row) -> RenderableType:
    """The merge request, then each facet that was asked for, then how fresh it all is."""
    return Group(*_base(reply), *_facets(reply), Text(), freshness(reply["sync"]))


def _base(reply: Row) -> Iterator[RenderableType]:
    yield Text(f"!{reply['iid']} {reply['title']}", style="bold")
    yield Text(reply["web_url"], style="dim")
    state = reply["state"] + (", draft" if reply["draft"] else "")
    yield Text.assemble(state, ", ", word(reply["pull_request_state"]))
    yield Text(f"{reply['author']}: {reply['source_branch']} → {reply['target_branch']}")
    yield Text(", ".join(f"{word} {reply[name]}" for name, word in _TIMES if reply[name]))
    for name in ("labels", "reviewers"):
        if reply[name]:
            more = _more(reply.get(f"{name}_not_shown", 0), "")
            yield Text(f"{name}: {', '.join(reply[name])}{more}")
    if reply["detailed_merge_status"]:
        yield Text(f"merging: {reply['detailed_merge_status']}")
    if reply["description"]:
        yield Text(f"\n{reply['description']}{_cut(reply, 'description_truncated')}")


def _facets(reply: Row) -> Iterator[RenderableType]:
    for name, lines in _FACETS.items():
        if name in reply:
            yield Text(f"\n{name.upper()}", style="bold")
            yield from _facet(reply[name], lines)


def _facet(facet: Row, lines: Callable[[Row], Iterable[RenderableType]]) -> Iterator:
    """What could not be read says why; what is out of date has both."""
    if "error" in facet:
        yield Text(facet["error"], style="yellow")
    if facet.keys() - {"error"}:
        yield from lines(facet)
        if facet.get("truncated") and not {"not_shown", "not_named"} & facet.keys():
            yield Text("the forge has more than it gave", style="yellow")
        if left_out := facet.get("not_shown"):
            yield Text(f"{left_out} more without room here", style="yellow")


def _more(count: int, what: str) -> str:
    return f" and {count} more{what}" if count else ""


def _cut(row: Row, flag: str) -> str:
    return " […]" if row.get(flag) else ""


def _coloured(value: str, width: int = 0) -> Text:
    return Text(value.ljust(width), style=_COLOURS.get(value, ""))


# --- Changes -------------------------------------------------------------------------------------


def _diffs(diffs: Row) -> Iterator[RenderableType]:
    yield _totals(diffs["stats"])
    for file in diffs["files"]:
        yield _file(file)
        if file.get("patch"):
            yield _patch(file["patch"])
    for file in diffs["excluded_files"]:
        yield Text(f"left out ({file['reason']}): {file['path']}", style="dim")
    if not_named := diffs.get("not_named"):
        yield Text(f"{not_named} more files that are not named here", style="yellow")


def _totals(stats: Row) -> Text:
    least = "at least " if stats.get("at_least") else ""
    return Text.assemble(
        f"{least}{stats['files']} files, ",
        (f"+{stats['additions']}", "green"),
        " ",
        (f"-{stats['deletions']}", "red"),
    )


def _file(file: Row) -> Text:
    moved = f"{file['old_path']} → " if "old_path" in file else ""
    return Text.assemble(
        _coloured(file["status"], 9),
        (f"+{file['additions']}".rjust(6), "green"),
        (f"-{file['deletions']}".rjust(6), "red"),
        f"  {moved}",
        (file["path"], "bold"),
    )


def _patch(patch: str) -> Text:
    """Each line in its colour and never wrapped, so that it can be copied."""
    lines = patch.removesuffix("\n").split("\n")
    coloured = [Text(line, style=_PATCH_COLOURS.get(line[:1], "")) for line in lines]
    return Text("\n", no_wrap=True, overflow="ignore").join(coloured)


def _commits(commits: Row) -> Iterator[RenderableType]:
    for item in commits["items"]:
        yield Text.assemble(
            (item["sha"][:12], "yellow"),
            f"  {item['title']}  ",
            (f"({item['author']}, {item['authored_at']})", "dim"),
        )


def _conflicts(conflicts: Row) -> Iterator[RenderableType]:
    words = {True: ("yes", "red"), False: ("no", "green"), None: ("not known", "yellow")}
    why = f": {conflicts['reason']}" if conflicts["reason"] else ""
    yield Text.assemble(words[conflicts["has_conflicts"]], why)
    yield from (Text(f"  {file['path']}") for file in conflicts["files"])


# --- What was said and run -----------------------------------------------------------------------


def _notes(notes: Row) -> Iterator[RenderableType]:
    for item in notes["items"]:
        yield from _note(item)
    if notes["metadata"]["has_more"]:
        yield Text(f"more: --notes-page {notes['metadata']['page'] + 1}", style="dim")


def _note(note: Row, indent: str = "") -> Iterator[RenderableType]:
    about = [note["created_at"], *_where(note.get("position")), *_marks(note)]
    review = note.get("review_state")
    yield Text.assemble(
        indent,
        (note["author"], "bold"),
        (f", {', '.join(about)}", "dim"),
        *((", ", _coloured(review)) if review else ()),
        ":",
    )
    body = f"{note['body']}{_cut(note, 'body_truncated')}"
    yield Text("\n".join(f"{indent}  {line}" for line in body.splitlines()))


def _where(position: Row | None) -> Iterator[str]:
    if position is None:
        return
    path = position["path"] or position["old_path"] or ""
    line = position["line"] or position["old_line"]
    yield f"{path}:{line}" if line else path


def _marks(note: Row) -> Iterator[str]:
    if note["system"]:
        yield "system"
    if note["resolved"]:
        yield "resolved"
    if "minimized" in note:
        yield f"hidden: {note['minimized'].lower()}"


def _discussions(discussions: Row) -> Iterator[RenderableType]:
    for item in discussions["items"]:
        yield Text.assemble(_resolution(item), "  ", (item["id"], "dim"))
        left_out = item.get("notes_not_shown", 0)
        for place, note in enumerate(item["notes"]):
            if place == 1 and left_out:
                yield Text(f"  {left_out} more notes", style="yellow")
            yield from _note(note, "  ")


def _resolution(discussion: Row) -> Text:
    if not discussion["resolvable"]:
        return Text("comment")
    if discussion["resolved"]:
        return Text("resolved", style="bright_black")
    return Text("open", style="yellow")


def _pipelines(pipelines: Row) -> Iterator[RenderableType]:
    for item in pipelines["items"]:
        about = (item["ref"], item["sha"][:12], item["source"], item["web_url"])
        yield Text.assemble(_coloured(item["status"], 12), "  ".join(filter(None, about)))
        yield from map(_failed_job, item["failed_jobs"])
        if left_out := item.get("failed_jobs_not_shown"):
            yield Text(f"  {left_out} more failed jobs", style="yellow")


def _failed_job(job: Row) -> Text:
    allowed = " (allowed to)" if job["allow_failure"] else ""
    name = Text(f"  failed{allowed}: {job['name']}", style="yellow" if allowed else "red")
    return Text.assemble(name, "  ", (job["web_url"], "dim"))


_FACETS: dict[str, Callable[[Row], Iterable[RenderableType]]] = {
    "diffs": _diffs,
    "commits": _commits,
    "notes": _notes,
    "pipelines": _pipelines,
    "conflicts": _conflicts,
    "discussions": _discussions,
}
