"""The boundary for text written by strangers.

Titles, branch names, paths, check names and comments are written by anybody and read by an agent.
Every outside string passes through `clean_line` or `clean_body` on its way out. What a person
cannot see is taken out and counted; what a person can see stays as it was. Markup is neither
parsed nor escaped: `Promise<string>` and `a < b` come out as they went in.

Taken out, by Unicode category as the running Python knows it: controls (Cc), format characters
(Cf: bidi controls, zero-width characters, tags), private use (Co), unassigned (Cn), surrogates
(Cs), line and paragraph separators (Zl, Zp), and variation selectors without a base they vary.
Kept: newline and tab in bodies, the joiner inside an emoji, a selector after its base, the tags
of a flag.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

BODY_LIMIT = 4_000
LINE_LIMIT = 1_000  # four times what forges take for a title, so that one row fits any page
QUOTE_LIMIT = 80


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A stranger's text as it may be shown.

    `hidden` counts the characters that were taken out (one that became a space is counted too).
    `truncated` says that the text went on.
    """

    text: str
    hidden: int = 0
    truncated: bool = False


def clean_line(text: str | None, limit: int | None = None) -> Cleaned:
    """Clean a one-line field: a title, branch, path, login or check name.

    Never holds a line break: each one, and each tab, becomes a space. None reads as empty. Of
    more than `limit` code points the first ones come out, with `…` for the rest.
    """
    if not text:
        return Cleaned("")
    hidden = 0
    if not _is_plain(text):
        text, hidden = _without_hidden(text.replace("\r\n", "\n"), line_break=" ", keep="")
    if limit is None or len(text) <= limit:
        return Cleaned(text, hidden)
    return Cleaned(_cut(text, limit - 1) + "…", hidden, truncated=True)


def clean_body(text: str | None, limit: int = BODY_LIMIT) -> Cleaned:
    """Clean a text of several lines: a comment or a description.

    Newline and tab stay, CRLF reads as newline. HTML comments, which a forge does not show, become
    `[html comment, N characters]`. At most `limit` code points, cut between two characters as a
    reader sees them.
    """
    whole = clean_patch(text)
    text = _without_html_comments(whole.text)
    if len(text) > limit:
        return Cleaned(_cut(text, limit), whole.hidden, truncated=True)
    return whole if text is whole.text else Cleaned(text, whole.hidden)


def clean_patch(text: str | None) -> Cleaned:
    """Clean a patch: whole, and with its HTML comments, which a diff shows as it shows all code."""
    if not text:
        return Cleaned("")
    if _is_plain(text.replace("\n", "").replace("\t", "")):
        return Cleaned(text)
    return Cleaned(*_without_hidden(text.replace("\r\n", "\n"), line_break="\n", keep="\n\t"))


def quote(text: str, limit: int = QUOTE_LIMIT) -> str:
    """Quote a caller's own argument in an error: one clean line, at most `limit` characters.

    What looks like a credential inside it is left out, since errors end up in transcripts.
    """
    line = clean_line(_CREDENTIAL.sub("…", text[:_QUOTED_FROM])).text
    if len(line) > limit or len(text) > _QUOTED_FROM:
        line = _cut(line, limit - 1) + "…"
    return f'"{line}"'


# --- Characters that nobody sees -----------------------------------------------------------------

_JOINER = "\u200d"
_LINE_BREAKS = "\t\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029"

_MONGOLIAN_SELECTORS = "\u180b-\u180d\u180f"
_SELECTORS = f"\ufe00-\ufe0f\U000e0100-\U000e01ef{_MONGOLIAN_SELECTORS}"
_SELECTOR = re.compile(f"[{_SELECTORS}]")

