"""The keys of a tree: what may be one, and how deep it lies. AT Protocol, "Repository", MST structure."""

from __future__ import annotations

from hashlib import sha256

from weighbridge.limits import MAX_TREE_KEY
from weighbridge.tree.errors import TreeKey


def key_depth(key: str) -> int:
    """Return the depth of an ASCII key: half the leading zero bits of its SHA-256, rounded down (0..128)."""
    # 256 less the number's length are its leading zeros; two of them are one level (fanout 4).
    return (256 - int.from_bytes(sha256(key.encode("ascii")).digest(), "big").bit_length()) >> 1


def shared_prefix(left: bytes, right: bytes) -> int:
    """Return how many leading bytes two keys share."""
    length = len(left) if len(left) < len(right) else len(right)
    differing = int.from_bytes(left[:length], "big") ^ int.from_bytes(right[:length], "big")
    return length - ((differing.bit_length() + 7) >> 3)


def check_key(key: object) -> None:
    """Refuse what is not 1 to `MAX_TREE_KEY` characters of ASCII (`TreeKey`)."""
    if type(key) is not str or not 0 < len(key) <= MAX_TREE_KEY or not key.isascii():
        raise TreeKey(f"a key is 1 to {MAX_TREE_KEY} characters of ASCII, not {key!r:.80}", key=key)
