"""GraphQL documents cut to what a server knows: one unknown field fails a whole query.

A line of a document that a server may not know ends in a comment that names what it needs:
`# Type.field`, or `# Union.Member`. An introspection asks once which of them there are.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

_OPTIONAL = re.compile(r"\s*#\s*((?:\w+\.\w+\s*)+)$")


def optional_fields(documents: Iterable[str]) -> frozenset[str]:
    """Every `Type.field` (or `Union.Member`) that some document can do without."""
    return frozenset(
        name
        for document in documents
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


def introspection(optional: Iterable[str]) -> str:
    """The question what there is of optional fields, and of optional members of unions.

    GitLab marks what is an experiment as deprecated: that counts as there.
    """
    types = sorted({name.partition(".")[0] for name in optional})
    members = "fields(includeDeprecated: true) { name } possibleTypes { name }"
    asked = " ".join(f'{name}: __type(name: "{name}") {{ {members} }}' for name in types)
    return f"query Fields {{ {asked} }}"


def missing_from(answer: Mapping[str, Any], optional: Iterable[str]) -> frozenset[str]:
    """The optional fields that a server's answer to the introspection does not have."""
    return frozenset(
        name for name in optional if name.partition(".")[2] not in _names(answer, name)
    )


def _names(answer: Mapping[str, Any], field: str) -> set[str]:
    known = answer.get(field.partition(".")[0]) or {}
    listed = [*(known.get("fields") or ()), *(known.get("possibleTypes") or ())]
    return {each["name"] for each in listed}
