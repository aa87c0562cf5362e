"""Bytes under their CID: records, deltas, and whatever else is addressed by content."""

from __future__ import annotations

from collections.abc import Sequence

from weighbridge.cid import Cid
from weighbridge.ledger.database import Database
from weighbridge.ledger.errors import WrongBlock


class BlockStore:
    """Blocks by CID. What is read is hashed again; equal blocks are stored once."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def put(self, cid: Cid, data: bytes) -> None:
        """Store a block (`WrongBlock` if the bytes are not those of the CID)."""
        if Cid.of(data, cid.codec) != cid:
            raise WrongBlock(f"the bytes are those of {Cid.of(data, cid.codec)}, not of {cid}")
        with self._db.batch():
            self.put_checked(cid, data)

    def put_checked(self, cid: Cid, data: bytes) -> None:
        """Store a block whose bytes the caller has hashed. Needs an open batch."""
        sql = "INSERT OR IGNORE INTO block (cid, data) VALUES (?, ?)"
        if self._db.change("block", cid, sql, (cid.raw, data)) == 0 and self.get(cid) is None:
            raise self._db.corrupt("block", cid, "it can be neither written nor read")

    def put_all_checked(self, blocks: Sequence[tuple[Cid, bytes]]) -> None:
        """Store blocks whose bytes the caller has hashed, with one statement. Needs an open batch."""
        sql = "INSERT OR IGNORE INTO block (cid, data) VALUES (?, ?)"
        if self._db.change_many("block", sql, [(cid.raw, data) for cid, data in blocks]) == len(blocks):
            return
        for cid, _ in blocks:  # some were there already, or are damaged
            if self.get(cid) is None:
                raise self._db.corrupt("block", cid, "it can be neither written nor read")

    def get(self, cid: Cid) -> bytes | None:
        """Return the bytes of a CID, or None; an absence is not proven, see `need`."""
        found = self._db.fetch("block", cid, "SELECT data FROM block WHERE cid = ?", (cid.raw,))
        if found is None:
            return None
        data = found[0]
        if not isinstance(data, bytes) or Cid.of(data, cid.codec) != cid:
            raise self._db.corrupt("block", cid, "the bytes are not those of the CID")
        return data

    def need(self, cid: Cid) -> bytes:
        """Return the bytes of a CID that the ledger refers to (`LedgerCorrupt` if they are gone)."""
        data = self.get(cid)
        if data is None:
            raise self._db.corrupt("block", cid, "its row is missing")
        return data
