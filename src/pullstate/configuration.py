"""The sections and keys of the configuration file, and what each takes.

The description of a key completes the sentence that begins with "write": errors are made of it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from pullstate.forges.token_values import looks_like_token

SHORTEST_INTERVAL, LONGEST_INTERVAL = 0.1, 86_400.0  # seconds
BECAUSE = "because"  # the type of an error whose words follow the name of the key


def _no_token(text: str) -> str:
    if looks_like_token(text):
        raise _because("holds what looks like a token itself, which is never written here")
    return text


def _arguments(value: object) -> tuple[str, ...]:
    words = _split(value)
    if not words or not words[0]:
        raise _because("names no command")
    if re.search(r"[/\\]", words[0]) and not re.match(r"[/\\~]|[A-Za-z]:[/\\]", words[0]):
        raise _because("begins with a path that is not absolute")
    for word in words:
        _no_token(word)
    return words


def _split(value: object) -> tuple[str, ...]:
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        return tuple(value)
    if not isinstance(value, str):
        raise _because("is neither text nor a list of texts")
    try:
        return tuple(shlex.split(value))
    except ValueError:
        raise _because("has a quotation mark or a backslash without its end") from None


def _because(words: str) -> PydanticCustomError:
    """`words` follow the name of the key in the sentence."""
    return PydanticCustomError(BECAUSE, "{words}", {"words": words})


Text = Annotated[str, Field(min_length=1)]
VariableName = Annotated[str, AfterValidator(_no_token), Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
FileName = Annotated[Text, AfterValidator(_no_token)]
Arguments = Annotated[tuple[str, ...], BeforeValidator(_arguments)]
OwnerName = Annotated[
    str, AfterValidator(_no_token), Field(pattern=r"^[\w.-]+(/[\w.-]+)*$", max_length=255)
]


class Section(BaseModel):
    """A table of the file. The description of each field says what to write."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        hide_input_in_errors=True,
        regex_engine="python-re",
    )


class SyncSection(Section):
    interval: float | None = Field(
        None,
        ge=SHORTEST_INTERVAL,
        le=LONGEST_INTERVAL,
        allow_inf_nan=False,
        description="a number of seconds from 0.1 to 86400, such as interval = 60",
    )
    quota_share: float | None = Field(
        None,
        gt=0,
        le=1,
        allow_inf_nan=False,
        description="a share above 0 and up to 1, such as quota_share = 0.5",
    )


class TrackSection(Section):
    repositories: list[Text] = Field(
        [],
        description=(
            "a list of addresses in quotation marks, such as "
            'repositories = ["https://github.com/acme/rocket"]'
        ),
    )


class DiffsSection(Section):
    exclude: list[str] = Field(
        [],
        description='a list of patterns in gitignore\'s syntax, such as exclude = ["docs/api/**"]',
    )


class ForgeTokenSection(Section):
    owner: OwnerName = Field(
        description='the account or group that the token reads, such as owner = "acme"'
    )
    env: VariableName | None = Field(
        None,
        description='the name of the variable that holds the token, such as env = "ACME_TOKEN"',
    )
    file: FileName | None = Field(
        None, description='the file that holds the token, such as file = "~/.config/acme-token"'
    )
    command: Arguments | None = Field(
        None, description='the command that prints the token, such as command = "pass show acme"'
    )

    @model_validator(mode="after")
    def _has_one_source(self) -> ForgeTokenSection:
        _one_of(self, ("env", "file", "command"), needed=True)
        return self


class ForgeSection(Section):
    kind: Literal["github", "gitlab", "demo"] = Field(
        description='kind = "github", kind = "gitlab" or kind = "demo"'
    )
    url: Text = Field(
        description='the address of its start page, such as url = "https://ghe.example.com"'
    )
    token_env: VariableName | None = Field(
        None,
        description=(
            "the name of the environment variable that holds the token, such as "
            'token_env = "ACME_TOKEN"'
        ),
    )
    token_file: FileName | None = Field(
        None,
        description='the file that holds the token, such as token_file = "~/.config/acme-token"',
    )
    token_command: Arguments | None = Field(
        None,
        description='the command that prints the token, such as token_command = "pass show acme"',
    )
    aliases: list[Text] = Field(
        [], description='a list of ssh host aliases, such as aliases = ["ghe-work"]'
    )
    ca_file: FileName | None = Field(
        None,
        description='the file of certificates to trust, such as ca_file = "/etc/ssl/acme.pem"',
    )
    token: list[ForgeTokenSection] = Field(
        [],
        description=(
            "[[forge.token]] with owner and one of env, file and command, or without an owner "
            "token_env, token_file or token_command; the token itself stays out of this file"
        ),
    )

    @model_validator(mode="after")
    def _has_one_source(self) -> ForgeSection:
        _one_of(self, ("token_env", "token_file", "token_command"), needed=False)
        return self


class Configuration(Section):
    """The whole file. Absent keys are None or empty."""

    sync: SyncSection = Field(SyncSection(), description="its keys under a line [sync]")
    track: TrackSection = Field(TrackSection(), description="its keys under a line [track]")
    forge: list[ForgeSection] = Field(
        [], description="the keys of each forge under a line [[forge]], with two brackets"
    )
    diffs: DiffsSection = Field(DiffsSection(), description="its keys under a line [diffs]")


def _one_of(section: Section, names: Sequence[str], *, needed: bool) -> None:
    given = [name for name in names if getattr(section, name) is not None]
    if len(given) > 1:
        raise _because(f"has both {given[0]} and {given[1]}")
    if needed and not given:
        raise _because(f"has none of {', '.join(names[:-1])} and {names[-1]}")
