"""All documents, and which of their fields a version or edition of GitLab may not know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pullstate.forges import tailoring
from pullstate.forges.gitlab.documents import DOCUMENTS

OPTIONAL = tailoring.optional_fields(DOCUMENTS.values())


def introspection() -> str:
    """The question what an install has of the optional fields."""
    return tailoring.introspection(OPTIONAL)


def missing_from(answer: Mapping[str, Any]) -> frozenset[str]:
    """The optional fields that an install's answer to the introspection does not have."""
    return tailoring.missing_from(answer, OPTIONAL)
