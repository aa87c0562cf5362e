"""A Merkle log of which only the frontier is kept: enough to append and to know the root."""

from __future__ import annotations

from typing import Final

from weighbridge.codec import decode, encode
from weighbridge.codec.errors import CodecRefused
from weighbridge.log.errors import FrontierRefused
from weighbridge.log.merkle import HASH_SIZE, check_hash, fold_right, leaf_hash, node_hash

MAX_SIZE: Final = (1 << 63) - 1


class CompactRange:
    """The perfect subtrees that the first `size` leaves fall into, largest first: at most 63 hashes."""

    __slots__ = ("_hashes", "_size")

    def __init__(self) -> None:
        self._size = 0
        self._hashes: list[bytes] = []

    @classmethod
    def _of(cls, size: int, hashes: list[bytes]) -> CompactRange:
        made = cls()
        made._size, made._hashes = size, hashes
        return made

    @property
    def size(self) -> int:
        """How many leaves there are."""
        return self._size

    @property
    def hashes(self) -> tuple[bytes, ...]:
        """The hashes of the perfect subtrees, largest first: one for each bit set in `size`."""
        return tuple(self._hashes)

    def append(self, leaf_data: bytes) -> int:
        """Append a leaf and return its index."""
        return self._push(leaf_hash(leaf_data))

    def append_hash(self, digest: bytes) -> int:
        """Append a leaf of which only the hash is at hand, and return its index (`HashRefused`)."""
        check_hash(digest, "a leaf hash")
        return self._push(digest)

    def _push(self, digest: bytes) -> int:
        index = rest = self._size
        while rest & 1:
            digest = node_hash(self._hashes.pop(), digest)
            rest >>= 1
        self._hashes.append(digest)
        self._size = index + 1
        return index

    def root(self) -> bytes:
        """Return the root over all leaves."""
        return fold_right(self._hashes)

    def copy(self) -> CompactRange:
        """Return one that grows apart from this."""
        return CompactRange._of(self._size, list(self._hashes))

    def to_bytes(self) -> bytes:
        """Return the DAG-CBOR list of the size and the hashes."""
        return encode([self._size, self._hashes])

    @classmethod
    def from_bytes(cls, data: bytes) -> CompactRange:
        """Return what `to_bytes` wrote (`FrontierRefused`)."""
        try:
            value = decode(data)
        except CodecRefused as error:
            raise FrontierRefused(f"a compact range is DAG-CBOR: {error}") from error
        match value:
            case [int(size), list(hashes)] if type(size) is int and 0 <= size <= MAX_SIZE:
                pass
            case _:
                raise FrontierRefused("a compact range is a list of its size and its hashes")
        if len(hashes) != size.bit_count():
            raise FrontierRefused(f"{size} leaves fall into {size.bit_count()} subtrees, not {len(hashes)}")
        if not all(type(digest) is bytes and len(digest) == HASH_SIZE for digest in hashes):
            raise FrontierRefused(f"every hash of a compact range is {HASH_SIZE} bytes")
        return CompactRange._of(size, hashes)
