"""From values to DAG-CBOR, fast: one value, one encoding.

This is the fold's hot path: it writes what it knows by exact type and raises at everything else, whatever the
reason; `encode` then asks the plain encoder for the answer. What makes it fast: most values are texts, small
numbers and booleans in maps and lists, and once their types are known to be no others, libipld writes them whole.
Of the rest the order and the bytes of a map's keys are worked out once per set of keys and kept, and small heads are
looked up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from operator import itemgetter
from struct import Struct as Packer
from typing import Final

import msgspec
from libipld import encode_dag_cbor

from weighbridge.cid import Cid
from weighbridge.codec.plain import encode_plainly
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
from weighbridge.limits import MAX_NESTING

_Add = Callable[[bytes], None]
_KeyPlan = tuple[bytes, tuple[bytes, ...], Callable[[Value], tuple[Value, ...]]]
_StructPlan = tuple[tuple[str, str | None, Value, bytes | None], ...]

_TEXT_HEADS: Final = tuple(head(TEXT, length) for length in range(256))
_LIST_HEADS: Final = tuple(head(LIST, length) for length in range(256))
_INTEGERS: Final = tuple(head(UNSIGNED, number) for number in range(256))
_two_bytes: Final = Packer(">BH").pack
_eight_bytes: Final = Packer(">BQ").pack

# Kept for maps with few and short keys, and only so many: keys that players choose must not fill the memory.
# A subclass of str that equals a text stands for it, kept or not; so enums may be keys.
_MOST_PLANS: Final = 2048
_MOST_KEYS: Final = 32
_LONGEST_KEY: Final = 32
_key_plans: dict[tuple[str, ...], _KeyPlan] = {}
_struct_plans: dict[type, _StructPlan] = {}


class _Odd(Exception):
    """Something the fast encoder does not know."""


def encode(value: object) -> bytes:
    """Return the DAG-CBOR of a value (see `Value`) or of a msgspec.Struct.

    Tuples are written as lists and string or integer enums as their values; a struct's fields are left out
    as its `omit_defaults` says. Anything else is refused with a code of its own (see `codec.errors`).
    """
    try:
        return encode_known(value)
    except Exception:  # whatever it was: the plain encoder says it in words
        return encode_plainly(value)


def encode_known(value: object) -> bytes:
    """Return the DAG-CBOR of a value, or raise some exception where there is none or it knows none."""
    if _is_plain(value, 0):
        return encode_dag_cbor(value)
    parts: list[bytes] = []
    _put(value, parts.append, 0)
    return b"".join(parts)


# libipld also writes floats, bytes that look like a CID as a link, and whatever is a kind of dict: it never sees them.
_are_texts: Final = frozenset((str,)).issuperset
_are_scalars: Final = frozenset((str, int, bool, type(None))).issuperset
_may_be_plain: Final = frozenset((str, int, bool, type(None), dict, list)).issuperset
_NESTS: Final = (dict, list)


def _is_plain(value: Value, depth: int) -> bool:
    """Whether a value is made of texts, integers, booleans, None, lists and maps alone, by exact type."""
    kind = type(value)
    if kind is dict:
        inner = value.values()
    elif kind is list:
        inner = value
    else:
        return _are_scalars((kind,))
    if depth >= MAX_NESTING or (kind is dict and not _are_texts(map(type, value))):
        return False
    if _are_scalars(map(type, inner)):
        return True
    if not _may_be_plain(map(type, inner)):
        return False
    for item in inner:  # noqa: SIM110  (a generator costs more than the rest)
        if type(item) in _NESTS and not _is_plain(item, depth + 1):
            return False
    return True


def _put(value: Value, add: _Add, depth: int) -> None:
    kind = type(value)
    if kind is str:
        data = value.encode()
        length = len(data)
        add(_TEXT_HEADS[length] if length < 256 else head(TEXT, length))
        add(data)
    elif kind is int:
        add(_INTEGERS[value] if 0 <= value < 256 else _integer(value))
    elif kind is dict:
        if depth >= MAX_NESTING:
            raise _Odd
        keys = tuple(value)
        start, heads, values = _key_plans.get(keys) or _plan_keys(keys)
        add(start)
        _put_pairs(zip(heads, values(value)), add, depth + 1)  # noqa: B905  (`strict` costs more than zip)
    elif kind is list or kind is tuple:
        if depth >= MAX_NESTING:
            raise _Odd
        length = len(value)
        add(_LIST_HEADS[length] if length < 256 else head(LIST, length))
        depth += 1
        for item in value:
            _put(item, add, depth)
    elif kind is Cid:
        add(LINK)
        add(value.raw)
    elif value is None:
        add(NULL)
    elif kind is bool:
        add(TRUE if value else FALSE)
    elif kind is bytes:
        add(head(BYTES, len(value)))
        add(value)
    else:
        _put_other(value, add, depth)


def _put_pairs(pairs: Iterable[tuple[bytes, Value]], add: _Add, depth: int) -> None:
    for key, item in pairs:
        add(key)
        if type(item) is str:  # as in _put: most values are text, and a call costs as much as the rest
            data = item.encode()
            length = len(data)
            add(_TEXT_HEADS[length] if length < 256 else head(TEXT, length))
            add(data)
        else:
            _put(item, add, depth)


def _integer(value: int) -> bytes:
    if value < 0:
        return head(NEGATIVE, -1 - value)
    if value < 1 << 16:
        return _two_bytes(0x19, value)
    return _eight_bytes(0x1B, value) if value >= 1 << 32 else head(UNSIGNED, value)


def _plan_keys(keys: tuple[str, ...]) -> _KeyPlan:
    """Return a map's head, its keys as they are written, and what reads its values in the same order."""
    ordered = sorted(keys, key=key_rank)
    written = tuple(_key(key) for key in ordered)
    # itemgetter of a single key returns no tuple.
    values: Callable[[Value], tuple[Value, ...]] = itemgetter(*ordered) if len(ordered) > 1 else _only_value
    plan = head(MAP, len(keys)), written, values
    if len(keys) <= _MOST_KEYS and all(len(key) <= _LONGEST_KEY for key in keys):
        if len(_key_plans) >= _MOST_PLANS:
            _key_plans.clear()
        _key_plans[keys] = plan
    return plan


