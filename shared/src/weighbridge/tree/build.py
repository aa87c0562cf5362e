"""Build a tree from nothing, in one pass over its sorted keys."""

from __future__ import annotations

from weighbridge.tree.node import Node, seal
from weighbridge.tree.update import Change, node_of


class _Open:
    """The node of one level that is still growing at its right end, the gap after its last key being open."""

    __slots__ = ("keys", "subs", "values")

    def __init__(self) -> None:
        self.keys: list[str] = []
        self.values: list[bytes] = []
        self.subs: list[Node | None] = []

    def add(self, key: str, value: bytes, before: Node | None) -> None:
        """Fill the open gap with what stands before this key, and open the one after it."""
        self.subs.append(before)
        self.keys.append(key)
        self.values.append(value)

    def close(self, last: Node | None) -> Node | None:
        """Fill the open gap, return the node, and begin the next one."""
        self.subs.append(last)
        node = node_of(tuple(self.keys), tuple(self.values), tuple(self.subs))
        if node is not None:
            seal(node)
        self.keys, self.values, self.subs = [], [], []
        return node


def build(ordered: list[Change]) -> tuple[Node | None, int]:
    """Return the sealed top node of these sorted keys, and its level; (None, 0) where there are none."""
    top = max((depth for _, depth, _ in ordered), default=0)
    levels = [_Open() for _ in range(top + 1)]
    for key, depth, value in ordered:
        if value is None:
            continue  # nothing to take out of nothing
        # A key ends whatever lies lower to its left.
        left: Node | None = None
        for level in levels[:depth]:
            left = level.close(left)
        levels[depth].add(key, value, left)
    node: Node | None = None
    for level in levels:
        node = level.close(node)
    return node, top
