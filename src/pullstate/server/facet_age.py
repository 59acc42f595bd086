"""Whether a stored facet still says what the forge would say now."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

from pullstate.domain.merge_request import Facet
from pullstate.domain.pull_request import CheckVerdict
from pullstate.store.records import StoredFacet, StoredPullRequest

# What a commit says for itself; the others are good until the merge request is updated.
OF_THE_HEAD = {Facet.DIFFS, Facet.COMMITS, Facet.PIPELINES, Facet.CONFLICTS}
# What may move without a new head or an update: a merge status, checks, a base, resolving.
MOVING = set(Facet) - {Facet.DIFFS, Facet.COMMITS}
INTERVALS = 6  # of the sync, which reads what was asked about every five: one more is late
UNSETTLED = timedelta(seconds=75)  # GitLab's notes move `updated_at` at most once a minute


class Age(StrEnum):
    """How far a stored facet can be trusted, best last."""

    UNREAD = "unread"
    OUTDATED = "outdated"  # of an earlier head, or from before the last update
    UNSURE = "unsure"  # it may have moved since without a sign
    CURRENT = "current"


def age_of(
    facet: Facet,
    kept: StoredFacet | None,
    stored: StoredPullRequest,
    now: datetime,
    interval: timedelta,
    *,
    settles_late: bool = False,
) -> Age:
    """How old a facet is. `settles_late`: its forge may add notes without saying so for a while."""
    if kept is None or kept.body is None or kept.observed_at is None:
        return Age.UNREAD
    if not _is_of_now(facet, kept, stored):
        return Age.OUTDATED
    late = facet in MOVING and _is_late(facet, kept.observed_at, stored, now, interval)
    unsettled = settles_late and facet not in OF_THE_HEAD and not _is_settled(kept, stored)
    return Age.UNSURE if late or unsettled else Age.CURRENT


def _is_of_now(facet: Facet, kept: StoredFacet, stored: StoredPullRequest) -> bool:
    if facet in OF_THE_HEAD:
        same_base = facet is not Facet.CONFLICTS or not _is_before(kept, stored.observed.base)
        return same_base and kept.head_sha == stored.pull_request.head.sha
    return kept.changed_at_when_read == stored.pull_request.changed_at


def _is_settled(kept: StoredFacet, stored: StoredPullRequest) -> bool:
    return not _is_before(kept, stored.pull_request.changed_at + UNSETTLED)


def _is_before(kept: StoredFacet, moment: datetime | None) -> bool:
    return kept.observed_at is not None and moment is not None and kept.observed_at < moment


def _is_late(
    facet: Facet, read_at: datetime, stored: StoredPullRequest, now: datetime, interval: timedelta
) -> bool:
    """Whether it should have been read again; while checks run, pipelines are old soon."""
    seen = stored.pull_request
    runs = seen.checks is not None and seen.checks.verdict is CheckVerdict.PENDING
    patience = 1 if runs and facet is Facet.PIPELINES else INTERVALS
    return not seen.finished and now - read_at > interval * patience