# Extended_Pictographic of emoji-data.txt: what an emoji can begin with, or go on with after a ZWJ.
_PICTOGRAPH = (
    "©®\u203c\u2049\u2122\u2139\u2194-\u2199\u21a9\u21aa\u231a\u231b\u2328\u2388\u23cf\u23e9-\u23f3"
    "\u23f8-\u23fa\u24c2\u25aa\u25ab\u25b6\u25c0\u25fb-\u25fe\u2600-\u2605\u2607-\u2612\u2614-\u2685"
    "\u2690-\u2705\u2708-\u2712\u2714\u2716\u271d\u2721\u2728\u2733\u2734\u2744\u2747\u274c\u274e"
    "\u2753-\u2755\u2757\u2763-\u2767\u2795-\u2797\u27a1\u27b0\u27bf\u2934\u2935\u2b05-\u2b07\u2b1b"
    "\u2b1c\u2b50\u2b55\u3030\u303d\u3297\u3299\U0001f000-\U0001f0ff\U0001f10d-\U0001f10f\U0001f12f"
    "\U0001f16c-\U0001f171\U0001f17e\U0001f17f\U0001f18e\U0001f191-\U0001f19a\U0001f1ad-\U0001f1e5"
    "\U0001f201-\U0001f20f\U0001f21a\U0001f22f\U0001f232-\U0001f23a\U0001f23c-\U0001f23f"
    "\U0001f249-\U0001f3fa\U0001f400-\U0001f53d\U0001f546-\U0001f64f\U0001f680-\U0001f6ff"
    "\U0001f774-\U0001f77f\U0001f7d5-\U0001f7ff\U0001f80c-\U0001f80f\U0001f848-\U0001f84f"
    "\U0001f85a-\U0001f85f\U0001f888-\U0001f88f\U0001f8ae-\U0001f8ff\U0001f90c-\U0001f93a"
    "\U0001f93c-\U0001f945\U0001f947-\U0001faff\U0001fc00-\U0001fffd"
)
_SKIN_TONE = "\U0001f3fb-\U0001f3ff"
_EMOJI = f"[{_PICTOGRAPH}](?:[\ufe0e\ufe0f]|[{_SKIN_TONE}])?"

# The black flag, an ISO 3166-2 code in tag characters, and the cancel tag.
_TAG_LETTER = "[\U000e0061-\U000e007a]"
_TAG_LETTER_OR_DIGIT = "[\U000e0030-\U000e0039\U000e0061-\U000e007a]"
_FLAG = f"\U0001f3f4{_TAG_LETTER}{{2}}{_TAG_LETTER_OR_DIGIT}{{1,3}}\U000e007f"

_IDEOGRAPH = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# The scripts and signs of StandardizedVariants.txt that take VS1 to VS14.
_STANDARDIZED = (
    f"0\u2018\u2019\u201c\u201d\u2200-\u22ff\u2a00-\u2aff\u3001\u3002\uff01\uff0c\uff0e\uff1a\uff1b"
    f"\uff1f\u1000-\u109f\uaa60-\uaa7f\ua840-\ua877\U00010ac0-\U00010aff\U00013000-\U0001345f"
    f"{_IDEOGRAPH}"
)
_VARIED = (
    f"[0-9#*][\ufe0e\ufe0f]|[{_STANDARDIZED}][\ufe00-\ufe0d]|[{_IDEOGRAPH}][\U000e0100-\U000e01ef]"
    f"|[\u1820-\u18aa][{_MONGOLIAN_SELECTORS}]"
)

# A joiner, tag or selector stays where it is part of something visible, and nowhere else: runs of
# them after one emoji have carried whole hidden messages.
_TAGS = "\U000e0020-\U000e007f"
_JOINED = re.compile(
    f"({_FLAG}|{_EMOJI}(?:{_JOINER}{_EMOJI})*|{_VARIED})|[{_JOINER}{_TAGS}{_SELECTORS}]"
)
_JOINING = re.compile(f"[{_JOINER}{_TAGS}{_SELECTORS}]")


# Unassigned places here are Extended_Pictographic: Unicode keeps them for emoji to come.
_PICTOGRAPHS = ("\U0001f000", "\U0001faff")


def _is_plain(text: str) -> bool:
    """Whether there is surely nothing to take out; quick, since nearly every text is plain."""
    return text.isprintable() and (text.isascii() or not _SELECTOR.search(text))


