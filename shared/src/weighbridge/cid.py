"""Content identifiers of the one form Weighbridge knows: CIDv1, dag-cbor or raw, sha2-256.

The raw form is 36 bytes, `01 71|55 12 20` and the digest; the text form is `b` and the base32 of those
(multibase, lower case, no padding). Every other form is refused, each for its own reason.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from hashlib import sha256
from typing import ClassVar, Final, NoReturn, final

from weighbridge.errors import Refused

DAG_CBOR: Final = 0x71
RAW: Final = 0x55

RAW_LENGTH: Final = 36
TEXT_LENGTH: Final = 59
_PREFIXES: Final = {DAG_CBOR: b"\x01\x71\x12\x20", RAW: b"\x01\x55\x12\x20"}
_KNOWN_PREFIXES: Final = frozenset(_PREFIXES.values())

_BASE32: Final = b"abcdefghijklmnopqrstuvwxyz234567"
# To the digits `int(…, 32)` reads; whatever is no base32 becomes a byte that it refuses.
_TO_DIGITS: Final = bytes(
    b"0123456789abcdefghijklmnopqrstuv"[_BASE32.index(byte)] if byte in _BASE32 else 0x21
    for byte in range(256)
)


class BadCid(Refused):
    """What is given as a CID is none: not bytes, too short, or no spelling of one."""

    code: ClassVar[str] = "cid-form"


class CidVersion(BadCid):
    """A CIDv0, or a version after 1."""

    code: ClassVar[str] = "cid-version"


class CidCodec(BadCid):
    """A CID of another codec than dag-cbor (0x71) and raw (0x55)."""

    code: ClassVar[str] = "cid-codec"


class CidHash(BadCid):
    """A CID over another hash than sha2-256 (0x12)."""

    code: ClassVar[str] = "cid-hash"


class CidLength(BadCid):
    """A CID whose digest is not 32 bytes, or that is followed by more bytes."""

    code: ClassVar[str] = "cid-length"


@final
class Cid:
    """A content identifier: immutable, hashable, ordered by its 36 raw bytes; `str(cid)` is its text."""

    __slots__ = ("_text", "raw")

    raw: bytes
    _text: str

    def __new__(cls, raw: bytes) -> Cid:
        """Check the 36 raw bytes; every other form is refused (`cid-form`, `cid-version`, `cid-codec`, …)."""
        if type(raw) is not bytes or len(raw) != RAW_LENGTH or raw[:4] not in _KNOWN_PREFIXES:
            raise _what_is_wrong(raw)
        cid = _new(Cid)
        _set_raw(cid, raw)
        return cid

    @classmethod
    def of(cls, block: bytes, codec: int = DAG_CBOR) -> Cid:
        """Return the CID of a block's bytes, as `codec` 0x71 (dag-cbor) or 0x55 (raw)."""
        prefix = _PREFIXES.get(codec)
        if prefix is None:
            raise CidCodec(f"codec {codec!r}: a CID names dag-cbor (0x71) or raw (0x55)")
        cid = _new(Cid)
        _set_raw(cid, prefix + sha256(block).digest())
        return cid

    @classmethod
    def parse(cls, text: str) -> Cid:
        """Return the CID that a text names in its one spelling: `b` and 58 characters of base32."""
        if type(text) is not str or len(text) != TEXT_LENGTH or text[0] != "b" or not text.isascii():
            raise BadCid(f"{text!r:.200}: the text of a CID is 'b' and 58 characters of base32", cid=text)
        try:
            number = int(text[1:].encode("ascii").translate(_TO_DIGITS), 32)
        except ValueError:
            raise BadCid(f"{text!r}: base32 here is a-z and 2-7, in lower case", cid=text) from None
        if number & 3:
            raise BadCid(f"{text!r}: the last character carries bits that belong to no byte", cid=text)
        return cls((number >> 2).to_bytes(RAW_LENGTH, "big"))

    @property
    def codec(self) -> int:
        """0x71 (dag-cbor) or 0x55 (raw)."""
        return self.raw[1]

    @property
    def digest(self) -> bytes:
        """The 32 bytes of the sha2-256 digest."""
        return self.raw[4:]

    def __str__(self) -> str:
        try:
            return self._text
        except AttributeError:
            text = "b" + base64.b32encode(self.raw).decode("ascii").rstrip("=").lower()
            _set_text(self, text)
            return text

    def __repr__(self) -> str:
        return f"Cid.parse({str(self)!r})"

    def __hash__(self) -> int:
        return hash(self.raw)

    def __eq__(self, other: object) -> bool:
        return self.raw == other.raw if type(other) is Cid else NotImplemented

    def __lt__(self, other: Cid) -> bool:
        return self.raw < other.raw if type(other) is Cid else NotImplemented

    def __le__(self, other: Cid) -> bool:
        return self.raw <= other.raw if type(other) is Cid else NotImplemented

    def __gt__(self, other: Cid) -> bool:
        return self.raw > other.raw if type(other) is Cid else NotImplemented

    def __ge__(self, other: Cid) -> bool:
        return self.raw >= other.raw if type(other) is Cid else NotImplemented

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Cid is immutable: {name} cannot be set")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Cid is immutable: {name} cannot be deleted")

    def __reduce__(self) -> tuple[type[Cid], tuple[bytes]]:
        return Cid, (self.raw,)

    def __copy__(self) -> Cid:
        return self

    def __deepcopy__(self, memo: object) -> Cid:
        return self


# The slots' own setters: the one way past __setattr__, and several times as fast as object.__setattr__.
_set_raw: Callable[[Cid, bytes], None] = Cid.__dict__["raw"].__set__
_set_text: Callable[[Cid, str], None] = Cid.__dict__["_text"].__set__
_new: Callable[[type[Cid]], Cid] = object.__new__


def from_foreign_text(text: str) -> Cid:
    """Return the CID that a text names in any multibase spelling, as gateways and other networks write them.

    The CID itself must still be of the one known form. What Weighbridge writes is read by `Cid.parse`.
    """
    from multiformats import CID  # noqa: PLC0415  (slow to import, and met at the edges only)

    if type(text) is not str or len(text) > 8 * TEXT_LENGTH:
        raise BadCid(f"{text!r:.200} is no text of a CID", cid=text)
    try:
        raw = bytes(CID.decode(text))
    except Exception as error:
        raise BadCid(f"{text!r} is no text of a CID: {error}", cid=text) from error
    return Cid(raw)


def _what_is_wrong(raw: object) -> BadCid:
    """Return the refusal of raw bytes that are no CID of the known form, the leftmost fault first."""
    if type(raw) is not bytes:
        return BadCid(f"the raw form of a CID is 36 bytes, not {type(raw).__name__}")
    shown = f"{raw[:RAW_LENGTH].hex()}{'…' if len(raw) > RAW_LENGTH else ''}"
    if len(raw) < 4:
        return BadCid(f"{len(raw)} bytes are too few for a CID: {shown}", cid=raw)
    if raw[0] != 1:
        return CidVersion(f"only CIDv1 is known, and this begins {raw[0]:02x}: {shown}", cid=raw)
    if raw[1] not in _PREFIXES:
        return CidCodec(f"codec byte {raw[1]:02x} is neither 71 (dag-cbor) nor 55 (raw): {shown}", cid=raw)
    if raw[2] != 0x12:
        return CidHash(f"hash byte {raw[2]:02x} is not 12 (sha2-256): {shown}", cid=raw)
    return CidLength(
        f"sha2-256 has 32 bytes of digest, this CID {raw[3]} and {len(raw) - 4}: {shown}", cid=raw
    )
