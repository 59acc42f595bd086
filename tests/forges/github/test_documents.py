"""What is asked of GitHub is what GitHub has, and nothing that writes."""

from __future__ import annotations

from functools import cache

import pytest
from graphql import (
    GraphQLSchema,
    OperationDefinitionNode,
    OperationType,
    build_schema,
    parse,
    validate,
)

from pullstate.forges.github.tailoring import (
    every_document,
    introspection,
    missing_from,
    optional_fields,
    tailored,
)
from tests.forges.github.recordings import SHARED
from tests.simulators.github.engine import load_schema

DOCUMENTS = {**every_document(), "introspection": introspection()}
SCHEMA = SHARED / "schemas" / "github.graphql"


@cache
def published() -> GraphQLSchema:
    if not SCHEMA.exists():
        pytest.skip("GitHub's published schema is not beside this repository")
    # The published file defines two fields of one type twice.
    return build_schema(SCHEMA.read_text(), assume_valid_sdl=True, assume_valid=True)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_asks_for_what_github_has(name: str):
    assert validate(published(), parse(tailored(DOCUMENTS[name]))) == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_is_valid_on_the_simulated_github(name: str):
    assert validate(load_schema(), parse(tailored(DOCUMENTS[name]))) == []


@pytest.mark.parametrize("missing", [*sorted(optional_fields()), "all of them"])
def test_a_document_stays_valid_without_what_a_server_lacks(missing: str):
    without = optional_fields() if missing == "all of them" else {missing}
    for document in DOCUMENTS.values():
        text = tailored(document, without)
        assert validate(published(), parse(text)) == []
        assert "#" not in text


@pytest.mark.parametrize("name", DOCUMENTS)
def test_no_document_writes(name: str):
    operations = [
        each.operation
        for each in parse(DOCUMENTS[name]).definitions
        if isinstance(each, OperationDefinitionNode)
    ]
    assert operations == [OperationType.QUERY]


def test_every_optional_field_is_one_that_github_has():
    for name in optional_fields():
        kind, _, field = name.partition(".")
        known = published().type_map[kind]
        members = [each.name for each in getattr(known, "types", ())]
        assert field in (members or known.fields)


def test_what_a_server_lacks_is_read_from_its_introspection():
    everything: dict = {}
    for name in optional_fields():
        kind, _, field = name.partition(".")
        entry = everything.setdefault(kind, {"fields": [], "possibleTypes": []})
        entry["fields"].append({"name": field})
        entry["possibleTypes"].append({"name": field})
    assert missing_from(everything) == frozenset()
    assert missing_from({**everything, "Ref": {"fields": None}}) == {"Ref.refUpdateRule"}
    assert missing_from({}) == optional_fields()
