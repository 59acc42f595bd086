"""Which version of GitLab, and which edition, says what.

Sources: the notes "introduced in" of GitLab's API pages and of its GraphQL reference.
"""

from __future__ import annotations

from graphql import (
    DocumentNode,
    EnumTypeDefinitionNode,
    ObjectTypeDefinitionNode,
    TypeDefinitionNode,
)

REST = {
    "draft": "14.8",
    "merge_user": "14.7",
    "detailed_merge_status": "15.6",
    "diffs": "15.7",
    "metadata": "15.2",
    "prepared_at": "16.1",
    "imported": "16.10",
    "generated_file": "16.9",
    "merge_after": "17.5",
    "collapsed": "18.4",
}
"""Field or endpoint → the first version that has it."""

GRAPHQL = {
    "MergeRequest.detailedMergeStatus": "15.6",
    "MergeRequest.mergeabilityChecks": "16.5",
    "MergeRequest.preparedAt": "16.1",
    "MergeRequest.changeRequesters": "17.2",
    "MergeRequest.autoMergeEnabled": "15.10",
    "MergeRequestReviewState.REQUESTED_CHANGES": "16.9",
    "MergeRequestReviewState.APPROVED": "16.9",
    "MergeRequestReviewState.UNAPPROVED": "16.10",
    "MergeRequestReviewState.REVIEW_STARTED": "17.0",
    "DetailedMergeStatus.APPROVALS_SYNCING": "17.3",
    "DetailedMergeStatus.REQUESTED_CHANGES": "16.10",
    "DetailedMergeStatus.NEED_REBASE": "16.4",
    "DetailedMergeStatus.CONFLICT": "16.4",
    "DetailedMergeStatus.COMMITS_STATUS": "16.11",
    "DetailedMergeStatus.MERGE_TIME": "17.5",
    "DetailedMergeStatus.LOCKED_PATHS": "16.11",
    "DetailedMergeStatus.LOCKED_LFS_FILES": "17.1",
    "DetailedMergeStatus.SECURITY_POLICIES_VIOLATIONS": "17.10",
    "DetailedMergeStatus.TITLE_NOT_MATCHING": "17.10",
}
"""`Type.field` or `Enum.VALUE` → the first version that has it."""

ENTERPRISE = frozenset(
    {
        "MergeRequest.approvalState",
        "MergeRequest.approvalsLeft",
        "MergeRequest.approvalsRequired",
        "MergeRequest.changeRequesters",
        "Project.onlyAllowMergeIfAllStatusChecksPassed",
    }
)
"""What the community edition's schema lacks."""


def number(version: str) -> tuple[int, int]:
    """`"16.11.2-ee"` → `(16, 11)`; `"17.x"` → `(17, 0)`."""
    major, minor, *_ = [*version.split("."), "0"]
    return int(major), int(minor) if minor.isdigit() else 0


def has(version: str, since: str) -> bool:
    return number(version) >= number(since)


def review_state(state: str | None, version: str) -> str | None:
    """What a version that does not know the state says instead."""
    if state is None or has(version, GRAPHQL.get(f"MergeRequestReviewState.{state}", "0.0")):
        return state
    return "UNREVIEWED" if state == "REVIEW_STARTED" else "REVIEWED"


def trim(document: DocumentNode, version: str, enterprise: bool) -> DocumentNode:
    """The schema as this version and edition publishes it."""
    kept = [
        _trimmed(node, version, enterprise) if isinstance(node, TypeDefinitionNode) else node
        for node in document.definitions
    ]
    return DocumentNode(definitions=tuple(kept))


def _trimmed(node: TypeDefinitionNode, version: str, enterprise: bool) -> TypeDefinitionNode:
    def stays(member: object) -> bool:
        name = f"{node.name.value}.{member.name.value}"  # type: ignore[attr-defined]
        return has(version, GRAPHQL.get(name, "0.0")) and (enterprise or name not in ENTERPRISE)

    if isinstance(node, ObjectTypeDefinitionNode):
        fields = tuple(field for field in node.fields or () if stays(field))
        return _with(node, fields=fields)
    if isinstance(node, EnumTypeDefinitionNode):
        values = tuple(value for value in node.values or () if stays(value))
        return _with(node, values=values)
    return node


def _with(node: TypeDefinitionNode, **changed: object) -> TypeDefinitionNode:
    attributes = {key: getattr(node, key) for key in node.keys}
    return type(node)(**{**attributes, **changed})
