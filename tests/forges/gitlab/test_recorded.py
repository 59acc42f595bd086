"""Every recorded merge request is read, and nothing that is shown of it is lost."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from pullstate.domain.classifier import classify
from pullstate.domain.review import GHOST
from pullstate.forges.gitlab.checks import rest_pipeline
from pullstate.forges.gitlab.payloads import MergeRequest
from pullstate.forges.gitlab.translate import Extra, whole
from tests.forges.gitlab.made import PLACE
from tests.forges.gitlab.recorded import DATA, records


def is_merge_request(record: dict[str, Any]) -> bool:
    return {"iid", "source_branch", "target_branch", "created_at", "title"} <= record.keys()


MERGE_REQUESTS = records(is_merge_request)


def test_there_are_recorded_merge_requests() -> None:
    if not DATA.is_dir():
        pytest.skip("no ../shared/data/gitlab here")
    assert len(MERGE_REQUESTS) > 60


@pytest.mark.parametrize("record", MERGE_REQUESTS)
def test_every_recorded_merge_request_is_read_without_loss(record: dict[str, Any]) -> None:
    payload = MergeRequest.model_validate(record)
    extra = Extra(pipeline=rest_pipeline(payload))
    seen = whole(payload, PLACE, PLACE.path, extra)
    assert seen.number == int(record["iid"])
    assert seen.title == record["title"]
    assert seen.head.branch == record["source_branch"]
    assert seen.base.branch == record["target_branch"]
    refs = record.get("diff_refs") or {}
    assert seen.head.sha == (record.get("sha") or refs.get("head_sha") or "")
    assert seen.author == ((record.get("author") or {}).get("username") or GHOST)
    assert seen.draft is bool(record.get("draft", record.get("work_in_progress", False)))
    for word in (record.get("detailed_merge_status"), record.get("merge_status")):
        assert (word or "") in seen.mergeability.raw
    assert classify(seen).state == expected_state(record, seen)


def expected_state(record: dict[str, Any], seen: Any) -> str:
    if record.get("merged_at") or record.get("state") == "merged":
        assert seen.merged_at == seen.closed_at
        return "MERGED"
    if record.get("state") == "closed":
        assert seen.closed_at is not None
        return "CLOSED"
    assert seen.closed_at is None
    return classify(seen).state


@pytest.mark.parametrize("record", MERGE_REQUESTS)
def test_recorded_times_are_kept_to_the_second(record: dict[str, Any]) -> None:
    payload = MergeRequest.model_validate(record)
    seen = whole(payload, PLACE, PLACE.path, Extra())
    said = datetime.fromisoformat(record["created_at"].replace(" UTC", "Z"))
    said = said.replace(tzinfo=said.tzinfo or UTC)
    assert seen.opened_at == said.replace(microsecond=0)
