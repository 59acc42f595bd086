"""A simulated forge in another process, driven through its `/_control`."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

import httpx


class Remote:
    """Acts, faults and the log of the forge at `url`; ValueError says what it did not take."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._client = httpx.Client(base_url=f"{url}/_control", trust_env=False, timeout=60)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._client.close()

    def act(self, name: str, **arguments: Any) -> Any:
        """`act("merge", pull_request="acme/rocket#3")`.

        How things are named says each forge's `control.py`.
        """
        return self._post("/acts", {"act": name, **arguments})["result"]

    def fault(self, kind: str, **arguments: Any) -> None:
        """`fault("secondary_limit", retry_after=30)`."""
        self._post("/faults", {"kind": kind, **arguments})

    def clear_faults(self) -> None:
        self._client.delete("/faults").raise_for_status()

    def set_latency(self, seconds: float) -> None:
        self._post("/latency", {"seconds": seconds})

    def set_world(self, **attributes: Any) -> None:
        """Attributes of the world, where the forge lets them be set."""
        self._post("/world", attributes)

    def advance_clock(self, seconds: float) -> None:
        """Move the world's clock on, where it can be moved."""
        self._post("/clock", {"seconds": seconds})

    def log(self, operation: str = "") -> list[dict[str, Any]]:
        return self._get("/log", operation=operation)

    def clear_log(self) -> None:
        self._client.delete("/log").raise_for_status()

    def counters(self) -> dict[str, Any]:
        return self._get("/counters")

    def _get(self, path: str, **query: str) -> Any:
        answer = self._client.get(path, params=query)
        answer.raise_for_status()
        return answer.json()

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        answer = self._client.post(path, json=body)
        if answer.status_code == 400:
            raise ValueError(answer.json()["message"])
        answer.raise_for_status()
        return answer.json() if answer.content else None
