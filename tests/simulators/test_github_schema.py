"""The simulated GitHub speaks a part of the published schema and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLUnionType,
    build_schema,
    is_required_argument,
    is_required_input_field,
)

from tests.simulators.github import TOKEN, World
from tests.simulators.github.checks import Commit
from tests.simulators.github.engine import SDL, Engine, load_schema
from tests.simulators.github.model import PullRequest

PUBLISHED = Path(__file__).parents[2].parent / "shared" / "schemas" / "github.graphql"
OWN = build_schema(SDL.read_text(encoding="utf-8"))
TYPES = sorted(
    name
    for name in OWN.type_map
    if not name.startswith("__") and name not in {"Boolean", "ID", "Int", "String"}
)


@pytest.fixture(scope="module")
def published() -> GraphQLSchema:
    if not PUBLISHED.is_file():
        pytest.skip(f"the published schema is not at hand: {PUBLISHED}")
    # The file defines two fields twice, so it is taken without being checked.
    return build_schema(PUBLISHED.read_text("utf-8"), assume_valid=True, assume_valid_sdl=True)


@pytest.mark.parametrize("name", TYPES)
def test_each_type_is_part_of_the_published_one(published: GraphQLSchema, name: str) -> None:
    assert differences(OWN.type_map[name], published.type_map.get(name)) == []


def test_a_field_that_github_does_not_have_would_be_found(published: GraphQLSchema) -> None:
    wrong = build_schema("type Query { a: Int } type Ref { name: String, nickname: Int! }")
    assert differences(wrong.type_map["Ref"], published.type_map["Ref"]) == [
        "Ref.name is String, not String!",
        "Ref.nickname is not published",
    ]


def differences(own: GraphQLNamedType, theirs: GraphQLNamedType | None) -> list[str]:
    """What the own type says that the published one does not."""
    if type(own) is not type(theirs):
        return [f"{own.name} is not such a type"]
    if isinstance(own, GraphQLEnumType):
        return [f"{own.name}.{value}" for value in own.values if value not in theirs.values]
    if isinstance(own, GraphQLUnionType):
        members = {member.name for member in theirs.types}
        return [f"{own.name} | {each.name}" for each in own.types if each.name not in members]
    if isinstance(own, GraphQLInputObjectType):
        return _input_differences(own, theirs)
    if isinstance(own, GraphQLObjectType | GraphQLInterfaceType):
        return _interface_differences(own, theirs) + _field_differences(own, theirs)
    return []


def _input_differences(own: GraphQLInputObjectType, theirs: GraphQLInputObjectType) -> list[str]:
    missing = [
        f"{own.name}.{name} is required"
        for name, field in theirs.fields.items()
        if is_required_input_field(field) and name not in own.fields
    ]
    return missing + [
        f"{own.name}.{name}"
        for name, field in own.fields.items()
        if name not in theirs.fields or str(theirs.fields[name].type) != str(field.type)
    ]


def _interface_differences(own: GraphQLObjectType, theirs: GraphQLObjectType) -> list[str]:
    known = {each.name for each in theirs.interfaces}
    return [f"{own.name} & {each.name}" for each in own.interfaces if each.name not in known]


def _field_differences(own: GraphQLObjectType, theirs: GraphQLObjectType) -> list[str]:
    found = []
    for name, field in own.fields.items():
        published = theirs.fields.get(name)
        if published is None:
            found.append(f"{own.name}.{name} is not published")
            continue
        if str(field.type) != str(published.type):
            found.append(f"{own.name}.{name} is {field.type}, not {published.type}")
        for argument, given in field.args.items():
            other = published.args.get(argument)
            if other is None or (str(given.type), given.default_value) != (
                str(other.type),
                other.default_value,
            ):
                found.append(f"{own.name}.{name}({argument}:)")
        found += [
            f"{own.name}.{name}({argument}:) is required"
            for argument, other in published.args.items()
            if is_required_argument(other) and argument not in field.args
        ]
    return found


def test_every_field_of_the_schema_answers_without_an_error() -> None:
    world = World()
    pull_request = eventful(world)
    engine, viewer = Engine(world), world.tokens.viewer(TOKEN)
    for name, kind in OWN.type_map.items():
        if isinstance(kind, GraphQLObjectType) and name in ROUTES:
            query = ROUTES[name] % selection(kind)
            variables = {"owner": "acme", "name": "rocket", "number": pull_request.number}
            used = {key: value for key, value in variables.items() if f"${key}" in query}
            body = engine.answer(viewer, query, used).body
            assert "errors" not in body, (name, body["errors"])
            assert reached(body["data"], name), name


PULL_REQUEST = (
    "query($owner: String!, $name: String!, $number: Int!) { repository(owner: $owner, name: $name)"
    " { pullRequest(number: $number) { %s } } }"
)
REPOSITORY = (
    "query($owner: String!, $name: String!) { repository(owner: $owner, name: $name) { %s } }"
)
ROUTES = {
    "RateLimit": "{ rateLimit { %s } }",
    "User": "{ viewer { %s } }",
    "Repository": REPOSITORY % "%s",
    "Organization": REPOSITORY % "owner { ... on Organization { %s } }",
    "PullRequest": PULL_REQUEST % "%s",
    **{
        kind: PULL_REQUEST % path
        for kind, path in {
            "Ref": "baseRef { %s }",
            "RefUpdateRule": "baseRef { refUpdateRule { %s } }",
            "MergeQueueEntry": "mergeQueueEntry { %s }",
            "PullRequestCommit": "commits(last: 1) { nodes { %s } }",
            "Commit": "commits(last: 1) { nodes { commit { %s } } }",
            "GitActor": "commits(last: 1) { nodes { commit { author { %s } } } }",
            "StatusCheckRollup": "statusCheckRollup { %s }",
            "StatusCheckRollupContextConnection": "statusCheckRollup { contexts(first: 9) { %s } }",
            "CheckRun": (
                "statusCheckRollup { contexts(first: 9) { nodes { ... on CheckRun { %s } } } }"
            ),
            "StatusContext": (
                "statusCheckRollup { contexts(first: 9) { nodes { ... on StatusContext { %s } } } }"
            ),
            "CheckSuite": (
                "commits(last: 1) { nodes { commit { checkSuites(first: 9) { nodes { %s } } } } }"
            ),
            "App": (
                "commits(last: 1) { nodes { commit { checkSuites(first: 9) { nodes"
                " { app { %s } } } } } }"
            ),
            "WorkflowRun": (
                "commits(last: 1) { nodes { commit { checkSuites(first: 9) { nodes"
                " { workflowRun { %s } } } } } }"
            ),
            "Workflow": (
                "commits(last: 1) { nodes { commit { checkSuites(first: 9) { nodes"
                " { workflowRun { workflow { %s } } } } } } }"
            ),
            "Label": "labels(first: 9) { nodes { %s } }",
            "IssueComment": "comments(first: 9) { nodes { %s } }",
            "PullRequestReview": "reviews(first: 9) { nodes { %s } }",
            "ReviewRequest": "reviewRequests(first: 9) { nodes { %s } }",
            "Team": (
                "reviewRequests(first: 9) { nodes { requestedReviewer { ... on Team { %s } } } }"
            ),
            "Bot": "comments(first: 9) { nodes { author { ... on Bot { %s } } } }",
            "PullRequestReviewThread": "reviewThreads(first: 9) { nodes { %s } }",
            "PullRequestReviewComment": (
                "reviewThreads(first: 9) { nodes { comments(first: 9) { nodes { %s } } } }"
            ),
            "PullRequestChangedFile": "files(first: 9) { nodes { %s } }",
            "PageInfo": "files(first: 9) { pageInfo { %s } }",
        }.items()
    },
}
NEEDED = {
    "Repository.pullRequest": "(number: $number)",
    "Repository.ref": '(qualifiedName: "refs/heads/main")',
}


def selection(kind: GraphQLObjectType) -> str:
    """Every field of a type; of an object behind it only its kind, of a connection its number."""
    return " ".join(_selected(kind.name, name, str(f.type)) for name, f in kind.fields.items())


def _selected(kind: str, name: str, result: str) -> str:
    behind = OWN.type_map[result.strip("[]!")]
    if f"{kind}.{name}" == "Repository.pullRequest":
        return ""
    call = name + NEEDED.get(f"{kind}.{name}", "")
    if behind.name.endswith("Connection"):
        return f"{call}(first: 3) {{ totalCount }}"
    leaf = not isinstance(behind, GraphQLObjectType | GraphQLInterfaceType | GraphQLUnionType)
    return call if leaf else f"{call} {{ __typename }}"


def reached(data: object, name: str) -> bool:
    """Whether the query came as far as the type: some object holds more than its kind."""
    if isinstance(data, list):
        return any(reached(each, name) for each in data)
    if not isinstance(data, dict):
        return False
    fields = set(OWN.type_map[name].fields) - {"pullRequest"}
    return fields <= set(data) or any(reached(each, name) for each in data.values())


def eventful(world: World) -> PullRequest:
    """A pull request on which everything has happened that the schema can tell of."""
    repository = world.create_repository("acme/rocket")
    world.set_rules(repository, required_status_check_contexts=["build"])
    made = world.open_pull_request(repository, fork="alice", author="alice", body="Because.")
    commit: Commit = world.push(made)
    commit.author = world.account("alice")
    world.set_checks(made, build="SUCCESS", lint="IN_PROGRESS")
    world.set_status(made, "jenkins", "FAILURE", by="jenkins[bot]")
    world.set_labels(made, ["bug"])
    world.set_files(made, ["a.py", "b.py"])
    world.request_review(made, "acme/reviewers")
    world.request_review(made, "carol")
    world.review(made, "bob", "APPROVED")
    thread = world.open_thread(made, "bob", line=7, start_line=5)
    world.reply(thread, "alice")
    world.resolve(thread, "alice")
    world.comment(made, "dependabot[bot]")
    world.enqueue(made)
    return made


def test_an_older_version_lacks_fields_in_answers_and_in_introspection() -> None:
    world = World(without={"PullRequest.mergeQueueEntry", "RequestedReviewer.Bot"})
    engine, viewer = Engine(world), world.tokens.viewer(TOKEN)
    fields = engine.answer(viewer, '{ __type(name: "PullRequest") { fields { name } } }')
    names = {each["name"] for each in fields.body["data"]["__type"]["fields"]}
    assert "mergeQueueEntry" not in names
    assert "isInMergeQueue" in names
    union = '{ __type(name: "RequestedReviewer") { possibleTypes { name } } }'
    members = engine.answer(viewer, union).body["data"]["__type"]["possibleTypes"]
    assert {each["name"] for each in members} == {"Mannequin", "Team", "User"}
    assert "mergeQueueEntry" in load_schema().type_map["PullRequest"].fields
