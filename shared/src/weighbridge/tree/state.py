"""The tree of a fold's state: the same Merkle Search Tree as `mst.Tree`, changed in place.

A fold changes its tree by a batch a day and never looks at the one before. Where nothing has to be shared with an
older tree, a change costs a node only the entries that differ, whatever else it holds: that matters most in a large
tree, whose nodes are far apart in memory. `Tree` is what this is held to.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Final

from weighbridge.cid import Cid
from weighbridge.codec.values import head
from weighbridge.tree.keys import check_key, key_depth, shared_prefix
from weighbridge.tree.node import (
    EMPTY,
    END,
    LEFT,
    LINK,
    NODE,
    NODE_LINK,
    NULL,
    PREFIXES,
    STARTS,
    SUFFIX_HEADS,
    VALUE,
)

_TAIL: Final = len(VALUE) + 36
"""The bytes of an entry behind its `t`: `v` and the raw CID."""
_UNLINKED: Final = len(NULL) + _TAIL
_LINKED: Final = len(NODE_LINK) + 32 + _TAIL

Rows = tuple[Sequence[str], bytes, Sequence[bytes | None]]
"""Changes by key: the keys, sorted; their depths, a byte each; their new values as raw CIDs, None to take out."""


class _Node:
    """A node: its keys, all of one depth; their entries as the block holds them; the subtrees around them.

    Without a digest a node has been changed, and its entries may link to other subtrees than it has (see `_seal`).
    Keys and entries are tuples of what holds no reference, which the garbage collector need not look into.
    """

    __slots__ = ("digest", "entries", "keys", "subs")

    def __init__(
        self, keys: Sequence[str], entries: Sequence[bytes], subs: list[_Node | None] | None
    ) -> None:
        self.keys = tuple(keys)
        self.entries = tuple(entries)
        self.subs = subs
        self.digest = b""


class StateTree:
    """A Merkle Search Tree over cells, which `update` changes in place."""

    __slots__ = ("_level", "_node")

    def __init__(self) -> None:
        self._node: _Node | None = None
        self._level = 0

    @property
    def root(self) -> Cid:
        """The CID of the root node."""
        return EMPTY.cid if self._node is None else Cid(NODE_LINK[len(LINK) :] + self._node.digest)

    def update(self, changes: Mapping[str, Cid | None]) -> None:
        """Set these keys, and take out those given as None; taking out what is not there changes nothing."""
        names = sorted(changes)
        for name in names:
            check_key(name)
        depths = bytes(map(key_depth, names))
        values = [None if (cid := changes[name]) is None else cid.raw for name in names]
        top = max([d for d, value in zip(depths, values, strict=True) if value is not None], default=0)
        while self._level < top:
            self._node = self._node and _Node((), (), [self._node])
            self._level += 1
        # What lies higher than anything there is can only be taken out, and is not there.
        rows = _chosen((names, depths, values), [at for at, d in enumerate(depths) if d <= self._level])
        self._node = _change(self._node, self._level, rows)
        self._trim()

    def _trim(self) -> None:
        # A top without keys of its own is no top, however far down the first keys are.
        while self._node is not None and not self._node.keys and self._node.subs:
            self._node = self._node.subs[0]
            self._level -= 1
        if self._node is None:
            self._level = 0
        elif not self._node.digest:
            _seal(self._node)

    def prove(self, key: str) -> list[bytes]:
        """Return the blocks that prove a key's value, or that it is not there, from the root down (`proof.verify`)."""
        check_key(key)
        node, path = self._node, []
        while node is not None:
            path.append(_block(node))
            at = bisect_left(node.keys, key)
            if at < len(node.keys) and node.keys[at] == key:
                break
            node = node.subs[at] if node.subs else None
        return path or [EMPTY.block]


# --- changing a node ---------------------------------------------------------------------------------------


def _change(node: _Node | None, level: int, rows: Rows) -> _Node | None:
    """Make changes, none of which lies higher than `level`, in a node and under it; None: nothing is left of it."""
    keys, depths, values = rows
    if node is None:
        if not any(values):
            return None
        node = _Node((), (), None)
    if level == 0:
        _change_own(node, keys, values)
    elif level not in depths:
        _change_below(node, level, rows)
    else:
        own = [at for at, depth in enumerate(depths) if depth == level]
        _change_own(node, [keys[at] for at in own], [values[at] for at in own])
        _change_below(node, level, _chosen(rows, [at for at, d in enumerate(depths) if d != level]))
    if not node.digest:
        _seal(node)
    return node if node.keys or (node.subs is not None and any(node.subs)) else None


def _chosen(rows: Rows, places: list[int]) -> Rows:
    keys, depths, values = rows
    if len(places) == len(keys):
        return rows
    return [keys[at] for at in places], bytes([depths[at] for at in places]), [values[at] for at in places]


def _change_own(node: _Node, names: Sequence[str], values: Sequence[bytes | None]) -> None:
    keys, entries, subs = list(node.keys), list(node.entries), node.subs
    changed = False
    for name, value in zip(names, values, strict=True):
        at = bisect_left(keys, name)
        if at < len(keys) and keys[at] == name:
            changed = True
            if value is not None:
                entries[at] = entries[at][:-36] + value
                continue
            del keys[at], entries[at]
            if subs is not None:
                # Without the key between them its two neighbours are one subtree.
                subs[at : at + 2] = [_merged(subs[at], subs[at + 1])]
        elif value is not None:
            changed = True
            keys.insert(at, name)
            entries.insert(at, _head(keys[at - 1] if at else "", name) + NULL + VALUE + value)
            if subs is not None:
                subs[at : at + 1] = _split(subs[at], name)
            at += 1
        else:
            continue
        if at < len(keys):
            entries[at] = _reheaded(entries[at], keys[at - 1] if at else "", keys[at])
    if changed:
        node.keys, node.entries, node.digest = tuple(keys), tuple(entries), b""


