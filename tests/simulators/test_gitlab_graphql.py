"""The simulated GitLab's GraphQL API: schema, versions, prices, refusals, answers."""

from pathlib import Path

import httpx
import pytest
from graphql import (
    GraphQLSchema,
    build_schema,
    is_enum_type,
    is_interface_type,
    is_object_type,
    parse,
)

from tests.simulators.gitlab import Clock, World, running
from tests.simulators.gitlab.complexity import Cost
from tests.simulators.gitlab.graphql_api import HERE, schema
from tests.simulators.gitlab.versions import ENTERPRISE, GRAPHQL

REFERENCE = Path(__file__).parents[3] / "shared" / "schemas" / "gitlab.graphql"

PEOPLE = """query($path: ID!, $iids: [String!]) {
  project(fullPath: $path) { mergeRequests(iids: $iids) { nodes {
    iid updatedAt approvalsLeft approved
    approvedBy { nodes { username } } changeRequesters { nodes { username } }
    reviewers { nodes { username mergeRequestInteraction { reviewState approved } } }
  } } }
}"""

PAGES = """query($path: ID!, $after: String, $sort: MergeRequestSort, $state: MergeRequestState) {
  project(fullPath: $path) {
    mergeRequests(first: 40, after: $after, sort: $sort, state: $state) {
      count nodes { iid } pageInfo { hasNextPage endCursor }
    }
  }
}"""


@pytest.fixture
def world():
    return World(clock=Clock())


@pytest.fixture
def project(world):
    return world.project("group/sub/app")


@pytest.fixture
def ask(world):
    with running(world) as gitlab, httpx.Client(trust_env=False) as client:

        def ask(query, token=gitlab.token, **variables):
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            body = {"query": query, "variables": {"path": "group/sub/app", **variables}}
            return client.post(gitlab.graphql, json=body, headers=headers)

        yield ask


def nodes(answer):
    return answer.json()["data"]["project"]["mergeRequests"]["nodes"]


def only(ask, fields, **more):
    """The one merge request, with these fields."""
    query = "query($path: ID!) { project(fullPath: $path) { mergeRequests { nodes { %s } } } }"
    (mr,) = nodes(ask(query % fields, **more))
    return mr


def _lacks(mine: GraphQLSchema, full: GraphQLSchema):
    """What `mine` has and `full` has not, or has otherwise."""
    for name, kind in mine.type_map.items():
        theirs = full.type_map.get(name)
        if theirs is None:
            yield name
        elif is_enum_type(kind):
            yield from (f"{name}.{value}" for value in set(kind.values) - set(theirs.values))
        elif not name.startswith("__") and (is_object_type(kind) or is_interface_type(kind)):
            yield from _members_lacking(name, kind.fields, theirs.fields)


def _members_lacking(owner, mine, full):
    for name, ours in mine.items():
        theirs = full.get(name)
        if theirs is None or str(theirs.type) != str(ours.type):
            yield f"{owner}.{name}"
            continue
        given = {key: str(value.type) for key, value in ours.args.items()}
        known = {key: str(value.type) for key, value in theirs.args.items()}
        yield from (f"{owner}.{name}({key})" for key in given if known.get(key) != given[key])


def test_the_schema_is_a_part_of_gitlabs():
    if not REFERENCE.exists():
        pytest.skip("GitLab's schema is not beside this repository")
    full = build_schema(REFERENCE.read_text())
    mine = build_schema((HERE / "schema.graphql").read_text())
    assert list(_lacks(mine, full)) == []


def test_what_versions_and_editions_lack_is_named_as_the_schema_names_it():
    mine = build_schema((HERE / "schema.graphql").read_text())
    for name in [*GRAPHQL, *ENTERPRISE]:
        owner, _, member = name.partition(".")
        kind = mine.type_map[owner]
        assert member in (kind.values if is_enum_type(kind) else kind.fields), name


