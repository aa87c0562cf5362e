"""Read a node's block, strictly: the one encoding of one node, or a refusal that says why."""

from __future__ import annotations

from typing import NamedTuple

from weighbridge.limits import MAX_TREE_KEY, MAX_TREE_NODE
from weighbridge.tree.errors import (
    NodeDepth,
    NodeEmpty,
    NodeEncoding,
    NodeOrder,
    NodePrefix,
    NodeTooLarge,
    TreeKey,
)
from weighbridge.tree.keys import key_depth
from weighbridge.tree.node import LINK, NODE_LINK, NULL, Node, Stub, encode_node

_KNOWN_VALUES = (b"\x01\x71\x12\x20", b"\x01\x55\x12\x20")
_DIGEST = 32
_CID = 36


class Place(NamedTuple):
    """Where a node stands: its level (None: a root, which says so itself) and the keys around it, if any."""

    level: int | None
    after: str | None = None
    before: str | None = None


ROOT = Place(None)


def decode_node(block: bytes, place: Place) -> tuple[Node, int]:
    """Return the node of this block with stubs as subtrees, and its level; its digest is not filled in.

    A root without keys is the empty tree, of level 0. Raises `NodeTooLarge`, `NodeEncoding`, `NodePrefix`,
    `NodeOrder`, `NodeDepth`, `NodeEmpty` and `TreeKey`.
    """
    if len(block) > MAX_TREE_NODE:
        raise NodeTooLarge(f"a node has at most {MAX_TREE_NODE} bytes, and this has {len(block)}")
    node = _Reader(block).node()
    _check_order(node, place)
    level = _check_level(node, place)
    # Whatever the reader let pass that is not how this node is written shows here.
    if encode_node(node) != block:
        raise NodeEncoding("the block is not the one encoding of its node")
    return node, level


def child_place(node: Node, level: int, index: int, place: Place) -> Place:
    """Return where the subtree `index` of a node at `level` stands (`NodeDepth` where there is no room)."""
    if level == 0:
        raise NodeDepth("a node of depth 0 has a subtree, and nothing lies deeper")
    after = node.keys[index - 1] if index else place.after
    before = node.keys[index] if index < len(node.keys) else place.before
    return Place(level - 1, after, before)


def _check_order(node: Node, place: Place) -> None:
    last = place.after
    for key in (*node.keys, place.before):
        if key is None:
            return
        if last is not None and key <= last:
            raise NodeOrder(f"{key!r} comes after {last!r}, and keys increase", key=key)
        last = key


def _check_level(node: Node, place: Place) -> int:
    if not node.keys:
        if place.level is None and node.subs is not None:
            raise NodeEmpty("the root has no keys of its own, and so is no root")
        if place.level is not None and node.subs is None:
            raise NodeEmpty("a node has neither keys nor a subtree, and only the empty tree's root has not")
        return place.level or 0
    level = key_depth(node.keys[0]) if place.level is None else place.level
    for key in node.keys:
        if key_depth(key) != level:
            raise NodeDepth(f"{key!r} is of depth {key_depth(key)}, and its node of {level}", key=key)
    return level


class _Reader:
    """A position in a block. It reads the fields in the order they have and leaves the rest to comparison."""

    def __init__(self, block: bytes) -> None:
        self.block = block
        self.at = 0

    def node(self) -> Node:
        self._expect(b"\xa2\x61e", "a map of e and l")
        count = self._head(4, "e, a list")
        keys: list[str] = []
        values: list[bytes] = []
        after: list[Node | None] = []
        key = b""
        for _ in range(count):
            key = self._entry(key, values, after)
            keys.append(key.decode("ascii"))
        self._expect(b"\x61l", "l")
        subs = (self._link_or_null(), *after)
        if self.at != len(self.block):
            raise NodeEncoding(f"{len(self.block) - self.at} bytes follow the node", offset=self.at)
        found = any(sub is not None for sub in subs)
        return Node(tuple(keys), tuple(values), subs if found else None)

    def _entry(self, previous: bytes, values: list[bytes], after: list[Node | None]) -> bytes:
        self._expect(b"\xa4\x61k", "an entry: a map of k, p, t and v")
        suffix = self._take(self._head(2, "k, bytes"))
        self._expect(b"\x61p", "p")
        shared = self._head(0, "p, a length")
        self._expect(b"\x61t", "t")
        after.append(self._link_or_null())
        self._expect(b"\x61v" + LINK, "v, a link")
        value = self._take(_CID)
        if value[:4] not in _KNOWN_VALUES:
            raise NodeEncoding("v is no CIDv1 of dag-cbor or raw and SHA-256", offset=self.at)
        values.append(value)
        return self._key(previous, shared, suffix)

    def _key(self, previous: bytes, shared: int, suffix: bytes) -> bytes:
        if shared > len(previous):
            raise NodePrefix(f"p is {shared}, and the key before has {len(previous)} bytes", offset=self.at)
        key = previous[:shared] + suffix
        if not 0 < len(key) <= MAX_TREE_KEY or not key.isascii():
            raise TreeKey(f"a key is 1 to {MAX_TREE_KEY} bytes of ASCII, not {key!r:.80}", offset=self.at)
        if previous[shared : shared + 1] == suffix[:1] != b"":
            raise NodePrefix(f"p is {shared}, and {key!r} shares more with the key before", offset=self.at)
        return key

    def _link_or_null(self) -> Node | None:
        if self.block.startswith(NULL, self.at):
            self.at += 1
            return None
        self._expect(NODE_LINK, "null or a link to a node")
        return Stub(self._take(_DIGEST))

    def _expect(self, what: bytes, words: str) -> None:
        if not self.block.startswith(what, self.at):
            raise NodeEncoding(f"byte {self.at} should begin {words}", offset=self.at)
        self.at += len(what)

    def _take(self, length: int) -> bytes:
        end = self.at + length
        if end > len(self.block):
            raise NodeEncoding("the block ends within a node", offset=len(self.block))
        taken = self.block[self.at : end]
        self.at = end
        return taken

    def _head(self, major: int, words: str) -> int:
        first = self._take(1)[0]
        info = first & 0x1F
        if first >> 5 != major or info > 26:
            raise NodeEncoding(f"byte {self.at - 1} should be {words} of a sane length", offset=self.at - 1)
        return info if info < 24 else int.from_bytes(self._take(1 << (info - 24)), "big")
