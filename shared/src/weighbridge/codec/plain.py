"""The plain encoder: what may be encoded and how, spelled out once, with the path of what may not.

`encode` takes a faster way and comes here to learn why it must refuse; the tests hold both to the same
answers.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import NoReturn

import msgspec

from weighbridge.cid import Cid
from weighbridge.codec import errors
from weighbridge.codec.structs import NEVER, layout_of
from weighbridge.codec.values import (
    BYTES,
    FALSE,
    LINK,
    LIST,
    MAP,
    NEGATIVE,
    NULL,
    TEXT,
    TRUE,
    UNSIGNED,
    Value,
    head,
    key_rank,
)
from weighbridge.errors import Refused
from weighbridge.limits import MAX_INTEGER, MAX_NESTING, MIN_INTEGER


def encode_plainly(value: object) -> bytes:
    """Return the DAG-CBOR of a value, or raise the refusal that fits, with its path in `detail`."""
    try:
        return _encoded(value, "$", 0)
    except (Refused, RecursionError, MemoryError):
        raise
    except Exception as error:  # an object may do anything when it is looked at
        raise errors.Unencodable(f"the value cannot be read: {error!r}") from error


def _encoded(value: Value, path: str, depth: int) -> bytes:
    kind = type(value)
    if kind in _SCALARS:
        return _SCALARS[kind](value, path)
    # issubclass, not isinstance: an object may claim another class than its own.
    if issubclass(kind, Enum) and type(value.value) in (str, int):
        return _SCALARS[type(value.value)](value.value, path)
    if depth >= MAX_NESTING:
        raise errors.TooDeep(f"lists and maps nest deeper than {MAX_NESTING} at {path}", path=path)
    if kind is list or kind is tuple:
        items = [_encoded(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(value)]
        return head(LIST, len(items)) + b"".join(items)
    if kind is dict:
        return _map(value, path, depth)
    if issubclass(kind, msgspec.Struct):
        return _struct(value, path, depth)
    raise errors.Unencodable(f"{kind.__name__} at {path} has no DAG-CBOR", path=path)


def _map(value: dict[str, Value], path: str, depth: int) -> bytes:
    for key in value:
        if not issubclass(type(key), str):
            kind = type(key).__name__
            raise errors.NonTextKey(f"the keys of a map are text, not {kind}, at {path}", path=path)
        _utf8(key, path)
    return _joined({key: _encoded(item, f"{path}.{key}", depth + 1) for key, item in value.items()})


def _struct(struct: msgspec.Struct, path: str, depth: int) -> bytes:
    layout = layout_of(type(struct))
    written = {key: _encoded(tag, path, depth + 1) for key, tag in layout.tag.items()}
    for field in layout.fields:
        value = getattr(struct, field.attribute)
        if value is msgspec.UNSET:
            continue
        data = _encoded(value, f"{path}.{field.key}", depth + 1)
        # Compared as bytes: 1 equals True in Python, and is another value here.
        if field.omitted is NEVER or data != _encoded(field.omitted, path, depth + 1):
            written[field.key] = data
    return _joined(written)


def _joined(items: dict[str, bytes]) -> bytes:
    pairs = [_text(key, "$") + items[key] for key in sorted(items, key=key_rank)]
    return head(MAP, len(pairs)) + b"".join(pairs)


def _utf8(value: str, path: str) -> bytes:
    try:
        return str.encode(value, "utf-8")
    except UnicodeEncodeError as error:
        raise errors.InvalidText(f"text with a lone surrogate at {path} has no UTF-8", path=path) from error


def _text(value: str, path: str) -> bytes:
    data = _utf8(value, path)
    return head(TEXT, len(data)) + data


def _integer(value: int, path: str) -> bytes:
    if not MIN_INTEGER <= value <= MAX_INTEGER:
        raise errors.IntegerRange(f"the integer at {path} is outside -2^64 … 2^64 - 1", path=path)
    return head(UNSIGNED, value) if value >= 0 else head(NEGATIVE, -1 - value)


def _float(value: float, path: str) -> NoReturn:
    raise errors.FloatRefused(f"a float at {path}: values hold integers only", path=path)


_SCALARS: dict[type, Callable[[Value, str], bytes]] = {
    type(None): lambda value, path: NULL,
    bool: lambda value, path: TRUE if value else FALSE,
    int: _integer,
    str: _text,
    bytes: lambda value, path: head(BYTES, len(value)) + value,
    Cid: lambda value, path: LINK + value.raw,
    float: _float,
}
