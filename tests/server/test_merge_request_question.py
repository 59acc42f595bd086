"""Which merge request a call means, and what of it; each mistake named with its remedy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pullstate.domain.address import GITHUB_COM, GITLAB_COM, ForgeKind, Site
from pullstate.domain.merge_request import Facet
from pullstate.server.errors import ToolError
from pullstate.server.merge_request_question import Question, understand
from pullstate.server.tools.get_merge_request import GetMergeRequest
from pullstate.store.engine import Store
from tests.server.desk import PATH, PUBLISHED, SELF_MANAGED, Desk

URL = f"https://gitlab.com/{PATH}/-/merge_requests/7"
ALL = "diffs,commits,notes,pipelines,conflicts,discussions"


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """Nothing is stored here: a question is understood without the store."""
    store = Store.open(tmp_path_factory.mktemp("store") / "store.db")
    yield Desk(store)
    store.close()


def read(desk: Desk, **arguments: Any) -> Question:
    """The question as the registry reads its arguments."""
    checked = PUBLISHED.reader.read(arguments)
    assert isinstance(checked, GetMergeRequest)
    return understand(desk.context, checked)


def refused(desk: Desk, **arguments: Any) -> str:
    with pytest.raises(ToolError) as error:
        read(desk, **arguments)
    return str(error.value)


def place(question: Question) -> tuple[str, int]:
    return question.named.address.url, question.named.number


# --- Which one -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        URL,
        f"{URL}/diffs",
        f"{URL}/diffs?tab=1#note_5",
        f"{URL}/pipelines",
        f"{URL}/commits",
        f"{URL}/conflicts",
        f"{URL}?view=parallel",
        f"{URL}#note_12",
        f"{URL}/",
        f"{URL}.diff",
        f"{URL}.patch",
        f"https://gitlab.com/{PATH}/merge_requests/7",
        f"https://gitlab.com/{PATH}/merge_requests/7/diffs",
        f"http://gitlab.com/{PATH}/-/merge_requests/7",
        f"gitlab.com/{PATH}/-/merge_requests/7",
        f"HTTPS://GitLab.com/{PATH}/-/merge_requests/7",
        f"https://user:secret@gitlab.com/{PATH}/-/merge_requests/7",
        f"  {URL}  ",
        f"https://gitlab.com/{PATH.replace('/', '%2F')}/-/merge_requests/7",
        f"https://gitlab.com/{PATH}/-/merge_requests/007",
    ],
)
def test_every_page_of_a_merge_request_names_it(desk: Desk, url: str):
    assert place(read(desk, url=url)) == (f"https://gitlab.com/{PATH}", 7)


@pytest.mark.parametrize(
    ("url", "address", "number"),
    [
        (
            "https://git.example.com/gitlab/group/sub/rocket/-/merge_requests/12/diffs",
            "https://git.example.com/gitlab/group/sub/rocket",
            12,
        ),
        ("https://github.com/acme/rocket/pull/3", "https://github.com/acme/rocket", 3),
        ("https://github.com/acme/rocket/pull/3/files", "https://github.com/acme/rocket", 3),
        ("https://github.com/acme/rocket/pull/3/checks#x", "https://github.com/acme/rocket", 3),
        ("https://github.com/acme/rocket/pull/3.diff", "https://github.com/acme/rocket", 3),
        (
            "https://gitlab.com/g/merge_requests/-/merge_requests/4",
            "https://gitlab.com/g/merge_requests",
            4,
        ),
    ],
)
def test_other_hosts_forms_and_forges(desk: Desk, url: str, address: str, number: int):
    assert place(read(desk, url=url)) == (address, number)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("https://gitlab.example.org/g/p/-/merge_requests/1", "not configured"),
        ("https://bitbucket.org/a/b/pull-requests/1", "neither GitHub nor GitLab"),
        (f"https://gitlab.com/{PATH}/-/issues/7", "is an issue"),
        (f"https://gitlab.com/{PATH}/-/work_items/7", "is an issue"),
        ("https://github.com/acme/rocket/issues/7", "is an issue"),
        ("https://gitlab.com/groups/acme/-/merge_requests", "is a group"),
        ("https://gitlab.com/acme", "is a group"),
        (f"https://gitlab.com/{PATH}", "no pull request's number"),
        (f"https://gitlab.com/{PATH}/-/merge_requests", "no pull request's number"),
        (f"https://gitlab.com/{PATH}/-/merge_requests/0", "no pull request's number"),
        (f"https://gitlab.com/{PATH}/-/merge_requests/-1", "no pull request's number"),
        (f"https://gitlab.com/{PATH}/-/merge_requests/new", "no pull request's number"),
        (f"https://gitlab.com/{PATH}/-/merge_requests/1e3", "no pull request's number"),
        (f"https://gitlab.com/{PATH}/-/merge_requests/99999999999", "no pull request's number"),
        ("https://github.com/acme/rocket/pulls", "no pull request's number"),
        ("https://github.com/acme/rocket/pull/x", "no pull request's number"),
        ("acme/rocket", "not a web address"),
        ("git@gitlab.com:acme/rocket.git", "not a web address"),
        ("acme/rocket!7", ""),
        ("7", ""),
        ("https://git.example.com/other/g/p/-/merge_requests/1", ""),
    ],
)
def test_a_url_of_anything_else_is_refused_by_its_name(desk: Desk, url: str, why: str):
    words = refused(desk, url=url)
    assert words.startswith("url: ")
    assert why in words


def test_a_secret_in_a_url_is_in_no_error(desk: Desk):
    words = refused(desk, url="https://u:hunter2@gitlab.com/g/p/-/issues/7?private_token=s3cret")
    assert "hunter2" not in words
    assert "s3cret" not in words


@pytest.mark.parametrize(
    "project", [PATH, PATH.replace("/", "%2F"), PATH.replace("/", "%2f"), f"/{PATH}/", f" {PATH} "]
)
@pytest.mark.parametrize("iid", [7, "7", 7.0, "7.0", " 7 "])
def test_a_path_and_an_iid_in_every_spelling(desk: Desk, project: str, iid: object):
    question = read(desk, project_id=project, merge_request_iid=iid)
    assert place(question) == (f"https://gitlab.com/{PATH}", 7)
    assert question.named.numeric_id is None


@pytest.mark.parametrize("project", [278964, "278964", 278964.0, "0278964", " 278964 "])
def test_a_numeric_id_as_integer_or_as_text(desk: Desk, project: object):
    named = read(desk, project_id=project, merge_request_iid=7).named
    assert (named.numeric_id, named.number, named.site) == ("278964", 7, GITLAB_COM)
    assert named.by_id_alone


def test_the_other_spelling_of_the_parameters_is_taken(desk: Desk):
    question = read(desk, projectId=PATH, mergeRequestIid="7", notesPerPage="50", include="notes")
    assert (question.named.number, question.notes_per_page) == (7, 50)


def test_a_host_says_where_the_project_is(desk: Desk):
    given = {"project_id": PATH, "merge_request_iid": 7}
    assert read(desk, **given, host="git.example.com/gitlab").named.site == SELF_MANAGED
    assert read(desk, **given, host="https://git.example.com/gitlab/").named.site == SELF_MANAGED
    github = read(desk, project_id="acme/rocket", merge_request_iid=3, host="github.com")
    assert place(github) == ("https://github.com/acme/rocket", 3)


def test_without_a_host_the_configured_gitlab_is_meant(tmp_path: Path):
    only = Site(ForgeKind.GITLAB, "https://git.corp.example")
    with_store = Desk(Store.open(tmp_path / "store.db"), site=only)
    assert read(with_store, project_id=5, merge_request_iid=1).named.site == only
    with_store.store.close()


@pytest.mark.parametrize(
    ("arguments", "parameters", "why"),
    [
        ({}, ["url", "project_id", "merge_request_iid"], "Nothing says which"),
        ({"host": "gitlab.com"}, ["url", "project_id", "merge_request_iid"], "Nothing says which"),
        ({"url": "", "project_id": None, "merge_request_iid": ""}, ["url"], "Nothing says which"),
        ({"project_id": PATH}, ["project_id", "merge_request_iid"], "without"),
        ({"project_id": 5}, ["project_id", "merge_request_iid"], "without"),
        ({"merge_request_iid": 7}, ["project_id", "merge_request_iid"], "without"),
        ({"url": URL, "merge_request_iid": 7}, ["project_id", "url"], "without"),
        ({"url": URL, "project_id": PATH}, ["merge_request_iid", "url"], "without"),
        ({"url": URL, "project_id": PATH, "merge_request_iid": 8}, ["url"], "another"),
        ({"url": URL, "host": "github.com"}, ["host", "url"], "is not where url lies"),
        (
            {
                "url": URL,
                "project_id": PATH,
                "merge_request_iid": 7,
                "host": "git.example.com/gitlab",
            },
            ["host", "url"],
            "is not where url lies",
        ),
        ({"project_id": PATH, "merge_request_iid": 7, "host": "nowhere.example"}, ["host"], ""),
        ({"project_id": PATH, "merge_request_iid": 0}, ["merge_request_iid"], "too small"),
        ({"project_id": PATH, "merge_request_iid": -3}, ["merge_request_iid"], "too small"),
        ({"project_id": PATH, "merge_request_iid": 12.5}, ["merge_request_iid"], "no integer"),
        ({"project_id": PATH, "merge_request_iid": "12.5"}, ["merge_request_iid"], "no integer"),
        ({"project_id": PATH, "merge_request_iid": "twelve"}, ["merge_request_iid"], "no integer"),
        ({"project_id": PATH, "merge_request_iid": "!12"}, ["merge_request_iid"], "no integer"),
        ({"project_id": PATH, "merge_request_iid": True}, ["merge_request_iid"], "no integer"),
        ({"project_id": PATH, "merge_request_iid": [7]}, ["merge_request_iid"], "no integer"),
        ({"project_id": PATH, "merge_request_iid": 2**31}, ["merge_request_iid", "url"], "larger"),
        ({"project_id": PATH, "merge_request_iid": 10**30}, ["merge_request_iid"], "too large"),
        ({"project_id": 0, "merge_request_iid": 7}, ["project_id"], "is 0"),
        ({"project_id": -5, "merge_request_iid": 7}, ["project_id"], ""),
        ({"project_id": 12.5, "merge_request_iid": 7}, ["project_id"], "no integer"),
        ({"project_id": True, "merge_request_iid": 7}, ["project_id"], "no integer"),
        ({"project_id": "rocket", "merge_request_iid": 7}, ["project_id"], "path"),
        ({"project_id": "../rocket", "merge_request_iid": 7}, ["project_id"], ""),
        ({"project_id": "  ", "merge_request_iid": 7}, ["project_id"], ""),
        ({"project_id": URL, "merge_request_iid": 7}, ["project_id", "url"], "web address"),
        ({"project_id": "1٢3", "merge_request_iid": 7}, ["project_id"], ""),
        (
            {"project_id": 5, "merge_request_iid": 7, "host": "github.com"},
            ["project_id", "url"],
            "GitHub",
        ),
        (
            {
                "url": "https://github.com/acme/rocket/pull/7",
                "project_id": 5,
                "merge_request_iid": 7,
            },
            ["project_id", "url"],
            "GitHub",
        ),
    ],
)
def test_what_names_none_or_two_is_refused_with_the_parameters_and_the_remedy(
    desk: Desk, arguments: dict[str, Any], parameters: list[str], why: str
):
    words = refused(desk, **arguments)
    for parameter in parameters:
        assert parameter in words
    assert "send" in words.lower() or "use one of them" in words.lower()
    assert why.replace("no integer", "is not an integer") in words


def test_a_url_and_the_same_ids_are_one_question(desk: Desk):
    given = {"url": URL, "merge_request_iid": 7}
    assert read(desk, **given, project_id="Group/SUB/Rocket").named.also is None
    assert read(desk, **given, project_id=PATH.replace("/", "%2F")).named.also is None
    assert read(desk, **given, project_id=PATH, host="gitlab.com").named.address.path == PATH
    assert read(desk, **given, project_id=12).named.numeric_id == "12"


def test_a_url_and_another_path_wait_for_the_store_to_say_whether_they_are_one(desk: Desk):
    named = read(desk, url=URL, project_id="old/rocket", merge_request_iid=7).named
    assert named.also is not None
    assert named.also.path == "old/rocket"


def test_a_number_beside_a_url_is_no_placeholder(desk: Desk):
    assert not read(desk, url=URL, project_id=12, merge_request_iid=7).named.by_id_alone


# --- What of it ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("include", "facets"),
    [
        ("", ()),
        (None, ()),
        ([], ()),
        ("diffs", (Facet.DIFFS,)),
        ("notes, diffs", (Facet.NOTES, Facet.DIFFS)),
        (" notes ,,diffs, ", (Facet.NOTES, Facet.DIFFS)),
        ("diffs,diffs,notes,diffs", (Facet.DIFFS, Facet.NOTES)),
        (["diffs", "notes"], (Facet.DIFFS, Facet.NOTES)),
        (["diffs", " diffs "], (Facet.DIFFS,)),
        ('["commits", "conflicts"]', (Facet.COMMITS, Facet.CONFLICTS)),
        (["diffs,notes"], (Facet.DIFFS, Facet.NOTES)),
        (ALL, tuple(map(Facet, ALL.split(",")))),
        (ALL.split(","), tuple(map(Facet, ALL.split(",")))),
    ],
)
def test_facets_in_every_spelling(desk: Desk, include: object, facets: tuple[Facet, ...]):
    assert read(desk, url=URL, include=include).facets == facets


@pytest.mark.parametrize(
    "include", ["changes", "diffs,approvals", "overview", "Diffs", "diffs notes", ["diffs", "x"]]
)
def test_an_unknown_facet_is_refused_with_those_there_are(desk: Desk, include: object):
    words = refused(desk, url=URL, include=include)
    assert "include" in words
    for facet in ALL.split(","):
        assert facet in words


@pytest.mark.parametrize("include", [5, ["diffs", 5], {"diffs": True}, True, '["diffs"', "d" * 201])
def test_an_include_of_another_shape_is_refused(desk: Desk, include: object):
    words = refused(desk, url=URL, include=include)
    assert words.startswith("include: ")
    assert "send" in words


@pytest.mark.parametrize("detail", ["none", "stats", "full_patch"])
def test_detail_shapes_the_diffs(desk: Desk, detail: str):
    assert read(desk, url=URL, include="notes,diffs", detail=detail).detail == detail


def test_defaults_are_taken_without_their_facets(desk: Desk):
    question = read(desk, url=URL, detail="stats", notes_page=1, notes_per_page=20)
    assert (question.detail, question.notes_page, question.notes_per_page) == ("stats", 1, 20)
    assert read(desk, url=URL, detail=None, notes_page="", notes_per_page=None) == question


@pytest.mark.parametrize(
    ("arguments", "parameter", "facet"),
    [
        ({"detail": "none"}, "detail", "diffs"),
        ({"detail": "full_patch", "include": "notes"}, "detail", "diffs"),
        ({"notes_page": 2}, "notes_page", "notes"),
        ({"notes_per_page": 50, "include": "diffs"}, "notes_per_page", "notes"),
    ],
)
def test_other_values_without_their_facet_are_refused(
    desk: Desk, arguments: dict[str, Any], parameter: str, facet: str
):
    words = refused(desk, url=URL, **arguments)
    assert words.startswith(parameter)
    assert f"include={facet}" in words


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("notes_page", 0),
        ("notes_page", -1),
        ("notes_page", 1.5),
        ("notes_page", "next"),
        ("notes_per_page", 0),
        ("notes_per_page", 101),
        ("notes_per_page", "1000"),
        ("detail", "full"),
        ("detail", "STATS"),
        ("detail", 1),
    ],
)
def test_a_value_out_of_bounds_is_refused_with_the_bounds(desk: Desk, name: str, value: object):
    words = refused(desk, url=URL, include=ALL, **{name: value})
    assert words.startswith(f"{name}: ")
    assert "send" in words


def test_every_bound_of_the_notes_is_taken(desk: Desk):
    question = read(desk, url=URL, include="notes", notes_page=10**9, notes_per_page="100")
    assert (question.notes_page, question.notes_per_page) == (10**9, 100)


def test_github_is_the_default_of_nothing_here(desk: Desk):
    assert desk.context.default_site == GITHUB_COM
    assert read(desk, project_id="acme/rocket", merge_request_iid=1).named.site == GITLAB_COM
