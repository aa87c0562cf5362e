"""One node of a tree, in memory and as its block.

The block is DAG-CBOR, {l: link or null, e: [{p, k, v, t}]}: `l` is the subtree before the first entry, `t`
the one after its entry, `v` the value, `k` the key less the `p` bytes it shares with the key before it. It is
written and read by hand here: it is most of the work of an update.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from weighbridge.cid import Cid
from weighbridge.codec.values import head
from weighbridge.limits import MAX_TREE_KEY
from weighbridge.tree.errors import BlockMissing
from weighbridge.tree.keys import shared_prefix

LINK: Final = b"\xd8\x2a\x58\x25\x00"
NODE_LINK: Final = LINK + b"\x01\x71\x12\x20"
NULL: Final = b"\xf6"

NODE: Final = b"\xa2\x61e"
STARTS: Final = tuple(NODE + head(4, count) for count in range(64))
LEFT: Final = b"\x61l" + NODE_LINK
END: Final = b"\x61l" + NULL
VALUE: Final = b"\x61v" + LINK
_NULL_VALUE: Final = NULL + VALUE
# An entry up to its suffix, by the suffix's length; and from there to `t`, by the length of the prefix.
SUFFIX_HEADS: Final = tuple(b"\xa4\x61k" + head(2, length) for length in range(MAX_TREE_KEY + 1))
PREFIXES: Final = tuple(b"\x61p" + head(0, length) + b"\x61t" for length in range(MAX_TREE_KEY + 1))


class Node:
    """A node: `keys` (all of one depth), their `values` (raw CIDs) and the subtrees around them.

    `subs[i]` lies before `keys[i]`, `subs[len(keys)]` after the last; `subs` itself is None where there are
    none at all. `block` and its SHA-256, `digest`, are empty until `seal`. Nothing else ever changes.
    """

    __slots__ = ("block", "digest", "keys", "subs", "values")

    def __init__(
        self, keys: tuple[str, ...], values: tuple[bytes, ...], subs: tuple[Node | None, ...] | None
    ) -> None:
        self.keys = keys
        self.values = values
        self.subs = subs
        self.block = b""
        self.digest = b""

    @property
    def cid(self) -> Cid:
        """The CID of a sealed node."""
        return Cid(NODE_LINK[len(LINK) :] + self.digest)


class Stub(Node):
    """A node of which only the digest is known. Whatever reads into it is refused: `BlockMissing`."""

    __slots__ = ()

    def __init__(self, digest: bytes) -> None:
        self.digest = digest

    def __getattr__(self, name: str) -> object:
        # Reached for the slots that were never filled.
        raise BlockMissing(f"the block of node {self.cid} is needed and not at hand", cid=self.cid)


EMPTY: Final = Node((), (), None)


def encode_node(node: Node) -> bytes:
    """Return the block of a node. Seals its subtrees first."""
    count = len(node.keys)
    subs = node.subs or (None,) * (count + 1)
    parts = [STARTS[count] if count < len(STARTS) else NODE + head(4, count)]
    previous = b""
    for text, sub, value in zip(node.keys, subs[1:], node.values, strict=True):
        key = text.encode("ascii")
        shared = shared_prefix(previous, key)
        start, middle = SUFFIX_HEADS[len(key) - shared], PREFIXES[shared]
        if sub is None:
            parts += (start, key[shared:], middle, _NULL_VALUE, value)
        else:
            parts += (start, key[shared:], middle, NODE_LINK, sub.digest or seal(sub), VALUE, value)
        previous = key
    left = subs[0]
    parts += (END,) if left is None else (LEFT, left.digest or seal(left))
    return b"".join(parts)


def seal(node: Node) -> bytes:
    """Fill in block and digest of a node, and of all under it that have none yet; return the digest."""
    node.block = encode_node(node)
    node.digest = sha256(node.block).digest()
    return node.digest


def seal_like(node: Node, old: Node, exchanged: list[tuple[bytes, bytes]]) -> Node:
    """Seal and return a node that is an old one but for some digests and values: (before, after), equally long.

    What is found exactly once in the block is the thing itself. Where it is found more often (a value twice,
    or one chosen to look like a subtree) the node is encoded anew.
    """
    block = old.block
    # Of an old node that was never sealed there is nothing to go by.
    for before, after in exchanged if block else ():
        if block.count(before) != 1:
            block = b""
            break
        block = block.replace(before, after)
    node.block = block or encode_node(node)
    node.digest = sha256(node.block).digest()
    return node


seal(EMPTY)
