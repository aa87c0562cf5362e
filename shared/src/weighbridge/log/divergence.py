"""Find where two logs of the same size part, by asking for one subtree's root at a time."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from weighbridge.log.errors import RangeRefused
from weighbridge.log.merkle import split_point

SubtreeRoot = Callable[[int, int], bytes]
"""Answers with the root over the leaves `start` ≤ i < `end`, as `MerkleLog.subtree_root` does."""


class Divergence(msgspec.Struct, frozen=True):
    """The first leaf in which two logs differ, and how many roots the other side was asked for."""

    index: int
    exchanges: int


def first_difference(ours: SubtreeRoot, theirs: SubtreeRoot, size: int) -> Divergence | None:
    """Return where two logs of `size` leaves part, or None where their roots are equal.

    Each exchange asks the other side once: at most ⌈log2 size⌉ + 1 of them. Its answers are taken at its
    word; what it then shows for the leaf found is to be proved by an inclusion proof against its signed
    root. Raises `RangeRefused` for a negative size, and whatever the two sides raise.
    """
    if type(size) is not int or size < 0:
        raise RangeRefused(f"there is no log of {size!r} leaves")
    if size == 0 or ours(0, size) == theirs(0, size):
        return None
    start, end, exchanges = 0, size, 1
    while end - start > 1:
        middle = start + split_point(end - start)
        exchanges += 1
        # The whole differs: where the left half does not, the right half must.
        if ours(start, middle) == theirs(start, middle):
            start = middle
        else:
            end = middle
    return Divergence(start, exchanges)
