"""Keys of the map `kept`: parts that read as text and sort as their values do."""

from __future__ import annotations

import re

from weighbridge.ledger.errors import BadName

MAX_NAME = 8_192
"""The longest name in UTF-8: the origin of a transcript is the longest there is."""

_ESCAPE = re.compile(rb"%([0-9A-F]{2})")
_PLAIN = frozenset(range(0x21, 0x7F)) - {ord("%")}
_ESCAPED = [bytes((code,)) if code in _PLAIN else b"%%%02X" % code for code in range(256)]


def key(*parts: str | int) -> bytes:
    """Return the key of these parts with spaces between: text escaped, integers (0 to 2^63 - 1) in hex."""
    return b" ".join([_part(part) for part in parts])


def under(*parts: str | int) -> bytes:
    """Return what the keys of these parts and at least one more begin with."""
    return key(*parts) + b" "


def text_of(part: bytes) -> str:
    """Return the text that a part of a key stands for."""
    return _ESCAPE.sub(lambda found: bytes.fromhex(found[1].decode()), part).decode()


def number_of(part: bytes) -> int:
    """Return the integer that a part of a key stands for."""
    return int(part, 16)


def _part(part: str | int) -> bytes:
    if isinstance(part, int):
        if not 0 <= part < 1 << 63:
            raise BadName(f"{part} is not an integer from 0 to 2^63 - 1")
        return b"%016x" % part
    try:
        raw = part.encode()
    except UnicodeEncodeError as error:
        raise BadName(f"{part!r} is not well-formed text: {error}") from error
    if not 0 < len(raw) <= MAX_NAME:
        raise BadName(f"a name is 1 to {MAX_NAME} bytes of UTF-8, and this has {len(raw)}")
    return b"".join([_ESCAPED[code] for code in raw])
