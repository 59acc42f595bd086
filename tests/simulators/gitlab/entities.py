"""Merge requests, pipelines and jobs in the shapes of GitLab's REST API.

What a field is called, and whether it is there, follows the world's version and edition.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.simulators.gitlab import mergeability
from tests.simulators.gitlab.model import Job, MergeRequest, Pipeline
from tests.simulators.gitlab.shapes import Json, Shapes, stamp


@dataclass(frozen=True, slots=True)
class Entities(Shapes):
    """Shapes for one request."""

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
                {"detailed_merge_status": mergeability.detailed(mr, self.world.version)}
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
