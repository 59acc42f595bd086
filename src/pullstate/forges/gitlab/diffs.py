"""GitLab's file diffs → the domain: lines counted from the text, and what the text leaves out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pullstate.domain.merge_request import Diffs, FileDiff
from pullstate.forges.gitlab import facet_payloads

_BINARY = re.compile(r"\s*Binary files .* differ\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Totals:
    """What the forge counts: files, "1000+" of them perhaps, and lines, of each file too."""

    said: str = ""  # `changes_count`
    files: int | None = None  # counted apart
    additions: int | None = None
    deletions: int | None = None
    of_file: Mapping[str, tuple[int, int]] | None = None
    overflow: bool = False
    cut: bool = False  # more pages than we read

    @property
    def count(self) -> int | None:
        """The number of files, where it is one."""
        return int(self.said) if self.said.isdecimal() else self.files

    @property
    def capped_at(self) -> int:
        """Where the forge itself stopped counting; 0 where it did not."""
        counted = self.said.removesuffix("+")
        return int(counted) if self.said.endswith("+") and counted.isdecimal() else 0


def diffs(files: Iterable[facet_payloads.FileDiff], totals: Totals) -> Diffs:
    """Every file that was given; `truncated` where the forge shows fewer than there are."""
    made = tuple(_file(each, totals.of_file) for each in files)
    missing = totals.count is not None and len(made) < totals.count
    capped = bool(totals.capped_at) and len(made) <= totals.capped_at
    return Diffs(
        files=made,
        truncated=missing or capped or totals.overflow or totals.cut,
        total_files=max(totals.count, len(made)) if totals.count is not None else None,
        total_additions=totals.additions,
        total_deletions=totals.deletions,
    )


def needs_stats(files: Sequence[facet_payloads.FileDiff]) -> bool:
    """Whether the text of some file is missing without a plain reason, or lacks its lines."""
    return any(not each.diff and not _is_bare(each) for each in files)


def _is_bare(file: facet_payloads.FileDiff) -> bool:
    """A rename without a change of text, which the version says is all of it."""
    return bool(file.renamed_file) and file.collapsed is False and file.too_large is False


def _file(seen: facet_payloads.FileDiff, of_file: Mapping[str, tuple[int, int]] | None) -> FileDiff:
    """A file without text is collapsed or too large where it has lines all the same: versions
    before 18.4 do not say why the text is missing."""
    path, former = seen.new_path or seen.old_path, seen.old_path
    known = (of_file or {}).get(path)
    additions, deletions = known if known and not seen.diff else counted(seen.diff)
    left_out = not seen.diff and (additions + deletions) > 0
    binary = bool(_BINARY.fullmatch(seen.diff))
    return FileDiff(
        path=path,
        old_path=former if former and former != path else None,
        status=_status(seen),
        additions=additions,
        deletions=deletions,
        patch=None if binary or not seen.diff else seen.diff,
        generated=bool(seen.generated_file),
        binary=binary,
        too_large=bool(seen.collapsed) or bool(seen.too_large) or left_out,
    )


def _status(seen: facet_payloads.FileDiff) -> str:
    if seen.new_file:
        return "added"
    if seen.deleted_file:
        return "deleted"
    return "renamed" if seen.renamed_file else "modified"


def counted(diff: str) -> tuple[int, int]:
    """Added and removed lines of one file's diff. Within a hunk every line begins with its mark,
    so that a removed `-- x` is no header."""
    additions = deletions = 0
    in_hunk = False
    for line in diff.split("\n"):
        if line.startswith("@@"):
            in_hunk = True
        elif in_hunk:
            additions += line.startswith("+")
            deletions += line.startswith("-")
    return additions, deletions
