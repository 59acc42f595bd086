"""All documents, and which of their fields a GitHub Enterprise Server may not know.

github.com knows all that is asked; a server is asked once what it has.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pullstate.forges import tailoring
from pullstate.forges.github import documents, facet_documents
from pullstate.forges.tailoring import tailored

__all__ = ["every_document", "introspection", "missing_from", "optional_fields", "tailored"]


def every_document() -> dict[str, str]:
    """All of them, those made for a number of things at one and at ten."""
    constants = {**vars(documents), **vars(facet_documents)}
    found = {
        name: text
        for name, text in constants.items()
        if name.isupper() and isinstance(text, str) and text.lstrip().startswith("query")
    }
    made = (documents.delta, documents.contexts, facet_documents.threads, facet_documents.comments)
    for make in made:
        found |= {f"{make.__name__} {count}": make(count) for count in (1, 10)}
    return found


def optional_fields() -> frozenset[str]:
    """Every `Type.field` (or `Union.Member`) that some document can do without."""
    return tailoring.optional_fields(every_document().values())


def introspection() -> str:
    """The question what a server has of the optional fields."""
    return tailoring.introspection(optional_fields())


def missing_from(answer: Mapping[str, Any]) -> frozenset[str]:
    """The optional fields that a server's answer to the introspection does not have."""
    return tailoring.missing_from(answer, optional_fields())
