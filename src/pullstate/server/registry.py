"""A typed tool → flat schemas, checked arguments, one shape of result and error.

A tool is a name, two pydantic models and a coroutine between them. The registry publishes the
models as schemas, reads what a client sent into the first (`arguments.py` says how leniently),
runs the coroutine, and answers with one shape whatever happened: the result as an object and as
the same JSON in text, an error the caller can act on in words, or, for what nobody foresaw, one
sentence with a reference that is also in the log.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from pullstate.domain.text import quote
from pullstate.server.arguments import Arguments, CamelArguments, Reader
from pullstate.server.errors import ArgumentError, ToolError, UnknownTool
from pullstate.server.failures import log_failure
from pullstate.server.schemas import Schema, input_schema, output_schema
from pullstate.server.values import Takes
from pullstate.server.wire import compact, fitting

__all__ = [
    "ArgumentError",
    "Arguments",
    "CamelArguments",
    "Registry",
    "Reply",
    "Takes",
    "Tool",
    "ToolError",
    "UnknownTool",
    "fitting",
]

log = logging.getLogger(__name__)

ContextT = TypeVar("ContextT")
ArgumentsT = TypeVar("ArgumentsT", bound=Arguments)

# What every client takes for a name; some count 64 characters with a prefix of their own.
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class Tool(Generic[ContextT, ArgumentsT]):
    """One tool, as it is published and as it is run.

    `run` gets what the server's lifespan holds and the checked arguments. It returns an instance
    of `result`, or, where rows are many, the finished object as a dict: `result` then only
    publishes its shape, and tests hold the two together. It raises ToolError for the caller.
    """

    name: str
    title: str
    description: str
    arguments: type[ArgumentsT]
    result: type[BaseModel]
    run: Callable[[ContextT, ArgumentsT], Awaitable[BaseModel | dict[str, Any]]]
    read_only: bool = True
    idempotent: bool = True
    destructive: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """What a call comes to. `text` is the JSON of `structured`, or the error's whole story."""

    text: str
    structured: dict[str, Any] | None = None

    @property
    def is_error(self) -> bool:
        return self.structured is None


@dataclass(frozen=True, slots=True)
class Published(Generic[ContextT]):
    """A tool under the name it is called by, with its schemas and the reader of its arguments."""

    name: str
    tool: Tool[ContextT, Any]
    input_schema: Schema
    output_schema: Schema
    reader: Reader = field(repr=False)


class Registry(Generic[ContextT]):
    """The tools of one server, each under its name with the server's prefix."""

    def __init__(self, tools: Iterable[Tool[ContextT, Any]], prefix: str = "") -> None:
        """Raises ValueError for a prefix or name that clients refuse, and for a name used twice."""
        self._published: dict[str, Published[ContextT]] = {}
        for tool in tools:
            published = _publish(tool, prefix + tool.name)
            if published.name in self._published:
                raise ValueError(f"two tools are named {published.name}")
            self._published[published.name] = published

    @property
    def published(self) -> tuple[Published[ContextT], ...]:
        """Every tool, in the order given."""
        return tuple(self._published.values())

    async def call(
        self, context: ContextT, name: str, arguments: Mapping[str, Any] | None
    ) -> Reply:
        """Run one tool. Only UnknownTool and cancellation come out as exceptions."""
        published = self._named(name)
        try:
            checked = published.reader.read(arguments or {})
            return _reply(await published.tool.run(context, checked))
        except ToolError as error:
            return Reply(str(error))
        except Exception as error:
            reference = log_failure(log, f"tool {name}", error)
            return Reply(
                f"{name} failed in a way that was not foreseen: call it once more, and if it fails "
                f"again report reference {reference}, which is in the server's log on stderr."
            )

    def _named(self, name: str) -> Published[ContextT]:
        try:
            return self._published[name]
        except KeyError:
            known = ", ".join(self._published) or "none"
            raise UnknownTool(f"Unknown tool {quote(name)}; the tools are: {known}.") from None


def _publish(tool: Tool[ContextT, Any], name: str) -> Published[ContextT]:
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"{quote(name)} cannot be a tool's name: at most 64 letters, digits, _ and - with the "
            "prefix"
        )
    schema = input_schema(tool.arguments)
    return Published(
        name, tool, schema, output_schema(tool.result), Reader(name, tool.arguments, schema)
    )


def _reply(result: BaseModel | dict[str, Any]) -> Reply:
    """Serialise once; what a model leaves unset is absent."""
    if isinstance(result, BaseModel):
        result = result.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return Reply(compact(result), result)
