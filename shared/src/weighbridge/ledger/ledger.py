"""A ledger: one SQLite file with one writer, and the stores in it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from types import TracebackType

from weighbridge.ledger import checking, opening
from weighbridge.ledger.blocks import BlockStore
from weighbridge.ledger.chained import Chained
from weighbridge.ledger.checkpoint_store import CheckpointStore
from weighbridge.ledger.database import Database, Probe, no_probe
from weighbridge.ledger.errors import LedgerExists, LedgerMissing, corrupt, translated
from weighbridge.ledger.keys import text_of, under
from weighbridge.ledger.log_store import LogStore
from weighbridge.ledger.outbox import Outbox
from weighbridge.ledger.series import Series
from weighbridge.ledger.small_stores import Positions, Rejected, Values
from weighbridge.ledger.snapshot_store import SnapshotStore
from weighbridge.ledger.transcript_store import TranscriptStore


class Ledger:
    """What a service must not lose. Open it with `Ledger.open`, and use it from one thread at a time.

    Everything written inside `with ledger.batch():` is one commit, synced when the block ends, or nothing.
    A write outside a batch is a batch of its own. Stores are the same objects for the ledger's whole life.
    """

    def __init__(self, database: Database, held: int) -> None:
        self.path = database.path
        self._db = database
        self._held = held
        self._kept = Chained(database, "kept")
        self._uris = Chained(database, "uri")
        self._logs: dict[str, LogStore] = {}
        self._transcripts: dict[str, TranscriptStore] = {}
        self.blocks = BlockStore(database)
        self.positions = Positions(database, self._kept)
        self.values = Values(database, self._kept)
        self.rejected = Rejected(database, self._kept)
        self.outbox = Outbox(database, self._kept)

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, create: bool = True, probe: Probe = no_probe) -> Ledger:
        """Open the ledger at `path` for writing; with `create`, an empty one if there is none.

        `probe` is called at each named point between writes (tests kill the process there). Errors:
        `LedgerLocked`, `LedgerMissing`, `ForeignLedger`, `LedgerNewer`, `LedgerCorrupt`, `ReadOnly`,
        `DiskFull`, `DiskError`.
        """
        where = Path(path).absolute()
        # The lock comes before the first look: closing a file drops every POSIX lock this process has on it.
        held = opening.lock(where)
        try:
            if not opening.look(where):
                if not create:
                    says = "create one, or name its path"
                    raise LedgerMissing(f"there is no ledger at {where}; {says}", path=str(where))
                opening.create(where)
            return cls(opening.open_database(where, probe), held)
        except BaseException:
            opening.unlock(where, held)
            raise

    def close(self) -> None:
        """Close the file and let go of the lock. What is not committed is undone."""
        try:
            self._db.close()
        finally:
            if self._held >= 0:
                opening.unlock(self.path, self._held)
                self._held = -1

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def batch(self) -> AbstractContextManager[None]:
        """Return the context of one group commit; a batch inside a batch joins it."""
        return self._db.batch()

    def on_undone(self, forget: Callable[[], None]) -> None:
        """Have `forget` called whenever a batch was undone: what somebody remembers of the batch never was."""
        self._db.on_rollback.append(forget)

    def log(self, game: str) -> LogStore:
        """Return the listing log of a game, empty if the ledger has none of it."""
        if game not in self._logs:
            series = Series(self._db, self._kept, "log", game)
            self._logs[game] = LogStore(self._db, series, self.blocks, self._uris)
        return self._logs[game]

    def transcript(self, origin: str) -> TranscriptStore:
        """Return the transcript of an era by its origin, empty if the ledger has none of it."""
        if origin not in self._transcripts:
            series = Series(self._db, self._kept, "transcript", origin)
            self._transcripts[origin] = TranscriptStore(self._db, series, self.blocks)
        return self._transcripts[origin]

    def checkpoints(self, origin: str) -> CheckpointStore:
        """Return the checkpoints of a log or a transcript by its origin."""
        return CheckpointStore(self._db, self._kept, origin)

    def snapshots(self, name: str) -> SnapshotStore:
        """Return the snapshots of a fold by its name."""
        return SnapshotStore(self._db, self._kept, name)

    def logs(self) -> list[str]:
        """Return the games whose listing logs the ledger holds."""
        return self._names("log")

    def transcripts(self) -> list[str]:
        """Return the origins of the transcripts the ledger holds."""
        return self._names("transcript")

    def _names(self, kind: str) -> list[str]:
        prefix = under("series", kind)
        return [text_of(found[len(prefix) :]) for found in self._kept.keys(prefix)]

    def verify(self, quick: bool = False) -> checking.Report:
        """Read the whole ledger and report every fault; with `quick`, the structure of its pages only."""
        return checking.verify(self, self._db, quick)

    def backup(self, target: str | os.PathLike[str]) -> None:
        """Write a copy to `target`, as of now (`LedgerExists`, `ReadOnly`, `DiskFull`)."""
        where = Path(target).absolute()
        _refuse_existing(where)
        _copy(self._db, where)


def restore(backup: str | os.PathLike[str], target: str | os.PathLike[str]) -> checking.Report:
    """Copy the ledger at `backup`, if it is sound, to `target`, where there must be nothing.

    Errors: `LedgerCorrupt` if the backup is not sound, `LedgerExists`, and those of `Ledger.open`.
    """
    source, where = Path(backup).absolute(), Path(target).absolute()
    _refuse_existing(where)
    if not opening.look(source):
        raise LedgerMissing(f"there is no ledger at {source}; name the path of a backup", path=str(source))
    connection = opening.connect(source, write=False)
    copy = Path(f"{where}.restored")
    try:
        _copy(Database(connection, source), copy)
        with Ledger.open(copy, create=False) as ledger:
            report = ledger.verify()
        if not report.sound:
            fault = report.faults[0]
            raise corrupt(source, fault.table, fault.key, fault.says)
        os.replace(copy, where)
        opening.sync_folder(where)
    except OSError as error:
        raise opening.from_os(error, where) from error
    finally:
        connection.close()
        opening.remove_database(copy)
    return report


def _refuse_existing(where: Path) -> None:
    if where.exists():
        raise LedgerExists(f"{where} exists; move it away, or name another path", path=str(where))


def _copy(source: Database, where: Path) -> None:
    new = Path(f"{where}.new")
    try:
        opening.remove_database(new)
        new.open("xb").close()
        target = opening.connect(new)
        try:
            source.connection.backup(target)
        finally:
            target.close()
        os.replace(new, where)
        opening.sync_folder(where)
    except sqlite3.Error as error:
        raise translated(error, where, "ledger", "backup") from error
    except OSError as error:
        raise opening.from_os(error, where) from error
    finally:
        with suppress(OSError):
            opening.remove_database(new)
