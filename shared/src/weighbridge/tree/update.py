"""Change many keys of a tree at once. Nodes are shared with the tree before; each new one is hashed once."""

from __future__ import annotations

from bisect import bisect_left

from weighbridge.tree.node import EMPTY, Node, seal, seal_like

Change = tuple[str, int, bytes | None]
"""A key, its depth, and its new value as a raw CID; None takes it out."""


def apply(node: Node | None, level: int, changes: list[Change]) -> Node | None:
    """Return the node at `level` with the changes made: sorted, and none set higher than `level`.

    None stands for a node with nothing in it and under it, before and after.
    """
    if node is None:
        node = EMPTY
    sorted_out = _sort_out(node, level, changes)
    if sorted_out is not None:
        return _exchange(node, level, *sorted_out)
    if level == 0:
        return _apply_bottom(node, changes)
    return _under_other_keys(node, level, changes)


def _sort_out(
    node: Node, level: int, changes: list[Change]
) -> tuple[dict[int, bytes], dict[int, list[Change]]] | None:
    """Return a node's new values and its subtrees' changes, by place; None where its keys change."""
    keys = node.keys
    values: dict[int, bytes] = {}
    below: dict[int, list[Change]] = {}
    for change in changes:
        key, depth, value = change
        at = bisect_left(keys, key)
        if depth < level:
            if at in below:
                below[at].append(change)
            else:
                below[at] = [change]
        elif value is not None and at < len(keys) and keys[at] == key:
            values[at] = value
        else:
            return None
    return values, below


def _exchange(
    node: Node, level: int, new_values: dict[int, bytes], below: dict[int, list[Change]]
) -> Node | None:
    """Return the node with other values and subtrees under the same keys, as most nodes are after a batch."""
    exchanged: list[tuple[bytes, bytes]] = []
    values = node.values
    if new_values:
        exchanged = [(values[at], value) for at, value in new_values.items()]
        values = tuple([new_values.get(at, value) for at, value in enumerate(values)])
    if not below:
        return seal_like(Node(node.keys, values, node.subs), node, exchanged)
    subs: list[Node | None] = list(node.subs) if node.subs else [None] * (len(values) + 1)
    alike = True
    for at, gap in below.items():
        before = subs[at]
        after = subs[at] = apply(before, level - 1, gap)
        if before is not None and after is not None:
            exchanged.append((before.digest, after.digest or seal(after)))
        elif before is not after:
            alike = False
    made = node_of(node.keys, values, tuple(subs))
    return seal_like(made, node, exchanged) if alike and made is not None else made


def _apply_bottom(node: Node, changes: list[Change]) -> Node | None:
    cells = dict(zip(node.keys, node.values, strict=True))
    for key, _, value in changes:
        if value is None:
            cells.pop(key, None)
        else:
            cells[key] = value
    keys = tuple(sorted(cells))
    return Node(keys, tuple([cells[key] for key in keys]), None) if keys else None


def _under_other_keys(node: Node, level: int, changes: list[Change]) -> Node | None:
    gaps = _Gaps(node, level)
    for change in changes:
        gaps.pass_keys_before(change[0])
        if change[1] < level:
            gaps.below.append(change)
        else:
            gaps.own(change)
    return gaps.finish()


class _Gaps:
    """A walk over a node and its changes, left to right, that builds the node after them.

    `sub` is what stood in the gap the walk is in, `below` the changes that belong into it.
    """

    __slots__ = ("at", "below", "keys", "level", "node", "sub", "subs", "values")

    def __init__(self, node: Node, level: int) -> None:
        self.node = node
        self.level = level
        self.at = 0
        self.keys: list[str] = []
        self.values: list[bytes] = []
        self.subs: list[Node | None] = []
        self.sub = _sub(node, 0)
        self.below: list[Change] = []

    def pass_keys_before(self, key: str) -> None:
        keys = self.node.keys
        while self.at < len(keys) and keys[self.at] < key:
            self._keep()

    def own(self, change: Change) -> None:
        """Make a change of this very level."""
        key, _, value = change
        keys, at = self.node.keys, self.at
        present = at < len(keys) and keys[at] == key
        if value is None:
            if present:
                # Without the key between them its two neighbours are one subtree.
                self.at = at + 1
                self.sub = merge(self.sub, _sub(self.node, at + 1))
            return
        if present:
            self.at = at + 1
            after = _sub(self.node, at + 1)
        else:
            self.sub, after = split(self.sub, key)
        self._close(key, value, after)

    def finish(self) -> Node | None:
        """Return the node after all changes."""
        while self.at < len(self.node.keys):
            self._keep()
        self.subs.append(self._filled())
        return node_of(tuple(self.keys), tuple(self.values), tuple(self.subs))

    def _keep(self) -> None:
        at = self.at
        self.at = at + 1
        self._close(self.node.keys[at], self.node.values[at], _sub(self.node, at + 1))

    def _close(self, key: str, value: bytes, after: Node | None) -> None:
        self.subs.append(self._filled())
        self.keys.append(key)
        self.values.append(value)
        self.sub = after

    def _filled(self) -> Node | None:
        if not self.below:
            return self.sub
        below, self.below = self.below, []
        return apply(self.sub, self.level - 1, below)


def split(node: Node | None, key: str) -> tuple[Node | None, Node | None]:
    """Return what of a subtree lies before a key that is not in it, and what after."""
    if node is None:
        return None, None
    at = bisect_left(node.keys, key)
    subs = node.subs or (None,) * (len(node.keys) + 1)
    left, right = split(subs[at], key)
    return (
        node_of(node.keys[:at], node.values[:at], (*subs[:at], left)),
        node_of(node.keys[at:], node.values[at:], (right, *subs[at + 1 :])),
    )


def merge(left: Node | None, right: Node | None) -> Node | None:
    """Return two neighbouring subtrees of one level as one."""
    if left is None or right is None:
        return left or right
    before = left.subs or (None,) * (len(left.keys) + 1)
    after = right.subs or (None,) * (len(right.keys) + 1)
    middle = merge(before[-1], after[0])
    return node_of(left.keys + right.keys, left.values + right.values, (*before[:-1], middle, *after[1:]))


def _sub(node: Node, index: int) -> Node | None:
    return node.subs[index] if node.subs else None


def node_of(keys: tuple[str, ...], values: tuple[bytes, ...], subs: tuple[Node | None, ...]) -> Node | None:
    """Return the node of these parts, unsealed, or None where nothing is in it and under it."""
    for sub in subs:
        if sub is not None:
            return Node(keys, values, subs)
    return Node(keys, values, None) if keys else None
