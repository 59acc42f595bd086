"""Notes, threads, approvals and reviewers."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tests.simulators.gitlab.model import Approval, Discussion, MergeRequest, Note, User

if TYPE_CHECKING:
    from tests.simulators.gitlab.world import World

Position = dict[str, Any]


def _line_code(path: str, old: int | None, new: int | None) -> str:
    digest = hashlib.sha1(path.encode(), usedforsecurity=False).hexdigest()
    return f"{digest}_{old or 0}_{new or 0}"


def _end_of_range(path: str, old: int | None, new: int | None) -> dict[str, Any]:
    kind = "new" if old is None else "old" if new is None else None
    code = _line_code(path, old, new)
    return {"line_code": code, "type": kind, "old_line": old, "new_line": new}


def position(
    mr: MergeRequest,
    path: str | None,
    *,
    old_path: str | None = None,
    new_line: int | None = None,
    old_line: int | None = None,
    first: tuple[int | None, int | None] | None = None,
    kind: str = "text",
    **more: Any,
) -> Position:
    """Where a diff note stands, on the current diff of `mr`.

    `kind` is `text`, `file` or `image` (with `width`, `height`, `x`, `y`). `first` is the
    (old, new) line on which a note over several lines begins. A removed line has `old_line` only.
    """
    place: Position = {
        "base_sha": mr.base_sha,
        "start_sha": mr.start_sha,
        "head_sha": mr.sha,
        "old_path": path if old_path is None else old_path,
        "new_path": path,
        "position_type": kind,
    }
    if kind == "text":
        start = first or (old_line, new_line)
        name = path or old_path or ""
        ends = {
            "start": _end_of_range(name, *start),
            "end": _end_of_range(name, old_line, new_line),
        }
        place |= {"old_line": old_line, "new_line": new_line, "line_range": ends}
    return {**place, **more}


class Reviewing:
    """Acts of reviewers; a part of `World`. Each leaves a note, and so touches `updated_at`."""

    def note(
        self: World,
        mr: MergeRequest,
        body: str = "Looks odd.",
        author: User | str | None = None,
        *,
        on: Position | None = None,
        thread: bool = False,
        internal: bool = False,
    ) -> Discussion:
        """A comment; with `on` or `thread` it starts a resolvable thread."""
        with self.lock:
            discussion = Discussion(self.sha("discussion", mr.id), not (on or thread))
            kind = "DiffNote" if on else "DiscussionNote" if thread else None
            note = self._note(body, author, type=kind, position=on, internal=internal)
            note.resolvable = bool(on or thread)
            discussion.notes.append(note)
            mr.discussions.append(discussion)
            self.touch(mr)
            return discussion

    def reply(
        self: World,
        mr: MergeRequest,
        discussion: Discussion,
        body: str = "Done.",
        author: User | str | None = None,
    ) -> Note:
        with self.lock:
            first = discussion.notes[0]
            kind = "DiffNote" if first.type == "DiffNote" else "DiscussionNote"
            note = self._note(body, author, type=kind, position=first.position)
            note.resolvable = first.resolvable
            discussion.individual_note = False
            discussion.notes.append(note)
            self.touch(mr)
            return note

    def system_note(
        self: World, mr: MergeRequest, body: str, author: User | str | None = None
    ) -> Note:
        with self.lock:
            note = self._note(body, author, system=True)
            mr.discussions.append(Discussion(self.sha("system", mr.id), True, [note]))
            self.touch(mr)
            return note

    def resolve(
        self: World,
        mr: MergeRequest,
        discussion: Discussion,
        by: User | str | None = None,
        *,
        resolved: bool = True,
        notes: Sequence[Note] | None = None,
    ) -> None:
        """Resolve a thread, or only some of its notes; `resolved=False` opens it again."""
        with self.lock:
            for note in notes if notes is not None else discussion.notes:
                if note.resolvable and note.resolved is not resolved:
                    note.resolved = resolved
                    note.resolved_by = self._bearer(by) if resolved else None
                    note.resolved_at = self.now if resolved else None
                    note.updated_at = self.now
            self.touch(mr)

    def edit_note(self: World, mr: MergeRequest, note: Note, body: str) -> None:
        with self.lock:
            note.body, note.updated_at = body, self.now
            self.touch(mr)

    def delete_note(self: World, mr: MergeRequest, note: Note) -> None:
        """A thread goes with its last note."""
        with self.lock:
            for discussion in mr.discussions:
                discussion.notes = [each for each in discussion.notes if each is not note]
            mr.discussions = [each for each in mr.discussions if each.notes]
            self.touch(mr)

    def ask_review(self: World, mr: MergeRequest, *usernames: str) -> None:
        """Request a review, for the first time or again."""
        with self.lock:
            for username in usernames:
                mr.reviewers[self.user(username).username] = "UNREVIEWED"
            mr.updated_at = self.now

    def approve(self: World, mr: MergeRequest, by: User | str, *, leaves_note: bool = True) -> None:
        """An approval has no touch of its own: it moves `updated_at` by its system note, which
        newer versions write in a job of its own; `leaves_note=False` is before that job."""
        with self.lock:
            user = self._bearer(by)
            if all(approval.user is not user for approval in mr.approvals):
                mr.approvals.append(Approval(user, self.now))
            self._review(mr, user, "APPROVED")
            mr.change_requesters = [each for each in mr.change_requesters if each is not user]
            if leaves_note:
                self.system_note(mr, "approved this merge request", user)

    def unapprove(self: World, mr: MergeRequest, by: User | str) -> None:
        with self.lock:
            user = self._bearer(by)
            mr.approvals = [approval for approval in mr.approvals if approval.user is not user]
            self._review(mr, user, "UNAPPROVED")
            self.system_note(mr, "unapproved this merge request", user)

    def request_changes(
        self: World, mr: MergeRequest, by: User | str, *, blocks: bool = True
    ) -> None:
        """`blocks`: the enterprise edition's rule that such a request holds the merge up."""
        with self.lock:
            user = self._bearer(by)
            mr.approvals = [approval for approval in mr.approvals if approval.user is not user]
            mr.reviewers[user.username] = "REQUESTED_CHANGES"
            if blocks and user not in mr.change_requesters:
                mr.change_requesters.append(user)
            self.system_note(mr, "requested changes", user)

    def review(self: World, mr: MergeRequest, by: User | str, state: str = "REVIEWED") -> None:
        """A review was submitted or begun without a verdict; it leaves no note."""
        with self.lock:
            mr.reviewers[self._bearer(by).username] = state

    def _review(self: World, mr: MergeRequest, user: User, state: str) -> None:
        if user.username in mr.reviewers:
            mr.reviewers[user.username] = state

    def _note(self: World, body: str, author: User | str | None, **more: Any) -> Note:
        number, now = self.number("note", 70_001), self.now
        return Note(number, body, self._bearer(author), now, now, **more)
