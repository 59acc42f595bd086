"""Identifiers in GitHub's shapes: node ids and commit hashes."""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64encode


def node_id(prefix: str, *numbers: int) -> str:
    """A global id as GitHub mints them today: a prefix and MessagePack in URL-safe base64.

    `PR_kwDO…` is `[0, repository, pull request]`, `R_kgDO…` is `[0, repository]`.
    """
    packed = bytes([0x91 + len(numbers), 0]) + b"".join(_packed(number) for number in numbers)
    return f"{prefix}_{urlsafe_b64encode(packed).rstrip(b'=').decode()}"


def _packed(number: int) -> bytes:
    if number < 2**32:
        return b"\xce" + number.to_bytes(4, "big")
    return b"\xcf" + number.to_bytes(8, "big")


def commit_hash(seed: str) -> str:
    """A commit id that is the same for the same seed."""
    return hashlib.sha1(seed.encode(), usedforsecurity=False).hexdigest()
