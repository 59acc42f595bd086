"""The configuration file: TOML → `Configuration`, or one sentence that says what to write.

SettingsError
├── ConfigurationUnreadable   it is a folder, not readable, or not UTF-8 text
│   └── ConfigurationMissing  there is none
├── ConfigurationNotToml      its syntax: line and column
├── UnknownKey                a misspelt key, and the nearest right one
├── InvalidValue              a value of the wrong kind, out of bounds, or of no use
└── Conflict                  two settings that cannot both hold

No text quotes a value: it may be a token that somebody put in the wrong place.
"""

from __future__ import annotations

import difflib
import re
import stat
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from pullstate.configuration import BECAUSE, Configuration
from pullstate.domain.address_error import quoted

MAX_SIZE = 1024 * 1024  # bytes
SECTION_LISTS = ("forge", "forge.token")
OUT_OF_BOUNDS = ("greater_than", "greater_than_equal", "less_than_equal", "finite_number")
TEXT_THAT_DOES_NOT_FIT = ("literal_error", "string_pattern_mismatch", "string_too_long")

Location = Sequence[int | str]  # pydantic's: keys, and indices of lists


class SettingsError(Exception):
    """Settings that cannot be used, in words for a person; `file` and `key` say where."""

    def __init__(self, sentence: str, *, file: Path | None = None, key: str | None = None) -> None:
        super().__init__(sentence)
        self.file = file
        self.key = key


class ConfigurationUnreadable(SettingsError):
    """The configuration file cannot be read as text."""


class ConfigurationMissing(ConfigurationUnreadable):
    """There is no such file."""


class ConfigurationNotToml(SettingsError):
    """The configuration file breaks TOML's syntax."""


class UnknownKey(SettingsError):
    """The configuration file has a key that means nothing; `nearest` is the likeliest right one."""

    def __init__(self, sentence: str, *, file: Path, key: str, nearest: str) -> None:
        super().__init__(sentence, file=file, key=key)
        self.nearest = nearest


class InvalidValue(SettingsError):
    """A setting whose value cannot be used."""


class Conflict(SettingsError):
    """Two settings that cannot both hold."""


def read_configuration(file: Path) -> Configuration:
    """What a configuration file says. Raises a SettingsError."""
    document = _parsed(_text(file), file)
    try:
        return Configuration.model_validate(document)
    except ValidationError as error:
        found = error.errors(include_url=False)
    raise _explained(found, file)


def _text(file: Path) -> str:
    content = _bytes(file)
    if content.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        raise ConfigurationUnreadable(
            f"{file} begins with a byte order mark: save it as UTF-8 without one.", file=file
        )
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigurationUnreadable(
            f"{file} is not UTF-8 text (line {line}): save it as UTF-8.", file=file
        ) from None


