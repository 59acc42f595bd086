"""Why a `get_merge_request` call cannot be answered, once the store or the forge was asked."""

from __future__ import annotations

from pullstate.domain.freshness import NOT_VISIBLE, FaultKind
from pullstate.server.merge_request_question import Named
from pullstate.server.merge_request_view import View
from pullstate.server.registry import ToolError
from pullstate.store.wishes import Granted

AGAIN = "ask again in a few seconds"


def refuse_two_different(named: Named, view: View) -> None:
    """The url and the ids must lead to one project; one that moved is found under both paths."""
    here = view.asked.repository
    there = {other.id for other in view.others if other is not None} - {here.id}
    if named.also is not None and (there or not any(view.others)):
        given = f"project_id to {named.also.url}"
    elif named.numeric_id is not None and (there or here.forge_id not in (None, named.numeric_id)):
        given = f"whose id is not {named.numeric_id}"
    else:
        return
    raise ToolError(
        f"url and project_id name different projects (url leads to {view.asked.address.url}, "
        f"{given}): send url alone, or project_id and merge_request_iid without it."
    )


def refuse_none(named: Named, view: View, number: Granted) -> None:
    """A ToolError where the merge request is not stored, or is gone."""
    if view.stored is not None and view.stored.gone_at is None:
        return
    if view.stored is not None or _is_refused(view):
        raise not_visible(named)
    raise unread(named, number, soon=view.freshness.served and not _is_paused(view))


def _is_refused(view: View) -> bool:
    fault = view.freshness.fault
    return fault is not None and fault.kind in (FaultKind.FORBIDDEN, FaultKind.NOT_FOUND)


def _is_paused(view: View) -> bool:
    fault = view.freshness.fault
    return fault is not None and fault.kind is FaultKind.RATE_LIMITED


def unread(named: Named, number: Granted, *, soon: bool) -> ToolError:
    """Nothing of it is stored, and this is how the wish for it ended; `soon` it may be."""
    if number.outcome in ("not_found", "nothing") or number.why == NOT_VISIBLE:
        return not_visible(named)
    if number.outcome:
        return ToolError(f"{named.words} could not be read: {number.why or 'nobody knows why'}.")
    again = f"; {AGAIN}" if soon else ""
    return ToolError(f"{named.words} is not stored yet: {number.why or 'it is being read'}{again}.")


def not_visible(named: Named) -> ToolError:
    """Missing and forbidden get one wording: forges answer both alike."""
    return ToolError(
        f"{named.words}: {NOT_VISIBLE}. Check the number (an issue has another) and the project."
    )
