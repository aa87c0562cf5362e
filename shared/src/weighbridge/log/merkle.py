"""RFC 6962 Merkle logs: hashing, a whole log in memory, and its proofs.

Every perfect subtree's hash is kept (64 bytes per leaf), one `bytearray` per height, so that any past root
and any proof is a handful of slices. Hashing and proof forms: RFC 6962 section 2.1, C2SP merkle-tree.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Final

from weighbridge.log.errors import HashRefused, RangeRefused

HASH_SIZE: Final = 32
LEAF_PREFIX: Final = b"\x00"
NODE_PREFIX: Final = b"\x01"
EMPTY_ROOT: Final = sha256(b"").digest()


def leaf_hash(leaf_data: bytes) -> bytes:
    """Return the hash of a leaf: SHA-256(0x00 ‖ data)."""
    return sha256(LEAF_PREFIX + leaf_data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of an inner node: SHA-256(0x01 ‖ left ‖ right)."""
    return sha256(NODE_PREFIX + left + right).digest()


def fold_right(hashes: Iterable[bytes]) -> bytes:
    """Hash perfect subtrees, given left to right and largest first, into the root over all of them."""
    root = b""
    for digest in reversed(tuple(hashes)):
        root = node_hash(digest, root) if root else digest
    return root or EMPTY_ROOT


def check_hash(value: bytes, what: str) -> None:
    """Refuse what is not 32 bytes (`HashRefused`)."""
    if type(value) is not bytes or len(value) != HASH_SIZE:
        raise HashRefused(f"{what} must be {HASH_SIZE} bytes, the length of a SHA-256 hash")


def split_point(count: int) -> int:
    """Return the largest power of two smaller than `count` (≥ 2): where RFC 6962 splits that many leaves."""
    return 1 << (count - 1).bit_length() - 1


class MerkleLog:
    """A Merkle log that keeps every leaf's hash. It only grows."""

    __slots__ = ("_levels", "_size")

    def __init__(self) -> None:
        self._levels: list[bytearray] = [bytearray()]
        self._size = 0

    @classmethod
    def restore(cls, leaf_hashes: bytes | Iterable[bytes]) -> MerkleLog:
        """Return the log over these leaf hashes: one row of 32 bytes each, or one by one (`HashRefused`)."""
        row = leaf_hashes if isinstance(leaf_hashes, bytes) else b"".join(leaf_hashes)
        if len(row) % HASH_SIZE:
            raise HashRefused(f"a row of leaf hashes must be a multiple of {HASH_SIZE} bytes, not {len(row)}")
        log = cls()
        log._levels = [bytearray(row)]
        log._size = len(row) // HASH_SIZE
        while len(row) >= 2 * HASH_SIZE:
            width = 2 * HASH_SIZE
            pairs = range(0, len(row) - HASH_SIZE, width)
            row = b"".join([sha256(NODE_PREFIX + row[at : at + width]).digest() for at in pairs])
            log._levels.append(bytearray(row))
        return log

    @property
    def size(self) -> int:
        """How many leaves there are."""
        return self._size

    def append(self, leaf_data: bytes) -> int:
        """Append a leaf and return its index."""
        return self._push(sha256(LEAF_PREFIX + leaf_data).digest())

    def append_hash(self, digest: bytes) -> int:
        """Append a leaf of which only the hash is at hand, and return its index (`HashRefused`)."""
        check_hash(digest, "a leaf hash")
        return self._push(digest)

    def _push(self, digest: bytes) -> int:
        levels = self._levels
        level = levels[0]
        level += digest
        index = rest = self._size
        height = 0
        # A perfect subtree ends at every trailing one bit of the index.
        while rest & 1:
            height += 1
            if height == len(levels):
                levels.append(bytearray())
            digest = sha256(NODE_PREFIX + level[-64:]).digest()
            level = levels[height]
            level += digest
            rest >>= 1
        self._size = index + 1
        return index

    def leaf(self, index: int) -> bytes:
        """Return the hash of the leaf at `index` (`RangeRefused`)."""
        self._check_index(index, self._size)
        return self._perfect(0, index)

    def leaf_hashes(self) -> bytes:
        """Return all leaf hashes in one row, as `restore` takes them."""
        return bytes(self._levels[0])

    def root(self, size: int | None = None) -> bytes:
        """Return the root over the first `size` leaves, all of them by default (`RangeRefused`)."""
        return self._hash(0, self._check_size(size))

    def subtree_root(self, start: int, end: int) -> bytes:
        """Return the root over the leaves `start` ≤ i < `end`, where these are a subtree of some log.

        As C2SP defines a subtree: `start` is a multiple of the smallest power of two ≥ `end - start`. Every
        node of a log of any size is one. Errors: `RangeRefused`.
        """
        self._check_size(end)
        check_subtree(start, end)
        return self._hash(start, end)

    def inclusion(self, index: int, size: int | None = None) -> list[bytes]:
        """Return the proof that the leaf at `index` is in the log of `size` leaves (`RangeRefused`)."""
        end = self._check_size(size)
        self._check_index(index, end)
        start, proof = 0, list[bytes]()
        while end - start > 1:
            middle = start + split_point(end - start)
            if index < middle:
                proof.append(self._hash(middle, end))
                end = middle
            else:
                proof.append(self._hash(start, middle))
                start = middle
        proof.reverse()
        return proof

    def consistency(self, old: int, new: int | None = None) -> list[bytes]:
        """Return the proof that the log of `old` leaves is how the one of `new` begins (`RangeRefused`)."""
        end = self._check_size(new)
        if type(old) is not int or not 0 <= old <= end:
            raise RangeRefused(f"no log of {end} leaves begins with one of {old!r}")
        start, proof = 0, list[bytes]()
        while 0 < old < end:
            middle = start + split_point(end - start)
            if old <= middle:
                proof.append(self._hash(middle, end))
                end = middle
            else:
                proof.append(self._hash(start, middle))
                start = middle
        if start:
            proof.append(self._hash(start, old))
        proof.reverse()
        return proof

    def _perfect(self, height: int, index: int) -> bytes:
        return bytes(self._levels[height][index * HASH_SIZE : (index + 1) * HASH_SIZE])

    def _hash(self, start: int, end: int) -> bytes:
        # `start` is aligned for this length, so the leaves fall into perfect subtrees, largest first.
        hashes = []
        while start < end:
            height = (end - start).bit_length() - 1
            hashes.append(self._perfect(height, start >> height))
            start += 1 << height
        return fold_right(hashes)

    def _check_size(self, size: int | None) -> int:
        if size is None:
            return self._size
        if type(size) is not int or not 0 <= size <= self._size:
            raise RangeRefused(f"this log holds {self._size} leaves, and {size!r} were asked for")
        return size

    @staticmethod
    def _check_index(index: int, size: int) -> None:
        if type(index) is not int or not 0 <= index < size:
            raise RangeRefused(f"there is no leaf {index!r} among {size}")


def check_subtree(start: int, end: int) -> None:
    """Refuse a range of leaves that is no subtree of any log (`RangeRefused`)."""
    if type(start) is not int or type(end) is not int or not 0 <= start < end:
        raise RangeRefused(f"[{start!r}, {end!r}) holds no leaves")
    if start & ((1 << (end - start - 1).bit_length()) - 1):
        raise RangeRefused(f"[{start}, {end}) is no subtree: {start} is not aligned for {end - start} leaves")
