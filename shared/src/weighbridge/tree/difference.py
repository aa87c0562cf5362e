"""What differs between two trees; what they share is passed over unread."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from weighbridge.cid import Cid
from weighbridge.tree.mst import Leaf, Tree, parts
from weighbridge.tree.node import Node


class Difference(NamedTuple):
    """A key whose values differ between two trees; None is no value."""

    key: str
    before: Cid | None
    after: Cid | None


class _Subtree(NamedTuple):
    node: Node
    level: int


class _Walk:
    """What is left of one tree, the next part last."""

    def __init__(self, tree: Tree) -> None:
        self._left: list[_Subtree | Leaf] = [_Subtree(tree.node, tree.level)]

    @property
    def next(self) -> _Subtree | Leaf | None:
        """The next part, None at the end."""
        return self._left[-1] if self._left else None

    @property
    def level(self) -> int:
        """The level of the subtree that is next, below all levels where it is none."""
        part = self.next
        return part.level if isinstance(part, _Subtree) else -1

    @property
    def key(self) -> str | None:
        """The key of the leaf that is next."""
        part = self.next
        return part.key if isinstance(part, Leaf) else None

    def drop(self) -> None:
        self._left.pop()

    def take(self, key: str) -> bytes | None:
        """Drop the leaf that is next, if it is of this key, and return its value."""
        part = self.next
        if not isinstance(part, Leaf) or part.key != key:
            return None
        self.drop()
        return part.value

    def open(self) -> None:
        """Put its parts in the place of the subtree that is next."""
        part = self._left.pop()
        if isinstance(part, _Subtree):
            for inner in reversed(parts(part.node)):
                self._left.append(_Subtree(inner, part.level - 1) if isinstance(inner, Node) else inner)


def diff(before: Tree, after: Tree) -> Iterator[Difference]:
    """Yield every key whose values differ, in the order of the keys.

    Reads only nodes that the two do not share, and the paths to them. Raises `BlockMissing` where a partly
    loaded tree lacks one of those.
    """
    old, new = _Walk(before), _Walk(after)
    while old.next or new.next:
        if _same_subtree(old.next, new.next):
            old.drop()
            new.drop()
        elif max(old.level, new.level) >= 0:
            # The higher one first, so that equal subtrees meet; both where they are level.
            higher = max(old.level, new.level)
            for walk in [walk for walk in (old, new) if walk.level == higher]:
                walk.open()
        else:
            yield from _next_leaves(old, new)


def _same_subtree(mine: _Subtree | Leaf | None, theirs: _Subtree | Leaf | None) -> bool:
    if not isinstance(mine, _Subtree) or not isinstance(theirs, _Subtree):
        return False
    return mine.node.digest == theirs.node.digest


def _next_leaves(old: _Walk, new: _Walk) -> Iterator[Difference]:
    key = min(key for key in (old.key, new.key) if key is not None)
    was, now = old.take(key), new.take(key)
    if was != now:
        yield Difference(key, _cid(was), _cid(now))


def _cid(raw: bytes | None) -> Cid | None:
    return None if raw is None else Cid(raw)
