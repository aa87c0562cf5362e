"""CAR version 1: blocks under their CIDs in one file, written and read as a stream.

A file is a header and blocks, each after its length as an unsigned LEB128 varint; the header is the
DAG-CBOR of `{roots: [CID, …], version: 1}`, a block its CID's 36 bytes and its own. Strict: shortest
varints, strict DAG-CBOR, no bytes after the last block, and every block is hashed as it is read. Source:
ipld.io/specs/transport/car/carv1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from weighbridge.cid import RAW_LENGTH, BadCid, Cid
from weighbridge.codec import decode, encode
from weighbridge.errors import Refused
from weighbridge.limits import MAX_CAR_BLOCK, MAX_CAR_HEADER
from weighbridge.logfile.errors import (
    CarBlockCid,
    CarBlockHash,
    CarBlockSize,
    CarHeader,
    CarTruncated,
    CarVarint,
    LogFileRefused,
)

_MAX_VARINT: Final = 9  # bytes, as multiformats has it: 63 bits
_COMPACT_AT: Final = 1 << 20


class Block(NamedTuple):
    """A block, and where in the file its length stands."""

    cid: Cid
    data: bytes
    offset: int


def write_car(roots: Sequence[Cid], blocks: Iterable[tuple[Cid, bytes]]) -> Iterator[bytes]:
    """Yield a CAR file piece by piece. The bytes must be those of their CIDs; the caller vouches for it.

    Raises `CarHeader` for more roots than a header holds, and `CarBlockSize`.
    """
    header = encode({"roots": list(roots), "version": 1})
    if len(header) > MAX_CAR_HEADER:
        raise CarHeader(f"{len(roots)} roots make a header longer than {MAX_CAR_HEADER} bytes", offset=0)
    yield varint(len(header)) + header
    for cid, data in blocks:
        if len(data) > MAX_CAR_BLOCK:
            raise CarBlockSize(f"{cid} has {len(data)} bytes, more than {MAX_CAR_BLOCK}")
        yield varint(RAW_LENGTH + len(data)) + cid.raw
        yield data


def varint(number: int) -> bytes:
    """Return a number from 0 as an unsigned LEB128 varint."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


class CarReader:
    """A CAR file, given in pieces of any size. The header is read at once, `blocks` as they are asked for.

    Errors have the offset of what is wrong in `detail["offset"]`.
    """

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._source = _Source(pieces)
        self.roots: tuple[Cid, ...] = self._header()

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks in the order of the file, each verified, without keeping any."""
        source = self._source
        while not source.ended():
            offset = source.offset
            length = source.varint("a block's length")
            if not RAW_LENGTH <= length <= RAW_LENGTH + MAX_CAR_BLOCK:
                says = f"a block with its CID has {RAW_LENGTH} to {RAW_LENGTH + MAX_CAR_BLOCK} bytes"
                raise CarBlockSize(f"byte {offset}: {says}, not {length}", offset=offset)
            raw = source.take(RAW_LENGTH, "a block's CID")
            try:
                cid = Cid(raw)
            except BadCid as error:
                raise CarBlockCid(f"byte {offset}: {error.message}", offset=offset) from error
            data = source.take(length - RAW_LENGTH, f"the block {cid}")
            if Cid.of(data, cid.codec) != cid:
                found = Cid.of(data, cid.codec)
                raise CarBlockHash(f"byte {offset}: the bytes are {found}, not {cid}", offset=offset)
            yield Block(cid, data, offset)

    def _header(self) -> tuple[Cid, ...]:
        source = self._source
        length = source.varint("the length of the header")
        if length > MAX_CAR_HEADER:
            says = f"a header of {length} bytes, more than {MAX_CAR_HEADER}: no CAR file"
            raise CarHeader(f"byte 0: {says}", offset=0)
        data = source.take(length, "the header")
        try:
            header = decode(data)
        except Refused as error:
            raise CarHeader(f"byte 0: the header is no strict DAG-CBOR: {error.message}", offset=0) from error
        version = header.get("version") if isinstance(header, dict) else None
        if type(version) is not int or version != 1 or set(header) != {"roots", "version"}:
            raise CarHeader("byte 0: the header is not {roots, version: 1}", offset=0)
        roots = header["roots"]
        if not isinstance(roots, list) or not all(isinstance(root, Cid) for root in roots):
            raise CarHeader("byte 0: roots is not a list of CIDs", offset=0)
        return tuple(roots)


class _Source:
    """Bytes from pieces, taken in order, with the offset of the next."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._held = bytearray()
        self._at = 0
        self._before = 0

    @property
    def offset(self) -> int:
        return self._before + self._at

    def ended(self) -> bool:
        return not self._has(1)

    def take(self, count: int, what: str) -> bytes:
        if not self._has(count):
            held = len(self._held) - self._at
            raise self._error(CarTruncated, f"the file ends after {held} of the {count} bytes of {what}")
        data = bytes(self._held[self._at : self._at + count])
        self._at += count
        if self._at > _COMPACT_AT:
            self._before += self._at
            del self._held[: self._at]
            self._at = 0
        return data

    def varint(self, what: str) -> int:
        start, number, shift = self.offset, 0, 0
        while True:
            (byte,) = self.take(1, what)
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
            if shift >= 7 * _MAX_VARINT:
                raise CarVarint(f"byte {start}: {what} is longer than {_MAX_VARINT} bytes", offset=start)
        if byte == 0 and shift > 7:
            raise CarVarint(f"byte {start}: {what} is not in its shortest form", offset=start)
        return number

    def _has(self, count: int) -> bool:
        while len(self._held) - self._at < count:
            piece = next(self._pieces, None)
            if piece is None:
                return False
            self._held += piece
        return True

    def _error(self, kind: type[LogFileRefused], says: str) -> LogFileRefused:
        return kind(f"byte {self.offset}: {says}", offset=self.offset)
