"""Why bytes or a value are refused: one class and one code each."""

from __future__ import annotations

from typing import ClassVar

from weighbridge.errors import Refused


class CodecRefused(Refused):
    """What every refusal of the codec is: bytes that are no DAG-CBOR, or a value that has none."""

    code: ClassVar[str] = "codec"


class FloatRefused(CodecRefused):
    """A float: records and cells hold none."""

    code: ClassVar[str] = "float"


class Truncated(CodecRefused):
    """The bytes end before the value does."""

    code: ClassVar[str] = "truncated"


class TrailingBytes(CodecRefused):
    """Bytes follow the value."""

    code: ClassVar[str] = "trailing-bytes"


class IndefiniteLength(CodecRefused):
    """A string, list or map of indefinite length, or a break that ends one."""

    code: ClassVar[str] = "indefinite-length"


class NotMinimal(CodecRefused):
    """An integer, length or tag in more bytes than it needs."""

    code: ClassVar[str] = "not-minimal"


class ReservedHead(CodecRefused):
    """One of the additional-information values 28, 29 and 30, which CBOR reserves."""

    code: ClassVar[str] = "reserved-head"


class IntegerRange(CodecRefused):
    """An integer outside -2^64 … 2^64 - 1, be it a bignum tag or a value to encode."""

    code: ClassVar[str] = "integer-range"


class ForeignTag(CodecRefused):
    """A tag other than 42 (a link)."""

    code: ClassVar[str] = "tag"


class SimpleValue(CodecRefused):
    """A simple value other than false, true and null."""

    code: ClassVar[str] = "simple-value"


class NonTextKey(CodecRefused):
    """A map key that is not text."""

    code: ClassVar[str] = "non-text-key"


class KeyOrder(CodecRefused):
    """A map key that does not follow the one before it: shorter first, then by bytes."""

    code: ClassVar[str] = "key-order"


class DuplicateKey(CodecRefused):
    """A map key that occurs twice."""

    code: ClassVar[str] = "duplicate-key"


class InvalidText(CodecRefused):
    """Text that is not UTF-8, or holds a lone surrogate, which has no UTF-8."""

    code: ClassVar[str] = "invalid-text"


class TooDeep(CodecRefused):
    """Lists and maps nested deeper than `limits.MAX_NESTING`."""

    code: ClassVar[str] = "nesting"


class LinkForm(CodecRefused):
    """A tag 42 that holds no byte string."""

    code: ClassVar[str] = "link-form"


class LinkPrefix(CodecRefused):
    """A tag 42 whose bytes do not begin with the 0x00 that stands for the raw form of a CID."""

    code: ClassVar[str] = "link-prefix"


class Unencodable(CodecRefused):
    """A Python object that has no DAG-CBOR."""

    code: ClassVar[str] = "unencodable"


class WrongShape(CodecRefused):
    """A well-formed value that is not of the type asked for."""

    code: ClassVar[str] = "wrong-shape"


class JsonLink(CodecRefused):
    """A `$link` that is not alone in its object or names no CID."""

    code: ClassVar[str] = "json-link"


class JsonBytes(CodecRefused):
    """A `$bytes` that is not alone in its object or is no base64."""

    code: ClassVar[str] = "json-bytes"
