"""Verifier keys of C2SP signed notes: `<name>+<key id>+<base64 of type and key>`.

Two types of key are known: 0x01, Ed25519 over the note's text, and 0x04, Ed25519 cosignatures with a time
(`cosignature/v1`). One Ed25519 key can stand under both types: the key ids differ.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from typing import ClassVar

import msgspec

from weighbridge.errors import Refused
from weighbridge.identity import ed25519
from weighbridge.limits import MAX_KEY_NAME

SIGNATURE = 0x01
COSIGNATURE = 0x04
KEY_ID_BYTES = 4

# Unicode's White_Space, written out: what a name may be must not depend on an interpreter's Unicode version.
_SPACES = frozenset(
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
_KEY_ID = re.compile("[0-9a-f]{8}")


class BadVkey(Refused):
    """The text is no verifier key, or its key id is not that of its name and key."""

    code: ClassVar[str] = "bad-vkey"


class UnknownVkeyType(Refused):
    """The verifier key is of a type that is not known here, or not of the one that is wanted."""

    code: ClassVar[str] = "vkey-type"


class BadKeyName(Refused):
    """The name of a key is empty, too long, or has a space, a plus or a control character."""

    code: ClassVar[str] = "bad-key-name"


class VerifierKey(msgspec.Struct, frozen=True, order=True):
    """A named public key that signs notes. `type` is 0x01 or 0x04, `public` is 32 bytes."""

    name: str
    type: int
    public: bytes

    @property
    def key_id(self) -> bytes:
        """The 4 bytes that name this key, beside its name, in a signature line."""
        return hashlib.sha256(self.name.encode() + b"\n" + bytes([self.type]) + self.public).digest()[
            :KEY_ID_BYTES
        ]

    def __str__(self) -> str:
        """The verifier key as text."""
        material = base64.b64encode(bytes([self.type]) + self.public).decode()
        return f"{self.name}+{self.key_id.hex()}+{material}"


def verifier_key(name: str, type: int, public: bytes) -> VerifierKey:
    """Return a verifier key, its parts checked. Raises BadKeyName, UnknownVkeyType or BadVkey."""
    check_key_name(name)
    if type not in (SIGNATURE, COSIGNATURE):
        raise UnknownVkeyType(f"keys of type 0x{type:02x} are not known here, 0x01 and 0x04 are", type=type)
    if not ed25519.is_sound_point(public):
        raise BadVkey(f"{name}: this is no Ed25519 public key to be trusted: {public.hex()}", name=name)
    return VerifierKey(name, type, public)


def parse_vkey(text: str, type: int | None = None) -> VerifierKey:
    """Return the verifier key that a text holds, of the given type if one is given.

    Raises BadVkey, BadKeyName or UnknownVkeyType.
    """
    parts = text.split("+", 2)  # the base64 may have a plus of its own
    if len(parts) != 3:
        raise BadVkey(f"a verifier key is <name>+<key id>+<base64>, not {text[:80]!r}", vkey=text)
    name, key_id, material = parts
    if _KEY_ID.fullmatch(key_id) is None:
        raise BadVkey(f"{name}: the key id of a verifier key is 8 hex digits, not {key_id[:16]!r}", vkey=text)
    decoded = unbase64(material)
    if not decoded:
        raise BadVkey(f"{name}: the key is no base64", vkey=text)
    key = verifier_key(name, decoded[0], decoded[1:])
    if key.key_id.hex() != key_id:
        raise BadVkey(f"{name}: the key id is {key.key_id.hex()}, not {key_id}", vkey=text)
    if type is not None and key.type != type:
        raise UnknownVkeyType(
            f"{name}: a key of type 0x{type:02x} is wanted, not 0x{key.type:02x}", vkey=text
        )
    return key


def check_key_name(name: str) -> None:
    """Check the name of a key: not empty, no space, no plus, no control character. Raises BadKeyName."""
    if not is_key_name(name):
        raise BadKeyName(
            f"a key's name has 1 to {MAX_KEY_NAME} bytes, no space, plus or control: {name[:80]!r}",
            name=name,
        )


def is_key_name(name: str) -> bool:
    """Whether a text can be the name of a key. At-uris and DIDs can."""
    if any(
        letter in _SPACES or letter == "+" or letter < " " or "\ud800" <= letter <= "\udfff"
        for letter in name
    ):
        return False
    return 0 < len(name.encode()) <= MAX_KEY_NAME


def unbase64(text: str) -> bytes | None:
    """Return the bytes of standard base64 (RFC 4648 section 4, padded), or None for another text."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if base64.b64encode(data).decode() == text else None
