"""File diffs as GitLab's API gives them: hunks without the `---` and `+++` lines."""

from __future__ import annotations

from tests.simulators.gitlab.model import FileDiff


def hunk(removed: list[str], added: list[str], at: int = 1) -> str:
    """One hunk without context lines."""
    head = f"@@ -{at if removed else 0},{len(removed)} +{at if added else 0},{len(added)} @@\n"
    return head + "".join(f"-{line}\n" for line in removed) + "".join(f"+{x}\n" for x in added)


def _lines(prefix: str, count: int) -> list[str]:
    return [f"{prefix} {number}" for number in range(1, count + 1)]


def modified(path: str, plus: int = 1, minus: int = 1, **more: bool) -> FileDiff:
    text = hunk(_lines("old", minus), _lines("new", plus))
    return FileDiff(path, path, text, additions=plus, deletions=minus, **more)


def added(path: str, lines: int = 1, **more: bool) -> FileDiff:
    text = hunk([], _lines("line", lines))
    return FileDiff(path, path, text, new_file=True, a_mode="0", additions=lines, **more)


def deleted(path: str, lines: int = 1, **more: bool) -> FileDiff:
    text = hunk(_lines("line", lines), [])
    return FileDiff(path, path, text, deleted_file=True, b_mode="0", deletions=lines, **more)


def renamed(old: str, new: str, plus: int = 0, minus: int = 0, **more: bool) -> FileDiff:
    text = hunk(_lines("old", minus), _lines("new", plus)) if plus or minus else ""
    return FileDiff(new, old, text, renamed_file=True, additions=plus, deletions=minus, **more)


def binary(path: str, *, new_file: bool = False) -> FileDiff:
    """What GitLab says of a file that git holds for binary."""
    before = "/dev/null" if new_file else f"a/{path}"
    return FileDiff(path, path, f"Binary files {before} and b/{path} differ\n", new_file=new_file)


def collapsed(path: str, plus: int = 3000, minus: int = 0) -> FileDiff:
    """Over a tenth of the size limits: the text stays away, and can be had on demand."""
    text = hunk(_lines("old", minus), _lines("new", plus))
    return FileDiff(path, path, text, collapsed=True, additions=plus, deletions=minus)


def too_large(path: str, plus: int = 50_000) -> FileDiff:
    """Over the size limit: the text is not to be had."""
    return FileDiff(path, path, "", too_large=True, additions=plus)


def sized(path: str, size: int) -> FileDiff:
    """A new file whose diff is at least `size` bytes of text, sent in full."""
    line = "x" * 99
    count = -(-size // (len(line) + 2))
    return FileDiff(
        path, path, hunk([], [line] * count), new_file=True, a_mode="0", additions=count
    )
