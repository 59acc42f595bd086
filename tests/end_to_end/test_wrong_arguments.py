"""Each argument wrong in each way, over the wire: one sentence that names it, and what to send."""

from __future__ import annotations

from typing import Any

import pytest

from tests.end_to_end.place import Place, Server
from tests.stdio.client import RpcError

pytestmark = pytest.mark.stdio

LIST, THREADS, SHOW = "list_pull_requests", "list_pull_request_review_threads", "get_merge_request"
OURS = {"owner": "acme", "repo": "rocket", "pull_number": 1}
LONG = "x" * 3000

# tool, arguments (`HOST` stands for the forge's), what the error names, what it says to send
WRONG: list[tuple[str, dict[str, Any], str, str]] = [
    (LIST, {}, "repositoryUrl", "is missing"),
    (LIST, {"repositoryUrl": ""}, "repositoryUrl", ""),
    (LIST, {"repositoryUrl": None}, "repositoryUrl", ""),
    (LIST, {"repositoryUrl": 7}, "repositoryUrl", "text"),
    (LIST, {"repositoryUrl": ["HOST/acme/rocket"]}, "repositoryUrl", "text"),
    (LIST, {"repositoryUrl": "rocket"}, "repositoryUrl", ""),
    (LIST, {"repositoryUrl": "file:///etc/passwd"}, "repositoryUrl", ""),
    (LIST, {"repositoryUrl": "https://elsewhere.example/a/b"}, "repositoryUrl", "github.com"),
    (LIST, {"repositoryUrl": "HOST/acme"}, "repositoryUrl", ""),
    (LIST, {"repositoryUrl": LONG}, "repositoryUrl", "2048"),
    (LIST, {"repositoryUrl": "HOST/acme/rocket", "headBranch": ["main"]}, "headBranch", "text"),
    (LIST, {"repositoryUrl": "HOST/acme/rocket", "headBranch": LONG}, "headBranch", "512"),
    (LIST, {"repositoryUrl": "HOST/acme/rocket", "headBranch": ":"}, "headBranch", "OWNER:BRANCH"),
    (LIST, {"repositoryUrl": "HOST/acme/rocket", "pagination": 3}, "pagination", "object"),
    (LIST, {"repositoryUrl": "HOST/acme/rocket", "pagination": "{"}, "pagination", ""),
    (
        LIST,
        {"repositoryUrl": "HOST/acme/rocket", "pagination": {"limit": -1}},
        "pagination.limit",
        "",
    ),
    (
        LIST,
        {"repositoryUrl": "HOST/acme/rocket", "pagination": {"limit": "many"}},
        "pagination.limit",
        "integer",
    ),
    (
        LIST,
        {"repositoryUrl": "HOST/acme/rocket", "pagination": {"size": 3}},
        "pagination",
        "limit",
    ),
    (
        LIST,
        {"repositoryUrl": "HOST/acme/rocket", "pagination": {"cursor": "nonsense"}},
        "pagination.cursor",
        "Leave it out",
    ),
    (
        LIST,
        {"repositoryUrl": "HOST/acme/rocket", "pagination": {"cursor": LONG}},
        "pagination.cursor",
        "2048",
    ),
    (LIST, {"repositoryUrl": "HOST/acme/rocket", "maxAgeSeconds": -1}, "maxAgeSeconds", ""),
    (LIST, {"repositoryUrl": "HOST/acme/rocket", "maxAgeSeconds": 1.5}, "maxAgeSeconds", ""),
    (LIST, {"repositoryUrl": "HOST/acme/rocket", "maxAgeSeconds": True}, "maxAgeSeconds", ""),
    (LIST, {"repositoryUrl": "HOST/acme/rocket", "state": "open"}, "state", "headBranch"),
    (LIST, {"repositoryURL": "HOST/acme/rocket"}, "repositoryURL", "repositoryUrl"),
    (
        LIST,
        {"repositoryUrl": "HOST/acme/rocket", "repository_url": "HOST/acme/lander"},
        "repository_url",
        "repositoryUrl",
    ),
    (THREADS, {}, "owner", "is missing"),
    (THREADS, {"owner": "acme", "pull_number": 1}, "repo", "is missing"),
    (THREADS, {"owner": "acme", "repo": "rocket"}, "pull_number", "is missing"),
    (THREADS, {**OURS, "pull_number": "first"}, "pull_number", "integer"),
    (THREADS, {**OURS, "pull_number": 0}, "pull_number", ""),
    (THREADS, {**OURS, "pull_number": 10**30}, "pull_number", ""),
    (THREADS, {**OURS, "owner": "group/sub"}, "owner", "GitLab"),
    (THREADS, {**OURS, "owner": "a b"}, "owner", ""),
    (THREADS, {**OURS, "repo": "../../etc"}, "repo", ""),
    (THREADS, {**OURS, "is_resolved": "perhaps"}, "is_resolved", "true"),
    (THREADS, {**OURS, "host": "elsewhere.example"}, "host", "github.com"),
    (THREADS, {**OURS, "limit": -5}, "limit", ""),
    (THREADS, {**OURS, "cursor": "nonsense"}, "cursor", "Leave it out"),
    (THREADS, {**OURS, "resolved": True}, "resolved", "is_resolved"),
    (SHOW, {}, "url", "project_id"),
    (SHOW, {"url": "HOST/acme/rocket"}, "url", "pull/NUMBER"),
    (SHOW, {"url": "HOST/acme/rocket/pull/first"}, "url", ""),
    (SHOW, {"url": "https://elsewhere.example/a/b/pull/1"}, "url", "github.com"),
    (SHOW, {"project_id": "acme/rocket"}, "merge_request_iid", ""),
    (SHOW, {"merge_request_iid": 1}, "project_id", ""),
    (SHOW, {"project_id": "a/b", "merge_request_iid": "x"}, "merge_request_iid", "integer"),
    (SHOW, {"url": "HOST/acme/rocket/pull/1", "include": "diff"}, "include", "diffs"),
    (SHOW, {"url": "HOST/acme/rocket/pull/1", "detail": "full_patch"}, "detail", "diffs"),
    (
        SHOW,
        {"url": "HOST/acme/rocket/pull/1", "include": "diffs", "detail": "all"},
        "detail",
        "full_patch",
    ),
    (SHOW, {"url": "HOST/acme/rocket/pull/1", "notes_page": 2}, "notes_page", "notes"),
    (
        SHOW,
        {"url": "HOST/acme/rocket/pull/1", "include": "notes", "notes_per_page": 101},
        "notes_per_page",
        "100",
    ),
]


