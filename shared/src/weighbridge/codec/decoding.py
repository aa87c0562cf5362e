"""From DAG-CBOR to values: cbor2 or libipld reads, the encoder writes again, and only equal bytes pass.

Each accepts something that it should not (longer forms, unsorted keys, floats, trailing bytes): the second writing
finds it all.
"""

from __future__ import annotations

from typing import Any, Final, NoReturn, TypeVar

import msgspec
from cbor2 import loads
from libipld import decode_dag_cbor

from weighbridge.cid import Cid
from weighbridge.codec import errors
from weighbridge.codec.encoding import encode, encode_known
from weighbridge.codec.strict import decode_strictly
from weighbridge.codec.values import LINK, Value
from weighbridge.limits import MAX_NESTING

T = TypeVar("T")


class _Foreign(Exception):
    """A tag that is no link."""


def _read_link(value: Any, immutable: bool) -> Cid:
    if type(value) is not bytes or value[:1] != b"\x00":
        raise _Foreign
    return Cid(value[1:])


def _read_foreign(value: Any, immutable: bool) -> NoReturn:
    raise _Foreign


class _OnlyLinks(dict[int, Any]):
    """Refuse every tag but 42 before cbor2 builds dates, patterns, fractions or shared values."""

    def __missing__(self, tag: int) -> Any:
        return _read_foreign


_TAGS: Final = _OnlyLinks({42: _read_link})
_TAG: Final = LINK[:2]
# One level for the content of a link. The encoder counts the lists and maps exactly.
_DEPTH: Final = MAX_NESTING + 1


def _load(data: bytes) -> Value:
    # libipld takes a third of the time, and reads a link as bytes: where a tag could be, it does not read.
    if _TAG not in data:
        return decode_dag_cbor(data)
    return loads(
        data,
        semantic_decoders=_TAGS,
        max_depth=_DEPTH,
        allow_indefinite=False,
        allow_duplicate_keys=False,
        strict_hashable_types=True,
    )


def decode(data: bytes) -> Value:
    """Return the value of strict DAG-CBOR: fresh dicts and lists, links as `Cid`.

    Whatever is not the one encoding of a value is refused with a code of its own (see `codec.errors`).
    """
    try:
        value = _load(data)
        if encode_known(value) == data:
            return value
    except Exception:  # whatever it was: the plain decoder says it in words
        pass
    return decode_strictly(data)


def decode_own(data: bytes) -> Value:
    """Return the value of bytes that this process has itself encoded or checked, without a second check.

    Never for bytes from outside: what is not strict may pass here.
    """
    try:
        return _load(data)
    except Exception:  # bytes that were ours and have changed: the plain decoder says where
        return decode_strictly(data)


def decode_as(data: bytes, kind: type[T]) -> T:
    """Return strict DAG-CBOR as a `kind`: a msgspec.Struct with its types checked, or any type msgspec knows.

    Refused as `wrong-shape`: what does not fit, and what fits but is not what `encode` writes for it (such as
    a default written out where the type leaves it out).
    """
    try:
        typed = msgspec.convert(_load(data), kind)
        if encode_known(typed) == data:
            return typed
    except Exception:  # whatever it was: the slow way says it in words
        pass
    return _decode_as_plainly(data, kind)


def _decode_as_plainly(data: bytes, kind: type[T]) -> T:
    value = decode(data)
    try:
        typed = msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise errors.WrongShape(f"no {_name(kind)}: {error}", type=_name(kind)) from error
    try:
        again = encode(typed)
    except errors.CodecRefused as error:
        raise errors.WrongShape(
            f"{_name(kind)} holds what has no encoding: {error}", type=_name(kind)
        ) from error
    if again != data:
        sentence = (
            "it reads the bytes, and would write them otherwise (a default written out, a number as text, …)"
        )
        raise errors.WrongShape(f"not the one encoding of {_name(kind)}: {sentence}", type=_name(kind))
    return typed


def _name(kind: object) -> str:
    return getattr(kind, "__name__", None) or repr(kind)
