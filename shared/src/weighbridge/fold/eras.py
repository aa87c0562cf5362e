"""The transcript of one origin, and how one origin ends and the next begins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from weighbridge.cid import Cid
from weighbridge.codec import cid_of
from weighbridge.codec.values import LINK, LIST, NULL, TEXT, head
from weighbridge.limits import MAX_TREE_KEY
from weighbridge.log.merkle import MerkleLog
from weighbridge.tree.state import StateTree

FOLD_VERSION = 1
"""The version of the kernel's fold: part of every origin, since another fold gives another transcript."""


def origin_of(game: str, ruleset: str, pin: str) -> str:
    """Return a transcript's origin."""
    return f"{game}/{ruleset}@{pin}+k{FOLD_VERSION}"


class Eras:
    """The transcript and the state tree of the current origin, and what became of those before."""

    def __init__(self, game: str, ruleset: str, pin: str) -> None:
        self._game = game
        self.origin = origin_of(game, ruleset, pin)
        self.log = MerkleLog()
        self.start = 0
        self.ended: tuple[tuple[str, int, bytes], ...] = ()
        self._tree = StateTree()
        self._touched: dict[str, Cid | None] = {}

    def touch(self, delta: Iterable[tuple[str, Cid | None]]) -> None:
        """Note cells that changed since the last state root."""
        self._touched.update(delta)

    def touch_cells(self, cells: Iterable[tuple[str, bytes | None]]) -> None:
        """Take over into the state what cells hold, whatever the deltas so far say of them."""
        self.touch((key, None if data is None else Cid.of(data)) for key, data in cells)

    def state_root(self) -> Cid:
        """Return the root of the tree over all cells."""
        if self._touched:
            self._tree.update(self._touched)
            self._touched = {}
        return self._tree.root

    def prove(self, key: str) -> list[bytes]:
        """Return the blocks that prove a cell or its absence."""
        self.state_root()
        return self._tree.prove(key)

    def append(self, leaf: bytes) -> None:
        """Append a leaf to the transcript."""
        self.log.append(leaf)

    def move(self, entry: Cid, ruleset: str, pin: str, start: int) -> None:
        """End this origin and open the next with its genesis leaf: entry CID and the CID of how the old one ended."""
        end = {
            "origin": self.origin,
            "size": self.log.size,
            "root": self.log.root(),
            "state": self.state_root(),
        }
        self.ended = (*self.ended, (self.origin, self.log.size, self.log.root()))
        self.origin = origin_of(self._game, ruleset, pin)
        self.log = MerkleLog()
        self.log.append(entry.raw + cid_of(end).raw)
        self.start = start

    def restore(self, leaves: bytes, start: int, cells: Mapping[str, bytes]) -> None:
        """Go on from a snapshot's leaves (32 bytes each) and cells."""
        self.log = MerkleLog.restore(leaves)
        self.start = start
        self._tree = StateTree()
        self._tree.update({key: Cid.of(data) for key, data in cells.items()})
        self._touched = {}


def encode_delta(delta: Sequence[tuple[str, Cid | None]]) -> bytes:
    """Return the DAG-CBOR of a delta: a list of [key, link or null].

    Written out here because every entry has one: it equals `codec.encode` of the same lists.
    """
    out = [head(LIST, len(delta))]
    for key, cid in delta:
        out += (_PAIRS[len(key)], key.encode("ascii"))
        out += (NULL,) if cid is None else (LINK, cid.raw)
    return b"".join(out)


_PAIRS: Final = tuple(b"\x82" + head(TEXT, length) for length in range(MAX_TREE_KEY + 1))
"""How a pair begins whose key has so many characters."""
