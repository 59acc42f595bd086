"""A token, kept so that nothing but `reveal` shows it."""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import NoReturn

MAX_LENGTH = 8192  # characters; servers refuse longer header lines anyway


class Secret:
    """A text that `repr`, `str`, formatting, pickling and JSON never show; `reveal` does."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        object.__setattr__(self, "_text", text)

    def reveal(self) -> str:
        """The text itself: for the header of a request to its own host, and nowhere else."""
        return self._text

    def __repr__(self) -> str:
        return "Secret(hidden)"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        mine, theirs = (each._text.encode(errors="surrogatepass") for each in (self, other))
        return hmac.compare_digest(mine, theirs)

    def __hash__(self) -> int:
        return hash(self._text)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a Secret does not change")

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Secret is not written down")

    def __copy__(self) -> Secret:
        return self

    def __deepcopy__(self, memo: object) -> Secret:
        return self


class Scheme(StrEnum):
    """The header that a token travels in."""

    BEARER = "bearer"
    PRIVATE_TOKEN = "private-token"
    JOB_TOKEN = "job-token"


@dataclass(frozen=True, slots=True)
class Token:
    """A credential for one site, and the name of the source that it came from.

    `owner` is set where the token reads the repositories of that owner alone.
    """

    secret: Secret
    source: str
    scheme: Scheme
    owner: str | None = None

    def header(self) -> tuple[str, str]:
        """Name and value of the request header. The value is the secret itself."""
        match self.scheme:
            case Scheme.PRIVATE_TOKEN:
                return "PRIVATE-TOKEN", self.secret.reveal()
            case Scheme.JOB_TOKEN:
                return "JOB-TOKEN", self.secret.reveal()
            case Scheme.BEARER:
                return "Authorization", f"Bearer {self.secret.reveal()}"


def fingerprint(token: Token, key: bytes) -> str:
    """32 hexadecimal digits that tell tokens apart and, without `key`, say nothing of them.

    `key` belongs to one store: two stores name the same token differently. ValueError where it is
    shorter than 16 bytes.
    """
    if len(key) < 16:
        raise ValueError("the key of a fingerprint has at least 16 bytes")
    return hmac.new(key, token.secret.reveal().encode(), "sha256").hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Reading:
    """What a source gave: a secret, or nothing, or why what it gave cannot be a token.

    `bearer` is true where the source itself says that its value is an OAuth token.
    """

    secret: Secret | None = None
    problem: str | None = None
    bearer: bool = False


NOTHING = Reading()
AUTHORIZATION_WORD = re.compile(r"(bearer|token)\s+", re.IGNORECASE)
PLACEHOLDER = re.compile(r"\$\{|\$\(|\$[A-Za-z_]\w*\Z|%\w+%\Z|<.*>\Z")


def read_value(text: str) -> Reading:
    """The token in a text: stripped, `Bearer` taken off; refused in words that do not quote it."""
    value = text.strip()
    word = AUTHORIZATION_WORD.match(value)
    value = value[word.end() :] if word else value
    if not value:
        return NOTHING
    if problem := _problem(value):
        return Reading(problem=problem)
    return Reading(Secret(value), bearer=bool(word) and word[1].lower() == "bearer")


def _problem(value: str) -> str | None:
    if not value.isascii():
        return "holds characters that are not ASCII"
    if PLACEHOLDER.match(value):
        return "holds a placeholder that nobody filled in"
    if any(character.isspace() for character in value):
        return "holds more than one word"
    if not value.isprintable():
        return "holds control characters"
    if len(value) > MAX_LENGTH:
        return f"is longer than {MAX_LENGTH} characters"
    return None


# The prefixes that GitHub and GitLab give their tokens, and the unprefixed hexadecimal ones.
TOKEN_SHAPE = re.compile(
    r"(gh[opusr]_|github_pat_|gl(pat|oas|cbt|dt|rt|ptt|soat|ft|imt|agent)-)\w|[0-9a-f]{40,}\Z",
    re.IGNORECASE,
)


def looks_like_token(text: str) -> bool:
    """Whether somebody wrote a token where the name of a source belongs."""
    return any(TOKEN_SHAPE.match(word) for word in re.split(r"[\s=:/@'\"]+", text))