def _change_below(node: _Node, level: int, rows: Rows) -> None:
    """Make changes under a node of which none is its own, and link it to what they made of its subtrees."""
    if not rows[0]:
        return
    subs: list[_Node | None] = node.subs if node.subs is not None else [None] * (len(node.keys) + 1)
    changed: list[int] = []
    for at, gap in _gaps(node.keys, rows):
        before = subs[at]
        digest = before.digest if before is not None else b""
        after = subs[at] = _change(before, level - 1, gap)
        if before is not after or (after is not None and after.digest != digest):
            changed.append(at)
    if not changed:
        return
    node.subs = subs
    if node.digest:
        _link(node, subs, changed)
        node.digest = sha256(_block(node)).digest()


def _gaps(keys: Sequence[str], rows: Rows) -> Iterable[tuple[int, Rows]]:
    """Return changes of keys that are not among `keys` by the gap that they fall into."""
    names, depths, values = rows
    at, last = bisect_left(keys, names[0]), bisect_left(keys, names[-1])
    if at == last:
        return ((at, rows),)
    found: list[tuple[int, Rows]] = []
    start = 0
    for gap in range(at, last + 1):
        end = bisect_left(names, keys[gap], start) if gap < last else len(names)
        if end > start:
            found.append((gap, (names[start:end], depths[start:end], values[start:end])))
        start = end
    return found


def _split(node: _Node | None, name: str) -> tuple[_Node | None, _Node | None]:
    """Return what of a subtree lies before a key that is not in it, and what after."""
    if node is None:
        return None, None
    at = bisect_left(node.keys, name)
    keys, entries, subs = node.keys, list(node.entries), node.subs
    if at < len(keys):
        entries[at] = _reheaded(entries[at], "", keys[at])
    if subs is None:
        return _kept(keys[:at], entries[:at], None), _kept(keys[at:], entries[at:], None)
    left, right = _split(subs[at], name)
    return (
        _kept(keys[:at], entries[:at], [*subs[:at], left]),
        _kept(keys[at:], entries[at:], [right, *subs[at + 1 :]]),
    )


def _merged(left: _Node | None, right: _Node | None) -> _Node | None:
    """Return two neighbouring subtrees of one level as one."""
    if left is None or right is None:
        return left or right
    entries = [*left.entries, *right.entries]
    if left.keys and right.keys:
        entries[len(left.keys)] = _reheaded(right.entries[0], left.keys[-1], right.keys[0])
    if left.subs is None and right.subs is None:
        return _kept(left.keys + right.keys, entries, None)
    before = left.subs or [None] * (len(left.keys) + 1)
    after = right.subs or [None] * (len(right.keys) + 1)
    subs = [*before[:-1], _merged(before[-1], after[0]), *after[1:]]
    return _kept(left.keys + right.keys, entries, subs)


def _kept(keys: Sequence[str], entries: Sequence[bytes], subs: list[_Node | None] | None) -> _Node | None:
    """Return the node of these parts, or None where nothing is in it and under it."""
    return _Node(keys, entries, subs) if keys or (subs is not None and any(subs)) else None


# --- writing a node ----------------------------------------------------------------------------------------


def _block(node: _Node) -> bytes:
    count = len(node.keys)
    start = STARTS[count] if count < len(STARTS) else NODE + head(4, count)
    left = node.subs[0] if node.subs else None
    return start + b"".join(node.entries) + (END if left is None else LEFT + left.digest)


def _seal(node: _Node) -> None:
    """Link a changed node to its subtrees, those that were changed sealed first, and fill in its digest."""
    if node.subs is not None:
        _link(node, node.subs, range(len(node.subs)))
    node.digest = sha256(_block(node)).digest()


def _link(node: _Node, subs: Sequence[_Node | None], places: Iterable[int]) -> None:
    """Let the entries before some gaps link to what is in those; the first gap has none, and is in the block alone."""
    entries = list(node.entries)
    for at in places:
        sub = subs[at]
        if sub is not None and not sub.digest:
            _seal(sub)
        if at:
            entry = entries[at - 1]
            link = NULL if sub is None else NODE_LINK + sub.digest
            entries[at - 1] = entry[: -_length(entry)] + link + entry[-_TAIL:]
    node.entries = tuple(entries)


def _length(entry: bytes) -> int:
    """Return how many bytes an entry has from its `t` on.

    No other entry looks linked. What stands there instead are a key and lengths: the link's first byte could only be
    a length, of hundreds of characters, which would have to follow.
    """
    return _LINKED if entry[-_LINKED : -_LINKED + len(NODE_LINK)] == NODE_LINK else _UNLINKED


def _reheaded(entry: bytes, previous: str, key: str) -> bytes:
    """Return an entry as it is written behind another key."""
    return _head(previous, key) + entry[-_length(entry) :]


def _head(previous: str, key: str) -> bytes:
    """Return an entry up to its `t`: the key less what it shares with the key before it."""
    data = key.encode("ascii")
    shared = shared_prefix(previous.encode("ascii"), data)
    return SUFFIX_HEADS[len(data) - shared] + data[shared:] + PREFIXES[shared]
