"""How a ledger's file is created, locked and opened, and what can be found wrong before it is used."""

from __future__ import annotations

import errno
import fcntl
import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Final

from weighbridge.errors import WeighbridgeError
from weighbridge.ledger.chained import Chained
from weighbridge.ledger.database import Database, Probe, no_probe
from weighbridge.ledger.errors import (
    DiskError,
    DiskFull,
    ForeignLedger,
    LedgerLocked,
    LedgerMissing,
    LedgerNewer,
    corrupt,
    read_only,
    translated,
)
from weighbridge.ledger.schema import APPLICATION_ID, FORMAT, TABLES, migrate

_MAGIC: Final = b"SQLite format 3\0"
_NEW: Final = ".new"
_APPLICATION_AT: Final = slice(68, 72)  # https://www.sqlite.org/fileformat.html, section 1.3

_SETTINGS: Final = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",  # a commit that returned has been synced
    "PRAGMA cell_size_check = ON",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA mmap_size = 0",
    "PRAGMA cache_size = -65536",
    "PRAGMA journal_size_limit = 67108864",
)


def lock(path: Path) -> int:
    """Take the writer's lock of the ledger at `path` and return the open file that holds it.

    The lock dies with the process. Errors: `LedgerLocked`, `LedgerMissing` (no folder), `ReadOnly`,
    `DiskFull`.
    """
    while True:
        held = _lock_file(path)
        # A process that just closed the ledger may have deleted the file whose lock this is.
        if _is_at(held, _beside(path)):
            return held
        os.close(held)


def unlock(path: Path, held: int) -> None:
    """Let go of the writer's lock and delete its file."""
    if _is_at(held, _beside(path)):
        with suppress(OSError):
            _beside(path).unlink()
    os.close(held)


def _lock_file(path: Path) -> int:
    try:
        held = os.open(_beside(path), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise from_os(error, path) from error
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(held, 0)
        os.pwrite(held, str(os.getpid()).encode(), 0)
    except BlockingIOError as error:
        holder = os.pread(held, 32, 0).decode("ascii", "replace") or "unknown"
        os.close(held)
        raise LedgerLocked(
            f"{path}: process {holder} has it open; stop that one, or give this service a ledger of its own",
            path=str(path),
            holder=holder,
        ) from error
    except OSError as error:
        unlock(path, held)
        raise from_os(error, path) from error
    return held


def _beside(path: Path) -> Path:
    return Path(f"{path}.lock")


def _is_at(held: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(held), path.stat())
    except FileNotFoundError:
        return False


def connect(path: Path, *, write: bool = True) -> sqlite3.Connection:
    """Return a connection to an existing file, untouched so far."""
    mode = "mode=rw"
    if not write:
        # A file in WAL mode without a WAL needs no lock and no file beside it, if it is said to be immutable.
        mode = "mode=ro" if Path(f"{path}-wal").exists() else "mode=ro&immutable=1"
    try:
        return sqlite3.connect(
            f"{path.as_uri()}?{mode}",
            uri=True,
            timeout=0,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
    except sqlite3.Error as error:
        raise translated(error, path, "ledger", "open") from error


def look(path: Path) -> bool:
    """Return whether there is a ledger at `path`; `ForeignLedger` if there is something else."""
    try:
        with path.open("rb") as file:
            head = file.read(100)
    except FileNotFoundError:
        return False
    except IsADirectoryError as error:
        raise ForeignLedger(f"{path} is a folder; name a file in it", path=str(path)) from error
    except OSError as error:
        raise from_os(error, path) from error
    ours = head[_APPLICATION_AT] == APPLICATION_ID.to_bytes(4, "big")
    if not ours:
        what = "another application's database" if head.startswith(_MAGIC) else "not a database"
        raise ForeignLedger(f"{path} is {what}, not a ledger; name another path", path=str(path))
    if not head.startswith(_MAGIC):
        raise corrupt(path, "ledger", "page 1", "the first bytes are not those of a database")
    return True


def create(path: Path) -> None:
    """Create an empty ledger: under another name first, so that no half of one stands under this."""
    new = Path(f"{path}{_NEW}")
    try:
        remove_database(new)
        new.open("xb").close()
        _fill(new)
        os.replace(new, path)
        sync_folder(path)
    except OSError as error:
        raise from_os(error, path) from error
    finally:
        with suppress(OSError):
            remove_database(new)


def _fill(new: Path) -> None:
    connection = connect(new)
    database = Database(connection, new)
    try:
        with database.batch():
            for name, sql in TABLES.items():
                database.change(name, "create", sql)
            for name in ("kept", "uri"):
                Chained(database, name).begin()
            database.change("ledger", "create", f"PRAGMA application_id = {APPLICATION_ID}")
            database.change("ledger", "create", f"PRAGMA user_version = {FORMAT}")
    finally:
        connection.close()


def open_database(path: Path, probe: Probe = no_probe) -> Database:
    """Return the database of an existing ledger, its format checked and brought up to date."""
    connection = connect(path)
    database = Database(connection, path, probe)
    try:
        if not os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
            raise read_only(path, os.strerror(errno.EACCES))  # SQLite would only say so at the first write
        for pragma in _SETTINGS:
            database.fetch("ledger", "settings", pragma)
        _check_format(database)
        _check_tables(database)
    except BaseException:
        connection.close()
        raise
    return database


def _check_format(database: Database) -> None:
    held = _pragma(database, "user_version")
    if _pragma(database, "application_id") != APPLICATION_ID:
        raise ForeignLedger(
            f"{database.path} is another application's; name another path", path=str(database.path)
        )
    if held > FORMAT:
        raise LedgerNewer(
            f"{database.path} has format {held} and this Weighbridge reads up to {FORMAT}; run the newer one "
            "that wrote it, or restore a backup from before",
            path=str(database.path),
        )
    if held < 1:
        raise database.corrupt("ledger", "page 1", f"the format is {held}")
    if held < FORMAT:
        with database.batch():
            try:
                migrate(database.connection, held)
            except sqlite3.Error as error:
                raise translated(error, database.path, "ledger", f"migration from {held}") from error


def _check_tables(database: Database) -> None:
    found = database.fetch_all(
        "ledger", "tables", "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL"
    )
    if sorted(found) != sorted(TABLES.items()):
        raise database.corrupt("ledger", "tables", "they are not the tables of a ledger")
    for name in ("kept", "uri"):
        Chained(database, name).floor(b"")


def _pragma(database: Database, name: str) -> int:
    row = database.fetch("ledger", name, f"PRAGMA {name}")
    return int(row[0]) if row else 0


def remove_database(path: Path) -> None:
    """Delete a database file and what SQLite keeps beside it, if they are there."""
    for beside in ("", "-wal", "-shm", "-journal"):
        Path(f"{path}{beside}").unlink(missing_ok=True)


def sync_folder(path: Path) -> None:
    """Make a renamed file's new name as durable as its content."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def from_os(error: OSError, path: Path) -> WeighbridgeError:
    """Return our error for one of the operating system's, met while opening or creating `path`."""
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return read_only(path, os.strerror(error.errno))
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskFull(f"{path}: no space left on its disk; free some, then try again", path=str(path))
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return LedgerMissing(f"{path}: its folder does not exist; create it, or name another", path=str(path))
    return DiskError(f"{path}: {error.strerror or error}; look at the disk, then start again", path=str(path))
