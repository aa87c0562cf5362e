"""One SQLite file with one writer: opening, batches, and every error of SQLite's under a code of ours.

A batch is one transaction. Within it the stores keep their newest state in memory and write it once, at its
end (`before_commit`); a batch that fails is undone as a whole, and the stores forget what they had in
memory (`on_rollback`). `probe` is called with the name of each point between two writes: a test kills the
process there.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from weighbridge.errors import WeighbridgeError
from weighbridge.ledger.errors import LedgerClosed, LedgerCorrupt, corrupt, translated

Probe = Callable[[str], None]

SQLITE_ERRORS: Final = (sqlite3.Error, UnicodeDecodeError)
"""What sqlite3 raises: a message that quotes a damaged page need not be text."""


def no_probe(point: str) -> None:
    """Do nothing at a named point."""


class Database:
    """A connection that speaks in our errors, for any one thread at a time."""

    def __init__(self, connection: sqlite3.Connection, path: Path, probe: Probe = no_probe) -> None:
        self.path = path
        self.probe = probe
        self.before_commit: list[Callable[[], None]] = []
        self.on_rollback: list[Callable[[], None]] = []
        self._connection = connection
        self._open = False
        self._failed: WeighbridgeError | None = None

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection itself, for backup and migration."""
        return self._connection

    @property
    def in_batch(self) -> bool:
        """Whether a batch is open."""
        return self._open

    def fetch(
        self, table: str, key: object, sql: str, values: tuple[object, ...] = ()
    ) -> tuple[Any, ...] | None:
        """Return the first row; `table` and `key` are what an error names."""
        try:
            row: tuple[Any, ...] | None = self._connection.execute(sql, values).fetchone()
        except SQLITE_ERRORS as error:
            raise self._translated(error, table, key) from error
        return row

    def fetch_all(
        self, table: str, key: object, sql: str, values: tuple[object, ...] = ()
    ) -> list[tuple[Any, ...]]:
        """Return all rows; `table` and `key` are what an error names."""
        try:
            return self._connection.execute(sql, values).fetchall()
        except SQLITE_ERRORS as error:
            raise self._translated(error, table, key) from error

    def change(self, table: str, key: object, sql: str, values: tuple[object, ...] = ()) -> int:
        """Run a statement that writes and return how many rows it changed. Needs an open batch."""
        try:
            return self._connection.execute(sql, values).rowcount
        except SQLITE_ERRORS as error:
            raise self._translated(error, table, key) from error

    def change_many(self, table: str, sql: str, rows: Iterable[tuple[object, ...]]) -> int:
        """Run one statement for many rows and return how many it changed. Needs an open batch."""
        try:
            return self._connection.executemany(sql, rows).rowcount
        except SQLITE_ERRORS as error:
            raise self._translated(error, table, "many") from error

    def corrupt(self, table: str, key: object, why: str) -> LedgerCorrupt:
        """Return the error for a row that is not as it was written; it undoes the open batch."""
        self._failed = error = corrupt(self.path, table, key, why)
        return error

    @contextmanager
    def batch(self) -> Generator[None, None, None]:
        """Make everything inside one transaction, on disk at its end. A batch inside one joins it."""
        if self._open:
            with self._joined():
                yield
            return
        self._begin()
        try:
            yield
            if self._failed is not None:  # a caller swallowed it: half of what it wrote must not stay
                raise self._failed
            self._finish()
        except BaseException:
            self._undo()
            raise
        finally:
            self._open = False
        self.probe("committed")

    def close(self) -> None:
        """Close the connection; what is not committed is undone."""
        try:
            self._connection.close()
        except SQLITE_ERRORS as error:
            raise self._translated(error, "ledger", "close") from error

    @contextmanager
    def _joined(self) -> Generator[None, None, None]:
        before = self._connection.total_changes
        try:
            yield
        except WeighbridgeError as error:
            # Half of an inner batch must not stay, even where the caller goes on after the error.
            if self._connection.total_changes != before:
                self._failed = error
            raise

    def _begin(self) -> None:
        self._failed = None
        # IMMEDIATE takes the write lock now: a lock that cannot be had fails here and not in mid-batch.
        self.change("ledger", "begin", "BEGIN IMMEDIATE")
        self._open = True
        self.probe("begun")

    def _finish(self) -> None:
        self.probe("written")
        for flush in self.before_commit:
            flush()
        self.probe("flushed")
        self.change("ledger", "commit", "COMMIT")

    def _undo(self) -> None:
        try:
            if self._connection.in_transaction:  # after a full disk SQLite may have rolled back by itself
                self._connection.execute("ROLLBACK")
        except SQLITE_ERRORS as error:
            raise self._translated(error, "ledger", "rollback") from error
        finally:
            self._failed = None
            for forget in self.on_rollback:
                forget()

    def _translated(
        self, error: sqlite3.Error | UnicodeDecodeError, table: str, key: object
    ) -> WeighbridgeError:
        ours = translated(error, self.path, table, key)
        if not isinstance(ours, LedgerClosed):
            self._failed = ours
        return ours
