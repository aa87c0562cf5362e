"""Read a whole tree, or the part of one at hand, from its blocks."""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.cid import Cid
from weighbridge.tree.decode import ROOT, Place, child_place, decode_node
from weighbridge.tree.errors import BlockMissing
from weighbridge.tree.mst import Tree
from weighbridge.tree.node import EMPTY, Node
from weighbridge.tree.proof import checked_block


def load(blocks: Mapping[Cid, bytes], root: Cid, *, partial: bool = False) -> Tree:
    """Return the tree of this root, each block hashed and each node checked: canonical, in place, in order.

    Other blocks may be among them. `partial` leaves out subtrees whose blocks are not there (as in a commit's
    slice of a repo); the tree refuses what would read into them, `BlockMissing`. Raises subclasses of
    `TreeRefused`.
    """
    node, level = _node(blocks, root, ROOT)
    if not node.keys:
        return Tree(EMPTY, 0)
    _fill(blocks, node, level, ROOT, partial)
    return Tree(node, level)


def _node(blocks: Mapping[Cid, bytes], cid: Cid, place: Place) -> tuple[Node, int]:
    block = blocks.get(cid)
    if block is None:
        raise BlockMissing(f"the block of node {cid} is not at hand", cid=cid)
    node, level = decode_node(checked_block(cid, block), place)
    node.block, node.digest = block, cid.digest
    return node, level


def _fill(blocks: Mapping[Cid, bytes], node: Node, level: int, place: Place, partial: bool) -> None:
    subs = node.subs
    if subs is None:
        return
    filled: list[Node | None] = []
    for index, stub in enumerate(subs):
        if stub is None:
            filled.append(None)
            continue
        # Recursion is as deep as the levels, which the root's own key sets: 128 at the very most.
        below = child_place(node, level, index, place)
        if partial and stub.cid not in blocks:
            filled.append(stub)
            continue
        sub, _ = _node(blocks, stub.cid, below)
        _fill(blocks, sub, level - 1, below, partial)
        filled.append(sub)
    node.subs = tuple(filled)
