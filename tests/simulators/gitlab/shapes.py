"""The smaller records in the shapes of GitLab's REST API, as its version has them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from tests.simulators.gitlab.model import (
    Commit,
    DiffVersion,
    Discussion,
    FileDiff,
    MergeRequest,
    Note,
    Project,
    User,
)
from tests.simulators.gitlab.versions import REST, has
from tests.simulators.gitlab.world import World

Json = dict[str, Any]


def stamp(at: datetime | None) -> str | None:
    """Milliseconds and `Z`; the world keeps microseconds, as GitLab's database does."""
    if at is None:
        return None
    utc = at.astimezone(UTC)
    return f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond // 1000:03d}Z"


@dataclass(frozen=True, slots=True)
class Shapes:
    """Shapes for one request: `base` is the install's address with its subpath."""

    world: World
    base: str

    def since(self, name: str) -> bool:
        return has(self.world.version, REST[name])

    def user(self, user: User | None) -> Json | None:
        if user is None:
            return None
        return {
            "id": user.id,
            "username": user.username,
            "name": user.name,
            "state": user.state,
            "locked": False,
            "avatar_url": None,
            "web_url": f"{self.base}/{user.username}",
        }

    def project(self, project: Project) -> Json:
        url = self.web(project)
        parent = project.forked_from
        return {
            "id": project.id,
            "description": None,
            "name": project.name,
            "name_with_namespace": " / ".join(project.path.split("/")),
            "path": project.name,
            "path_with_namespace": project.path,
            "created_at": stamp(project.created_at),
            "default_branch": project.default_branch,
            "http_url_to_repo": f"{url}.git",
            "web_url": url,
            "visibility": project.visibility,
            "archived": project.archived,
            "namespace": {"full_path": project.namespace, "kind": "group"},
            "merge_requests_enabled": project.merge_requests_enabled,
            "merge_method": project.merge_method,
            "only_allow_merge_if_pipeline_succeeds": project.pipeline_must_succeed,
            "only_allow_merge_if_all_discussions_are_resolved": (
                project.discussions_must_be_resolved
            ),
            **({"forked_from_project": {"id": parent.id}} if parent else {}),
        }

    def web(self, project: Project, *more: object) -> str:
        path = "/".join(quote(part) for part in project.path.split("/"))
        tail = "".join(f"/{part}" for part in more)
        return f"{self.base}/{path}{'/-' + tail if tail else ''}"

    def note(self, note: Note, mr: MergeRequest) -> Json:
        shape: Json = {
            "id": note.id,
            "type": note.type,
            "body": note.body,
            "attachment": None,
            "author": self.user(note.author),
            "created_at": stamp(note.created_at),
            "updated_at": stamp(note.updated_at),
            "system": note.system,
            "noteable_id": mr.id,
            "noteable_type": "MergeRequest",
            "project_id": mr.project.id,
            **({"commit_id": None, "position": note.position} if note.position else {}),
            "resolvable": note.resolvable,
        }
        if note.resolvable:
            shape |= {"resolved": note.resolved, "resolved_by": self.user(note.resolved_by)}
            shape |= {"resolved_at": stamp(note.resolved_at)} if note.resolved else {}
        flags = {"confidential": note.internal, "internal": note.internal}
        return {**shape, **flags, "noteable_iid": mr.iid, "commands_changes": {}}

    def discussion(self, discussion: Discussion, mr: MergeRequest) -> Json:
        return {
            "id": discussion.id,
            "individual_note": discussion.individual_note,
            "notes": [self.note(note, mr) for note in discussion.notes],
        }

    def commit(self, commit: Commit, project: Project) -> Json:
        at = stamp(commit.at)
        return {
            "id": commit.id,
            "short_id": commit.id[:8],
            "created_at": at,
            "parent_ids": [],
            "title": commit.title,
            "message": commit.message,
            "author_name": commit.author_name,
            "author_email": commit.author_email,
            "authored_date": at,
            "committer_name": commit.author_name,
            "committer_email": commit.author_email,
            "committed_date": at,
            "trailers": {},
            "extended_trailers": {},
            "web_url": self.web(project, "commit", commit.id),
        }

    def file_diff(self, file: FileDiff, raw: bool = False) -> Json:
        """A collapsed or too large file has no text; versions before 18.4 do not say why."""
        hidden = file.too_large or (file.collapsed and not raw)
        shape: Json = {
            "diff": "" if hidden else file.diff,
            "new_path": file.new_path,
            "old_path": file.old_path,
            "a_mode": file.a_mode,
            "b_mode": file.b_mode,
            "new_file": file.new_file,
            "renamed_file": file.renamed_file,
            "deleted_file": file.deleted_file,
        }
        if self.since("generated_file"):
            shape["generated_file"] = file.generated_file
        if self.since("collapsed"):
            shape |= {"collapsed": file.collapsed, "too_large": file.too_large}
        return shape

    def version(self, version: DiffVersion, mr: MergeRequest) -> Json:
        return {
            "id": version.id,
            "head_commit_sha": version.head_sha,
            "base_commit_sha": version.base_sha,
            "start_commit_sha": version.start_sha,
            "created_at": stamp(version.created_at),
            "merge_request_id": mr.id,
            "state": version.state,
            "real_size": version.size,
        }
