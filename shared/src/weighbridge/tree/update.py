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
        values, below = sorted_out
        if not values and not below:
            return node if node is not EMPTY else None
        return _exchange(node, level, values, below)
    if level == 0:
        return _apply_bottom(node, changes)
    return _under_other_keys(node, level, changes)


def _sort_out(
    node: Node, level: int, changes: list[Change]
) -> tuple[dict[int, bytes], dict[int, list[Change]]] | None:
    """Return a node's new values and its subtrees' changes, by place; None where its keys change.

    What is taken out and is not there is left out.
    """
    keys, subs = node.keys, node.subs
    count = len(keys)
    values: dict[int, bytes] = {}
    below: dict[int, list[Change]] = {}
    for change in changes:
        key, depth, value = change
        at = bisect_left(keys, key)
        if depth < level:
            if value is None and (subs is None or subs[at] is None):
                continue
            if at in below:
                below[at].append(change)
            else:
                below[at] = [change]
        elif at < count and keys[at] == key:
            if value is None:
                return None
            values[at] = value
        elif value is not None:
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
    keys, values = list(node.keys), list(node.values)
    for key, _, value in changes:
        at = bisect_left(keys, key)
        present = at < len(keys) and keys[at] == key
        if value is None:
            if present:
                del keys[at], values[at]
        elif present:
            values[at] = value
        else:
            keys.insert(at, key)
            values.insert(at, value)
    return Node(tuple(keys), tuple(values), None) if keys else None


def _under_other_keys(node: Node, level: int, changes: list[Change]) -> Node | None:
    keys, values = list(node.keys), list(node.values)
    subs: list[Node | None] = list(node.subs) if node.subs else [None] * (len(keys) + 1)
    below: list[Change] = []
    for change in changes:
        key, depth, value = change
        if depth < level:
            below.append(change)
            continue
        at = bisect_left(keys, key)
        present = at < len(keys) and keys[at] == key
        if value is None:
            if present:
                # Without the key between them its two neighbours are one subtree.
                del keys[at], values[at]
                subs[at : at + 2] = [merge(subs[at], subs[at + 1])]
        elif present:
            values[at] = value
        else:
            keys.insert(at, key)
            values.insert(at, value)
            subs[at : at + 1] = split(subs[at], key)
    gaps: dict[int, list[Change]] = {}
    for change in below:
        gaps.setdefault(bisect_left(keys, change[0]), []).append(change)
    for at, gap in gaps.items():
        subs[at] = apply(subs[at], level - 1, gap)
    return node_of(tuple(keys), tuple(values), tuple(subs))


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


def node_of(keys: tuple[str, ...], values: tuple[bytes, ...], subs: tuple[Node | None, ...]) -> Node | None:
    """Return the node of these parts, unsealed, or None where nothing is in it and under it."""
    for sub in subs:
        if sub is not None:
            return Node(keys, values, subs)
    return Node(keys, values, None) if keys else None
