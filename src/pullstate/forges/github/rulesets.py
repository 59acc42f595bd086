"""What a branch's rulesets require, which GraphQL's `refUpdateRule` may not tell.

Asked over REST when a pull request is blocked, once an hour for each base branch.
https://docs.github.com/en/rest/repos/rules#get-rules-for-a-branch
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

from pullstate.forges.errors import ForgeError, RateLimited, Unreachable
from pullstate.forges.github import payloads
from pullstate.forges.github.api import Api, route

KEPT = timedelta(hours=1)
NONE = payloads.Rule(requiredStatusCheckContexts=[], requiredApprovingReviewCount=0)


class Rulesets:
    """The rules of base branches, each kept for an hour."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._kept: dict[tuple[str, str], tuple[datetime, payloads.Rule]] = {}

    async def applied(self, seen: payloads.PullRequest) -> payloads.PullRequest:
        """A blocked one with the rules of its base's rulesets added; any other as it is."""
        base = seen.base_ref
        if base is None or seen.repository is None or seen.merge_state_status != "BLOCKED":
            return seen
        found = await self._of(seen.repository.name_with_owner, seen.base_ref_name)
        if found == NONE:
            return seen
        rule = together(base.ref_update_rule or NONE, found)
        return seen.model_copy(
            update={"base_ref": base.model_copy(update={"ref_update_rule": rule})}
        )

    async def _of(self, repository: str, branch: str) -> payloads.Rule:
        now = self._api.http.now()
        until, kept = self._kept.get((repository, branch), (now, NONE))
        if until > now:
            return kept
        path = f"{route(repository)}/rules/branches/{quote(branch, safe='')}"
        try:
            rules, _ = await self._api.items(path, {})
        except (RateLimited, Unreachable):
            return kept
        except ForgeError:
            rules = []
        self._kept[repository, branch] = now + KEPT, rule_of(rules)
        return self._kept[repository, branch][1]


def rule_of(rules: Iterable[Any]) -> payloads.Rule:
    """REST's rules of a branch, summed up as GraphQL sums up a branch's protection."""
    found = NONE
    for each in rules:
        given = each.get("parameters") if isinstance(each, dict) else None
        if isinstance(given, dict):
            found = together(found, _rule(given))
    return found


def _rule(given: Mapping[str, Any]) -> payloads.Rule:
    checks = given.get("required_status_checks") or ()
    return payloads.Rule.model_validate(
        {
            "requiredStatusCheckContexts": [
                each.get("context") for each in checks if isinstance(each, dict)
            ],
            "requiredApprovingReviewCount": given.get("required_approving_review_count"),
            "requiresCodeOwnerReviews": given.get("require_code_owner_review"),
            "requiresConversationResolution": given.get("required_review_thread_resolution"),
        }
    )


def together(one: payloads.Rule, other: payloads.Rule) -> payloads.Rule:
    """What both ask: of two rules the stricter one holds."""
    both = (one, other)
    contexts = {name for each in both for name in each.required_status_check_contexts or ()}
    return payloads.Rule(
        requiredStatusCheckContexts=sorted(filter(None, contexts)),
        requiredApprovingReviewCount=max(e.required_approving_review_count or 0 for e in both),
        requiresCodeOwnerReviews=any(each.requires_code_owner_reviews for each in both),
        requiresConversationResolution=any(e.requires_conversation_resolution for e in both),
    )
