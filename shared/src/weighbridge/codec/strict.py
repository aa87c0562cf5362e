"""The slow and plain decoder: every rule of strict DAG-CBOR spelled out once, and the refusal that names it.

`decode` (see `decoding`) takes a faster way and comes here only to learn why it must refuse; the tests hold
both to the same answers. Rules: RFC 8949 4.2.1 (shortest forms, definite lengths), the DAG-CBOR
specification (tag 42 alone, text keys, length-first order), and no floats.
"""

from __future__ import annotations

from typing import Any, NoReturn

from weighbridge.cid import BadCid, Cid
from weighbridge.codec import errors
from weighbridge.limits import MAX_NESTING

_ARGUMENT_BYTES = {24: 1, 25: 2, 26: 4, 27: 8}
_SIMPLE = {20: False, 21: True, 22: None}


def decode_strictly(data: bytes) -> Any:
    """Return the value of strict DAG-CBOR bytes, or raise the refusal that fits, with its offset in `detail`."""
    reader = _Reader(data)
    value = reader.value(0)
    if reader.at != len(data):
        raise errors.TrailingBytes(f"{len(data) - reader.at} bytes follow the value", offset=reader.at)
    return value


class _Reader:
    """A position in the bytes. `depth` counts the lists and maps around what is read."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def value(self, depth: int) -> Any:
        start = self.at
        major, info = self._head()
        if major == 7:
            return self._simple(info, start)
        argument = self._argument(info, start)
        match major:
            case 0:
                return argument
            case 1:
                return -1 - argument
            case 2:
                return self._take(argument, start)
            case 3:
                return self._text(argument, start)
            case 6:
                return self._tagged(argument, start)
        if depth >= MAX_NESTING:
            raise errors.TooDeep(
                f"lists and maps nest deeper than {MAX_NESTING}, at byte {start}", offset=start
            )
        if major == 4:
            return [self.value(depth + 1) for _ in range(self._count(argument, start))]
        return self._map(self._count(argument, start), depth + 1)

    def _head(self) -> tuple[int, int]:
        initial = self._take(1, self.at)[0]
        return initial >> 5, initial & 31

    def _argument(self, info: int, start: int) -> int:
        if info < 24:
            return info
        if info == 31:
            raise errors.IndefiniteLength(f"indefinite length at byte {start}", offset=start)
        if info > 27:
            raise errors.ReservedHead(f"reserved additional information {info} at byte {start}", offset=start)
        width = _ARGUMENT_BYTES[info]
        argument = int.from_bytes(self._take(width, start), "big")
        least = 24 if width == 1 else 1 << (4 * width)
        if argument < least:
            raise errors.NotMinimal(f"{argument} in {width} bytes at byte {start}", offset=start)
        return argument

    def _take(self, count: int, start: int) -> bytes:
        end = self.at + count
        if end > len(self.data):
            raise errors.Truncated(
                f"the item at byte {start} needs {end - len(self.data)} more bytes", offset=start
            )
        taken = self.data[self.at : end]
        self.at = end
        return taken

    def _count(self, count: int, start: int) -> int:
        # Each item takes a byte at least, so a count past the end is known to be cut short before anything is built.
        if count > len(self.data) - self.at:
            raise errors.Truncated(
                f"{count} items are announced at byte {start}, too few bytes follow", offset=start
            )
        return count

    def _text(self, length: int, start: int) -> str:
        try:
            return self._take(length, start).decode("utf-8")
        except UnicodeDecodeError as error:
            raise errors.InvalidText(
                f"text at byte {start} is not UTF-8: {error.reason}", offset=start
            ) from error

    def _simple(self, info: int, start: int) -> bool | None:
        if info in _SIMPLE:
            return _SIMPLE[info]
        if 25 <= info <= 27:
            raise errors.FloatRefused(f"a float at byte {start}: records hold integers only", offset=start)
        if info == 31:
            raise errors.IndefiniteLength(f"a break at byte {start}", offset=start)
        if 28 <= info <= 30:
            raise errors.ReservedHead(f"reserved additional information {info} at byte {start}", offset=start)
        raise errors.SimpleValue(
            f"a simple value that is not false, true or null, at byte {start}", offset=start
        )

    def _tagged(self, tag: int, start: int) -> Cid:
        if tag in (2, 3):
            raise errors.IntegerRange(f"a bignum at byte {start}: integers stay within 64 bits", offset=start)
        if tag != 42:
            raise errors.ForeignTag(f"tag {tag} at byte {start}: only 42 (a link) is known", offset=start)
        inner = self.at
        major, info = self._head()
        if major != 2:
            raise errors.LinkForm(f"the link at byte {start} holds no byte string", offset=start)
        raw = self._take(self._argument(info, inner), inner)
        if raw[:1] != b"\x00":
            raise errors.LinkForm(f"the link at byte {start} lacks the 0x00 before its CID", offset=start)
        return _cid_at(raw[1:], start)

    def _map(self, count: int, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        last = None
        for _ in range(count):
            start = self.at
            major, info = self._head()
            if major != 3:
                raise errors.NonTextKey(f"a map key that is not text at byte {start}", offset=start)
            key = self._text(self._argument(info, start), start)
            this = key_rank(key)
            if last is not None and this <= last:
                _refuse_order(key, key in found, start)
            found[key] = self.value(depth)
            last = this
        return found


def key_rank(key: str) -> tuple[int, bytes]:
    """Return what map keys are ordered by: the length of their UTF-8, then the bytes."""
    data = key.encode("utf-8")
    return len(data), data


def _cid_at(raw: bytes, start: int) -> Cid:
    try:
        return Cid(raw)
    except BadCid as error:
        raise BadCid(f"in the link at byte {start}: {error.message}", offset=start, cid=raw) from None


def _refuse_order(key: str, known: bool, start: int) -> NoReturn:
    if known:
        raise errors.DuplicateKey(f"map key {key!r} occurs twice, at byte {start}", offset=start, key=key)
    raise errors.KeyOrder(f"map key {key!r} at byte {start} belongs further up", offset=start, key=key)
