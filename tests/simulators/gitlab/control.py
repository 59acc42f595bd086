"""How `/_control` names this world's records and shows what an act gave."""

from __future__ import annotations

from typing import Any

from tests.simulators.control import Control as Shared
from tests.simulators.faults import FaultPlan
from tests.simulators.gitlab.model import Discussion, MergeRequest, Note, Pipeline, Project
from tests.simulators.gitlab.world import World
from tests.simulators.watched import RequestLog


class Control(Shared):
    """References: `{"project": path or id}`, with `"iid"`, and with that `"discussion"`."""

    def __init__(self, world: World, faults: FaultPlan, log: RequestLog) -> None:
        super().__init__(world, faults, log, lambda named: _find(world, named), _shown)


def _find(world: World, named: dict[str, Any]) -> Any:
    project = world.find(named["project"])
    if project is None:
        raise LookupError(named["project"])
    if "iid" not in named:
        return project
    mr = project.merge_requests[int(named["iid"])]
    if "discussion" not in named:
        return mr
    return next(each for each in mr.discussions if each.id == named["discussion"])


def _shown(given: Any) -> Any:
    if isinstance(given, Project):
        return {"id": given.id, "path": given.path}
    if isinstance(given, MergeRequest):
        return {"project": given.project.path, "iid": given.iid, "sha": given.sha}
    if isinstance(given, Discussion | Note | Pipeline):
        return {"id": given.id}
    if isinstance(given, list):
        return [_shown(each) for each in given]
    return given if isinstance(given, str | int | float | bool) else None
