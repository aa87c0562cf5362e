"""Verify what a tree's blocks prove about one key, strictly."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256

from weighbridge.cid import DAG_CBOR, Cid
from weighbridge.tree.decode import ROOT, child_place, decode_node
from weighbridge.tree.errors import BlockExtra, BlockMismatch, BlockMissing, NodeEncoding
from weighbridge.tree.keys import check_key


def verify(root: Cid, key: str, blocks: Sequence[bytes]) -> Cid | None:
    """Return the value a proof shows for `key` under `root`, or None where it shows that there is none.

    `blocks` are those of `Tree.prove`: the nodes from the root down to the key, or to the gap it would lie
    in, in this order and no others. Every node must be canonical. Raises subclasses of `TreeRefused`.
    """
    used = 0

    def next_block(cid: Cid) -> bytes:
        nonlocal used
        if used == len(blocks):
            raise BlockMissing(f"the proof ends before node {cid}", cid=cid)
        used += 1
        return blocks[used - 1]

    value = _walk(root, key, next_block)
    if used != len(blocks):
        raise BlockExtra(f"the path to {key!r} has {used} nodes, and the proof {len(blocks)}")
    return value


def lookup(root: Cid, key: str, blocks: Mapping[Cid, bytes]) -> Cid | None:
    """Return what `verify` does, from blocks in any order and among others, as a CAR holds them."""

    def block_of(cid: Cid) -> bytes:
        try:
            return blocks[cid]
        except KeyError:
            raise BlockMissing(f"the block of node {cid} is not at hand", cid=cid) from None

    return _walk(root, key, block_of)


def checked_block(cid: Cid, block: bytes) -> bytes:
    """Return the block, which must hash to the CID of a node (`BlockMismatch`, `NodeEncoding`)."""
    if cid.codec != DAG_CBOR:
        raise NodeEncoding(f"{cid} is no DAG-CBOR block, and every node is one", cid=cid)
    if sha256(block).digest() != cid.digest:
        raise BlockMismatch(f"the block given for {cid} is {Cid.of(block)}", cid=cid)
    return block


def _walk(root: Cid, key: str, block_of: Callable[[Cid], bytes]) -> Cid | None:
    check_key(key)
    cid, place = root, ROOT
    while True:
        node, level = decode_node(checked_block(cid, block_of(cid)), place)
        at = bisect_left(node.keys, key)
        if at < len(node.keys) and node.keys[at] == key:
            return Cid(node.values[at])
        sub = node.subs[at] if node.subs else None
        if sub is None:
            return None
        place = child_place(node, level, at, place)
        cid = sub.cid
