"""What is read of one merge request beyond its facts: discussions, diffs, commits, pipelines."""

from __future__ import annotations

from pydantic import Field

from pullstate.forges.gitlab.payloads import DiffRefs, Job, User
from pullstate.forges.gitlab.values import (
    Connection,
    Flag,
    Moment,
    Node,
    Number,
    Payload,
    Record,
    Records,
    Text,
    Word,
)


class LineEnd(Payload):
    """One end of a range of lines. `line_code` is `FILE_OLD_NEW`, with or without the numbers
    beside it."""

    line_code: Text = ""
    type: Word = None  # "new", "old"; null for a line that did not change, or by older versions
    old_line: Number = None
    new_line: Number = None


class LineRange(Payload):
    """The lines that a comment is about; the codes alone are version 13.2's."""

    start: Record[LineEnd] = None
    end: Record[LineEnd] = None
    start_line_code: Text = ""
    end_line_code: Text = ""


class Position(DiffRefs):
    """Where on a diff a note stands, and on which diff."""

    old_path: Word = None
    new_path: Word = None
    position_type: Word = None
    old_line: Number = None
    new_line: Number = None
    line_range: Record[LineRange] = None


class Note(Payload):
    id: Number = None
    type: Word = None
    body: Text = ""
    author: Record[User] = None
    created_at: Moment = None
    last_edited_at: Moment = None
    system: Flag = None
    resolvable: Flag = None
    resolved: Flag = None
    resolved_by: Record[User] = None
    resolved_at: Moment = None
    position: Record[Position] = None
    original_position: Record[Position] = None


class Discussion(Payload):
    id: Text
    individual_note: Flag = None
    notes: Records[Note] = Field(default_factory=list)


class OnDiff(Node):
    """A merge request's number, and the diff that it has now."""

    iid: int
    diff_refs: Record[DiffRefs] = None


class FileDiff(Payload):
    """One file of a diff; `diff` begins at its first hunk."""

    old_path: Text = ""
    new_path: Text = ""
    diff: Text = ""
    new_file: Flag = None
    renamed_file: Flag = None
    deleted_file: Flag = None
    generated_file: Flag = None
    collapsed: Flag = None
    too_large: Flag = None


class Changes(Payload):
    """REST's answer of versions before 15.7: a merge request with its files."""

    changes: Records[FileDiff] = Field(default_factory=list)
    changes_count: Text = ""
    overflow: Flag = None


class Commit(Payload):
    id: Text = ""
    title: Text = ""
    message: Text = ""
    author_name: Text = ""
    authored_date: Moment = None
    committed_date: Moment = None
    created_at: Moment = None
    web_url: Text = ""


class ConflictingFile(Payload):
    old_path: Text = ""
    new_path: Text = ""


class ConflictingFiles(Payload):
    files: Records[ConflictingFile] = Field(default_factory=list)


class FileStats(Node):
    """The lines of one file, counted where its text is not to be had."""

    path: Text = ""
    additions: Number = None
    deletions: Number = None


class StatsSummary(Node):
    additions: Number = None
    deletions: Number = None
    file_count: Number = None


class DiffStats(Node):
    diff_stats: Records[FileStats] = Field(default_factory=list)
    diff_stats_summary: Record[StatsSummary] = None


class JobsOfPipeline(Node):
    id: Text = ""
    jobs: Record[Connection[Job]] = None

    @property
    def number(self) -> int:
        """The number at the end of a global id, which is REST's."""
        number = self.id.rpartition("/")[2]
        return int(number) if number.isdecimal() else 0


class PipelineJobs(Node):
    pipelines: Record[Connection[JobsOfPipeline]] = None
