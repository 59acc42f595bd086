"""GitHub's REST payloads: the fields that programs read, in the shapes that they have."""

from __future__ import annotations

from typing import Any

from tests.simulators.github import verdicts
from tests.simulators.github.checks import Commit
from tests.simulators.github.connections import timestamp
from tests.simulators.github.conversation import IssueComment, Review, ReviewComment
from tests.simulators.github.model import (
    Account,
    ChangedFile,
    PullRequest,
    Repository,
    Team,
)

Payload = dict[str, Any]
STATUS_OF_CHANGE = {"DELETED": "removed"}
MOST_LINES_OF_A_PATCH = 20_000  # a larger one GitHub leaves out


def account(who: Account, api: str) -> Payload:
    """A deleted account is `ghost`, everywhere."""
    if who.gone:
        return {"login": "ghost", "id": 10137, "node_id": "MDQ6VXNlcjEwMTM3", "type": "User"}
    return {
        "login": who.rest_login,
        "id": who.database_id,
        "node_id": who.id,
        "url": f"{api}/users/{who.rest_login}",
        "html_url": who.url,
        "type": who.typename,
        "site_admin": False,
    }


def repository(found: Repository, api: str) -> Payload:
    address = f"{api}/repos/{found.name_with_owner}"
    return {
        "id": found.database_id,
        "node_id": found.id,
        "name": found.name,
        "full_name": found.name_with_owner,
        "private": found.is_private,
        "owner": account(found.owner, api),
        "html_url": found.url,
        "url": address,
        "pulls_url": f"{address}/pulls{{/number}}",
        "fork": found.is_fork,
        "created_at": timestamp(found.created_at),
        "default_branch": found.default_branch,
        "visibility": "private" if found.is_private else "public",
        "has_pull_requests": found.pull_requests_enabled,
        "archived": False,
        "disabled": False,
    }


def pull_request(found: PullRequest, api: str) -> Payload:
    """As an item of a list: without mergeability and counts."""
    address = f"{api}/repos/{found.repository.name_with_owner}/pulls/{found.number}"
    users = [each for each in found.review_requests if isinstance(each, Account)]
    teams = [each for each in found.review_requests if isinstance(each, Team)]
    return {
        "url": address,
        "id": found.database_id,
        "node_id": found.id,
        "html_url": found.url,
        "number": found.number,
        "state": "open" if found.state == "OPEN" else "closed",
        "locked": False,
        "title": found.title,
        "user": account(found.author, api),
        "body": found.body or None,
        "created_at": timestamp(found.created_at),
        "updated_at": timestamp(found.updated_at),
        "closed_at": timestamp(found.closed_at),
        "merged_at": timestamp(found.merged_at),
        "merge_commit_sha": found.merge_commit.oid if found.merge_commit else None,
        "assignees": [],
        "requested_reviewers": [account(each, api) for each in users],
        "requested_teams": [team(each) for each in teams],
        "labels": [{"id": e.database_id, "name": e.name, "color": e.color} for e in found.labels],
        "draft": found.is_draft,
        "head": _head(found, api),
        "base": _base(found, api),
        "author_association": found.author_association,
        "auto_merge": None,
    }


def whole_pull_request(found: PullRequest, api: str) -> Payload:
    """By itself: with mergeability, which this asks for, and counts."""
    said = verdicts.mergeable(found)
    threads = found.threads
    return {
        **pull_request(found, api),
        "merged": found.state == "MERGED",
        "mergeable": None if said == "UNKNOWN" else said == "MERGEABLE",
        "rebaseable": None if said == "UNKNOWN" else said == "MERGEABLE",
        "mergeable_state": verdicts.merge_state(found).lower(),
        "merged_by": account(found.merged_by, api) if found.merged_by else None,
        "comments": len(found.comments),
        "review_comments": sum(len(each.comments) for each in threads),
        "commits": len(found.commits),
        "additions": found.additions,
        "deletions": found.deletions,
        "changed_files": found.changed_files,
    }


