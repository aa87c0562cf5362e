"""One node of a tree, in memory and as its block.

The block is DAG-CBOR, {l: link or null, e: [{p, k, v, t}]}: `l` is the subtree before the first entry, `t`
the one after its entry, `v` the value, `k` the key less the `p` bytes it shares with the key before it. It is
written and read by hand here: it is most of the work of an update.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from weighbridge.cid import Cid
from weighbridge.codec.encoding import head
from weighbridge.limits import MAX_TREE_KEY
from weighbridge.tree.errors import BlockMissing
from weighbridge.tree.keys import shared_prefix

LINK: Final = b"\xd8\x2a\x58\x25\x00"
NODE_LINK: Final = LINK + b"\x01\x71\x12\x20"
NULL: Final = b"\xf6"

_NODE: Final = b"\xa2\x61e"
_LEFT: Final = b"\x61l"
_VALUE: Final = b"\x61v" + LINK
_NULL_VALUE: Final = NULL + _VALUE
# An entry up to its suffix, by the suffix's length; and from there to `t`, by the length of the prefix.
_SUFFIX_HEADS: Final = tuple(b"\xa4\x61k" + head(2, length) for length in range(MAX_TREE_KEY + 1))
_PREFIXES: Final = tuple(b"\x61p" + head(0, length) + b"\x61t" for length in range(MAX_TREE_KEY + 1))


class Node:
    """A node: `keys` (all of one depth), their `values` (raw CIDs) and the subtrees around them.

    `subs[i]` lies before `keys[i]`, `subs[len(keys)]` after the last; `subs` itself is None where there are
    none at all. `digest` is the SHA-256 of the block, empty until `seal`. Nothing else ever changes.
    """

    __slots__ = ("digest", "keys", "subs", "values")

    def __init__(
        self, keys: tuple[str, ...], values: tuple[bytes, ...], subs: tuple[Node | None, ...] | None
    ) -> None:
        self.keys = keys
        self.values = values
        self.subs = subs
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
    """Return the block of a node whose subtrees are sealed."""
    keys, values, subs = node.keys, node.values, node.subs
    parts = [_NODE, head(4, len(keys))]
    add = parts.append
    previous = b""
    for index, text in enumerate(keys):
        key = text.encode("ascii")
        shared = shared_prefix(previous, key) if index else 0
        add(_SUFFIX_HEADS[len(key) - shared])
        add(key[shared:])
        add(_PREFIXES[shared])
        sub = subs[index + 1] if subs else None
        if sub is None:
            add(_NULL_VALUE)
        else:
            add(NODE_LINK)
            add(sub.digest)
            add(_VALUE)
        add(values[index])
        previous = key
    add(_LEFT)
    left = subs[0] if subs else None
    add(NULL if left is None else NODE_LINK + left.digest)
    return b"".join(parts)


def seal(node: Node) -> None:
    """Fill in the digests of a node and of all under it that have none yet."""
    for sub in node.subs or ():
        if sub is not None and not sub.digest:
            seal(sub)
    node.digest = sha256(encode_node(node)).digest()


seal(EMPTY)
