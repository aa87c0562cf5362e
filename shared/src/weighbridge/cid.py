"""Content identifiers of the one form Weighbridge knows: CIDv1, dag-cbor or raw, sha2-256.

The raw form is 36 bytes, `01 71|55 12 20` and the digest; the text form is `b` and the base32 of those
(multibase, lower case, no padding). Every other form is refused with the code `cid-form`.
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


class BadCid(Refused):
    """A CID of another form than CIDv1, dag-cbor (0x71) or raw (0x55), sha2-256, 32 bytes of digest."""

    code: ClassVar[str] = "cid-form"


@final
class Cid:
    """A content identifier: immutable, hashable, ordered by its 36 raw bytes. `str(cid)` is `bafy…` or `bafk…`."""

    __slots__ = ("_text", "raw")

    raw: bytes

    def __new__(cls, raw: bytes) -> Cid:
        """Check the 36 raw bytes; anything else is refused with the code `cid-form`."""
        if type(raw) is not bytes or len(raw) != RAW_LENGTH or raw[:4] not in _KNOWN_PREFIXES:
            raise BadCid(_what_is_wrong(raw), cid=raw)
        return _made(raw)

    @classmethod
    def of(cls, block: bytes, codec: int = DAG_CBOR) -> Cid:
        """Return the CID of a block's bytes, as `codec` 0x71 (dag-cbor) or 0x55 (raw)."""
        prefix = _PREFIXES.get(codec)
        if prefix is None:
            raise BadCid(f"codec {codec!r}: a CID names dag-cbor (0x71) or raw (0x55)")
        return _made(prefix + sha256(block).digest())

    @classmethod
    def parse(cls, text: str) -> Cid:
        """Return the CID that a text names: multibase `b`, 59 characters, and nothing but its own spelling."""
        if type(text) is not str or len(text) != TEXT_LENGTH or text[0] != "b":
            raise BadCid(
                f"{text!r}: the text of a CID is 'b' and 58 characters of lower-case base32", cid=text
            )
        try:
            raw = base64.b32decode(text[1:].upper() + "======")
        except ValueError as error:
            raise BadCid(f"{text!r} is not base32: {error}", cid=text) from error
        cid = cls(raw)
        if str(cid) != text:
            raise BadCid(f"{text!r} is another spelling of {cid}", cid=text)
        return cid

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
        if type(other) is Cid:
            return self.raw == other.raw
        return NotImplemented

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


def _made(raw: bytes) -> Cid:
    cid = _new(Cid)
    _set_raw(cid, raw)
    return cid


def _what_is_wrong(raw: object) -> str:
    if type(raw) is not bytes:
        return f"the raw form of a CID is 36 bytes, not {type(raw).__name__}"
    if raw[:2] == b"\x12\x20" and len(raw) == 34:
        return "a CIDv0: only CIDv1 is known"
    if len(raw) != RAW_LENGTH:
        return f"the raw form of a CID is {RAW_LENGTH} bytes, not {len(raw)}: {raw[:RAW_LENGTH].hex()}"
    return f"a CID begins 01 71 12 20 (dag-cbor) or 01 55 12 20 (raw), sha2-256, not {raw[:4].hex(' ')}"
