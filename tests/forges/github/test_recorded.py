"""Every recorded pull request is read, and stands where its facts put it."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from pullstate.domain.classifier import State, Verdict, classify
from pullstate.forges.github import payloads, rest_payloads
from pullstate.forges.github.translate import lean, whole
from tests.forges.github.recordings import DATA, MISSING, pull_requests, recorded

pytestmark = pytest.mark.skipif(not DATA.exists(), reason=MISSING)
UNTOLD = "needs checks/reviews"
FINISHED = {State.MERGED, State.CLOSED}
# What the recorders did not ask for and our own questions always do.
ALWAYS_ASKED = {
    "id": "PR_recorded",
    "createdAt": "2020-01-01T00:00:00Z",
    "updatedAt": "2020-01-01T00:00:00Z",
    "headRefOid": "abc",
}
COMPARED = ("state", "closed_at", "draft", "mergeable", "merge_state", "updated_at")


@dataclass(frozen=True, slots=True)
class Recorded:
    """A pull request in a file, as it was recorded."""

    file: str
    position: int
    content: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.file} {self.position}"


def everything() -> Iterator[Recorded]:
    if not DATA.exists():
        return
    for path in sorted(DATA.rglob("*")):
        name = path.relative_to(DATA).as_posix()
        if path.suffix not in (".json", ".yaml", ".body"):
            continue
        for position, content in enumerate(pull_requests(recorded(name))):
            yield Recorded(name, position, content)


def facts() -> list[dict[str, str]]:
    with (DATA / "PR_FACTS.tsv").open() as file:
        return list(csv.DictReader(file, delimiter="\t"))


def is_rest(content: dict[str, Any]) -> bool:
    return "merged_at" in content


def verdict_of(content: dict[str, Any]) -> Verdict:
    if is_rest(content):
        # GitHub gives node ids since 2018; two recordings are older.
        seen = rest_payloads.PullRequest.model_validate({"node_id": "PR_recorded", **content})
        read = whole if seen.mergeable_state else lean
        return classify(read(seen.as_graphql()))
    seen = payloads.PullRequest.model_validate(as_asked(content))
    commit = seen.commit
    rollup = commit.status_check_rollup if commit else None
    contexts = rollup.contexts.items if rollup and rollup.contexts else None
    return classify(whole(seen, contexts=contexts))


def as_asked(content: dict[str, Any]) -> dict[str, Any]:
    """The answer to our question: the GitHub client that recorded some called the commits
    `statusCheckRollup`, and asked for a commit without its hash."""
    ours = {**ALWAYS_ASKED, **content}
    if "nodes" in (content.get("statusCheckRollup") or {}):
        ours["commits"] = ours.pop("statusCheckRollup")
        for node in ours["commits"]["nodes"]:
            node["commit"] = {"oid": ours["headRefOid"], **node["commit"]}
    return ours


def told(content: dict[str, Any]) -> dict[str, str]:
    """A recorded pull request as a row of facts."""
    rest = is_rest(content)
    names = ("closed_at", "draft", "updated_at", "mergeable", "mergeable_state")
    if not rest:
        names = ("closedAt", "isDraft", "updatedAt", "mergeable", "mergeStateStatus")
    closed, draft, updated, mergeable, merge_state = (content.get(name) for name in names)
    values = (content["state"], closed, draft, mergeable, merge_state, updated)
    return dict(zip(COMPARED, ("" if each is None else str(each) for each in values), strict=True))


def fact_of(each: Recorded, rows: list[dict[str, str]]) -> dict[str, str] | None:
    number, values = str(each.content["number"]), told(each.content)
    for row in rows:
        if (row["file"], row["number"]) != (each.file, number):
            continue
        if all(row[name] == values[name] for name in COMPARED):
            return row
    return None


ALL = list(everything())


@pytest.mark.parametrize("each", ALL, ids=str)
def test_a_recorded_pull_request_stands_where_its_facts_put_it(each: Recorded):
    state = verdict_of(each.content).state
    row = fact_of(each, facts())
    expected = row["state_from_these_facts"] if row else UNTOLD
    if row and expected != UNTOLD:
        wanted, _, unless = expected.partition(" unless ")
        assert state.value == wanted or (unless and state is State.FAILING)
    else:
        assert (state in FINISHED) == (each.content["state"].upper() != "OPEN")


def test_every_row_of_facts_is_of_a_recorded_pull_request():
    found = [row for each in ALL if (row := fact_of(each, facts()))]
    assert [row for row in facts() if row not in found] == []


def test_merged_ones_that_still_read_conflicting_are_merged():
    merged = [each for each in ALL if each.file.startswith("mergestat/") and each.content["merged"]]
    assert len(merged) == 37
    assert {each.content["mergeable"] for each in merged} == {"CONFLICTING"}
    assert {verdict_of(each.content).state for each in merged} == {State.MERGED}
