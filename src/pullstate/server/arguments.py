"""What a client sent → a tool's arguments, or one sentence for each argument that does not fit.

A tool's parameters are advertised in one spelling; the other one (camelCase ↔ snake_case) is
taken too, at every depth. A name that is neither is refused, with the nearest right one: a paging
argument that was silently ignored would look like a short list.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel, to_snake
from pydantic.fields import FieldInfo

from pullstate.domain.text import quote
from pullstate.server.errors import ArgumentError
from pullstate.server.schemas import Schema
from pullstate.server.values import (
    READERS,
    Misfit,
    Takes,
    as_list,
    as_object,
    is_unset,
    read_text,
    wanted,
)

MOST_PROBLEMS = 5
_ABSENT = object()
_BOUNDS = {"minimum", "maximum", "maxLength", "maxItems"}


class Arguments(BaseModel):
    """The arguments of a tool, advertised under the fields' own names.

    A field's bounds are checked and worded here; what takes more than one field to see is raised
    by a validator as a ValueError whose text is the sentence for the caller.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", validate_by_name=True)


class CamelArguments(Arguments):
    """The arguments of a tool, advertised in camelCase."""

    model_config = ConfigDict(alias_generator=to_camel)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One advertised parameter; `parts` are those of an object, or of each item of an array."""

    name: str
    schema: Schema
    required: bool = True
    spellings: tuple[str, ...] = ()
    takes: frozenset[Takes] = frozenset()
    parts: tuple[Parameter, ...] = ()


class Reader:
    """Reads the arguments of one tool."""

    def __init__(self, tool: str, model: type[Arguments], schema: Schema) -> None:
        self._tool = tool
        self._model = model
        self._parameters = _parameters(model, schema)

    def read(self, given: Mapping[str, Any]) -> Arguments:
        """The checked arguments. ArgumentError names each that does not fit, and the remedy."""
        problems: list[str] = []
        values = _read_object(self._tool, "", self._parameters, given, problems)
        if problems:
            raise ArgumentError(_story(problems))
        try:
            return self._model.model_validate(values)
        except ValidationError as invalid:
            raise ArgumentError(_story(map(_sentence, invalid.errors()))) from None


def _parameters(model: type[BaseModel], schema: Schema) -> tuple[Parameter, ...]:
    named = {field.alias or name: field for name, field in model.model_fields.items()}
    return tuple(
        _parameter(name, field, schema["properties"][name]) for name, field in named.items()
    )


def _parameter(name: str, field: FieldInfo, schema: Schema) -> Parameter:
    nested = next(_models_in(field.annotation), None)
    inner = schema["items"] if schema["type"] == "array" else schema
    return Parameter(
        name,
        schema,
        required=field.is_required(),
        spellings=tuple(sorted({name, to_camel(name), to_snake(name)})),
        takes=frozenset(mark for mark in field.metadata if isinstance(mark, Takes)),
        parts=_parameters(nested, inner) if nested else (),
    )


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models in `M`, `M | None`, `list[M]`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)


# --- Reading -------------------------------------------------------------------------------------


def _read_object(
    owner: str,
    prefix: str,
    parameters: tuple[Parameter, ...],
    given: Mapping[str, Any],
    problems: list[str],
) -> dict[str, Any]:
    """The values by advertised name; what is wrong is added to the problems."""
    known = {spelling for parameter in parameters for spelling in parameter.spellings}
    if unknown := [name for name in given if name not in known]:
        problems.append(_unknown(owner, prefix, parameters, unknown))
    read = {p.name: _read_parameter(prefix, p, given, problems) for p in parameters}
    return {name: value for name, value in read.items() if value is not _ABSENT}


def _read_parameter(
    prefix: str, parameter: Parameter, given: Mapping[str, Any], problems: list[str]
) -> Any:
    path = prefix + parameter.name
    sent = [given[s] for s in parameter.spellings if not is_unset(given.get(s))]
    if not sent and parameter.required:
        problems.append(_missing(path, parameter))
    values = [_read_value(path, parameter, value, problems) for value in sent]
    if len(values) == 2 and _ABSENT not in values and values[0] != values[1]:
        problems.append(
            f"{path}: {' and '.join(parameter.spellings)} are one argument in two spellings and "
            f"have different values; send only {path}."
        )
    return values[0] if values and values[0] != "" else _ABSENT


def _read_value(path: str, parameter: Parameter, value: object, problems: list[str]) -> Any:
    schema = parameter.schema
    try:
        if schema["type"] == "object":
            return _read_object(path, f"{path}.", parameter.parts, as_object(value), problems)
        if schema["type"] == "array":
            return _read_items(path, parameter, as_list(schema, value), problems)
        return _read_scalar(schema, parameter.takes, value)
    except Misfit as misfit:
        problems.append(f"{path}: {misfit}; send {_remedy(parameter)}.")
        return _ABSENT


def _read_items(
    path: str, parameter: Parameter, items: list[Any], problems: list[str]
) -> list[Any]:
    item = Parameter("", parameter.schema["items"], parts=parameter.parts)
    return [_read_value(f"{path}[{i}]", item, value, problems) for i, value in enumerate(items)]


def _read_scalar(schema: Schema, takes: frozenset[Takes], value: object) -> object:
    if schema["type"] == "string":
        return read_text(schema, value, takes)
    return READERS[schema["type"]](schema, value)


# --- Words ---------------------------------------------------------------------------------------


def _story(problems: Any) -> str:
    sentences = list(problems)
    more = len(sentences) - MOST_PROBLEMS
    return " ".join(sentences[:MOST_PROBLEMS]) + (f" {more} more do not fit." if more > 0 else "")


def _remedy(parameter: Parameter) -> str:
    return wanted(parameter.schema) + ("" if parameter.required else ", or leave it out")


def _missing(path: str, parameter: Parameter) -> str:
    schema = parameter.schema
    described = schema.get("description", "").rstrip(".")
    said = {name for name in _BOUNDS & schema.keys() if str(schema[name]) in described}
    unsaid = {name: value for name, value in schema.items() if name not in said}
    more = f" ({described})" if described else ""
    return f"{path} is missing; send {wanted(unsaid)}{more}."


def _unknown(owner: str, prefix: str, parameters: tuple[Parameter, ...], unknown: list[str]) -> str:
    named = [quote(name) + _nearest(name, prefix, parameters) for name in unknown[:3]]
    more = f" and {len(unknown) - 3} more" if len(unknown) > 3 else ""
    verb = "are no arguments" if len(unknown) > 1 else "is no argument"
    takes = ", ".join(map(_outline, parameters)) or "none"
    return f"{', '.join(named)}{more} {verb} of {owner}; send only: {takes}."


def _outline(parameter: Parameter) -> str:
    inner = ", ".join(part.name for part in parameter.parts)
    return f"{parameter.name} ({inner})" if inner else parameter.name


def _nearest(name: str, prefix: str, parameters: tuple[Parameter, ...]) -> str:
    candidates = dict(_paths(prefix, parameters))
    close = difflib.get_close_matches(_bare(name), candidates, n=1, cutoff=0.6)
    return f" (did you mean {candidates[close[0]]}?)" if close else ""


def _paths(prefix: str, parameters: tuple[Parameter, ...]) -> Iterator[tuple[str, str]]:
    """Each parameter's bare name and its path as advertised; an outer one hides an inner one."""
    for parameter in parameters:
        if parameter.schema["type"] == "object":
            yield from _paths(f"{prefix}{parameter.name}.", parameter.parts)
    for parameter in parameters:
        yield _bare(parameter.name), prefix + parameter.name


def _bare(name: str) -> str:
    return name[:100].replace("_", "").replace("-", "").lower()


def _sentence(error: Any) -> str:
    """What a model's own validator says, in its words; pydantic's are not for callers."""
    if cause := error.get("ctx", {}).get("error"):
        return str(cause)
    path = ".".join(map(str, error["loc"])) or "the arguments"
    return f"{path}: not taken as sent; see its description in the tool's schema."
