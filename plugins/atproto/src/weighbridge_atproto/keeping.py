"""What a source must not lose, in one SQLite file of its own: frames before they are verified, what is known of
each repository, and what was found and is to be listed.

A frame and the cursor behind it are written together, and so are what a frame changes and that it was read.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from weighbridge.ports import Broken
from weighbridge.repos import Cid

from weighbridge_atproto.chain import Phase, Repo

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS numbers (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS frames (number INTEGER PRIMARY KEY AUTOINCREMENT, data BLOB NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS repos (did TEXT PRIMARY KEY, rev TEXT, data BLOB, synchronized INTEGER NOT NULL,
    active INTEGER NOT NULL, status TEXT) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS records (did TEXT, path TEXT, cid BLOB NOT NULL, PRIMARY KEY (did, path))
    STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS documents (did TEXT PRIMARY KEY, data BLOB NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS kept (cid BLOB PRIMARY KEY, data BLOB NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS found (number INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL,
    data BLOB NOT NULL) STRICT;
"""


class KeepingBroken(Broken):
    """The source's own file cannot be read or written."""

    code = "atproto-store"


class Found(NamedTuple):
    """Something to be listed: its number, `record` or `told`, and the bytes."""

    number: int
    kind: str
    data: bytes


class Keeping:
    """The file. All of it is used from one thread."""

    def __init__(self, path: Path | None) -> None:
        """Open the file, or one in memory. Raises KeepingBroken."""
        self._path = path
        with self._errors():
            self._db = sqlite3.connect(path or ":memory:", isolation_level=None)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")
            self._db.executescript(_SCHEMA)
        self._depth = 0

    @contextmanager
    def _errors(self) -> Generator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise KeepingBroken(f"{self._path or 'memory'}: {error}", path=str(self._path)) from error

    @contextmanager
    def batch(self) -> Generator[None]:
        """Write what happens within all at once, or nothing of it."""
        with self._errors():
            if self._depth:
                yield
                return
            self._db.execute("BEGIN IMMEDIATE")
            self._depth = 1
            try:
                yield
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            else:
                self._db.execute("COMMIT")
            finally:
                self._depth = 0

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _rows(self, sql: str, *values: Any) -> list[Any]:
        with self._errors():
            return self._db.execute(sql, values).fetchall()

    def _value(self, sql: str, *values: Any) -> Any:
        rows = self._rows(sql, *values)
        return rows[0][0] if rows else None

    # --- the stream ----------------------------------------------------------------------------------------

    def number(self, name: str) -> int | None:
        """Return a number that is kept, such as a host's cursor."""
        value: int | None = self._value("SELECT value FROM numbers WHERE name = ?", name)
        return value

    def set_number(self, name: str, value: int) -> None:
        """Keep a number."""
        self._rows("INSERT OR REPLACE INTO numbers VALUES (?, ?)", name, value)

    def queue(self, frames: Sequence[bytes]) -> None:
        """Keep frames until they are verified."""
        for data in frames:
            self._rows("INSERT INTO frames (data) VALUES (?)", data)

    def next_frames(self, most: int) -> list[tuple[int, bytes]]:
        """Return the first frames that wait, with their numbers."""
        return self._rows("SELECT number, data FROM frames ORDER BY number LIMIT ?", most)

    def done(self, number: int) -> None:
        """Let go of a frame."""
        self._rows("DELETE FROM frames WHERE number = ?", number)

    # --- repositories --------------------------------------------------------------------------------------

    def repo(self, did: str) -> Repo | None:
        """Return what is known of a repository. What was being fetched is to be fetched again."""
        rows = self._rows("SELECT rev, data, synchronized, active, status FROM repos WHERE did = ?", did)
        if not rows:
            return None
        rev, data, synchronized, active, status = rows[0]
        phase: Phase = "synchronized" if synchronized else "desynchronized"
        return Repo(did, phase, rev, None if data is None else Cid(data), bool(active), status)

    def dids(self) -> list[str]:
        """Return the DIDs of all repositories that are followed."""
        return [did for (did,) in self._rows("SELECT did FROM repos ORDER BY did")]

    def keep_repo(self, repo: Repo) -> None:
        """Keep what is known of a repository; what waits is not."""
        self._rows(
            "INSERT OR REPLACE INTO repos VALUES (?, ?, ?, ?, ?, ?)", repo.did, repo.rev,
            None if repo.data is None else repo.data.raw, repo.phase == "synchronized", repo.active, repo.status,
        )  # fmt: skip

    def records(self, did: str) -> dict[str, Cid]:
        """Return the watched records of a repository, by path."""
        rows = self._rows("SELECT path, cid FROM records WHERE did = ? ORDER BY path", did)
        return {path: Cid(cid) for path, cid in rows}

    def record(self, did: str, path: str) -> Cid | None:
        """Return one watched record's CID."""
        cid = self._value("SELECT cid FROM records WHERE did = ? AND path = ?", did, path)
        return None if cid is None else Cid(cid)

    def keep_record(self, did: str, path: str, cid: Cid | None) -> None:
        """Keep a record's CID; None: it is gone."""
        if cid is None:
            self._rows("DELETE FROM records WHERE did = ? AND path = ?", did, path)
        else:
            self._rows("INSERT OR REPLACE INTO records VALUES (?, ?, ?)", did, path, cid.raw)

    def document(self, did: str) -> bytes | None:
        """Return the DID document that was last fetched."""
        data: bytes | None = self._value("SELECT data FROM documents WHERE did = ?", did)
        return data

    def keep_document(self, did: str, cid: Cid, data: bytes) -> None:
        """Keep a DID document, as the newest and, under its CID, for good: listings name it."""
        with self.batch():
            self._rows("INSERT OR REPLACE INTO documents VALUES (?, ?)", did, data)
            self._rows("INSERT OR IGNORE INTO kept VALUES (?, ?)", cid.raw, data)

    def drop_document(self, did: str) -> None:
        """Forget which document is the newest."""
        self._rows("DELETE FROM documents WHERE did = ?", did)

    def kept_document(self, cid: Cid) -> bytes | None:
        """Return a document that a listing names."""
        data: bytes | None = self._value("SELECT data FROM kept WHERE cid = ?", cid.raw)
        return data

    # --- what was found ------------------------------------------------------------------------------------

    def add(self, kind: str, data: bytes) -> None:
        """Keep something that is to be listed."""
        self._rows("INSERT INTO found (kind, data) VALUES (?, ?)", kind, data)

    def found(self, after: int, most: int) -> list[Found]:
        """Return what is to be listed after a number."""
        rows = self._rows(
            "SELECT number, kind, data FROM found WHERE number > ? ORDER BY number LIMIT ?", after, most
        )
        return [Found(*row) for row in rows]

    def forget(self, up_to: int) -> None:
        """Forget what is listed."""
        self._rows("DELETE FROM found WHERE number <= ?", up_to)