@pytest.mark.parametrize(
    ("version", "edition", "absent", "present"),
    [
        ("15.5.9", "ee", {"detailedMergeStatus", "mergeabilityChecks"}, {"approvalsLeft"}),
        ("16.11.2", "ee", {"changeRequesters"}, {"mergeabilityChecks", "detailedMergeStatus"}),
        ("18.0.1", "ce", {"approvalsLeft", "changeRequesters"}, {"approvedBy", "reviewers"}),
        ("18.0.1", "ee", set(), {"approvalsLeft", "changeRequesters", "mergeabilityChecks"}),
    ],
)
def test_fields_follow_version_and_edition_and_a_probe_sees_it(
    ask, world, version, edition, absent, present
):
    world.version, world.edition = version, edition
    probe = '{ __type(name: "MergeRequest") { fields(includeDeprecated: true) { name } } }'
    names = {field["name"] for field in ask(probe).json()["data"]["__type"]["fields"]}
    assert absent.isdisjoint(names)
    assert present <= names


def test_an_unknown_field_fails_the_whole_query_in_rubys_words(ask, world, project):
    world.version = "15.5.9"
    answer = ask(
        "query($path: ID!) { project(fullPath: $path) {"
        " mergeRequests { nodes { iid detailedMergeStatus } } } }"
    )
    assert answer.status_code == 200
    assert "data" not in answer.json()
    (error,) = answer.json()["errors"]
    assert error["message"] == "Field 'detailedMergeStatus' doesn't exist on type 'MergeRequest'"
    assert error["extensions"]["code"] == "undefinedField"


def test_reviewers_approvals_and_requests_for_changes(ask, world, project):
    project.approvals_required = 2
    mr = world.open_merge_request(project, reviewers=["ann", "bob", "cy"])
    world.approve(mr, "ann")
    world.request_changes(mr, "bob")
    (seen,) = nodes(ask(PEOPLE, iids=["1"]))
    states = {
        each["username"]: each["mergeRequestInteraction"]["reviewState"]
        for each in seen["reviewers"]["nodes"]
    }
    assert states == {"ann": "APPROVED", "bob": "REQUESTED_CHANGES", "cy": "UNREVIEWED"}
    assert seen["approvedBy"]["nodes"] == [{"username": "ann"}]
    assert seen["changeRequesters"]["nodes"] == [{"username": "bob"}]
    assert seen["approvalsLeft"] == 1


def test_with_nothing_required_graphql_denies_what_rest_affirms(ask, world, project):
    world.open_merge_request(project)
    assert nodes(ask(PEOPLE))[0]["approved"] is False


def test_a_version_without_a_review_state_says_another(ask, world, project):
    world.version = "16.5.0"
    mr = world.open_merge_request(project, reviewers=["bob"])
    world.request_changes(mr, "bob")
    fields = "reviewers { nodes { mergeRequestInteraction { reviewState } } }"
    (reviewer,) = only(ask, fields)["reviewers"]["nodes"]
    assert reviewer["mergeRequestInteraction"]["reviewState"] == "REVIEWED"


def test_paths_begin_behind_the_host_and_hold_the_subpath_and_the_project(ask, world, project):
    mr = world.open_merge_request(project)
    pipeline = world.pipeline(mr, "failed", jobs=["lint"])
    fields = "webPath author { webPath } headPipeline { path jobs { nodes { webPath } } }"
    seen, below = only(ask, fields), "/gitlab/group/sub/app/-"
    assert seen == {
        "webPath": f"{below}/merge_requests/{mr.iid}",
        "author": {"webPath": f"/gitlab/{mr.author.username}"},
        "headPipeline": {
            "path": f"{below}/pipelines/{pipeline.id}",
            "jobs": {"nodes": [{"webPath": f"{below}/jobs/{pipeline.jobs[0].id}"}]},
        },
    }


def test_times_have_whole_seconds(ask, world, project):
    world.clock.advance(0.9)
    world.open_merge_request(project)
    assert nodes(ask(PEOPLE))[0]["updatedAt"] == "2025-06-02T09:00:00Z"


