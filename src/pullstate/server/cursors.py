"""Cursors: opaque to callers, bound to the question that they continue, and to the store."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from typing import Any

VERSION = 1
ELSEWHERE = "it is damaged, or belongs to another question or another store"
_CHECK_BYTES = 8


class BadCursor(ValueError):
    """A cursor that cannot go on; the text says why."""


def encode(question: Sequence[Any], position: Sequence[Any]) -> str:
    """A cursor for `position` in the answer to `question`; both hold what JSON can.

    The question begins with the store's id and the tool's name.
    """
    body = _json(position)
    raw = bytes([VERSION]) + _check(question, body) + body
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def decode(cursor: str, question: Sequence[Any]) -> list[Any]:
    """The position in a cursor of `question`. BadCursor for every other text."""
    raw = _raw(cursor)
    if raw[0] != VERSION:
        raise BadCursor("it is damaged, or comes from another version of this server")
    check, body = raw[1 : 1 + _CHECK_BYTES], raw[1 + _CHECK_BYTES :]
    if check != _check(question, body):
        raise BadCursor(ELSEWHERE)
    return json.loads(body)


def _raw(cursor: str) -> bytes:
    """The bytes, if the text is the one spelling of them: base64 leaves bits over at its end."""
    try:
        raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    except ValueError:
        raw = b""
    if not raw or base64.urlsafe_b64encode(raw).rstrip(b"=").decode() != cursor:
        raise BadCursor("it is damaged")
    return raw


def _check(question: Sequence[Any], body: bytes) -> bytes:
    asked = hashlib.blake2b(_json(question)).digest()
    return hashlib.blake2b(body, key=asked, digest_size=_CHECK_BYTES).digest()


def _json(values: Sequence[Any]) -> bytes:
    return _ENCODER.encode(values).encode()


_ENCODER = json.JSONEncoder(separators=(",", ":"))
