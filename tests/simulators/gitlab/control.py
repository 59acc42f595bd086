"""Driving the simulated GitLab over HTTP, for tests and people in another process.

GET    /_control/acts               what can happen, with the arguments of each act
POST   /_control/acts               {"act": "push", "mr": "group/app!3"}
GET    /_control/log?operation=RE   the requests so far        DELETE forgets them
GET    /_control/counters           requests, by operation, path and status
POST   /_control/faults             {"kind": "too_many_requests", "retry_after": 30}
DELETE /_control/faults             no more faults; hanging requests are answered
POST   /_control/latency            {"seconds": 0.1}
POST   /_control/clock              {"seconds": 60}: on, where the world's clock can be moved
POST   /_control/world              {"version": "16.11.0"}: attributes of the world

A merge request is named `path!iid`, a project by path or number; discussions, notes and pipelines
by id.
"""

from __future__ import annotations

import inspect
import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.simulators.gitlab.building import Building
from tests.simulators.gitlab.faults import KINDS
from tests.simulators.gitlab.model import (
    Discussion,
    FileDiff,
    MergeRequest,
    Note,
    Pipeline,
    Project,
)
from tests.simulators.gitlab.proposing import Proposing
from tests.simulators.gitlab.reviewing import Reviewing
from tests.simulators.gitlab.world import World
from tests.simulators.recording import described, matches, operation_name
from tests.simulators.watched import Watched

PROJECTS = ("project", "of", "source_project")
OF_THE_WORLD = ("project", "fork", "move_project", "delete_project", "user", "token", "fill")


class Control:
    def __init__(self, world: World, watched: Watched) -> None:
        self.world, self.watched = world, watched
        self.acts = {name: getattr(world, name) for name in _names_of_acts()}

    def routes(self) -> list[Route]:
        return [
            Route("/_control/acts", self._signatures, methods=["GET"]),
            Route("/_control/acts", self._act, methods=["POST"]),
            Route("/_control/log", self._log, methods=["GET", "DELETE"]),
            Route("/_control/counters", self._counters),
            Route("/_control/faults", self._fault, methods=["POST"]),
            Route("/_control/faults", self._clear_faults, methods=["DELETE"]),
            Route("/_control/latency", self._latency, methods=["POST"]),
            Route("/_control/clock", self._clock, methods=["POST"]),
            Route("/_control/world", self._attributes, methods=["POST"]),
        ]

    async def _signatures(self, request: Request) -> Response:
        return JSONResponse({name: str(inspect.signature(act)) for name, act in self.acts.items()})

    async def _act(self, request: Request) -> Response:
        asked = json.loads(await request.body())
        name = asked.pop("act", "")
        if name not in self.acts:
            return _wrong(f"no act {name!r}; GET this address for those there are")

        def act() -> Any:
            given = {key: self._argument(key, value) for key, value in asked.items()}
            return self.acts[name](**given)

        return _done(name, act)

    def _argument(self, name: str, value: Any) -> Any:
        if name == "mr":
            path, _, iid = str(value).rpartition("!")
            return self._project(path).merge_requests[int(iid)]
        if name in PROJECTS:
            return self._project(value)
        if name in ("discussion", "note", "pipeline"):
            return next(each for each in self._records() if str(each.id) == str(value))
        return [FileDiff(**file) for file in value] if name == "files" else value

    def _project(self, reference: str | int) -> Project:
        found = self.world.find(reference)
        if found is None:
            raise ValueError(f"no project {reference!r}")
        return found

    def _records(self) -> Iterator[Discussion | Note | Pipeline]:
        for project in self.world.projects.values():
            yield from project.pipelines.values()
            for mr in project.merge_requests.values():
                yield from mr.discussions
                yield from (note for each in mr.discussions for note in each.notes)

    async def _log(self, request: Request) -> Response:
        if request.method == "DELETE":
            self.watched.log.clear()
            return Response(status_code=204)
        wanted = request.query_params.get("operation", "")
        seen = [each for each in self.watched.log.matching() if matches(each, wanted)]
        return JSONResponse([described(each) for each in seen])

    async def _counters(self, request: Request) -> Response:
        seen = self.watched.log.matching()
        asked = [each for each in seen if each.is_graphql]
        return JSONResponse(
            {
                "requests": len(seen),
                "operations": Counter(operation_name(each) for each in asked),
                "rest": Counter(each.path for each in seen if not each.is_graphql),
                "statuses": Counter(str(each.status) for each in seen),
                "faults": Counter(each.fault for each in seen if each.fault),
            }
        )

    async def _fault(self, request: Request) -> Response:
        asked = json.loads(await request.body())
        kind = asked.pop("kind", "fault")
        if kind not in KINDS:
            return _wrong(f"no fault {kind!r}; there are {', '.join(sorted(KINDS))}")
        return _done(kind, lambda: self.watched.faults.add(KINDS[kind](**asked)).name)

    async def _clear_faults(self, request: Request) -> Response:
        self.watched.faults.clear()
        return Response(status_code=204)

    async def _latency(self, request: Request) -> Response:
        self.watched.latency = float(json.loads(await request.body())["seconds"])
        return Response(status_code=204)

    async def _clock(self, request: Request) -> Response:
        seconds = float(json.loads(await request.body())["seconds"])
        return _done("clock", lambda: self.world.clock.advance(seconds).isoformat())

    async def _attributes(self, request: Request) -> Response:
        given = json.loads(await request.body())
        if unknown := [name for name in given if not hasattr(self.world, name)]:
            return _wrong(f"the world has no {', '.join(unknown)}")
        for name, value in given.items():
            setattr(self.world, name, value)
        return Response(status_code=204)


def _names_of_acts() -> list[str]:
    described = [name for part in (Proposing, Reviewing, Building) for name in vars(part)]
    return sorted([*(name for name in described if not name.startswith("_")), *OF_THE_WORLD])


def _done(name: str, act: Callable[[], Any]) -> Response:
    try:
        return JSONResponse({"result": _result(act())})
    except StopIteration:
        return _wrong(f"{name}: no record of that id")
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        return _wrong(f"{name}: {error}")


def _result(given: Any) -> Any:
    if isinstance(given, list):
        return [_result(each) for each in given]
    if isinstance(given, MergeRequest):
        return {"id": given.id, "mr": f"{given.project.path}!{given.iid}", "sha": given.sha}
    if isinstance(given, Project):
        return {"id": given.id, "path": given.path}
    if isinstance(given, int | str | None):
        return given
    return {"id": getattr(given, "id", None)}


def _wrong(message: str) -> Response:
    return JSONResponse({"message": message}, 400)
