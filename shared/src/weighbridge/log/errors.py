"""What can be wrong with a log, its entries, its proofs and its checkpoints."""

from __future__ import annotations

from typing import ClassVar

from weighbridge.errors import Refused


class RangeRefused(Refused):
    """A size, an index or a range that this log does not have, or that is no subtree of any log."""

    code: ClassVar[str] = "log-range"


class HashRefused(Refused):
    """Something given as a SHA-256 hash, or as a row of them, is not 32 bytes long each."""

    code: ClassVar[str] = "log-hash"


class FrontierRefused(Refused):
    """Bytes that are no serialised compact range."""

    code: ClassVar[str] = "log-frontier"


class InclusionRefused(Refused):
    """An inclusion proof that does not prove it: wrong length, leftover hashes, or another root."""

    code: ClassVar[str] = "log-inclusion"


class ConsistencyRefused(Refused):
    """A consistency proof that does not prove it: wrong length, leftover hashes, or another root."""

    code: ClassVar[str] = "log-consistency"


class CheckpointRefused(Refused):
    """Text that is not the three lines of a checkpoint, or values that no checkpoint can hold."""

    code: ClassVar[str] = "checkpoint-malformed"


class OriginRefused(CheckpointRefused):
    """A checkpoint of another log than the one asked for."""

    code: ClassVar[str] = "checkpoint-origin"


class EntryTooLarge(Refused):
    """An entry of more bytes than `limits.MAX_ENTRY`."""

    code: ClassVar[str] = "entry-too-large"


class EntryEncoding(Refused):
    """Bytes that are not the one DAG-CBOR encoding of an entry."""

    code: ClassVar[str] = "entry-encoding"


class EntryVersion(Refused):
    """An entry of a version this kernel does not read."""

    code: ClassVar[str] = "entry-version"


class EntryMalformed(Refused):
    """An entry with a field missing, too many, of another type or out of range; `detail` names the field."""

    code: ClassVar[str] = "entry-malformed"


class RecordMismatch(Refused):
    """The record's bytes are not those whose CID the entry names."""

    code: ClassVar[str] = "record-mismatch"


class RecordMissing(Refused):
    """The entry names a record and comes without its bytes, or names none and comes with some."""

    code: ClassVar[str] = "record-missing"


class LogRefused(Refused):
    """The chain of entries is broken; `detail["position"]` is the place in the log where it shows."""


class LogGap(LogRefused):
    """An entry is missing or inserted: the sequence does not go on by one."""

    code: ClassVar[str] = "log-gap"


class LogOutOfOrder(LogRefused):
    """`prev` is not the CID of the entry before: one of the two is not the entry that was listed there."""

    code: ClassVar[str] = "log-out-of-order"


class LogTimeDecreases(LogRefused):
    """The listed time is earlier than that of the entry before."""

    code: ClassVar[str] = "log-time-decreases"


class LogTimeGap(LogRefused):
    """The listed time is more than 400 days after that of the entry before."""

    code: ClassVar[str] = "log-time-gap"


class LogForeignGame(LogRefused):
    """The entry belongs to the log of another game."""

    code: ClassVar[str] = "log-foreign-game"


class LogSize(LogRefused):
    """There are fewer or more entries than the checkpoint says."""

    code: ClassVar[str] = "log-size"


class LogRootMismatch(LogRefused):
    """The entries hash to another root than the checkpoint's."""

    code: ClassVar[str] = "log-root-mismatch"
