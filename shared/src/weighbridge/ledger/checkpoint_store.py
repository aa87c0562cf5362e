"""Checkpoints of one origin and who cosigned them."""

from __future__ import annotations

from typing import NamedTuple

from weighbridge.ledger.chained import Chained
from weighbridge.ledger.database import Database
from weighbridge.ledger.errors import CheckpointConflict, NotInLedger
from weighbridge.ledger.keys import key, number_of, text_of, under
from weighbridge.log.merkle import HASH_SIZE, check_hash

_MAX_SIZE = (1 << 63) - 1


class KeptCheckpoint(NamedTuple):
    """A checkpoint as it is kept: the size, the root (32 bytes) and the signed note."""

    size: int
    root: bytes
    note: bytes


class CheckpointStore:
    """The checkpoints of one origin, one per size, and their cosignatures, one per cosigner."""

    def __init__(self, database: Database, kept: Chained, origin: str) -> None:
        self.origin = origin
        self._db = database
        self._kept = kept

    def put(self, size: int, root: bytes, note: bytes) -> bool:
        """Keep a checkpoint; whether it is new. The first note of a size and root stays.

        Another root at a size that is already there is refused (`CheckpointConflict`), with both notes in its
        detail: whoever signed both is at fault.
        """
        check_hash(root, "a root")
        known = self.at(size)
        if known is None:
            with self._db.batch():
                self._kept.put(key("checkpoint", self.origin, size), root + note)
                self._db.probe("checkpoint-written")
            return True
        if known.root != root:
            raise CheckpointConflict(
                f"{self.origin}: two roots at size {size}, {known.root.hex()} and {root.hex()}; keep both "
                "notes, they prove a fault of whoever signed both",
                size=size,
                known=known.note,
                other=note,
            )
        return False

    def at(self, size: int) -> KeptCheckpoint | None:
        """Return the checkpoint of this size, if there is one."""
        value = self._kept.get(key("checkpoint", self.origin, size))
        return None if value is None else KeptCheckpoint(size, value[:HASH_SIZE], value[HASH_SIZE:])

    def newest(self, at_most: int = _MAX_SIZE) -> KeptCheckpoint | None:
        """Return the checkpoint of the greatest size up to `at_most`, if there is one."""
        found = self._kept.floor(key("checkpoint", self.origin, at_most)).key
        if not found.startswith(under("checkpoint", self.origin)):
            return None
        return self.at(number_of(found[-16:]))

    def sizes(self) -> list[int]:
        """Return the sizes of all checkpoints, in order."""
        return [number_of(found[-16:]) for found in self._kept.keys(under("checkpoint", self.origin))]

    def cosign(self, size: int, cosigner: str, line: bytes) -> bool:
        """Keep a cosignature of the checkpoint of `size`; whether it is the cosigner's first.

        The first one stays: its time says since when the entries were held. `NotInLedger` without a
        checkpoint.
        """
        if self.at(size) is None:
            raise NotInLedger(f"{self.origin}: no checkpoint of size {size} to keep a cosignature of")
        where = key("cosignature", self.origin, size, cosigner)
        if self._kept.get(where) is not None:
            return False
        with self._db.batch():
            self._kept.put(where, line)
            self._db.probe("cosignature-written")
        return True

    def cosignatures(self, size: int) -> dict[str, bytes]:
        """Return the cosignatures of the checkpoint of `size` by cosigner, sorted by the cosigners' keys."""
        prefix = under("cosignature", self.origin, size)
        return {text_of(found[len(prefix) :]): line for found, line in self._kept.scan(prefix)}
