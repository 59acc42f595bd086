"""The diffs facet → a row within its room. Every file is shown, named with its reason, or counted.

Names go before everything else. A patch comes whole, or its file is named as too large: a part of
a patch would read as the whole change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pullstate.domain.diff_exclusion import DiffExclusionPolicy, ExcludedPath, Reason
from pullstate.domain.merge_request import Diffs, FileDiff
from pullstate.domain.text import clean_patch
from pullstate.server.answers import Strings
from pullstate.server.merge_request_row import HIDDEN
from pullstate.server.room import Row, cost, fair, fill, size

STATUSES = ("added", "modified", "deleted", "renamed")
NOT_NAMED = {"not_named": 10**9}  # as long as the count gets


@dataclass(slots=True)
class Listed:
    """What is listed so far, and how many files are not."""

    files: list[Row]
    excluded: list[Row]
    not_named: int


def diffs(body: Diffs, detail: str, exclusion: DiffExclusionPolicy, room: int) -> Row:
    """The facet within `room` bytes, which are never fewer than its fields take without lists."""
    shown, excluded = _split(body, exclusion)
    about: Row = {"detail": detail, "stats": _stats(body)}
    rest = {"files": [], "excluded_files": [], "truncated": False}
    room -= size(about | rest | NOT_NAMED)
    if detail == "full_patch":
        listed = _with_patches(shown, excluded, room)
    else:
        listed = _with_counts(shown if detail == "stats" else [], excluded, room)
    unlisted = max(0, _files(body) - len(body.files)) if detail != "none" else 0
    missing = listed.not_named + unlisted
    return about | {
        "files": listed.files,
        "excluded_files": listed.excluded,
        "truncated": body.truncated or missing > 0,
        **({"not_named": missing} if missing else {}),
    }


def _split(
    body: Diffs, exclusion: DiffExclusionPolicy
) -> tuple[list[FileDiff], list[tuple[ExcludedPath, ...]]]:
    shown, excluded = [], []
    for file in body.files:
        decided = exclusion.decide(file)
        if decided is None:
            shown.append(file)
        else:
            excluded.append(decided.paths)
    return shown, excluded


def _files(body: Diffs) -> int:
    return max(len(body.files), body.total_files or 0)


def _stats(body: Diffs) -> Row:
    """Totals over every file, those left out too; the forge's own where it has them."""
    added = sum(file.additions for file in body.files)
    deleted = sum(file.deletions for file in body.files)
    theirs = (body.total_additions, body.total_deletions)
    stats: Row = {
        "additions": added if theirs[0] is None else theirs[0],
        "deletions": deleted if theirs[1] is None else theirs[1],
        "files": _files(body),
    }
    return stats | ({"at_least": True} if _undercounted(body) else {})


def _undercounted(body: Diffs) -> bool:
    """Whether there may be more: files that the forge does not list, lines that it does not count.

    It shows neither patch nor counts of a file that it finds too large.
    """
    if body.truncated and body.total_files is None:
        return True
    if body.total_additions is not None and body.total_deletions is not None:
        return False
    return body.truncated or any(map(_is_uncounted, body.files))


def _is_uncounted(file: FileDiff) -> bool:
    return file.too_large and not file.additions and not file.deletions


def _with_counts(
    shown: Sequence[FileDiff], excluded: Sequence[tuple[ExcludedPath, ...]], room: int
) -> Listed:
    files = [_file(file) for file in shown]
    names = [[_excluded(path) for path in paths] for paths in excluded]
    cost_of_names, cost_of_files = _cost_of_names(names), cost(files)
    if cost_of_names + cost_of_files <= room:
        return Listed(files, [row for rows in names for row in rows], 0)
    named = _fill_names(names, fair(room, cost_of_names, cost_of_files))
    listed = fill(files, room - _cost_of_names(named))
    not_named = len(files) - len(listed) + len(names) - len(named)
    return Listed(listed, [row for rows in named for row in rows], not_named)


def _fill_names(names: Sequence[list[Row]], room: int) -> list[list[Row]]:
    """The first files all of whose names fit."""
    for count, rows in enumerate(names):
        room -= cost(rows)
        if room < 0:
            return list(names[:count])
    return list(names)


def _cost_of_names(names: Sequence[list[Row]]) -> int:
    return sum(map(cost, names))


def _with_patches(
    shown: Sequence[FileDiff], excluded: Sequence[tuple[ExcludedPath, ...]], room: int
) -> Listed:
    """Files with their patches while there is room, in their order; the others are named."""
    names = [[_excluded(path) for path in paths] for paths in excluded]
    named = _fill_names(names, fair(room, _cost_of_names(names), room))
    room -= _cost_of_names(named)
    files, dropped = _patched(shown, room)
    named_too = fill(dropped, room - cost(files))
    not_named = len(names) - len(named) + len(dropped) - len(named_too)
    return Listed(files, [row for rows in named for row in rows] + named_too, not_named)


def _patched(shown: Sequence[FileDiff], room: int) -> tuple[list[Row], list[Row]]:
    """Files with patches, and the names of those without room for theirs.

    Room for every name is set aside first, and goes to the patch of a file that is shown; where
    the names alone would take all of it, they get half.
    """
    names = [_excluded(ExcludedPath(file.path, Reason.TOO_LARGE)) for file in shown]
    all_named = cost(names) <= room
    left = room - cost(names) if all_named else room // 2
    files, dropped = [], []
    for file, name in zip(shown, names, strict=True):
        budget = left + (size(name) + 1 if all_named else 0)
        patched = _file_with_patch(file, budget)
        if patched is None:
            dropped.append(name)
        else:
            files.append(patched)
            left = budget - size(patched) - 1
    return files, dropped


def _file_with_patch(file: FileDiff, room: int) -> Row | None:
    """A file and its whole patch; None where that does not fit, or where lines changed and the
    forge shows none."""
    if file.patch is None and (file.additions or file.deletions):
        return None
    if len(file.patch or "") > room:
        return None
    shown = _file(file)
    if file.patch is not None:
        patch = clean_patch(file.patch)
        shown["patch"] = patch.text
        if patch.hidden:
            shown[HIDDEN] = shown.get(HIDDEN, 0) + patch.hidden
    return shown if size(shown) < room else None


def _file(file: FileDiff) -> Row:
    text = Strings()
    shown: Row = {"path": text.line(file.path)}
    if file.old_path and file.old_path != file.path:
        shown["old_path"] = text.line(file.old_path)
    status = file.status if file.status in STATUSES else "modified"
    shown |= {"status": status, "additions": file.additions, "deletions": file.deletions}
    shown |= text.count(HIDDEN)
    return shown


def _excluded(path: ExcludedPath) -> Row:
    text = Strings()
    return {"path": text.line(path.path), "reason": path.reason.value} | text.count(HIDDEN)
