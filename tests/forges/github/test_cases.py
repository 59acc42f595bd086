"""The cases of the design, facts in and state out, and neighbours of each kind."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest

from pullstate.domain.classifier import Verdict, classify
from pullstate.forges.github import payloads
from pullstate.forges.github.translate import NOTHING_REFUSED, Refusals, whole
from tests.forges.github.recordings import SHARED

CASES = SHARED / "cases" / "github_states.json"
FACTS: dict[str, Any] = {
    "state": "OPEN",
    "mergedAt": None,
    "closedAt": None,
    "isDraft": False,
    "mergeable": "MERGEABLE",
    "mergeStateStatus": "CLEAN",
    "reviewDecision": None,
    "opinions": [],
    "rollup": "SUCCESS",
    "isInMergeQueue": False,
}


def cases() -> list[dict[str, Any]]:
    return json.loads(CASES.read_text()) if CASES.exists() else []


def verdict_of(facts: dict[str, Any]) -> Verdict:
    """What the translation and the classifier make of facts in GitHub's words."""
    unreadable = facts["rollup"] == "UNREADABLE"
    rollup = None if unreadable or facts["rollup"] is None else {"state": facts["rollup"]}
    answer = {
        **{name: facts[name] for name in FACTS if name not in ("opinions", "rollup")},
        "id": "PR_1",
        "number": 1,
        "createdAt": "2026-10-01T09:00:00Z",
        "updatedAt": "2026-10-01T10:00:00Z",
        "headRefOid": "a1",
        "headRepository": facts.get("headRepository", {"url": "https://github.com/acme/rocket"}),
        "latestOpinionatedReviews": {
            "nodes": [
                {"state": state, "author": {"login": f"writer-{n}"}, "commit": {"oid": "a1"}}
                for n, state in enumerate(facts["opinions"])
            ]
        },
        "commits": {"nodes": [{"commit": {"oid": "a1", "statusCheckRollup": rollup}}]},
    }
    why = (("statusCheckRollup", "the token may not see this"),)
    refusals = Refusals(why) if unreadable else NOTHING_REFUSED
    return classify(whole(payloads.PullRequest.model_validate(answer), refusals))


@pytest.mark.skipif(not CASES.exists(), reason="the cases are not beside this repository")
@pytest.mark.parametrize("case", cases(), ids=lambda case: case["title"])
def test_a_case(case: dict[str, Any]):
    verdict = verdict_of(case["facts"])
    assert verdict.state.value == case["state"]
    for name, found in (
        ("checks", verdict.checks),
        ("mergeability", verdict.mergeability),
        ("reviewDecision", verdict.review_decision),
    ):
        assert case.get(name, found.value) == found.value


NEIGHBOURS = [
    ("squashed, its base changed since", {"mergedAt": "2026-10-01T10:00:00Z", "isDraft": True}),
    ("merged without a stamp", {"state": "MERGED"}),
]


@pytest.mark.parametrize(("title", "facts"), NEIGHBOURS, ids=lambda each: str(each))
def test_neighbours_that_are_merged(title: str, facts: dict[str, Any]):
    assert verdict_of({**FACTS, **facts}).state.value == "MERGED"


@pytest.mark.parametrize(
    ("facts", "state"),
    [
        ({"state": "CLOSED"}, "CLOSED"),
        ({"state": "CLOSED", "closedAt": "2026-10-01T10:00:00Z", "rollup": "ERROR"}, "CLOSED"),
        ({"isDraft": True, "isInMergeQueue": True}, "DRAFT"),
        ({"isDraft": True, "mergeStateStatus": "DRAFT", "rollup": "FAILURE"}, "DRAFT"),
        ({"mergeable": "CONFLICTING", "mergeStateStatus": "CLEAN"}, "CONFLICTING"),
        ({"mergeable": "CONFLICTING", "mergeStateStatus": "DIRTY", "rollup": "FAILURE"},
         "CONFLICTING"),
        ({"mergeable": "UNKNOWN", "mergeStateStatus": "DIRTY"}, "OPEN"),
        ({"rollup": "FAILURE", "reviewDecision": "CHANGES_REQUESTED"}, "FAILING"),
        ({"rollup": "ERROR", "mergeable": "UNKNOWN", "mergeStateStatus": "UNKNOWN"}, "FAILING"),
        ({"reviewDecision": "CHANGES_REQUESTED", "isInMergeQueue": True}, "CHANGES_REQUESTED"),
        ({"opinions": ["CHANGES_REQUESTED", "APPROVED"]}, "CHANGES_REQUESTED"),
        ({"opinions": ["DISMISSED"]}, "OPEN"),
        ({"opinions": ["DISMISSED", "APPROVED"]}, "APPROVED"),
        ({"opinions": ["COMMENTED"]}, "OPEN"),
        ({"reviewDecision": "APPROVED", "mergeStateStatus": "HAS_HOOKS"}, "APPROVED"),
        ({"reviewDecision": "APPROVED", "mergeStateStatus": "UNSTABLE"}, "APPROVED_WAITING"),
        ({"reviewDecision": "APPROVED", "mergeStateStatus": "HALF_MERGED"}, "APPROVED_WAITING"),
        ({"reviewDecision": "APPROVED", "mergeable": "PERHAPS"}, "APPROVED_WAITING"),
        ({"reviewDecision": "APPROVED", "rollup": "SOMETHING_NEW"}, "APPROVED_WAITING"),
        ({"reviewDecision": "APPROVED", "opinions": ["CHANGES_REQUESTED"]}, "APPROVED"),
        ({"reviewDecision": "A_NEW_WORD", "opinions": ["APPROVED"]}, "APPROVED"),
        ({"reviewDecision": "REVIEW_REQUIRED", "opinions": ["APPROVED"]}, "OPEN"),
    ],
    ids=str,
)  # fmt: skip
def test_neighbours_of_the_cases(facts: dict[str, Any], state: str):
    assert verdict_of({**FACTS, **facts}).state.value == state


def test_every_combination_of_githubs_words_has_a_state():
    words = product(
        ("MERGEABLE", "CONFLICTING", "UNKNOWN", None, "NEW"),
        ("CLEAN", "UNSTABLE", "BLOCKED", "BEHIND", "DIRTY", "DRAFT", "HAS_HOOKS", None, "NEW"),
        ("APPROVED", "CHANGES_REQUESTED", "REVIEW_REQUIRED", None, "NEW"),
        ("SUCCESS", "FAILURE", "ERROR", "PENDING", "EXPECTED", None, "UNREADABLE", "NEW"),
    )
    for mergeable, merge_state, decision, rollup in words:
        verdict = verdict_of(
            {
                **FACTS,
                "mergeable": mergeable,
                "mergeStateStatus": merge_state,
                "reviewDecision": decision,
                "rollup": rollup,
            }
        )
        conflicting = mergeable == "CONFLICTING" or (
            merge_state == "DIRTY" and mergeable not in (None, "UNKNOWN")
        )
        assert (verdict.state.value == "CONFLICTING") == conflicting
        assert (verdict.checks.value == "FAILING") == (rollup in ("FAILURE", "ERROR"))