@pytest.fixture(scope="module")
def known(there: Place, server: Server) -> str:
    """A repository with more pull requests than fit on a page of two."""
    rocket = there.world.create_repository("acme/rocket")
    change = there.world.open_pull_requests(rocket, 5)[0]
    for line in range(1, 4):
        there.world.open_thread(change, "alice", line=line)
    assert len(server.rows(there.url())) == 5
    return there.url()


def at(there: Place, value: Any) -> Any:
    if isinstance(value, dict):
        return {name: at(there, each) for name, each in value.items()}
    if isinstance(value, list):
        return [at(there, each) for each in value]
    return value.replace("HOST", there.github.url) if isinstance(value, str) else value


@pytest.mark.parametrize(
    ("tool", "arguments", "names", "remedy"),
    WRONG,
    ids=[f"{each[2]}-{n}" for n, each in enumerate(WRONG)],
)
def test_a_wrong_argument_gets_a_sentence_that_names_it_and_what_to_send(
    there: Place,
    server: Server,
    known: str,
    tool: str,
    arguments: dict[str, Any],
    names: str,
    remedy: str,
) -> None:
    text = server.error(tool, **at(there, arguments))
    assert names in text
    assert remedy in text
    assert len(text) < 700
    assert "\n" not in text.strip()
    for insides in ("Traceback", "pydantic", "Error(", "errors.", "type=", "reference"):
        assert insides not in text


