"""What a value is, and the few bytes that every encoder writes."""

from __future__ import annotations

from typing import Any, TypeAlias

Value: TypeAlias = Any
"""None, bool, int, str, bytes, Cid, a list of values, or a dict from str to values.

`Any` to a type checker: what was decoded is looked into by key, and checked by a Lexicon or a typed record.
"""

NULL, FALSE, TRUE = b"\xf6", b"\xf4", b"\xf5"

LINK = b"\xd8\x2a\x58\x25\x00"
"""What stands before the 36 raw bytes of a CID: tag 42, a string of 37 bytes, and the multibase 0x00."""

UNSIGNED, NEGATIVE, BYTES, TEXT, LIST, MAP = range(6)
"""The major types of CBOR, but for tags and simple values."""


def head(major: int, argument: int) -> bytes:
    """Return a CBOR head in its shortest form (RFC 8949 4.2.1); the argument is below 2^64."""
    if argument < 24:
        return bytes((major << 5 | argument,))
    for info, width in ((24, 1), (25, 2), (26, 4)):
        if argument < 1 << (8 * width):
            return bytes((major << 5 | info,)) + argument.to_bytes(width, "big")
    return bytes((major << 5 | 27,)) + argument.to_bytes(8, "big")


def key_rank(key: str) -> tuple[int, bytes]:
    """Return what map keys are ordered by: the length of their UTF-8, then its bytes."""
    data = str.encode(key, "utf-8")
    return len(data), data
