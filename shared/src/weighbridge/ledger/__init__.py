"""The ledger: what a service must not lose, in one SQLite file with one writer. The kernel's only store.

Nothing is acknowledged or signed before a batch that holds it has ended. Promises, each with a test: killed
at any point, a ledger opens and holds a prefix of the batches; a damaged page is detected and named, and
nothing of it is served; a full disk, a read-only or foreign file and a second writer are coded errors that
leave everything as it was.
"""

from __future__ import annotations

from weighbridge.ledger.blocks import BlockStore
from weighbridge.ledger.checking import Fault, Report
from weighbridge.ledger.checkpoint_store import CheckpointStore, KeptCheckpoint
from weighbridge.ledger.errors import (
    BadName,
    CheckpointConflict,
    DiskError,
    DiskFull,
    ForeignLedger,
    LedgerClosed,
    LedgerCorrupt,
    LedgerExists,
    LedgerLocked,
    LedgerMissing,
    LedgerNewer,
    NotInLedger,
    ReadOnly,
    WrongBlock,
)
from weighbridge.ledger.ledger import Ledger, restore
from weighbridge.ledger.log_store import LogStore
from weighbridge.ledger.outbox import Message, Outbox
from weighbridge.ledger.small_stores import Positions, Rejected, Values
from weighbridge.ledger.snapshot_store import SnapshotStore, chunks_of
from weighbridge.ledger.transcript_store import Leaf, TranscriptStore

__all__ = [
    "BadName",
    "BlockStore",
    "CheckpointConflict",
    "CheckpointStore",
    "DiskError",
    "DiskFull",
    "Fault",
    "ForeignLedger",
    "KeptCheckpoint",
    "Leaf",
    "Ledger",
    "LedgerClosed",
    "LedgerCorrupt",
    "LedgerExists",
    "LedgerLocked",
    "LedgerMissing",
    "LedgerNewer",
    "LogStore",
    "Message",
    "NotInLedger",
    "Outbox",
    "Positions",
    "ReadOnly",
    "Rejected",
    "Report",
    "SnapshotStore",
    "TranscriptStore",
    "Values",
    "WrongBlock",
    "chunks_of",
    "restore",
]
