"""What a source must not lose, in one SQLite file of its own: frames before they are verified, what is known of
each repository, and what was found and is to be listed.

A frame and the cursor behind it are written together, and so are what a frame changes and that it was read. A frame
stays until what it says is told or refused: one that waits is still there after a crash.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from weighbridge.repos import Cid

from weighbridge_atproto.chain import Phase, Repo
from weighbridge_atproto.kept_file import KeepingBroken, KeptFile

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS numbers (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS queue (number INTEGER PRIMARY KEY AUTOINCREMENT, did TEXT NOT NULL,
    state INTEGER NOT NULL, doc BLOB, data BLOB NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS queue_by_state ON queue (state, number);
CREATE INDEX IF NOT EXISTS queue_by_did ON queue (did, state);
CREATE TABLE IF NOT EXISTS repos (did TEXT PRIMARY KEY, rev TEXT, data BLOB, synchronized INTEGER NOT NULL,
    active INTEGER NOT NULL, status TEXT) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ahead (did TEXT PRIMARY KEY, rev TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS records (did TEXT, path TEXT, cid BLOB NOT NULL, PRIMARY KEY (did, path))
    STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS documents (did TEXT PRIMARY KEY, data BLOB NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS kept (cid BLOB PRIMARY KEY, data BLOB NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS kept_of (number INTEGER PRIMARY KEY AUTOINCREMENT, did TEXT NOT NULL, cid BLOB NOT NULL,
    size INTEGER NOT NULL, UNIQUE (did, cid)) STRICT;
CREATE TABLE IF NOT EXISTS histories (did TEXT PRIMARY KEY, data BLOB NOT NULL, at INTEGER NOT NULL)
    STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS found (number INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL,
    data BLOB NOT NULL) STRICT;
"""


_READY: Final = 0
_HELD: Final = 1
_WAITS: Final = 2


MAX_DOCUMENTS: Final = 1_000_000
"""Bytes of the documents of one DID that are kept: its host may show another one each time it is asked."""


class Queued(NamedTuple):
    """A frame of the queue: its number, the DID it is of, its bytes; `doc`: the document it was verified with."""

    number: int
    did: str
    data: bytes
    doc: Cid | None = None


class Found(NamedTuple):
    """Something to be listed: its number, `record` or `told`, and the bytes."""

    number: int
    kind: str
    data: bytes


