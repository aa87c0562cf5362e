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
    none at all. `digest` is the SHA-256 of the block, empty until `seal`. `heads` is what `entry_heads` says
    of the keys, kept where there are subtrees: such nodes are encoded again and again under the same keys.
    Nothing else ever changes.
    """

    __slots__ = ("digest", "heads", "keys", "subs", "values")

    def __init__(
        self,
        keys: tuple[str, ...],
        values: tuple[bytes, ...],
        subs: tuple[Node | None, ...] | None,
        heads: tuple[bytes, ...] | None = None,
    ) -> None:
        self.keys = keys
        self.values = values
        self.subs = subs
        self.heads = heads
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


def entry_heads(keys: tuple[str, ...]) -> tuple[bytes, ...]:
    """Return each entry's encoding up to the subtree: what the keys alone decide."""
    heads = []
    previous = b""
    for text in keys:
        key = text.encode("ascii")
        shared = shared_prefix(previous, key)
        heads.append(_SUFFIX_HEADS[len(key) - shared] + key[shared:] + _PREFIXES[shared])
        previous = key
    return tuple(heads)


def encode_node(node: Node) -> bytes:
    """Return the block of a node whose subtrees are sealed."""
    keys, values, subs = node.keys, node.values, node.subs
    parts = [_NODE, head(4, len(keys))]
    if subs is None:
        for start, value in zip(entry_heads(keys), values, strict=True):
            parts += (start, _NULL_VALUE, value)
        parts += (_LEFT, NULL)
        return b"".join(parts)
    if node.heads is None:
        node.heads = entry_heads(keys)
    after = iter(subs)
    left = next(after)
    for start, sub, value in zip(node.heads, after, values, strict=True):
        if sub is None:
            parts += (start, _NULL_VALUE, value)
        else:
            parts += (start, NODE_LINK, sub.digest, _VALUE, value)
    parts += (_LEFT, NULL) if left is None else (_LEFT, NODE_LINK, left.digest)
    return b"".join(parts)


def seal(node: Node) -> None:
    """Fill in the digests of a node and of all under it that have none yet."""
    for sub in node.subs or ():
        if sub is not None and not sub.digest:
            seal(sub)
    node.digest = sha256(encode_node(node)).digest()


seal(EMPTY)
