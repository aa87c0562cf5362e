"""The tables of a ledger, and how an older ledger becomes a newer one.

Five kinds of table, each with what shows that a row is the one written:

- `entry` (place, cid, data): a listing log's entries. The CID is over the data, and the data names its
  sequence.
- `leaf` and `node` (place, data, sum): transcript leaves, and the tiles of Merkle hashes.
- `block` (cid, data): bytes under their CID: records and deltas.
- `kept` and `uri` (key, next, value, sum): ordered maps whose rows are chained (see `chained.py`).
- `blob` (id, data): values too long for a row of `kept`, which holds their digest.

A place is 24 bits of series and 40 bits of index (see `series.py`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from typing import Final

APPLICATION_ID: Final = (
    0x57656967  # "Weig": SQLite's own field for telling one application's files from another's
)
FORMAT: Final = 1

_MAP: Final = (
    "(key BLOB PRIMARY KEY, next BLOB NOT NULL, value BLOB NOT NULL, sum BLOB NOT NULL) WITHOUT ROWID"
)

TABLES: Final[Mapping[str, str]] = {
    "entry": "CREATE TABLE entry (place INTEGER PRIMARY KEY, cid BLOB NOT NULL, data BLOB NOT NULL)",
    "leaf": "CREATE TABLE leaf (place INTEGER PRIMARY KEY, data BLOB NOT NULL, sum BLOB NOT NULL)",
    "node": "CREATE TABLE node (place INTEGER PRIMARY KEY, data BLOB NOT NULL, sum BLOB NOT NULL)",
    "block": "CREATE TABLE block (id INTEGER PRIMARY KEY, cid BLOB NOT NULL UNIQUE, data BLOB NOT NULL)",
    "blob": "CREATE TABLE blob (id INTEGER PRIMARY KEY, data BLOB NOT NULL)",
    "kept": f"CREATE TABLE kept {_MAP}",
    "uri": f"CREATE TABLE uri {_MAP}",
}

Migration = Callable[[sqlite3.Connection], None]

MIGRATIONS: Final[Mapping[int, Migration]] = {}
"""From each older format the step to the next one. Each runs inside one transaction with its successors."""


def migrate(
    connection: sqlite3.Connection,
    held: int,
    wanted: int = FORMAT,
    steps: Mapping[int, Migration] = MIGRATIONS,
) -> None:
    """Bring a ledger of format `held` to `wanted`, step by step, in the transaction that is open."""
    for number in range(held, wanted):
        steps[number](connection)
    connection.execute(f"PRAGMA user_version = {wanted}")
