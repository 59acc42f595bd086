"""The world's records in the shapes of GitLab's REST API, as its version and edition have them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from tests.simulators.gitlab import mergeability
from tests.simulators.gitlab.model import (
    Commit,
    DiffVersion,
    Discussion,
    FileDiff,
    Job,
    MergeRequest,
    Note,
    Pipeline,
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
class Entities:
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

    def merge_request(self, mr: MergeRequest) -> Json:
        """A row of the list (`MergeRequestBasic`)."""
        full = f"{mr.project.path}!{mr.iid}"
        notes = [n for d in mr.discussions for n in d.notes if not n.system]
        return {
            "id": mr.id,
            "iid": mr.iid,
            "project_id": mr.project.id,
            "title": mr.title,
            "description": mr.description,
            "state": mr.state,
            "created_at": stamp(mr.created_at),
            "updated_at": stamp(mr.updated_at),
            "merged_by": self.user(mr.merged_by),
            **({"merge_user": self.user(mr.merged_by)} if self.since("merge_user") else {}),
            "merged_at": stamp(mr.merged_at),
            "closed_by": self.user(mr.closed_by),
            "closed_at": stamp(mr.closed_at),
            "target_branch": mr.target_branch,
            "source_branch": mr.source_branch,
            "user_notes_count": len(notes),
            "upvotes": 0,
            "downvotes": 0,
            "author": self.user(mr.author),
            "assignees": [self.user(each) for each in mr.assignees],
            "assignee": self.user(mr.assignees[0]) if mr.assignees else None,
            "reviewers": [self.user(self.world.user(name)) for name in mr.reviewers],
            "source_project_id": mr.source_project.id if mr.source_project else None,
            "target_project_id": mr.project.id,
            "labels": sorted(mr.labels),
            **({"draft": mr.draft} if self.since("draft") else {}),
            "work_in_progress": mr.draft,
            "milestone": None,
            "merge_when_pipeline_succeeds": False,
            "merge_status": mergeability.public_merge_status(mr),
            **(
                {"detailed_merge_status": mergeability.detailed(mr)}
                if self.since("detailed_merge_status")
                else {}
            ),
            **({"merge_after": None} if self.since("merge_after") else {}),
            "sha": mr.sha,
            "merge_commit_sha": mr.merge_commit_sha,
            "squash_commit_sha": None,
            "discussion_locked": None,
            "should_remove_source_branch": None,
            "force_remove_source_branch": True,
            **({"prepared_at": stamp(mr.prepared_at)} if self.since("prepared_at") else {}),
            "reference": f"!{mr.iid}",
            "references": {"short": f"!{mr.iid}", "relative": f"!{mr.iid}", "full": full},
            "web_url": self.web(mr.project, "merge_requests", mr.iid),
            "squash": False,
            "task_completion_status": {"count": 0, "completed_count": 0},
            "has_conflicts": mr.merge_status == "cannot_be_merged",
            "blocking_discussions_resolved": mergeability.discussions_resolved(mr),
            **({"approvals_before_merge": None} if self.world.edition == "ee" else {}),
            **({"imported": False, "imported_from": "none"} if self.since("imported") else {}),
        }

    def whole_merge_request(self, mr: MergeRequest, sees_pipelines: bool) -> Json:
        """A single one; without the right to read pipelines the keys about them are absent."""
        whole = {
            **self.merge_request(mr),
            "subscribed": False,
            "changes_count": mr.changes_count or (str(len(mr.diffs)) if mr.diffs else None),
            "first_deployed_to_production_at": None,
            "diff_refs": {
                "base_sha": mr.base_sha,
                "head_sha": mr.sha,
                "start_sha": mr.start_sha,
            },
            "merge_error": mr.merge_error,
            "first_contribution": False,
            "user": {"can_merge": True},
        }
        if sees_pipelines:
            head = mr.head_pipeline
            whole["pipeline"] = self.pipeline(head) if head else None
            whole["head_pipeline"] = self.whole_pipeline(head) if head else None
        elif not self.world.hides_refused_pipelines:
            whole["pipeline"] = whole["head_pipeline"] = None
        return whole

    def pipeline(self, pipeline: Pipeline) -> Json:
        return {
            "id": pipeline.id,
            "iid": pipeline.iid,
            "project_id": pipeline.project.id,
            "sha": pipeline.sha,
            "ref": pipeline.ref,
            "status": pipeline.status,
            "source": pipeline.source,
            "created_at": stamp(pipeline.created_at),
            "updated_at": stamp(pipeline.updated_at),
            "web_url": self.web(pipeline.project, "pipelines", pipeline.id),
        }

    def whole_pipeline(self, pipeline: Pipeline) -> Json:
        return {
            **self.pipeline(pipeline),
            "before_sha": "0" * 40,
            "tag": False,
            "yaml_errors": pipeline.yaml_errors,
            "user": self.user(pipeline.user),
            "started_at": stamp(pipeline.started_at),
            "finished_at": stamp(pipeline.finished_at),
            "committed_at": None,
            "duration": 0 if pipeline.finished_at else None,
            "queued_duration": None,
            "coverage": None,
            "detailed_status": {
                "icon": f"status_{pipeline.status}",
                "text": pipeline.status,
                "label": pipeline.status,
                "group": pipeline.status,
                "tooltip": pipeline.status,
                "has_details": True,
                "details_path": f"/{pipeline.project.path}/-/pipelines/{pipeline.id}",
                "illustration": None,
            },
        }

    def job(self, job: Job, pipeline: Pipeline) -> Json:
        return {
            "id": job.id,
            "status": job.status,
            "stage": job.stage,
            "name": job.name,
            "ref": pipeline.ref,
            "tag": False,
            "coverage": None,
            "allow_failure": job.allow_failure,
            "created_at": stamp(job.created_at),
            "started_at": stamp(job.started_at),
            "finished_at": stamp(job.finished_at),
            "duration": None,
            "user": self.user(pipeline.user),
            "commit": {"id": pipeline.sha, "short_id": pipeline.sha[:8]},
            "pipeline": self.pipeline(pipeline),
            **({"failure_reason": job.failure_reason} if job.failure_reason else {}),
            "web_url": self.web(pipeline.project, "jobs", job.id),
            "artifacts": [],
            "runner": None,
        }

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
