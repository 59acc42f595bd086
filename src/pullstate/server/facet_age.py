"""Whether a stored facet still says what the forge would say now."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

from pullstate.domain.merge_request import Facet
from pullstate.domain.pull_request import CheckVerdict
from pullstate.store.records import StoredFacet, StoredPullRequest

# What a commit says for itself; the others are good until the merge request is updated.
OF_THE_HEAD = {Facet.DIFFS, Facet.COMMITS, Facet.PIPELINES, Facet.CONFLICTS}
MOVING = {Facet.PIPELINES, Facet.CONFLICTS}  # on an unmoved head too
INTERVALS = 5  # of the sync, within which what moves unseen is read again
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
    if facet in MOVING:
        return _age_of_moving(facet, kept.observed_at, stored, now, interval)
    if facet not in OF_THE_HEAD and settles_late:
        settled = kept.observed_at >= stored.pull_request.changed_at + UNSETTLED
        return Age.CURRENT if settled else Age.UNSURE
    return Age.CURRENT


def _is_of_now(facet: Facet, kept: StoredFacet, stored: StoredPullRequest) -> bool:
    seen = stored.pull_request
    if facet in OF_THE_HEAD:
        return kept.head_sha == seen.head.sha
    return kept.changed_at_when_read == seen.changed_at


def _age_of_moving(
    facet: Facet,
    read_at: datetime,
    stored: StoredPullRequest,
    now: datetime,
    interval: timedelta,
) -> Age:
    """Checks go on, and a base moves on: while it is open, it is read again."""
    seen = stored.pull_request
    if seen.finished:
        return Age.CURRENT
    base_moved = stored.observed.base
    if facet is Facet.CONFLICTS and base_moved is not None and base_moved > read_at:
        return Age.OUTDATED
    runs = seen.checks is not None and seen.checks.verdict is CheckVerdict.PENDING
    patience = interval * (1 if runs and facet is Facet.PIPELINES else INTERVALS)
    return Age.CURRENT if now - read_at <= patience else Age.UNSURE
