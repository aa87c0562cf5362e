"""did:key for Ed25519: the text of a public key, both ways, with one text for each key.

A did:key is `did:key:z` and the base58btc of the multicodec code 0xed as a varint (ed 01) and the 32 bytes
of the key (did-method-key). Other multicodecs are keys too, and none of ours.
"""

from __future__ import annotations

from typing import ClassVar

from weighbridge.errors import Refused
from weighbridge.identity import ed25519

PREFIX = "did:key:"
_ED25519 = b"\xed\x01"
_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_DIGIT = {letter: value for value, letter in enumerate(_ALPHABET)}
# The prefix ed 01 is never zero, so that each key has 48 characters; longer text is not worth decoding.
_MAX_BASE58 = 128


class NotDidKey(Refused):
    """The text is no did:key: another method, or not base58btc (`z`)."""

    code: ClassVar[str] = "not-did-key"


class DidKeyCodec(Refused):
    """The did:key is of another kind of key than Ed25519."""

    code: ClassVar[str] = "did-key-codec"


class DidKeyEncoding(Refused):
    """The text after `z` is not base58btc, or not the one text that its bytes have."""

    code: ClassVar[str] = "did-key-encoding"


class WeakKey(Refused):
    """The public key is not 32 bytes, not canonical, or of small order."""

    code: ClassVar[str] = "weak-key"


def did_key(public: bytes) -> str:
    """Return the did:key of an Ed25519 public key (32 bytes). Raises WeakKey."""
    if not ed25519.is_sound_point(public):
        raise WeakKey(f"this is no Ed25519 public key to be trusted: {public.hex()}", public=public)
    return f"{PREFIX}z{_base58(_ED25519 + public)}"


def public_key(did: str) -> bytes:
    """Return the 32 bytes of the Ed25519 key that a did:key names.

    Raises NotDidKey, DidKeyEncoding, DidKeyCodec or WeakKey.
    """
    if not did.startswith(PREFIX + "z"):
        raise NotDidKey(f"an Ed25519 did:key begins with did:key:z6Mk, not {did[:16]!r}", did=did)
    decoded = _unbase58(did[len(PREFIX) + 1 :])
    if not decoded.startswith(_ED25519):
        raise DidKeyCodec("the did:key names another kind of key than Ed25519 (ed01)", did=did)
    public = decoded[len(_ED25519) :]
    if not ed25519.is_sound_point(public):
        raise WeakKey(f"{did} is no Ed25519 public key to be trusted", did=did)
    return public


def is_did_key(did: str) -> bool:
    """Whether the text is the did:key of an Ed25519 key."""
    try:
        public_key(did)
    except Refused:
        return False
    return True


def _base58(data: bytes) -> str:
    number = int.from_bytes(data, "big")
    letters = ""
    while number:
        number, digit = divmod(number, 58)
        letters = _ALPHABET[digit] + letters
    zeros = len(data) - len(data.lstrip(b"\0"))
    return "1" * zeros + letters


def _unbase58(text: str) -> bytes:
    if not text or len(text) > _MAX_BASE58:
        raise DidKeyEncoding(f"base58btc text of {len(text)} characters is no key of ours", length=len(text))
    number = 0
    for letter in text:
        digit = _DIGIT.get(letter)
        if digit is None:
            raise DidKeyEncoding(f"{letter!r} is no character of base58btc", text=text)
        number = number * 58 + digit
    zeros = len(text) - len(text.lstrip("1"))
    return b"\0" * zeros + number.to_bytes((number.bit_length() + 7) // 8, "big")
