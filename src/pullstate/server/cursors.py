"""Cursors: opaque to callers, bound to the question that they continue, and to the store."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Sequence
from typing import Any

VERSION = 1
_CHECK_BYTES = 6


class BadCursor(ValueError):
    """A cursor that cannot go on; the text says why and what to send instead."""


def encode(question: Sequence[object], position: Sequence[Any]) -> str:
    """A cursor for `position` in the answer to `question` (which includes the store's id)."""
    body = json.dumps([VERSION, *position], separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(_check(question, body) + body).rstrip(b"=").decode()


def decode(cursor: str, question: Sequence[object]) -> list[Any]:
    """The position in a cursor of `question`. BadCursor for every other text."""
    try:
        raw = base64.b64decode(
            cursor.encode("ascii") + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True
        )
        version, *position = json.loads(raw[_CHECK_BYTES:])
    except (ValueError, TypeError, binascii.Error, RecursionError):
        raise BadCursor("it is damaged") from None
    if version != VERSION:
        raise BadCursor("it comes from another version of this server")
    if raw[:_CHECK_BYTES] != _check(question, raw[_CHECK_BYTES:]):
        raise BadCursor("it belongs to another question or another store, or is damaged")
    return position


def _check(question: Sequence[object], body: bytes) -> bytes:
    asked = hashlib.blake2b(json.dumps([str(part) for part in question]).encode())
    return hashlib.blake2b(body, key=asked.digest(), digest_size=_CHECK_BYTES).digest()
