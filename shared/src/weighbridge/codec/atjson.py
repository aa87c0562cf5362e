"""AT Protocol JSON: values as JSON objects, links as {"$link": text} and bytes as {"$bytes": base64}."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import TypeAlias

from weighbridge.cid import BadCid, Cid
from weighbridge.codec import errors
from weighbridge.codec.decoding import decode
from weighbridge.codec.encoding import encode
from weighbridge.codec.values import Value
from weighbridge.limits import MAX_NESTING

Json: TypeAlias = Value
"""What `json.loads` returns, without floats."""


def to_json(value: object) -> Json:
    """Return a value (or a struct) as AT Protocol JSON. A map with a key `$link` or `$bytes` has none."""
    return _to_json(decode(encode(value)), "$")


def from_json(obj: Json) -> Value:
    """Return the value of AT Protocol JSON; base64 may be padded or not, integers stay within 64 bits.

    Refused: floats, whatever else `encode` refuses, and a malformed `$link` (`json-link`) or `$bytes`
    (`json-bytes`).
    """
    value = _from_json(obj, "$", 0)
    encode(value)
    return value


def _to_json(value: Value, path: str) -> Json:
    kind = type(value)
    if kind is Cid:
        return {"$link": str(value)}
    if kind is bytes:
        return {"$bytes": base64.b64encode(value).decode("ascii").rstrip("=")}
    if kind is list:
        return [_to_json(item, f"{path}[{index}]") for index, item in enumerate(value)]
    if kind is dict:
        if "$link" in value:
            raise errors.JsonLink(f"a map with a key $link at {path} would read as a link", path=path)
        if "$bytes" in value:
            raise errors.JsonBytes(f"a map with a key $bytes at {path} would read as bytes", path=path)
        return {key: _to_json(item, f"{path}.{key}") for key, item in value.items()}
    return value


def _from_json(obj: Json, path: str, depth: int) -> Value:
    kind = type(obj)
    if kind is dict:
        for key, read in _SPECIAL.items():
            if key in obj:
                return read(obj, path)
    elif kind is not list:
        return obj
    if depth >= MAX_NESTING:
        raise errors.TooDeep(f"lists and maps nest deeper than {MAX_NESTING} at {path}", path=path)
    if kind is list:
        return [_from_json(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(obj)]
    return {key: _from_json(item, f"{path}.{key}", depth + 1) for key, item in obj.items()}


def _link(obj: dict[str, Json], path: str) -> Cid:
    text = obj["$link"]
    if len(obj) != 1 or type(text) is not str:
        raise errors.JsonLink(
            f"$link at {path} stands alone in its object, with the text of a CID", path=path
        )
    try:
        return Cid.parse(text)
    except BadCid as error:
        raise errors.JsonLink(f"$link at {path}: {error.message}", path=path) from error


def _bytes(obj: dict[str, Json], path: str) -> bytes:
    text = obj["$bytes"]
    if len(obj) != 1 or type(text) is not str:
        raise errors.JsonBytes(f"$bytes at {path} stands alone in its object, with base64", path=path)
    unpadded = text.rstrip("=")
    try:
        data = base64.b64decode(unpadded + "=" * (-len(unpadded) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise errors.JsonBytes(f"$bytes at {path} is not base64: {error}", path=path) from error
    if base64.b64encode(data).decode("ascii").rstrip("=") != unpadded or len(text) - len(unpadded) > 2:
        raise errors.JsonBytes(f"$bytes at {path} is not how its bytes are written in base64", path=path)
    return data


_SPECIAL: dict[str, Callable[[dict[str, Json], str], Value]] = {"$link": _link, "$bytes": _bytes}
