"""The fold: entries in, table and transcript out."""

from weighbridge.fold.engine import Fold, Snapshot, SnapshotTooYoung, Step
from weighbridge.fold.eras import FOLD_VERSION, encode_delta, origin_of
from weighbridge.fold.history import History, MemoryHistory
from weighbridge.fold.records import CODES
from weighbridge.fold.resolving import Attach, Resolve, Resolved, attached_pins
from weighbridge.fold.roots import FoldPin, Root, read_root
from weighbridge.fold.table import Cells, TableView
from weighbridge.fold.world import Alert

__all__ = [
    "CODES",
    "FOLD_VERSION",
    "Alert",
    "Attach",
    "Cells",
    "Fold",
    "FoldPin",
    "History",
    "MemoryHistory",
    "Resolve",
    "Resolved",
    "Root",
    "Snapshot",
    "SnapshotTooYoung",
    "Step",
    "TableView",
    "attached_pins",
    "encode_delta",
    "origin_of",
    "read_root",
]
