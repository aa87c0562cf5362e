"""The plain decoder: every rule of strict DAG-CBOR spelled out once, and the refusal that names it.

`decode` takes a faster way and comes here to learn why it must refuse; the tests hold both to the same
answers. Rules: RFC 8949 4.2.1 (shortest forms, definite lengths), the DAG-CBOR specification (no tag but
42, text keys, shorter keys first), and no floats.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, NoReturn

from weighbridge.cid import BadCid, Cid
from weighbridge.codec import errors
from weighbridge.codec.values import Value, key_rank
from weighbridge.limits import MAX_NESTING

_SIMPLE = {20: False, 21: True, 22: None}
_INDEFINITE = 31


def decode_strictly(data: bytes) -> Value:
    """Return the value of strict DAG-CBOR bytes, or raise the refusal that fits; `detail` has its offset."""
    reader = _Reader(data)
    value = reader.value(0)
    if reader.at != len(data):
        raise errors.TrailingBytes(f"{len(data) - reader.at} bytes follow the value", offset=reader.at)
    return value


class _Reader:
    """A position in the bytes. `depth` counts the lists and maps around an item, `start` is its offset."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def value(self, depth: int) -> Value:
        start = self.at
        major, info = self._initial()
        if major == 7:
            return _simple(info, start)
        return self._READ[major](self, self._argument(info, start), depth, start)

    def _initial(self) -> tuple[int, int]:
        initial = self._take(1, self.at)[0]
        return initial >> 5, initial & 31

    def _argument(self, info: int, start: int) -> int:
        if info < 24:
            return info
        if info > 27:
            _refuse_info(info, start)
        width = 1 << (info - 24)
        argument = int.from_bytes(self._take(width, start), "big")
        least = 24 if width == 1 else 1 << (4 * width)
        if argument < least:
            raise errors.NotMinimal(f"{argument} is written in {width} bytes at byte {start}", offset=start)
        return argument

    def _take(self, count: int, start: int) -> bytes:
        end = self.at + count
        if end > len(self.data):
            missing = end - len(self.data)
            raise errors.Truncated(f"the item at byte {start} lacks its last {missing} bytes", offset=start)
        taken = self.data[self.at : end]
        self.at = end
        return taken

    def _unsigned(self, argument: int, depth: int, start: int) -> int:
        return argument

    def _negative(self, argument: int, depth: int, start: int) -> int:
        return -1 - argument

    def _bytes(self, argument: int, depth: int, start: int) -> bytes:
        return self._take(argument, start)

    def _text(self, argument: int, depth: int, start: int) -> str:
        try:
            return self._take(argument, start).decode("utf-8")
        except UnicodeDecodeError as error:
            raise errors.InvalidText(
                f"text at byte {start} is not UTF-8: {error.reason}", offset=start
            ) from error

    def _list(self, argument: int, depth: int, start: int) -> list[Value]:
        self._enter(argument, depth, start)
        return [self.value(depth + 1) for _ in range(argument)]

    def _map(self, argument: int, depth: int, start: int) -> dict[str, Value]:
        self._enter(argument, depth, start)
        found: dict[str, Value] = {}
        last = (-1, b"")
        for _ in range(argument):
            offset = self.at
            key = self._key(offset)
            rank = key_rank(key)
            if rank <= last:
                _refuse_key(key, key in found, offset)
            found[key] = self.value(depth + 1)
            last = rank
        return found

    def _key(self, start: int) -> str:
        major, info = self._initial()
        if major != 3:
            raise errors.NonTextKey(f"the map key at byte {start} is not text", offset=start)
        return self._text(self._argument(info, start), 0, start)

    def _enter(self, count: int, depth: int, start: int) -> None:
        if depth >= MAX_NESTING:
            raise errors.TooDeep(
                f"lists and maps nest deeper than {MAX_NESTING} at byte {start}", offset=start
            )
        # Each item takes a byte at least: a count beyond the end is known before anything is built.
        if count > len(self.data) - self.at:
            raise errors.Truncated(
                f"fewer than the {count} items announced at byte {start} follow", offset=start
            )

    def _tagged(self, tag: int, depth: int, start: int) -> Cid:
        if tag in (2, 3):
            raise errors.IntegerRange(f"a bignum at byte {start}: integers stay within 64 bits", offset=start)
        if tag != 42:
            raise errors.ForeignTag(f"tag {tag} at byte {start}: only 42, a link, is known", offset=start)
        inner = self.at
        major, info = self._initial()
        if major != 2:
            raise errors.LinkForm(f"the link at byte {start} holds no byte string", offset=start)
        raw = self._take(self._argument(info, inner), inner)
        if raw[:1] != b"\x00":
            raise errors.LinkPrefix(f"the link at byte {start} lacks the 0x00 before its CID", offset=start)
        return _cid_at(raw[1:], start)

    _READ: ClassVar[dict[int, Callable[[_Reader, int, int, int], Value]]] = {
        0: _unsigned,
        1: _negative,
        2: _bytes,
        3: _text,
        4: _list,
        5: _map,
        6: _tagged,
    }


def _simple(info: int, start: int) -> bool | None:
    if info in _SIMPLE:
        return _SIMPLE[info]
    if 25 <= info <= 27:
        raise errors.FloatRefused(f"a float at byte {start}: values hold integers only", offset=start)
    if info > 27:
        _refuse_info(info, start)
    raise errors.SimpleValue(f"a simple value other than false, true and null at byte {start}", offset=start)


def _cid_at(raw: bytes, start: int) -> Cid:
    try:
        return Cid(raw)
    except BadCid as error:
        raise type(error)(f"in the link at byte {start}: {error.message}", offset=start, cid=raw) from None


def _refuse_info(info: int, start: int) -> NoReturn:
    if info == _INDEFINITE:
        raise errors.IndefiniteLength(
            f"an indefinite length, or the end of one, at byte {start}", offset=start
        )
    raise errors.ReservedHead(f"additional information {info} at byte {start} is reserved", offset=start)


def _refuse_key(key: str, known: bool, start: int) -> NoReturn:
    if known:
        raise errors.DuplicateKey(f"the map key {key!r} at byte {start} occurs twice", offset=start, key=key)
    raise errors.KeyOrder(f"the map key {key!r} at byte {start} belongs further up", offset=start, key=key)
