"""Documents cut to what a server knows: one unknown field fails a whole query.

github.com knows all that is asked; a GitHub Enterprise Server is asked once what it has.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from pullstate.forges.github import documents, facet_documents

_OPTIONAL = re.compile(r"\s*#\s*((?:\w+\.\w+\s*)+)$")


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
    return frozenset(
        name
        for document in every_document().values()
        for line in document.splitlines()
        if (found := _OPTIONAL.search(line))
        for name in found[1].split()
    )


def tailored(document: str, missing: Collection[str] = ()) -> str:
    """A document without the lines that ask for a missing field, and without comments."""
    kept = []
    for line in document.splitlines():
        found = _OPTIONAL.search(line)
        if not found or set(missing).isdisjoint(found[1].split()):
            kept.append(_OPTIONAL.sub("", line))
    return "\n".join(kept)


def introspection() -> str:
    """The question what there is of the optional fields, and of optional members of unions."""
    types = sorted({name.partition(".")[0] for name in optional_fields()})
    asked = " ".join(
        f'{name}: __type(name: "{name}") {{ fields {{ name }} possibleTypes {{ name }} }}'
        for name in types
    )
    return f"query Fields {{ {asked} }}"


def missing_from(answer: Mapping[str, Any]) -> frozenset[str]:
    """The optional fields that a server's answer to the introspection does not have."""
    return frozenset(
        name for name in optional_fields() if name.partition(".")[2] not in _names(answer, name)
    )


def _names(answer: Mapping[str, Any], field: str) -> set[str]:
    known = answer.get(field.partition(".")[0]) or {}
    listed = [*(known.get("fields") or ()), *(known.get("possibleTypes") or ())]
    return {each["name"] for each in listed}