class Keeping(KeptFile):
    """The file. All of it is used from one thread."""

    def __init__(self, path: Path | None) -> None:
        """Open the file, or one in memory. Raises KeepingBroken."""
        super().__init__(path, _SCHEMA, "FULL")
        self._depth = 0

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

    def queue(self, frames: Sequence[tuple[str, bytes]]) -> None:
        """Keep frames, each with the DID it is of, until they are verified."""
        for did, data in frames:
            self._rows("INSERT INTO queue (did, state, data) VALUES (?, ?, ?)", did, _READY, data)

    def next_frames(self, most: int) -> list[Queued]:
        """Return the first frames that can be taken."""
        rows = self._rows(
            "SELECT number, did, data FROM queue WHERE state = ? ORDER BY number LIMIT ?", _READY, most
        )
        return [Queued(*row) for row in rows]

    def last_number(self) -> int:
        """Return the number of the last frame that was ever queued."""
        found: int | None = self._value("SELECT seq FROM sqlite_sequence WHERE name = 'queue'")
        return found or 0

    def queued_dids(self) -> list[str]:
        """Return the DIDs that frames of the queue are of."""
        return [did for (did,) in self._rows("SELECT DISTINCT did FROM queue ORDER BY did")]

    def lies(self, did: str) -> int | None:
        """Return the number of the first frame of a DID that is still to be taken."""
        # Of each state by itself the index knows the first; thousands may lie.
        sql = "SELECT min(number) FROM queue WHERE did = ? AND state = ?"
        firsts: list[int | None] = [self._value(sql, did, state) for state in (_READY, _HELD)]
        return min((number for number in firsts if number is not None), default=None)

    def done(self, number: int) -> None:
        """Let go of a frame."""
        self._rows("DELETE FROM queue WHERE number = ?", number)

    def hold(self, number: int) -> None:
        """Let a frame lie until its DID can be resolved."""
        self._rows("UPDATE queue SET state = ? WHERE number = ?", _HELD, number)

    def release(self, did: str | None = None) -> None:
        """Let the frames of a DID, or of all, be taken that lay until it could be resolved."""
        self._rows(
            "UPDATE queue SET state = ? WHERE state = ? AND did = coalesce(?, did)", _READY, _HELD, did
        )

    def give_up(self, did: str) -> int:
        """Let go of the frames of a DID that lie until it can be resolved, and return how many."""
        before: int = self._value("SELECT count(*) FROM queue WHERE did = ? AND state = ?", did, _HELD)
        self._rows("DELETE FROM queue WHERE did = ? AND state = ?", did, _HELD)
        return before

    def wait(self, number: int, doc: Cid) -> None:
        """Let a frame wait, verified with this document, until its repository is fetched."""
        self._rows("UPDATE queue SET state = ?, doc = ? WHERE number = ?", _WAITS, doc.raw, number)

    def waiting(self, did: str) -> list[int]:
        """Return the numbers of the frames of a DID that wait until its repository is fetched, in their order."""
        rows = self._rows("SELECT number FROM queue WHERE did = ? AND state = ? ORDER BY number", did, _WAITS)
        return [number for (number,) in rows]

    def frame(self, number: int) -> Queued:
        """Return a frame that waits. Raises KeepingBroken where it is not there."""
        rows = self._rows("SELECT number, did, data, doc FROM queue WHERE number = ?", number)
        if not rows or rows[0][3] is None:
            raise KeepingBroken(f"{self._path or 'memory'}: frame {number} waited and is gone", number=number)
        return Queued(number, rows[0][1], rows[0][2], Cid(rows[0][3]))

    # --- repositories --------------------------------------------------------------------------------------

    def repo(self, did: str) -> Repo | None:
        """Return what is known of a repository. What was being fetched is to be fetched again."""
        rows = self._rows("SELECT rev, data, synchronized, active, status FROM repos WHERE did = ?", did)
        if not rows:
            return None
        rev, data, synchronized, active, status = rows[0]
        phase: Phase = "synchronized" if synchronized else "desynchronized"
        ahead: str | None = self._value("SELECT rev FROM ahead WHERE did = ?", did)
        return Repo(did, phase, rev, None if data is None else Cid(data), bool(active), status, ahead=ahead)

    def dids(self) -> list[str]:
        """Return the DIDs of all repositories that are followed."""
        return [did for (did,) in self._rows("SELECT did FROM repos ORDER BY did")]

    def keep_repo(self, repo: Repo) -> None:
        """Keep what is known of a repository; what waits is in the queue."""
        self._rows(
            "INSERT OR REPLACE INTO repos VALUES (?, ?, ?, ?, ?, ?)", repo.did, repo.rev,
            None if repo.data is None else repo.data.raw, repo.phase == "synchronized", repo.active, repo.status,
        )  # fmt: skip
        if repo.ahead is None:
            self._rows("DELETE FROM ahead WHERE did = ?", repo.did)
        else:
            self._rows("INSERT OR REPLACE INTO ahead VALUES (?, ?)", repo.did, repo.ahead)

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
        """Keep a DID document, as the newest and, under its CID, with those before it: listings name them.

        Of a DID with very many the oldest are dropped.
        """
        with self.batch():
            self._rows("INSERT OR REPLACE INTO documents VALUES (?, ?)", did, data)
            self._rows("INSERT OR IGNORE INTO kept VALUES (?, ?)", cid.raw, data)
            self._rows(
                "INSERT OR REPLACE INTO kept_of (did, cid, size) VALUES (?, ?, ?)", did, cid.raw, len(data)
            )
            total = 0
            for number, raw, size in self._rows(
                "SELECT number, cid, size FROM kept_of WHERE did = ? ORDER BY number DESC", did
            ):
                total += size
                if total > MAX_DOCUMENTS:
                    self._rows("DELETE FROM kept_of WHERE number = ?", number)
                    self._rows("DELETE FROM kept WHERE cid = ?", raw)

    def drop_document(self, did: str) -> None:
        """Forget which document is the newest."""
        self._rows("DELETE FROM documents WHERE did = ?", did)

    def drop_documents(self, did: str) -> None:
        """Forget all documents of a DID of which nothing is known, and so nothing listed."""
        with self.batch():
            self.drop_document(did)
            self._rows("DELETE FROM kept WHERE cid IN (SELECT cid FROM kept_of WHERE did = ?)", did)
            self._rows("DELETE FROM kept_of WHERE did = ?", did)

    def kept_document(self, cid: Cid) -> bytes | None:
        """Return a document that a listing names."""
        data: bytes | None = self._value("SELECT data FROM kept WHERE cid = ?", cid.raw)
        return data

    def history(self, did: str) -> tuple[bytes, int] | None:
        """Return the history of a did:plc that was last fetched and verified, and when (µs)."""
        rows = self._rows("SELECT data, at FROM histories WHERE did = ?", did)
        return (rows[0][0], rows[0][1]) if rows else None

    def keep_history(self, did: str, data: bytes, at: int) -> None:
        """Keep a verified history as the newest."""
        self._rows("INSERT OR REPLACE INTO histories VALUES (?, ?, ?)", did, data, at)

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
        """Forget what is listed, and number on after it: whoever lists knows a number also where this file is new."""
        with self.batch():
            self._rows("DELETE FROM found WHERE number <= ?", up_to)
            self._rows(
                "INSERT INTO sqlite_sequence SELECT 'found', 0 WHERE NOT EXISTS"
                " (SELECT 1 FROM sqlite_sequence WHERE name = 'found')"
            )
            self._rows("UPDATE sqlite_sequence SET seq = MAX(seq, ?) WHERE name = 'found'", up_to)
