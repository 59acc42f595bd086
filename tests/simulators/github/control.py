"""Driving the simulated forge over HTTP, for tests and people in another process.

GET    /_control/acts               what can happen, with the arguments of each act
POST   /_control/acts               {"act": "merge", "pull_request": "acme/rocket#3"}
GET    /_control/log?operation=RE   the requests so far        DELETE forgets them
GET    /_control/counters           requests, points, by operation and by status
POST   /_control/faults             {"kind": "secondary_limit", "retry_after": 30}
DELETE /_control/faults             no more faults; hanging requests are answered
POST   /_control/latency            {"seconds": 0.1}
POST   /_control/clock              {"seconds": 60}: on, where the clock can be moved
POST   /_control/world              {"mergeability_lag": 2}: settings of the world

A repository is named `owner/name`, a pull request `owner/name#3`, all else by its node id.
"""

from __future__ import annotations

import inspect
import json
from collections import Counter
from datetime import datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.simulators.github import faults
from tests.simulators.github.connections import timestamp
from tests.simulators.github.ground import ManualClock
from tests.simulators.github.model import PullRequest, Repository
from tests.simulators.github.world import World
from tests.simulators.recording import described, matches, operation_name
from tests.simulators.watched import Watched

SETTINGS = frozenset({"has_limits", "limit_error_type", "mergeability_lag", "version"})
MOMENTS = frozenset({"at", "retry_after", "reset"})


class Control:
    def __init__(self, world: World, watched: Watched) -> None:
        self.world, self.watched = world, watched

    def routes(self) -> list[Route]:
        return [
            Route("/_control/acts", self._acts, methods=["GET"]),
            Route("/_control/acts", self._act, methods=["POST"]),
            Route("/_control/log", self._log, methods=["GET", "DELETE"]),
            Route("/_control/counters", self._counters),
            Route("/_control/faults", self._fault, methods=["POST", "DELETE"]),
            Route("/_control/latency", self._latency, methods=["POST"]),
            Route("/_control/clock", self._clock, methods=["POST"]),
            Route("/_control/world", self._settings, methods=["POST"]),
        ]

    async def _acts(self, request: Request) -> Response:
        acts = {name: str(inspect.signature(act)) for name, act in _all_acts(self.world).items()}
        return JSONResponse(acts)

    async def _act(self, request: Request) -> Response:
        asked = json.loads(await request.body())
        name = asked.pop("act", "")
        act = _all_acts(self.world).get(name)
        if act is None:
            return _wrong(f"no act {name!r}; GET this address for those there are")
        try:
            result = act(**{key: self._argument(key, value) for key, value in asked.items()})
        except (KeyError, TypeError, ValueError) as error:
            return _wrong(f"{name}: {error}")
        return JSONResponse({"result": _result(result)})

    def _argument(self, name: str, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        if name == "repository":
            return self._repository(value)
        if name in ("pull_request", "target"):
            repository, _, number = value.partition("#")
            return self._repository(repository).pull_requests[int(number)]
        if name in ("thread", "review", "comment", "suite", "run"):
            return self.world.nodes[value]
        return _moment(value) if name in MOMENTS else value

    def _repository(self, name: str) -> Repository:
        found = self.world.find_repository(name)
        if found is None:
            raise ValueError(f"no repository {name!r}")
        return found

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
                "points": sum(each.notes.get("cost", 0) for each in asked),
                "operations": Counter(operation_name(each) for each in asked),
                "rest": Counter(each.path for each in seen if not each.is_graphql),
                "statuses": Counter(str(each.status) for each in seen),
                "faults": Counter(each.fault for each in seen if each.fault),
            }
        )

    async def _fault(self, request: Request) -> Response:
        if request.method == "DELETE":
            self.watched.faults.clear()
            return Response(status_code=204)
        asked = json.loads(await request.body())
        kind = asked.pop("kind", "fault")
        if kind not in faults.KINDS:
            return _wrong(f"no fault {kind!r}; there are {', '.join(sorted(faults.KINDS))}")
        try:
            given = {key: _moment(value) for key, value in asked.items()}
            self.watched.faults.add(faults.KINDS[kind](**given))
        except TypeError as error:
            return _wrong(f"{kind}: {error}")
        return Response(status_code=204)

    async def _latency(self, request: Request) -> Response:
        self.watched.latency = float(json.loads(await request.body())["seconds"])
        return Response(status_code=204)

    async def _clock(self, request: Request) -> Response:
        clock = self.world.clock
        if not isinstance(clock, ManualClock):
            return _wrong("this world's clock goes by itself")
        clock.advance(float(json.loads(await request.body())["seconds"]))
        return JSONResponse({"result": timestamp(clock.time)})

    async def _settings(self, request: Request) -> Response:
        given = json.loads(await request.body())
        if unknown := sorted(set(given) - SETTINGS):
            return _wrong(f"no setting {unknown}; there are {sorted(SETTINGS)}")
        for name, value in given.items():
            setattr(self.world, name, value)
        return Response(status_code=204)


def _all_acts(world: World) -> dict[str, Any]:
    acts = inspect.getmembers(world, lambda member: getattr(member, "is_act", False))
    return dict(acts)


def _moment(value: Any) -> Any:
    """A text that is a time becomes one."""
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _result(result: Any) -> Any:
    if isinstance(result, list):
        return [_result(each) for each in result]
    if isinstance(result, PullRequest):
        address = f"{result.repository.name_with_owner}#{result.number}"
        return {"id": result.id, "pull_request": address}
    if isinstance(result, datetime):
        return timestamp(result)
    if isinstance(result, int | str | None):
        return result
    return {"id": getattr(result, "id", None)}


def _wrong(message: str) -> Response:
    return JSONResponse({"message": message}, 400)
