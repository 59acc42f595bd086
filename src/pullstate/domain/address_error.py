"""Why a text is no address, in words for whoever wrote it.

ValueError
└── AddressError        code: the kind of mistake; sentence: what is wrong, what to write instead
"""

import re
from urllib.parse import unquote

QUOTE_LIMIT = 80

# The greedy match drops everything up to the last "@", however spelled: a password may hold "/",
# "?", "#" or "@" itself, and losing a piece of a path from an error costs less than showing it.
_USERINFO = re.compile(r"^([a-z][a-z0-9+.-]*://)?.*(?:[@＠﹫]|%(?:25)*40)", re.I | re.S)
_QUERY = re.compile(r"[?#].*", re.S)
_TOKEN = re.compile(
    r"(?<![A-Za-z0-9])(?:gh[a-z]_|github_pat_|gl(?:pat|oas|dt|rt|rtr|cbt|ptt|ft|imt|agent|soat|ffct)-)"
    r"[\w.-]+"
)


class AddressError(ValueError):
    """A text that names no repository or pull request here.

    `code` is stable and for programs; `sentence` says what is wrong and what to write instead. The
    sentence is ASCII but for its own punctuation, quotes at most 80 characters and holds no secret.
    """

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(code, sentence)
        self.code = code
        self.sentence = sentence

    def __str__(self) -> str:
        return self.sentence


def quoted(part: str, *, of: str) -> str:
    """`part` of the text `of` in quotation marks, fit for an error.

    Userinfo, query, fragment and tokens are left out, unprintable and non-ASCII characters are
    escaped, and a long text is cut. A part that lies in what was left out is shown as "…".
    """
    shown = without_secrets(of).casefold()
    is_shown = part.casefold() in shown or part.casefold() in unquote(shown)
    part = _TOKEN.sub("***", part if is_shown else "…")
    escaped = "".join(map(_visible, part))
    return f'"{escaped if len(escaped) <= QUOTE_LIMIT else escaped[: QUOTE_LIMIT - 1] + "…"}"'


def without_secrets(text: str) -> str:
    """The text without userinfo, query and fragment, each of which may carry a token."""
    return _QUERY.sub("", _USERINFO.sub(lambda match: match[1] or "", text))


def _visible(character: str) -> str:
    if character == '"':
        return "'"
    if character == "…" or (character.isascii() and character.isprintable()):
        return character
    return ascii(character)[1:-1]