def _only_value(value: dict[str, Value]) -> tuple[Value, ...]:
    return tuple(value.values())


def _key(key: str) -> bytes:
    data = str.encode(key, "utf-8")
    return head(TEXT, len(data)) + data


def _put_other(value: Value, add: _Add, depth: int) -> None:
    kind = type(value)
    if issubclass(kind, msgspec.Struct):
        _put_struct(value, add, depth)
    elif issubclass(kind, Enum) and type(value.value) in (str, int):
        _put(value.value, add, depth)
    else:
        raise _Odd


def _put_struct(value: msgspec.Struct, add: _Add, depth: int) -> None:
    kind, unset = type(value), msgspec.UNSET
    fields: dict[str, Value] = {}
    for key, attribute, omitted, omitted_bytes in _struct_plans.get(kind) or _plan_struct(kind):
        if attribute is None:
            fields[key] = omitted
            continue
        item = getattr(value, attribute)
        if item is omitted or item is unset:
            continue
        if omitted_bytes is None or not _is_left_out(item, omitted, omitted_bytes):
            fields[key] = list(item) if type(item) is tuple else item  # libipld knows no tuples
    if _is_plain(fields, depth):
        add(encode_dag_cbor(fields))
    else:
        _put(fields, add, depth)


def _is_left_out(item: Value, omitted: Value, omitted_bytes: bytes) -> bool:
    if type(item) is type(omitted) and (not omitted or type(item) is str):
        return bool(item == omitted)
    return encode_known(item) == omitted_bytes


def _plan_struct(kind: type[msgspec.Struct]) -> _StructPlan:
    """Return (key, attribute, value it is left out for, that as written) of each field.

    The row of the tag has no attribute, and the tag itself instead of what is left out. The last place is None where
    a value is always written, or where identity says whether it is the one left out (None, booleans).
    """
    layout = layout_of(kind)
    rows: list[tuple[str, str | None, Value, bytes | None]] = [
        (key, None, tag, None) for key, tag in layout.tag.items()
    ]
    for field in layout.fields:
        by_identity = field.omitted is NEVER or field.omitted is None or type(field.omitted) is bool
        written = None if by_identity else encode_known(field.omitted)
        rows.append((field.key, field.attribute, field.omitted, written))
    plan = _struct_plans[kind] = tuple(rows)
    return plan
