"""Telling a simulator in another process what happens next: `/_control`, JSON in and out.

- `GET /_control/requests`: what was asked so far; `DELETE` forgets it
- `POST /_control/faults`: a fault's fields (`faults.Fault`); `DELETE` takes all back
- `POST /_control/world`: `{"version": "16.11"}`, attributes of the world
- `POST /_control/clock`: `{"advance": 60}`, seconds, where the world's clock can be moved
- `POST /_control/act`: `{"act": "push", "on": {"project": "group/app", "iid": 3}, "with": {…}}`,
  one of the world's acts; what `on` and any value `{"$": {…}}` name is looked up by the simulator
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

from starlette.responses import JSONResponse, Response

from tests.simulators.faults import Fault, FaultPlan
from tests.simulators.watched import RequestLog

Json = dict[str, Any]


class Control:
    """`find` turns a reference into the world's record; `show` turns a record into JSON."""

    def __init__(
        self,
        world: Any,
        faults: FaultPlan,
        log: RequestLog,
        find: Callable[[Json], Any],
        show: Callable[[Any], Any],
    ) -> None:
        self.world, self.faults, self.log = world, faults, log
        self.find, self.show = find, show

    def answer(self, method: str, path: str, body: str) -> Response:
        """The reply to a control request; 400 with the reason when it cannot be done."""
        topic = path.rpartition("/_control")[2].strip("/") or "requests"
        try:
            given = json.loads(body) if body.strip() else {}
            return JSONResponse(self._do(method, topic, given))
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            return JSONResponse({"error": f"{type(error).__name__}: {error}"}, 400)

    def _do(self, method: str, topic: str, given: Json) -> Any:
        acts: dict[tuple[str, str], Callable[[Json], Any]] = {
            ("GET", "requests"): lambda _: [dataclasses.asdict(r) for r in self.log.matching()],
            ("DELETE", "requests"): lambda _: len(self.log.clear()),
            ("POST", "faults"): lambda fault: self.faults.add(Fault.from_json(fault)).name,
            ("DELETE", "faults"): lambda _: self.faults.clear(),
            ("POST", "world"): self._set,
            ("POST", "clock"): lambda move: self.world.clock.advance(move["advance"]).isoformat(),
            ("POST", "act"): self._act,
        }
        if (method, topic) not in acts:
            raise ValueError(f"unknown: {method} {topic}; known: {sorted(acts)}")
        return acts[method, topic](given)

    def _set(self, attributes: Json) -> Json:
        for name, value in attributes.items():
            if not hasattr(self.world, name):
                raise AttributeError(name)
            setattr(self.world, name, value)
        return attributes

    def _act(self, given: Json) -> Any:
        name = given["act"]
        if name.startswith("_"):
            raise AttributeError(name)
        subject = [self.find(given["on"])] if given.get("on") else []
        more = {key: self._value(value) for key, value in given.get("with", {}).items()}
        return self.show(getattr(self.world, name)(*subject, *given.get("args", ()), **more))

    def _value(self, value: Any) -> Any:
        return self.find(value["$"]) if isinstance(value, dict) and "$" in value else value
