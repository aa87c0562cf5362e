"""Verify inclusion and consistency proofs, strictly: exactly the hashes a proof of these sizes has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from weighbridge.log.errors import ConsistencyRefused, InclusionRefused
from weighbridge.log.merkle import EMPTY_ROOT, check_hash, node_hash

MAX_SIZE: Final = (1 << 63) - 1
"""The largest size a log may claim; C2SP counts leaves in signed 64 bits."""


def verify_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> None:
    """Check that the leaf of hash `leaf` is at `index` in the log of `size` leaves with this root.

    Raises `InclusionRefused` where it is not so or the proof is longer or shorter than it must be, and
    `HashRefused` where something is no hash. C2SP merkle-tree, "Inclusion proofs".
    """
    _check_hashes((leaf, root, *proof))
    if not _is_count(index) or not _is_count(size) or index >= size:
        raise InclusionRefused(f"there is no leaf {index!r} among {size!r}")
    # Below `inner` the path has siblings on both sides; above, only those to the left that exist at all.
    inner = (index ^ (size - 1)).bit_length()
    border = (index >> inner).bit_count()
    if len(proof) != inner + border:
        raise InclusionRefused(f"the proof must have {inner + border} hashes, not {len(proof)}")
    digest = leaf
    for height, sibling in enumerate(proof):
        from_left = height >= inner or index >> height & 1
        digest = node_hash(sibling, digest) if from_left else node_hash(digest, sibling)
    if digest != root:
        raise InclusionRefused(f"the proof leads to another root than that of {size} leaves")


def verify_consistency(old: int, new: int, proof: Sequence[bytes], old_root: bytes, new_root: bytes) -> None:
    """Check that the log of `old` leaves with `old_root` is how the one of `new` with `new_root` begins.

    `old` = 0 and `old` = `new` have the empty proof; the root of no leaves is checked like any other. Raises
    `ConsistencyRefused` and `HashRefused`. C2SP merkle-tree, "Consistency proofs".
    """
    _check_hashes((old_root, new_root, *proof))
    if not _is_count(old) or not _is_count(new) or old > new:
        raise ConsistencyRefused(f"no log of {new!r} leaves begins with one of {old!r}")
    if old in (0, new):
        _check_trivial(old, new, proof, old_root, new_root)
        return
    # The proof starts at the largest perfect subtree that ends where the old log ends.
    start = (old & -old).bit_length() - 1
    inner = ((old - 1) ^ (new - 1)).bit_length()
    border = ((old - 1) >> inner).bit_count()
    hashes = proof if old & (old - 1) else (old_root, *proof)
    if len(hashes) != 1 + inner - start + border:
        raise ConsistencyRefused(f"a proof from {old} to {new} leaves does not have {len(proof)} hashes")
    first, second = _roots(hashes, (old - 1) >> start, inner - start)
    if first != old_root:
        raise ConsistencyRefused(f"the proof leads to another root than that of the first {old} leaves")
    if second != new_root:
        raise ConsistencyRefused(f"the proof leads to another root than that of {new} leaves")


def _roots(hashes: Sequence[bytes], path: int, inner: int) -> tuple[bytes, bytes]:
    old = new = hashes[0]
    for height, sibling in enumerate(hashes[1:]):
        if height >= inner or path >> height & 1:
            old, new = node_hash(sibling, old), node_hash(sibling, new)
        else:
            new = node_hash(new, sibling)
    return old, new


def _check_trivial(old: int, new: int, proof: Sequence[bytes], old_root: bytes, new_root: bytes) -> None:
    if proof:
        raise ConsistencyRefused(f"a proof from {old} to {new} leaves is empty, and this has {len(proof)}")
    if old == new and old_root != new_root:
        raise ConsistencyRefused(f"two roots over the same {new} leaves")
    if old == 0 and old_root != EMPTY_ROOT:
        raise ConsistencyRefused("the root of no leaves is the hash of nothing, and this is another")


def _is_count(value: int) -> bool:
    return type(value) is int and 0 <= value <= MAX_SIZE


def _check_hashes(hashes: Sequence[bytes]) -> None:
    for digest in hashes:
        check_hash(digest, "every leaf, root and proof hash")
