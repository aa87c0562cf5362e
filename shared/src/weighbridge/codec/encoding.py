"""From values to DAG-CBOR: one value, one encoding."""

from __future__ import annotations

from typing import Any

import msgspec

from weighbridge.cid import Cid
from weighbridge.codec import errors
from weighbridge.codec.strict import key_rank
from weighbridge.limits import MAX_INTEGER, MAX_NESTING, MIN_INTEGER


def head(major: int, argument: int) -> bytes:
    """Return a CBOR head in its shortest form: a major type and an argument below 2^64."""
    if argument < 24:
        return bytes((major << 5 | argument,))
    for info, width in ((24, 1), (25, 2), (26, 4)):
        if argument < 1 << (8 * width):
            return bytes((major << 5 | info,)) + argument.to_bytes(width, "big")
    return bytes((major << 5 | 27,)) + argument.to_bytes(8, "big")


def encode(value: Any) -> bytes:
    """Return the DAG-CBOR of a value or a msgspec.Struct."""
    out: list[bytes] = []
    _put(value, out, 0)
    return b"".join(out)


def _put(value: Any, out: list[bytes], depth: int) -> None:
    if value is None:
        out.append(b"\xf6")
    elif value is True:
        out.append(b"\xf5")
    elif value is False:
        out.append(b"\xf4")
    elif isinstance(value, str):
        data = _text(value)
        out.append(head(3, len(data)) + data)
    elif isinstance(value, int):
        if not MIN_INTEGER <= value <= MAX_INTEGER:
            raise errors.IntegerRange("integers stay within -2^64 … 2^64 - 1")
        out.append(head(0, value) if value >= 0 else head(1, -1 - value))
    elif isinstance(value, bytes):
        out.append(head(2, len(value)) + value)
    elif isinstance(value, Cid):
        out.append(b"\xd8\x2a\x58\x25\x00" + value.raw)
    elif isinstance(value, float):
        raise errors.FloatRefused("records and cells hold no floats")
    else:
        _container(value, out, depth)


def _container(value: Any, out: list[bytes], depth: int) -> None:
    if depth >= MAX_NESTING:
        raise errors.TooDeep(f"lists and maps nest deeper than {MAX_NESTING}")
    if isinstance(value, (list, tuple)):
        out.append(head(4, len(value)))
        for item in value:
            _put(item, out, depth + 1)
        return
    if isinstance(value, msgspec.Struct):
        value = _fields(value)
    if not isinstance(value, dict):
        raise errors.Unencodable(f"{type(value).__name__} has no DAG-CBOR")
    for key in value:
        if not isinstance(key, str):
            raise errors.NonTextKey(f"map keys are text, not {type(key).__name__}")
        _text(key)
    out.append(head(5, len(value)))
    for key in sorted(value, key=key_rank):
        _put(key, out, depth + 1)
        _put(value[key], out, depth + 1)


def _text(value: str) -> bytes:
    try:
        return value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise errors.InvalidText("text with a lone surrogate has no UTF-8") from error


def _fields(struct: msgspec.Struct) -> dict[str, Any]:
    config = struct.__struct_config__
    found: dict[str, Any] = {}
    if config.tag_field is not None:
        found[config.tag_field] = config.tag
    for field in msgspec.structs.fields(type(struct)):
        value = getattr(struct, field.name)
        if config.omit_defaults and value == field.default and type(value) is type(field.default):
            continue
        found[field.encode_name] = value
    return found
