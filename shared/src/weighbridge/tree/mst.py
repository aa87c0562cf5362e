"""The tree itself: a persistent map from ASCII keys to CIDs with one root for one content."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from weighbridge.cid import Cid
from weighbridge.tree.build import build
from weighbridge.tree.errors import TreeValue
from weighbridge.tree.keys import check_key, key_depth
from weighbridge.tree.node import EMPTY, Node, Stub, seal
from weighbridge.tree.update import Change, apply


class Leaf(NamedTuple):
    """A key and its value, as a raw CID."""

    key: str
    value: bytes


class Tree:
    """An AT Protocol Merkle Search Tree. It never changes: `update` returns another that shares its nodes."""

    __slots__ = ("_level", "_node")

    def __init__(self, node: Node = EMPTY, level: int = 0) -> None:
        """Use `empty`, `build` or `load.load`. `node` is sealed, and `level` is the depth of its keys."""
        self._node = node
        self._level = level

    @classmethod
    def empty(cls) -> Tree:
        """Return the tree without keys."""
        return cls()

    @classmethod
    def build(cls, items: Mapping[str, Cid] | Iterable[tuple[str, Cid]]) -> Tree:
        """Return the tree of these keys and values (`TreeKey`, `TreeValue`)."""
        given: Mapping[str, Cid | None] = dict(items)
        if any(value is None for value in given.values()):
            raise TreeValue("a tree is built of keys that have values, and one has none")
        return _trimmed(*build(_changes(given)))

    @property
    def root(self) -> Cid:
        """The CID of the root node."""
        return self._node.cid

    @property
    def node(self) -> Node:
        """The root node, for the modules beside this one."""
        return self._node

    @property
    def level(self) -> int:
        """The depth of the root node's keys; 0 of the empty tree."""
        return self._level

    def update(self, changes: Mapping[str, Cid | None]) -> Tree:
        """Return the tree with these keys set, and those given as None taken out.

        Taking out what is not there changes nothing. Raises `TreeKey`, `TreeValue`, and `BlockMissing` where
        a partly loaded tree lacks what it would have to change.
        """
        ordered = _changes(changes)
        if not ordered:
            return self
        node: Node | None = self._node if self._node is not EMPTY else None
        level = self._level
        # The root must lie as high as the highest key to come. A higher one to be taken out is not there.
        top = max((depth for _, depth, value in ordered if value is not None), default=level)
        while level < top:
            node = node and Node((), (), (node,))
            level += 1
        return _trimmed(apply(node, level, ordered), level)

    def get(self, key: str) -> Cid | None:
        """Return a key's value, or None where it is not in the tree."""
        node: Node | None = self._node
        while node is not None:
            at = bisect_left(node.keys, key)
            if at < len(node.keys) and node.keys[at] == key:
                return Cid(node.values[at])
            node = node.subs[at] if node.subs else None
        return None

    def items(self) -> Iterator[tuple[str, Cid]]:
        """Yield every key and value, in the order of the keys."""
        stack: list[Node | Leaf] = [self._node]
        while stack:
            top = stack.pop()
            if isinstance(top, Node):
                stack.extend(reversed(parts(top)))
            else:
                yield top.key, Cid(top.value)

    def blocks(self) -> Iterator[tuple[Cid, bytes]]:
        """Yield the CID and the block of every node, each before those under it."""
        stack = [self._node]
        while stack:
            node = stack.pop()
            yield node.cid, node.block
            stack.extend(sub for sub in reversed(node.subs or ()) if sub is not None)

    def prove(self, key: str) -> list[bytes]:
        """Return the blocks that prove a key's value, or that it is not there: from the root down.

        An absent key is proved by the path to the gap it would lie in. See `proof.verify`.
        """
        check_key(key)
        node: Node | None = self._node
        path = []
        while node is not None:
            path.append(node.block)
            at = bisect_left(node.keys, key)
            if at < len(node.keys) and node.keys[at] == key:
                break
            node = node.subs[at] if node.subs else None
        return path


def parts(node: Node) -> list[Node | Leaf]:
    """Return a node's subtrees and leaves in the order of their keys."""
    found: list[Node | Leaf] = []
    left = node.subs[0] if node.subs else None
    if left is not None:
        found.append(left)
    for index, key in enumerate(node.keys):
        found.append(Leaf(key, node.values[index]))
        after = node.subs[index + 1] if node.subs else None
        if after is not None:
            found.append(after)
    return found


def _changes(changes: Mapping[str, Cid | None]) -> list[Change]:
    return sorted([_change(key, value) for key, value in changes.items()])


def _change(key: str, value: Cid | None) -> Change:
    check_key(key)
    if value is None:
        return key, key_depth(key), None
    if type(value) is not Cid:
        raise TreeValue(f"the value of {key!r} must be a CID, not {type(value).__name__}", key=key)
    return key, key_depth(key), value.raw


def _trimmed(node: Node | None, level: int) -> Tree:
    # A top without keys of its own is no top, however far down the first keys are.
    while node is not None and not isinstance(node, Stub) and not node.keys and node.subs:
        node = node.subs[0]
        level -= 1
    if node is None:
        return Tree()
    if not node.digest:
        seal(node)
    return Tree(node, level)