def test_what_is_spelled_otherwise_is_understood(there: Place, server: Server, known: str) -> None:
    plain = server.list(known, pagination={"limit": 2}, headBranch="")
    for arguments in (
        {"repository_url": known, "pagination": '{"limit": "2"}', "head_branch": None},
        {"repositoryUrl": known, "pagination": {"limit": 2, "cursor": ""}, "maxAgeSeconds": None},
        {"repositoryUrl": f"{known}.git/", "pagination": {"limit": 2.0}},
    ):
        assert server.structured(LIST, **arguments)["pullRequests"] == plain["pullRequests"]
    threads = server.threads("acme", "rocket", 1)
    given = {"owner": "acme", "repo": "rocket", "pullNumber": "1", "isResolved": "false"}
    assert server.structured(THREADS, **given)["threads"] == threads["threads"]


def test_a_cursor_goes_on_with_its_own_question_only(
    there: Place, server: Server, known: str
) -> None:
    first = server.list(known, pagination={"limit": 2})
    token = first["nextPageToken"]
    rest = server.list(known, pagination={"limit": 9, "cursor": token})
    numbers = [row["number"] for row in first["pullRequests"] + rest["pullRequests"]]
    assert numbers == [5, 4, 3, 2, 1]
    there.world.create_repository("acme/lander")
    wrong = [
        (LIST, {"repositoryUrl": known, "headBranch": "change-1", "pagination": {"cursor": token}}),
        (LIST, {"repositoryUrl": there.url("acme/lander"), "pagination": {"cursor": token}}),
        (LIST, {"repositoryUrl": known, "pagination": {"cursor": token[:-4]}}),
        (LIST, {"repositoryUrl": known, "pagination": {"cursor": token[::-1]}}),
        (THREADS, {**OURS, "cursor": token}),
    ]
    page = server.threads("acme", "rocket", 1, limit=1)
    threads_token = page["nextPageToken"]
    wrong += [
        (THREADS, {**OURS, "cursor": threads_token, "is_resolved": True}),
        (LIST, {"repositoryUrl": known, "pagination": {"cursor": threads_token}}),
    ]
    for tool, arguments in wrong:
        text = server.error(tool, **arguments)
        assert "cursor" in text
        assert "Leave it out" in text


def test_an_unknown_number_is_an_error_that_says_how_that_was_learned(
    there: Place, server: Server, known: str
) -> None:
    issue = there.world.open_issue(there.world.find_repository("acme/rocket"))
    for number in (issue, 4711):
        text = server.error(THREADS, **{**OURS, "pull_number": number})
        assert f"no pull request {number}" in text
        assert "asked just now" in text
        shown = server.error(SHOW, url=f"{known}/pull/{number}")
        assert "not found, or not visible to the configured token" in shown


def test_what_is_no_call_is_a_protocol_error(server: Server, known: str) -> None:
    for name, arguments in (("no_such_tool", {}), (LIST, [known]), (LIST, "x")):
        with pytest.raises(RpcError) as refused:
            server.request("tools/call", name=name, arguments=arguments)
        assert refused.value.code == -32602
        assert "Traceback" not in refused.value.message


def test_a_secret_in_an_argument_is_not_echoed(there: Place, server: Server, known: str) -> None:
    for address in (
        "https://octocat:hunter2secret@elsewhere.example/a/b",
        "https://octocat:hunter2secret@elsewhere.example/a/b/pull/1?x=hunter2secret",
    ):
        assert "hunter2secret" not in server.error(LIST, repositoryUrl=address)
        assert "hunter2secret" not in server.error(SHOW, url=address)


def test_hundreds_of_questions_at_once_are_all_answered(
    there: Place, server: Server, known: str
) -> None:
    asked = {"repositoryUrl": known, "pagination": {"limit": 3}}
    wrong = {"repositoryUrl": "rocket"}
    started = [
        server.start("tools/call", name=LIST, arguments=wrong if n % 3 == 0 else asked)
        for n in range(300)
    ]
    answers = [server.result_of(number, 60) for number in started]
    assert [answer["isError"] for answer in answers] == [n % 3 == 0 for n in range(300)]
