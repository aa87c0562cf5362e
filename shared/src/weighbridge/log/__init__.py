"""A game's log: entries in a chain, hashed into a Merkle log, summed up in checkpoints."""

from __future__ import annotations

from weighbridge.log.checkpoint import Checkpoint
from weighbridge.log.compact import CompactRange
from weighbridge.log.divergence import Divergence, first_difference
from weighbridge.log.merkle import EMPTY_ROOT, MerkleLog, leaf_hash, node_hash
from weighbridge.log.proofs import verify_consistency, verify_inclusion

# The entries come last: they import from other packages, which may import the names above.
from weighbridge.log.entries import (  # isort: skip
    Entry,
    Listed,
    Op,
    check_form,
    check_record,
    decode_entry,
    encode_entry,
    make_entry,
    read_listed,
)
from weighbridge.log.chain import Verified, check_next, verify_log  # isort: skip

__all__ = [
    "EMPTY_ROOT",
    "Checkpoint",
    "CompactRange",
    "Divergence",
    "Entry",
    "Listed",
    "MerkleLog",
    "Op",
    "Verified",
    "check_form",
    "check_next",
    "check_record",
    "decode_entry",
    "encode_entry",
    "first_difference",
    "leaf_hash",
    "make_entry",
    "node_hash",
    "read_listed",
    "verify_consistency",
    "verify_inclusion",
    "verify_log",
]
