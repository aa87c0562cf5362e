"""Strict DAG-CBOR both ways: one value has one encoding, and everything else is refused with its own code.

`encode` and `decode` go between values and bytes, `decode_as` reads a typed record, `to_json` and `from_json`
go between values and AT Protocol JSON. What a value is: see `Value`. The codes: see `codec.errors`.
"""

from __future__ import annotations

from weighbridge.cid import Cid
from weighbridge.codec import errors
from weighbridge.codec.atjson import from_json, to_json
from weighbridge.codec.decoding import decode, decode_as, decode_own
from weighbridge.codec.encoding import encode
from weighbridge.codec.errors import CodecRefused
from weighbridge.codec.values import Value

__all__ = [
    "CodecRefused",
    "Value",
    "cid_of",
    "decode",
    "decode_as",
    "decode_own",
    "encode",
    "errors",
    "from_json",
    "to_json",
]


def cid_of(value: object) -> Cid:
    """Return the CID of a value's DAG-CBOR, or of a struct's."""
    return Cid.of(encode(value))