def _head(found: PullRequest, api: str) -> Payload:
    source = found.head_repository
    return {
        "label": f"{found.head_owner.login}:{found.head_ref_name}",
        "ref": found.head_ref_name,
        "sha": found.head.oid,
        "user": None if found.head_owner.gone else account(found.head_owner, api),
        "repo": repository(source, api) if source else None,
    }


def _base(found: PullRequest, api: str) -> Payload:
    owner = found.repository.owner
    return {
        "label": f"{owner.login}:{found.base_ref_name}",
        "ref": found.base_ref_name,
        "sha": found.base_ref_oid,
        "user": account(owner, api),
        "repo": repository(found.repository, api),
    }


def team(found: Team) -> Payload:
    return {
        "id": found.database_id,
        "node_id": found.id,
        "name": found.name,
        "slug": found.slug,
        "html_url": found.url,
    }


def review(found: Review, api: str) -> Payload:
    """A pending one has no `submitted_at`."""
    said = {
        "id": found.database_id,
        "node_id": found.id,
        "user": account(found.author, api),
        "body": found.body,
        "state": found.state,
        "html_url": found.url,
        "author_association": found.author_association,
        "submitted_at": timestamp(found.submitted_at),
        "commit_id": found.commit.oid if found.commit else None,
    }
    if found.submitted_at is None:
        del said["submitted_at"]
    return said


def _said(found: IssueComment | ReviewComment, api: str) -> Payload:
    return {
        "id": found.database_id,
        "node_id": found.id,
        "user": account(found.author, api),
        "body": found.body,
        "created_at": timestamp(found.created_at),
        "updated_at": timestamp(found.updated_at),
        "html_url": found.url,
        "author_association": found.author_association,
    }


def issue_comment(found: IssueComment, api: str) -> Payload:
    return _said(found, api)


def review_comment(found: ReviewComment, api: str) -> Payload:
    thread, first = found.thread, found.reply_to
    return {
        **_said(found, api),
        "pull_request_review_id": found.review.database_id,
        "path": thread.path,
        "line": thread.line,
        "start_line": thread.start_line,
        "original_line": thread.original_line,
        "original_start_line": thread.original_start_line,
        "side": thread.diff_side,
        "start_side": thread.start_diff_side,
        "subject_type": thread.subject_type.lower(),
        "commit_id": thread.pull_request.head.oid,
        **({"in_reply_to_id": first.database_id} if first else {}),
    }


def changed_file(found: ChangedFile, api: str) -> Payload:
    shown = {
        "filename": found.path,
        "status": STATUS_OF_CHANGE.get(found.change_type, found.change_type.lower()),
        "additions": found.additions,
        "deletions": found.deletions,
        "changes": found.additions + found.deletions,
    }
    if found.previous_path:
        shown["previous_filename"] = found.previous_path
    patch = _patch(found) if found.patch is None else found.patch
    return shown | ({"patch": patch} if patch else {})


def _patch(found: ChangedFile) -> str:
    """A hunk with as many lines as were counted; none of a file without any, or of a large one."""
    minus, plus = found.deletions, found.additions
    if not 0 < plus + minus <= MOST_LINES_OF_A_PATCH:
        return ""
    head = f"@@ -{min(minus, 1)},{minus} +{min(plus, 1)},{plus} @@"
    removed = (f"-old line {number}" for number in range(1, minus + 1))
    return "\n".join((head, *removed, *(f"+new line {number}" for number in range(1, plus + 1))))


def commit(found: Commit, api: str) -> Payload:
    at = timestamp(found.committed_date)
    name = found.author.login if found.author else "Somebody"
    signed = {"name": name, "email": f"{name}@example.com", "date": at}
    return {
        "sha": found.oid,
        "node_id": found.id,
        "html_url": found.url,
        "commit": {"message": found.message, "author": signed, "committer": signed},
        "author": account(found.author, api) if found.author else None,
    }
