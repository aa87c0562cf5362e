"""What can be wrong with a ledger, each with a code of its own and a sentence that says what to do."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import ClassVar

from weighbridge.errors import Broken, Refused, Unavailable, WeighbridgeError


class LedgerCorrupt(Broken):
    """What was read is not what was written. `detail` has `table` and `key`; nothing of it is served."""

    code: ClassVar[str] = "ledger-corrupt"


class LedgerLocked(Broken):
    """Another process (or another ledger object of this one) has the file open for writing."""

    code: ClassVar[str] = "ledger-locked"


class LedgerClosed(Broken):
    """The ledger was closed before this call."""

    code: ClassVar[str] = "ledger-closed"


class LedgerMissing(Broken):
    """There is no ledger at the path, or no folder to create it in."""

    code: ClassVar[str] = "ledger-missing"


class LedgerExists(Broken):
    """A backup or a restore would overwrite a file."""

    code: ClassVar[str] = "ledger-exists"


class ForeignLedger(Broken):
    """The path holds something that is not a ledger."""

    code: ClassVar[str] = "foreign-ledger"


class LedgerNewer(Broken):
    """The ledger was written by a newer Weighbridge."""

    code: ClassVar[str] = "ledger-newer"


class ReadOnly(Broken):
    """The file or its folder cannot be written by this process."""

    code: ClassVar[str] = "read-only"


class DiskFull(Unavailable):
    """No space left. What was committed stays; the batch that met it is undone as a whole."""

    code: ClassVar[str] = "disk-full"


class DiskError(Broken):
    """The disk refused a read, a write or a sync. After that, only a fresh start knows what it holds."""

    code: ClassVar[str] = "disk-error"


class NotInLedger(Refused):
    """A sequence number, a size or a name the ledger does not hold."""

    code: ClassVar[str] = "not-in-ledger"


class WrongBlock(Refused):
    """Bytes that are not those of the CID they come under, or that are missing."""

    code: ClassVar[str] = "ledger-wrong-block"


class CheckpointConflict(Refused):
    """Two different roots under one origin and size. `detail` has both texts: it is evidence, keep it."""

    code: ClassVar[str] = "checkpoint-conflict"


class BadName(Refused):
    """A name that cannot be a key of the ledger."""

    code: ClassVar[str] = "ledger-bad-name"


_FULL = {sqlite3.SQLITE_FULL}
_READ_ONLY = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH}
_LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}


def corrupt(path: Path, table: str, key: object, why: str) -> LedgerCorrupt:
    """Return the error for a row that is not as it was written."""
    key = shown(key) if isinstance(key, bytes) else key
    return LedgerCorrupt(
        f"{path}, table {table}, key {key}: {why}; stop the node, run `weighbridge ledger verify`, restore a "
        "backup and let the node catch up from its peers",
        path=str(path),
        table=table,
        key=str(key),
    )


def shown(key: bytes) -> str:
    """Return a key as an error names it: as text where it is text, else in hex."""
    return repr(key.decode("ascii")) if key.isascii() else key.hex()


def translated(
    error: sqlite3.Error | UnicodeDecodeError, path: Path, table: str, key: object
) -> WeighbridgeError:
    """Return our error for one of SQLite's, met at `key` of `table`."""
    # The low byte is the primary result code, the rest says more: https://www.sqlite.org/rescode.html
    extended = getattr(error, "sqlite_errorcode", None)
    primary = None if extended is None else extended & 0xFF
    if primary in _FULL:
        return DiskFull(f"{path}: no space left on its disk; free some, then try again", path=str(path))
    if primary in _READ_ONLY:
        return read_only(path, str(error))
    if primary in _LOCKED:
        return LedgerLocked(f"{path}: another program has it open ({error}); close that one", path=str(path))
    if primary == sqlite3.SQLITE_IOERR and extended != sqlite3.SQLITE_IOERR_SHORT_READ:
        name = getattr(error, "sqlite_errorname", "SQLITE_IOERR")
        says = "look at quota, file size limit and the disk's health, then start again"
        return DiskError(f"{path}: the disk refused ({name}); {says}", path=str(path))
    if isinstance(error, sqlite3.ProgrammingError) and primary is None:
        return LedgerClosed(f"{path}: the ledger is closed ({error}); open it again", path=str(path))
    return corrupt(path, table, key, str(error))


def read_only(path: Path, why: str) -> ReadOnly:
    """Return the error for a place that cannot be written."""
    says = "give this user write access to the file and its folder, or name another path"
    return ReadOnly(f"{path}: cannot be written ({why}); {says}", path=str(path))
