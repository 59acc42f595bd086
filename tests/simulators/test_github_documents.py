"""The simulated GitHub answers all that the client asks, at the price that the real one takes."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pullstate.forges.github.tailoring import every_document, introspection, tailored
from tests.simulators.github import TOKEN, World
from tests.simulators.github.engine import Engine
from tests.simulators.github.model import PullRequest
from tests.simulators.test_github_schema import eventful

DOCUMENTS = every_document()


@pytest.mark.parametrize("name", sorted(DOCUMENTS))
def test_every_document_of_the_client_is_answered(name: str) -> None:
    world = World()
    pull_request = eventful(world)
    engine, viewer = Engine(world), world.tokens.viewer(TOKEN)
    document = tailored(DOCUMENTS[name])
    reply = engine.answer(viewer, document, variables(name, document, pull_request))
    assert "errors" not in reply.body, reply.body["errors"]
    assert all(found is not None for found in reply.body["data"].values())
    assert reply.cost == (5 if name == "threads 10" else 1)


def test_what_an_older_version_lacks_is_left_out_of_what_it_is_asked() -> None:
    missing = {"PullRequest.mergeQueueEntry", "RequestedReviewer.Bot"}
    world = World(without=missing)
    pull_request = eventful(world)
    engine, viewer = Engine(world), world.tokens.viewer(TOKEN)
    assert engine.answer(viewer, introspection()).body["data"]
    whole, cut = tailored(DOCUMENTS["READ"]), tailored(DOCUMENTS["READ"], missing)
    given = {"ids": [pull_request.id]}
    assert "data" not in engine.answer(viewer, whole, given).body
    assert "errors" not in engine.answer(viewer, cut, given).body


def variables(name: str, document: str, pull_request: PullRequest) -> dict[str, Any]:
    """A value for each variable that the document declares, by its name."""
    item = pull_request.threads[0].id if name.startswith("comments") else pull_request.id
    known = {
        "repository": pull_request.repository.id,
        "id": item,
        "ids": [item] * 25,
        "size": 25 if name == "OPEN_PAGE" else 100,
        "number": pull_request.number,
        "branch": pull_request.head_ref_name,
        "direction": "ASC",
    }
    declared = re.findall(r"\$(\w+):", document.partition("{")[0])
    numbered = {"p": item, "r": pull_request.repository.id, "c": None}
    return {
        each: known[each] if each in known else numbered[re.sub(r"\d+$", "", each)]
        for each in declared
        if each in known or re.sub(r"\d+$", "", each) in numbered
    }