def test_the_head_pipeline_is_the_heads_and_nothing_for_whom_may_not_read_it(ask, world, project):
    mr = world.open_merge_request(project)
    world.pipeline(mr, "failed", jobs=["lint:failed", "unit:success"])
    fields = "headPipeline { status jobs(statuses: [FAILED]) { nodes { name allowFailure } } }"
    seen = only(ask, fields)["headPipeline"]
    assert seen == {
        "status": "FAILED",
        "jobs": {"nodes": [{"name": "lint", "allowFailure": False}]},
    }
    world.token("guest", "guest", refused=frozenset({"pipelines"}))
    assert only(ask, fields, token="guest")["headPipeline"] is None
    world.push(mr)
    assert only(ask, fields)["headPipeline"] is None


def test_graphql_asks_for_no_merge_check(ask, world, project):
    mr = world.open_merge_request(project)
    world.push(mr)
    fields = "mergeStatusEnum detailedMergeStatus mergeabilityChecks { identifier status }"
    for _ in range(2):
        seen = only(ask, fields)
        assert (seen["mergeStatusEnum"], seen["detailedMergeStatus"]) == ("UNCHECKED", "UNCHECKED")
    assert {"identifier": "CONFLICT", "status": "CHECKING"} in seen["mergeabilityChecks"]


def test_a_value_that_no_schema_has_yet_arrives_as_it_is(ask, world, project):
    mr = world.open_merge_request(project, detailed_status="moon_phase")
    world.pipeline(mr, "dreaming")
    seen = only(ask, "detailedMergeStatus headPipeline { status }")
    assert seen == {"detailedMergeStatus": "MOON_PHASE", "headPipeline": {"status": "DREAMING"}}


@pytest.mark.parametrize("sort", ["CREATED_ASC", "CREATED_DESC", "UPDATED_ASC", "updated_desc"])
def test_pages_hold_every_row_once_though_one_is_added_between_them(ask, world, project, sort):
    world.fill(project, 100)
    seen, after = [], None
    while True:
        page = ask(PAGES, sort=sort, after=after).json()["data"]["project"]["mergeRequests"]
        seen += [int(node["iid"]) for node in page["nodes"]]
        after = page["pageInfo"]["endCursor"]
        if not page["pageInfo"]["hasNextPage"]:
            break
        world.clock.advance(1)
        world.open_merge_request(project)
    assert len(set(seen)) == len(seen)
    assert set(range(1, 101)) <= set(seen)


def test_state_and_count(ask, world, project):
    world.fill(project, 9, states=("opened", "merged", "closed"))
    page = ask(PAGES, state="merged").json()["data"]["project"]["mergeRequests"]
    assert page["count"] == 3


def test_no_iids_are_no_rows_and_unknown_ones_are_left_out(ask, world, project):
    world.fill(project, 3)
    assert nodes(ask(PEOPLE, iids=[])) == []
    assert [node["iid"] for node in nodes(ask(PEOPLE, iids=["2", "77", "x"]))] == ["2"]


def test_former_paths_and_unseen_projects_are_null_without_an_error(ask, world, project):
    world.move_project(project, "other/name")
    world.project("group/secret", members={"ann"})
    world.token("bob's", "bob")
    for path in ("group/sub/app", "group/secret", "no/where"):
        answer = ask("query($path: ID!) { project(fullPath: $path) { id } }", "bob's", path=path)
        assert answer.json() == {"data": {"project": None}}


def test_fifty_by_iid_are_affordable_and_a_hundred_by_page_are_not(ask, world, project):
    world.fill(project, 100)
    wide = " ".join(f"a{n}: mergedAt" for n in range(30))
    asked = (
        "query($path: ID!, $iids: [String!]) {"
        " project(fullPath: $path) { mergeRequests(%s) { nodes { iid %s } } } }"
    )
    by_iid = ask(asked % ("iids: $iids", wide), iids=[str(n) for n in range(1, 51)])
    assert len(nodes(by_iid)) == 50
    by_page = ask((asked % ("first: 100", wide)).replace(", $iids: [String!]", ""))
    assert by_page.json() == {
        "errors": [{"message": "Query has complexity of 309, which exceeds max complexity of 250"}]
    }