def _bytes(file: Path) -> bytes:
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            what = "a folder" if file.is_dir() else "no regular file"
            raise ConfigurationUnreadable(f"{file} is {what}: name a TOML file.", file=file)
        with file.open("rb") as stream:
            content = stream.read(MAX_SIZE + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise ConfigurationMissing(f"{file} does not exist.", file=file) from None
    except OSError as error:
        words = f"{file} cannot be read: {error.strerror}."
        raise ConfigurationUnreadable(words, file=file) from None
    if len(content) > MAX_SIZE:
        raise ConfigurationUnreadable(f"{file} is larger than {MAX_SIZE} bytes.", file=file)
    return content


def _parsed(text: str, file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        words = str(error)
    except RecursionError:
        words = "Nested too deep"
    raise ConfigurationNotToml(f"{file} is not TOML: {_toml_words(words, text)}.", file=file)


def _toml_words(words: str, text: str) -> str:
    """tomllib's own words, which quote at most a key or one character; the end gets its line."""
    end = f"(at line {text.count(chr(10)) + 1}, the end of the file)"
    return words.replace("(at end of document)", end)


def _explained(errors: Sequence[ErrorDetails], file: Path) -> SettingsError:
    """The first error; a misspelt key before others, for it is why a right one is missing."""
    unknown = (error for error in errors if error["type"] == "extra_forbidden")
    if error := next(unknown, None):
        return _unknown_key(error["loc"], file)
    location = errors[0]["loc"]
    subject = name_of(location[:-1] if errors[0]["type"] == "missing" else location)
    return invalid(subject, f"{_words(errors[0])}: write {_advice(errors[0])}", file, location)


def invalid(subject: str, words: str, file: Path, location: Location) -> InvalidValue:
    """`subject` in `file` `words`."""
    subject = subject.replace("the ", "The ", 1) if subject.startswith("the ") else subject
    return InvalidValue(f"{subject} in {file} {words}.", file=file, key=_dotted(location))


def _unknown_key(location: Location, file: Path) -> UnknownKey:
    *parents, key = location
    section = _dotted(parents)
    nearest = _nearest(str(key), section)
    parent, _, leaf = nearest.rpartition(".")
    shown = quoted(str(key), of=str(key))
    parents_name = name_of(parents) if section in SECTION_LISTS else _heading(section)
    within = f" of {parents_name}" if parents else ""
    under = "" if parent == section else f" under {_heading(parent)}"
    return UnknownKey(
        f"The key {shown}{within} in {file} is not known: write {leaf}{under}.",
        file=file,
        key=f"{section}.{shown}" if section else shown,
        nearest=nearest,
    )


def name_of(location: Location) -> str:
    """How a sentence names a place in the file: `forge.url of the 2nd [[forge]]`."""
    subject, sections = "", []
    for depth, part in enumerate(location, start=1):
        dotted = _dotted(location[:depth])
        if isinstance(part, str):
            subject = dotted
        elif dotted in SECTION_LISTS:
            subject, sections = "", [f"the {_ordinal(part)} [[{dotted}]]", *sections]
        else:
            subject = f"the {_ordinal(part)} of {dotted}"
    return " of ".join([subject, *sections] if subject else sections)


def kind_of(value: object) -> str:
    """What a TOML value is, for a sentence."""
    match value:
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "text" if value else "an empty text"
        case list():
            return "a list"
        case dict():
            return "a section"
    return "a date or a time"


def _words(error: ErrorDetails) -> str:
    kind, value = error["type"], error["input"]
    if kind == BECAUSE:
        return error["msg"]
    if kind == "missing":
        return f"has no {error['loc'][-1]}"
    if kind in OUT_OF_BOUNDS:
        return "is a number out of bounds"
    if kind in TEXT_THAT_DOES_NOT_FIT and isinstance(value, str) and value:
        return "is text that does not fit"
    return f"is {kind_of(value)}"


def _advice(error: ErrorDetails) -> str:
    location = error["loc"]
    is_section = isinstance(location[-1], int) and _dotted(location) in SECTION_LISTS
    if error["type"] == BECAUSE and is_section:
        return "one of them"
    return _field(location).description or ""


def _field(location: Location) -> FieldInfo:
    section: type[BaseModel] = Configuration
    field = FieldInfo()
    for part in location:
        if isinstance(part, str):
            field = section.model_fields[part]
            section = _section_in(field) or section
    return field


def _section_in(field: FieldInfo) -> type[BaseModel] | None:
    kinds = (field.annotation, *get_args(field.annotation))
    sections = (kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel))
    return next(sections, None)


def _keys(section: type[BaseModel] = Configuration, prefix: str = "") -> Iterator[str]:
    """Every key there is, dotted."""
    for name, field in section.model_fields.items():
        yield prefix + name
        if inner := _section_in(field):
            yield from _keys(inner, f"{prefix}{name}.")


def _nearest(key: str, section: str) -> str:
    """The likeliest right key; one of the same section goes before one of another."""

    def likeness(candidate: str) -> float:
        parent, _, leaf = candidate.rpartition(".")
        return _resemblance(key, leaf) + (0.35 if parent == section else 0.0)

    return max(_keys(), key=likeness)


def _resemblance(key: str, leaf: str) -> float:
    """From 0 to 1: `tokenEnv`, `token-env`, `env` count as `token_env`; `tok` nearly so."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|[^A-Za-z]+", "_", key).lower()
    given, right = set(words.split("_")), set(leaf.split("_"))
    if given <= right or right <= given:
        return 1.0
    if len(words) > 2 and (leaf.startswith(words) or words.startswith(leaf)):
        return 0.9
    return difflib.SequenceMatcher(None, words, leaf).ratio()


def _dotted(location: Location) -> str:
    return ".".join(part for part in location if isinstance(part, str))


def _heading(section: str) -> str:
    return f"[[{section}]]" if section in SECTION_LISTS else f"[{section}]"


def _ordinal(index: int) -> str:
    number = index + 1
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ending}"
