"""What GitLab's GraphQL is asked: valid in its schema, in no version more than that has."""

from __future__ import annotations

from pathlib import Path

import pytest
from graphql import (
    DocumentNode,
    GraphQLSchema,
    OperationType,
    build_schema,
    graphql_sync,
    parse,
    validate,
)

from pullstate.forges.gitlab.documents import DOCUMENTS
from pullstate.forges.gitlab.tailoring import OPTIONAL, introspection, missing_from
from pullstate.forges.tailoring import tailored
from tests.simulators.gitlab import World
from tests.simulators.gitlab.graphql_api import schema as simulated_schema

PUBLISHED = Path(__file__).parents[3].parent / "shared" / "schemas" / "gitlab.graphql"
VERSIONS = ("15.6.0", "16.4.0", "16.11.2", "17.3.0", "18.0.1", "18.9.0")


def known_to(schema: GraphQLSchema) -> frozenset[str]:
    """The optional fields that a schema lacks, found out as the client finds out."""
    return missing_from(graphql_sync(schema, introspection()).data)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_document_is_valid_in_the_published_schema(name: str) -> None:
    if not PUBLISHED.is_file():
        pytest.skip(f"no schema at {PUBLISHED}")
    schema = build_schema(PUBLISHED.read_text())
    assert not known_to(schema), "18.0 knows every optional field"
    assert validate(schema, parse(tailored(DOCUMENTS[name]))) == []


@pytest.mark.parametrize("enterprise", [True, False], ids=["ee", "ce"])
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_asks_a_version_for_nothing_that_it_lacks(
    name: str, version: str, enterprise: bool
) -> None:
    schema = simulated_schema(version, enterprise)
    missing = known_to(schema)
    assert validate(schema, parse(tailored(DOCUMENTS[name], missing))) == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_is_not_marked_as_optional_is_asked_of_all(name: str) -> None:
    barest = tailored(DOCUMENTS[name], OPTIONAL)
    whole = tailored(DOCUMENTS[name])
    assert all(line in whole.splitlines() for line in barest.splitlines())


@pytest.mark.parametrize("name", DOCUMENTS)
def test_no_document_changes_anything(name: str) -> None:
    document: DocumentNode = parse(tailored(DOCUMENTS[name]))
    operations = [each.operation for each in document.definitions if hasattr(each, "operation")]
    assert operations == [OperationType.QUERY]


def test_an_experiment_which_gitlab_marks_as_deprecated_is_asked_for() -> None:
    missing = known_to(simulated_schema("18.0.1", True))
    assert "MergeRequest.mergeabilityChecks" not in missing
    assert "MergeRequest.changeRequesters" not in missing


def test_the_introspection_is_a_valid_question() -> None:
    schema = simulated_schema(World().version, True)
    assert validate(schema, parse(introspection())) == []