@pytest.mark.parametrize(
    ("selection", "price"),
    [
        ("currentUser { username }", 2),
        ('project(fullPath: "a") { id }', 2),
        ('project(fullPath: "a") { mergeRequests(iids: ["1"]) { nodes { iid } } }', 5),
        ('project(fullPath: "a") { mergeRequests { nodes { iid } } }', 9),
        ('project(fullPath: "a") { mergeRequests(first: 50) { nodes { iid } } }', 7),
        ('project(fullPath: "a") { mergeRequests(iids: ["1"]) { nodes { diffHeadSha } } }', 6),
        (
            'project(fullPath: "a") { mergeRequests(iids: ["1"]) {'
            " nodes { reviewers { nodes { username } } } } }",
            11,
        ),
    ],
)
def test_the_price_of_a_query(selection, price):
    assert Cost(parse(f"{{ {selection} }}"), {}).complexity == price


def test_fragments_and_variables_count_like_what_they_stand_for():
    query = """query($n: Int) { project(fullPath: "a") {
      mergeRequests(first: $n) { ...page } } }
      fragment page on MergeRequestConnection { nodes { ... on MergeRequest { iid } } }"""
    assert Cost(parse(query), {"n": 50}).complexity == 7
    assert Cost(parse(query), {"n": 50}).depth == 4


@pytest.mark.parametrize(
    ("mode", "status"), [("absent", 404), ("refused", 403), ("unauthorized", 401)]
)
def test_graphql_may_be_away(ask, world, project, mode, status):
    world.graphql_mode = mode
    assert ask("{ currentUser { username } }").status_code == status


def test_a_bad_token_and_a_job_token_read_nothing(ask, world, project):
    world.token("job", kind="job")
    refused = ask("{ currentUser { username } }", "nobody's")
    assert (refused.status_code, refused.json()) == (
        401,
        {"errors": [{"message": "Invalid token"}]},
    )
    assert ask("{ currentUser { username } }", None).json() == {"data": {"currentUser": None}}


def test_broken_requests_are_answered_with_errors(ask):
    assert "errors" in ask("{ project(").json()
    assert ask("").json()["errors"][0]["message"] == "No query string was present"


def test_every_field_of_the_schema_resolves(world, project, ask):
    mr = world.open_merge_request(
        project, reviewers=["ann"], labels=["bug"], assignees=[world.root]
    )
    world.approve(mr, "ann")
    world.request_changes(mr, "bob")
    world.pipeline(mr, "failed", jobs=["lint"])
    world.merge(mr)
    places = {
        "MergeRequest": "%s",
        "Project": "project { %s }",
        "Pipeline": "headPipeline { %s }",
        "DetailedStatus": "headPipeline { detailedStatus { %s } }",
        "CiJob": "headPipeline { jobs { nodes { %s } edges { cursor node { %s } } count } }",
        "UserCore": "mergeUser { %s }",
        "MergeRequestAuthor": "author { %s }",
        "MergeRequestReviewer": "reviewers { count nodes { %s } edges { cursor node { id } } }",
        "UserMergeRequestInteraction": "author { mergeRequestInteraction { %s } }",
        "UserCoreConnection": "changeRequesters { %s }",
        "DiffRefs": "diffRefs { %s }",
        "DiffStats": "diffStats { %s }",
        "DiffStatsSummary": "diffStatsSummary { %s }",
        "MergeRequestPermissions": "userPermissions { %s }",
        "MergeRequestMergeabilityCheck": "mergeabilityChecks { %s }",
        "MergeRequestApprovalState": "approvalState { %s }",
        "ApprovalRule": "approvalState { rules { approvedBy { nodes { id } } %s } }",
        "Label": "labels { count pageInfo { endCursor } nodes { %s } }",
    }
    built = schema("18.0", True)
    by_iid = 'query($path: ID!) { project(fullPath: $path) { mergeRequest(iid: "1") { FIELDS } } }'
    for name, place in places.items():
        leaves = [
            field
            for field, known in built.type_map[name].fields.items()
            if not hasattr(getattr(known.type, "of_type", known.type), "fields")
            and "[" not in str(known.type)
        ]
        for start in range(0, len(leaves), 20):
            part = " ".join(leaves[start : start + 20])
            asked = place.replace("%s", part)
            answer = ask(by_iid.replace("FIELDS", asked))
            assert "errors" not in answer.json(), (name, answer.text)
