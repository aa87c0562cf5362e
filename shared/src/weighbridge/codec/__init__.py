"""Strict DAG-CBOR both ways: one value has one encoding, and everything else is refused with its own code."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from weighbridge.cid import Cid
from weighbridge.codec import errors
from weighbridge.codec.encoding import encode
from weighbridge.codec.strict import decode_strictly as decode

__all__ = ["cid_of", "decode", "decode_as", "encode", "errors"]

T = TypeVar("T")


def cid_of(value: Any) -> Cid:
    """Return the CID of a value's DAG-CBOR."""
    return Cid.of(encode(value))


def decode_as(data: bytes, type: type[T]) -> T:
    """Return the value of strict DAG-CBOR bytes as a `type`."""
    try:
        return msgspec.convert(decode(data), type)
    except msgspec.ValidationError as error:
        raise errors.WrongShape(str(error)) from error
