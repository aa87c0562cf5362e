"""CAR files of repositories: a slice of one, a proof from one, or all of it; every block hashed, sizes capped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from weighbridge.cid import Cid
from weighbridge.limits import MAX_REPO, MAX_REPO_BLOCKS, MAX_SLICE, MAX_SLICE_BLOCKS
from weighbridge.logfile.car import CarReader
from weighbridge.repos.errors import CarRoot, CarTooLarge


class Car(NamedTuple):
    """A CAR that was read: its first root, whose block is among the blocks."""

    root: Cid
    blocks: dict[Cid, bytes]

    @property
    def head(self) -> bytes:
        """The block of the root: the commit."""
        return self.blocks[self.root]


def read_slice(data: bytes) -> Car:
    """Return a commit's slice of a repository, or a proof from one: `limits.MAX_SLICE` bytes at most.

    Raises CarTooLarge, CarRoot, and what `CarReader` does.
    """
    if len(data) > MAX_SLICE:
        raise CarTooLarge(f"a slice has at most {MAX_SLICE} bytes, and this has {len(data)}")
    return _read((data,), MAX_SLICE_BLOCKS)


def read_repo(pieces: Iterable[bytes]) -> Car:
    """Return a whole repository, given in pieces: `limits.MAX_REPO` bytes at most. Raises as `read_slice`."""
    return _read(_counted(pieces), MAX_REPO_BLOCKS)


def _counted(pieces: Iterable[bytes]) -> Iterator[bytes]:
    total = 0
    for piece in pieces:
        total += len(piece)
        if total > MAX_REPO:
            raise CarTooLarge(f"a repository of more than {MAX_REPO} bytes is not read")
        yield piece


def _read(pieces: Iterable[bytes], most: int) -> Car:
    reader = CarReader(pieces)
    if not reader.roots:
        raise CarRoot("the CAR names no root")
    blocks: dict[Cid, bytes] = {}
    for number, block in enumerate(reader.blocks()):
        if number >= most:
            raise CarTooLarge(f"more than {most} blocks are not read")
        blocks[block.cid] = block.data
    root = reader.roots[0]
    if root not in blocks:
        raise CarRoot(f"the CAR does not hold its root, {root}")
    return Car(root, blocks)
