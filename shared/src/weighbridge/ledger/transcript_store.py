"""The transcript of one era: what folding each entry changed, and the Merkle log over it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from weighbridge.cid import RAW_LENGTH, BadCid, Cid
from weighbridge.ledger.blocks import BlockStore
from weighbridge.ledger.database import Database
from weighbridge.ledger.errors import LedgerCorrupt
from weighbridge.ledger.series import Series, check_index, place, row_sum
from weighbridge.log.merkle import MerkleLog

TAIL: Final = 4_096
"""Leaves whose deltas are remembered: what was just appended is published next."""
LARGE: Final = 16_384
"""Bytes of a delta that is read again instead."""


class Leaf(NamedTuple):
    """One leaf of a transcript: the CID of the entry and that of the delta (or of the genesis of the era)."""

    entry: Cid
    delta: Cid


class TranscriptStore:
    """The leaves and deltas of one era, named by the transcript's origin.

    Reads raise `LedgerCorrupt`, and `RangeRefused` for an index the transcript does not hold.
    """

    def __init__(self, database: Database, series: Series, blocks: BlockStore) -> None:
        self.origin = series.name
        self._db = database
        self._series = series
        self._blocks = blocks
        self._new: list[tuple[int, bytes, Cid, bytes]] = []
        self._tail: dict[int, tuple[Leaf, bytes]] = {}
        database.before_commit.insert(0, self._write)
        database.on_rollback.append(self._forget)

    @property
    def size(self) -> int:
        """How many leaves there are."""
        return self._series.size

    @property
    def tree(self) -> MerkleLog:
        """The Merkle log over the leaves, for roots and proofs. Append through the store only."""
        return self._series

    def root(self, size: int | None = None) -> bytes:
        """Return the RFC 6962 root over the first `size` leaves, all of them by default (`RangeRefused`)."""
        return self._series.root(size)

    def append(self, entry: Cid, delta: bytes, delta_cid: Cid | None = None) -> int:
        """Append the leaf of an entry and its delta's DAG-CBOR, and return its index.

        `delta_cid`: the delta's CID, where the caller has hashed it.
        """
        with self._db.batch():
            cid = Cid.of(delta) if delta_cid is None else delta_cid
            data = entry.raw + cid.raw
            index, where = self.size, place(self._series.claim(), self.size)
            self._new.append((where, data, cid, delta))
            self._tail.pop(index - TAIL, None)
            if len(delta) <= LARGE:
                self._tail[index] = Leaf(entry, cid), delta
            return self._series.append(data)

    def _write(self) -> None:
        """Write what was appended: with a statement for all rows, at the end of the batch."""
        new, self._new = self._new, []
        if not new:
            return
        self._blocks.put_all_checked([(cid, delta) for _, _, cid, delta in new])
        self._db.probe("delta-written")
        rows = [(where, data, row_sum("leaf", where, data)) for where, data, _, _ in new]
        self._db.change_many("leaf", "INSERT INTO leaf (place, data, sum) VALUES (?, ?, ?)", rows)
        self._db.probe("leaf-written")

    def _forget(self) -> None:
        self._new = []
        self._tail = {}

    def leaf(self, index: int) -> Leaf:
        """Return the leaf at `index`."""
        check_index(index, self.size, f"the transcript {self.origin}")
        if index in self._tail:
            return self._tail[index][0]
        self._write()  # it may be of this very batch
        where = place(self._series.id, index)
        found = self._db.fetch(
            "leaf", self._label(index), "SELECT data, sum FROM leaf WHERE place = ?", (where,)
        )
        if found is None:
            raise self._db.corrupt("leaf", self._label(index), "its row is missing")
        data, total = found
        if not isinstance(data, bytes) or total != row_sum("leaf", where, data):
            raise self._db.corrupt("leaf", self._label(index), "its checksum does not fit")
        try:
            return Leaf(Cid(data[:RAW_LENGTH]), Cid(data[RAW_LENGTH:]))
        except BadCid as error:
            raise self._db.corrupt("leaf", self._label(index), str(error)) from error

    def delta(self, index: int) -> bytes:
        """Return the DAG-CBOR of the delta at `index`."""
        check_index(index, self.size, f"the transcript {self.origin}")
        if index in self._tail:
            return self._tail[index][1]
        return self._blocks.need(self.leaf(index).delta)

    def leaves(self, start: int = 0, stop: int | None = None) -> Iterator[Leaf]:
        """Yield the leaves from `start` to before `stop` (by default the size now)."""
        for index in range(start, self.size if stop is None else stop):
            yield self.leaf(index)

    def corrupt(self, key: object, why: str) -> LedgerCorrupt:
        """Return the error for something of this store that is not as it was written."""
        return self._db.corrupt("leaf", f"{key} of {self.origin}", why)

    def _label(self, index: int) -> str:
        return f"{index} of {self.origin}"
