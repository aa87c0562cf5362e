"""Snapshots of a fold: its cells after some entries. They make a start fast and never decide anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from weighbridge.codec import decode, encode
from weighbridge.ledger.chained import Chained
from weighbridge.ledger.database import Database
from weighbridge.ledger.keys import key, number_of, under

_CHUNK: Final = 262_144


class SnapshotStore:
    """The snapshots of one fold, named by its transcript's origin, by number of entries."""

    def __init__(self, database: Database, kept: Chained, name: str) -> None:
        self.name = name
        self._db = database
        self._kept = kept

    def save(self, seq: int, cells: Mapping[str, bytes]) -> None:
        """Keep the cells (key to DAG-CBOR) after `seq` entries, in place of any kept under that number."""
        self.save_chunks(seq, list(chunks_of(cells)), len(cells))

    def save_chunks(self, seq: int, chunks: Sequence[bytes], cells: int) -> None:
        """Keep what `chunks_of` made of so many cells after `seq` entries, like `save`."""
        with self._db.batch():
            self.drop(seq)
            for count, chunk in enumerate(chunks):
                self._kept.put(key("snapshot-cells", self.name, seq, count), chunk)
                self._db.probe("snapshot-chunk-written")
            head = encode({"chunks": len(chunks), "cells": cells})
            self._kept.put(key("snapshot", self.name, seq), head)

    def seqs(self) -> list[int]:
        """Return the numbers of entries of which there are snapshots, in order."""
        return [number_of(found[-16:]) for found in self._kept.keys(under("snapshot", self.name))]

    def newest(self, at_most: int = (1 << 63) - 1) -> int | None:
        """Return the greatest number of entries up to `at_most` of which there is a snapshot."""
        found = self._kept.floor(key("snapshot", self.name, at_most)).key
        return number_of(found[-16:]) if found.startswith(under("snapshot", self.name)) else None

    def load(self, seq: int) -> dict[str, bytes] | None:
        """Return the cells after `seq` entries, sorted by key, or None without a snapshot of that number."""
        head = self._kept.get(key("snapshot", self.name, seq))
        if head is None:
            return None
        chunks = list(self._kept.scan(under("snapshot-cells", self.name, seq)))
        cells = {cell: data for _, chunk in chunks for cell, data in decode(chunk)}
        if decode(head) != {"chunks": len(chunks), "cells": len(cells)}:
            raise self._db.corrupt("kept", f"snapshot {seq} of {self.name}", "chunks are missing")
        return cells

    def drop(self, seq: int) -> bool:
        """Delete the snapshot of that number; whether there was one."""
        with self._db.batch():
            for found in list(self._kept.keys(under("snapshot-cells", self.name, seq))):
                self._kept.delete(found)
            return self._kept.delete(key("snapshot", self.name, seq))


def chunks_of(cells: Mapping[str, bytes]) -> Iterator[bytes]:
    """Yield cells in the pieces in which a snapshot is kept; of any thread, it needs no ledger."""
    chunk, size = list[list[str | bytes]](), 0
    for cell in sorted(cells):
        if chunk and size + len(cells[cell]) > _CHUNK:
            yield encode(chunk)
            chunk, size = [], 0
        chunk.append([cell, cells[cell]])
        size += len(cells[cell]) + len(cell)
    if chunk:
        yield encode(chunk)
