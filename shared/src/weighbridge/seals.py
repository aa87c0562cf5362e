"""Sealed choices: a value committed by its hash now, and shown by a later record.

The hash is SHA-256 of DAG-CBOR ["weighbridge/seal/v1", game, author, slot, salt, value]. Game, author and
slot stand in it so that nobody's seal can be another's, in another game, or for another choice; the salt of
16 bytes or more keeps a value from being guessed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from weighbridge.codec import encode
from weighbridge.contract import Value
from weighbridge.errors import Refused

MIN_SALT = 16
_SEAL = re.compile(r"[0-9a-f]{64}", re.ASCII)
_SALT = re.compile(r"(?:[0-9a-f]{2})*", re.ASCII)


class BadSeal(Refused):
    """A seal is exactly 64 lower-case hex digits."""

    code = "bad-seal"


class BadSalt(Refused):
    """A salt is lower-case hex of whole bytes."""

    code = "bad-salt"


class ShortSalt(Refused):
    """A salt is 16 bytes or more."""

    code = "short-salt"


def seal_hash(game: str, author: str, slot: Sequence[str], salt: bytes, value: Value) -> str:
    """Return the seal (64 hex digits) of a value for a slot. `game` is an at-uri, `author` a DID."""
    committed = ["weighbridge/seal/v1", game, author, list(slot), salt, value]
    return hashlib.sha256(encode(committed)).hexdigest()


def parse_seal(text: object) -> str:
    """Return a record's `seal` if it is one."""
    if not isinstance(text, str) or not _SEAL.fullmatch(text):
        raise BadSeal(f"a seal is 64 lower-case hex digits, not {str(text)[:80]!r}")
    return text


def parse_salt(text: object) -> bytes:
    """Return the bytes of an opening's `salt`: lower-case hex of 16 bytes or more."""
    if not isinstance(text, str) or not _SALT.fullmatch(text):
        raise BadSalt(f"a salt is lower-case hex of {MIN_SALT} bytes or more, not {str(text)[:140]!r}")
    if len(text) < 2 * MIN_SALT:
        raise ShortSalt(f"a salt is {MIN_SALT} bytes or more, not {len(text) // 2}")
    return bytes.fromhex(text)