def _without_hidden(text: str, *, line_break: str, keep: str) -> tuple[str, int]:
    """Return the text without what nobody sees, and how many characters that were."""
    hidden = {character for character in set(text) if _is_hidden(character)} - set(keep)
    shown = text.translate({ord(c): line_break if c in _LINE_BREAKS else None for c in hidden})
    replaced = sum(map(text.count, hidden.intersection(_LINE_BREAKS)))
    if _JOINING.search(shown):
        shown = _JOINED.sub(lambda match: match[1] or "", shown)
    return shown, replaced + len(text) - len(shown)


def _is_hidden(character: str) -> bool:
    """Whether nobody ever sees this character; what joins others is decided in its place."""
    if character.isprintable() or _JOINING.match(character):
        return False
    if _PICTOGRAPHS[0] <= character <= _PICTOGRAPHS[1]:
        return False  # emoji that are newer than this Python's tables
    return unicodedata.category(character) != "Zs"


# --- HTML comments -------------------------------------------------------------------------------

_EMPTY_COMMENT = re.compile("<!---?>")
_COMMENT_END = re.compile("--!?>")
# Markdown takes an unclosed comment that begins a line, quote or list item for one that runs to
# the end. Elsewhere an unclosed `<!--` is text that a reader sees.
_UNCLOSED_COMMENT = re.compile(r"^[ \t>*+\-0-9.)]*(<!--)", re.MULTILINE)


def _without_html_comments(text: str) -> str:
    """Replace each HTML comment by a note of its length.

    Inside code too: deciding what is code takes a markdown parser, and where that parser and the
    forge's disagree, hidden text would get through.
    """
    parts: list[str] = []
    done = 0
    while comment := _next_comment(text, done):
        start, end = comment
        parts += text[done:start], f"[html comment, {end - start} characters]"
        done = end
    return "".join(parts) + text[done:] if parts else text


def _next_comment(text: str, begin: int) -> tuple[int, int] | None:
    """Where the next HTML comment starts and ends; the whole text is gone through once."""
    start = text.find("<!--", begin)
    if start < 0:
        return None
    if empty := _EMPTY_COMMENT.match(text, start):
        return empty.span()
    if closing := _COMMENT_END.search(text, start + 4):
        return start, closing.end()
    line = text.rfind("\n", 0, start) + 1
    unclosed = _UNCLOSED_COMMENT.search(text, max(line, begin))
    return (unclosed.start(1), len(text)) if unclosed else None


# --- Cutting and quoting -------------------------------------------------------------------------

_REGIONAL_INDICATORS = re.compile("[\U0001f1e6-\U0001f1ff]*\\Z")
_CONTINUING = re.compile(f"[{_SKIN_TONE}{_JOINER}{_TAGS}\u1160-\u11ff]")
_DANGLING = re.compile(f"[{_JOINER}{_TAGS}]+\\Z")
_LONGEST_CHARACTER = 64


def _cut(text: str, limit: int) -> str:
    """At most `limit` code points of the text, splitting no character as a reader sees it.

    A character of more than 64 code points (marks piled on marks) is split all the same.
    """
    for cut in range(min(limit, len(text)), max(0, limit - _LONGEST_CHARACTER), -1):
        if not _splits_character(text, cut):
            return text[:cut]
    return _DANGLING.sub("", text[:limit])


def _splits_character(text: str, cut: int) -> bool:
    following = text[cut : cut + 1]
    if not following:
        return False
    if text[cut - 1] == _JOINER or _CONTINUING.match(following):
        return True
    if "\U0001f1e6" <= following <= "\U0001f1ff":
        before = _REGIONAL_INDICATORS.search(text, max(0, cut - _LONGEST_CHARACTER), cut)
        return before is not None and len(before[0]) % 2 == 1
    return unicodedata.category(following) in {"Mn", "Me", "Mc"}


_QUOTED_FROM = 2_048
_CREDENTIAL = re.compile(
    r"(?<=://)[^/\s@]*(?=@)"  # userinfo of a URL
    r"|(?<![^\s/@:])[^\s/@:]++:[^\s/@]++(?=@)"  # user:password@host without a scheme
    r"|(?<=token=)[^&\s]++"
    r"|\b(?:gh[a-z]_|github_pat_|gl[a-z]{2,8}-)[\w.-]{8,}"
)
