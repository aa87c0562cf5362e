"""An ordered map in SQLite that proves what it says, including that something is not there.

A checksum in each row shows a damaged row; it cannot show a row that a damaged index no longer finds. So
each row also holds the key of the next one, under the same checksum: the row before a missing key says that
nothing stands between, and a row that says otherwise is `ledger-corrupt`. The first row has the empty key
and is always there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from weighbridge.ledger.database import Database
from weighbridge.ledger.errors import shown

INLINE = 1024
"""Values up to this many bytes stand in the row: a row is rewritten when its neighbour changes."""

_PAGE = 256


class Row(NamedTuple):
    """One row, its checksum verified."""

    key: bytes
    next: bytes
    value: bytes


class Chained:
    """The map over one table. Keys and values are bytes; the empty key is the map's own."""

    def __init__(self, database: Database, table: str) -> None:
        self._db = database
        self._table = table
        self._name = table.encode()
        # One string per statement, so that SQLite's statement cache finds it again.
        columns = "key, next, value, sum"
        self._sql_floor = f"SELECT {columns} FROM {table} WHERE key <= ? ORDER BY key DESC LIMIT 1"
        self._sql_page = f"SELECT {columns} FROM {table} WHERE key >= ? ORDER BY key LIMIT ?"
        self._sql_insert = f"INSERT INTO {table} ({columns}) VALUES (?, ?, ?, ?)"
        self._sql_update = f"UPDATE {table} SET next = ?, value = ?, sum = ? WHERE key = ?"
        self._sql_delete = f"DELETE FROM {table} WHERE key = ?"

    def begin(self) -> None:
        """Write the first row of a new map."""
        self._insert(Row(b"", b"", b"\0"))

    def get(self, key: bytes) -> bytes | None:
        """Return the value under `key`, or None where the map shows that there is none."""
        row = self.floor(key)
        return self._open(row) if row.key == key else None

    def put(self, key: bytes, value: bytes) -> None:
        """Set the value under `key`."""
        row = self.floor(key)
        if row.key == key:
            self._drop_blob(row)
            self._update(row._replace(value=self._seal(value)))
            return
        self._insert(Row(key, row.next, self._seal(value)))
        self._update(row._replace(next=key))

    def put_new(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """Set nothing under each of these keys, and return the key that stood before each, or at it.

        Few statements for many rows, for a map that is an index.
        """
        ahead: dict[Row, list[bytes]] = {}
        stood: dict[bytes, bytes] = {}
        for key in sorted(set(keys)):
            row = self.floor(key)
            stood[key] = row.key
            if row.key != key:
                ahead.setdefault(row, []).append(key)
        new, led = list[tuple[bytes, ...]](), list[tuple[bytes, ...]]()
        for row, found in ahead.items():
            for key, following in zip(found, [*found[1:], row.next], strict=True):
                made = Row(key, following, b"\0")
                new.append((*made, self._sum(made)))
            before = row._replace(next=found[0])
            led.append((before.next, before.value, self._sum(before), before.key))
        self._db.change_many(self._table, self._sql_insert, new)
        if self._db.change_many(self._table, self._sql_update, led) != len(led):
            raise self._db.corrupt(self._table, "many", "a row could be read and not written")
        return stood

    def delete(self, key: bytes) -> bool:
        """Take `key` out; whether it was there."""
        row = self.floor(key)
        if row.key != key:
            return False
        before = self._row_before(key)
        self._drop_blob(row)
        self._changed(key, self._db.change(self._table, key, self._sql_delete, (key,)))
        self._update(before._replace(next=row.next))
        return True

    def floor(self, key: bytes) -> Row:
        """Return the row of `key`, or the one before it, having shown that `key` is not there."""
        found = self._db.fetch(self._table, key, self._sql_floor, (key,))
        if found is None:
            raise self._db.corrupt(self._table, shown(key), "the row before it is missing")
        row = self._checked(found)
        if row.key > key or (row.key != key and row.next and row.next <= key):
            raise self._db.corrupt(
                self._table, shown(key), f"its row is missing: {shown(row.key)} names it or a row before"
            )
        return row

    def after(self, key: bytes) -> bytes | None:
        """Return the least key greater than `key`, if any."""
        return self.floor(key).next or None

    def scan(self, prefix: bytes, after: bytes = b"") -> Iterator[tuple[bytes, bytes]]:
        """Yield (key, value) of the keys that begin with `prefix` and are greater than `after`, in order."""
        wanted = self.floor(max(prefix, after)).next
        if prefix > after and (row := self.floor(prefix)).key == prefix:
            yield row.key, self._open(row)
        count = 4
        while wanted.startswith(prefix) and wanted:
            count = min(2 * count, _PAGE)  # most scans are over a handful of rows
            for row in self._page(wanted, count):
                if not row.key.startswith(prefix):
                    return
                yield row.key, self._open(row)
                wanted = row.next

    def keys(self, prefix: bytes) -> Iterator[bytes]:
        """Yield the keys that begin with `prefix`, in order."""
        for key, _ in self.scan(prefix):
            yield key

    def rows(self) -> Iterator[Row]:
        """Yield every row in order, each checked against the one before; for `verify`."""
        wanted = b""
        while True:
            row = self.floor(wanted)
            if row.key != wanted:
                raise self._db.corrupt(self._table, shown(wanted), "its row is missing")
            self._open(row)
            yield row
            if not row.next:
                return
            wanted = row.next

    def _page(self, wanted: bytes, count: int) -> list[Row]:
        found = self._db.fetch_all(self._table, wanted, self._sql_page, (wanted, count))
        rows = [self._checked(one) for one in found]
        expected = wanted
        for row in rows:
            if row.key != expected:
                break
            expected = row.next
        else:
            if rows:
                return rows
        raise self._db.corrupt(self._table, shown(expected), "its row is missing or out of order")

    def _row_before(self, key: bytes) -> Row:
        sql = self._sql_floor.replace("<=", "<")
        found = self._db.fetch(self._table, key, sql, (key,))
        row = None if found is None else self._checked(found)
        if row is None or row.next != key:
            raise self._db.corrupt(self._table, shown(key), "the row before it does not lead to it")
        return row

    def _checked(self, found: tuple[object, ...]) -> Row:
        key, following, value, total = found
        if not (isinstance(key, bytes) and isinstance(following, bytes) and isinstance(value, bytes)):
            raise self._db.corrupt(self._table, key, "a column is not bytes")
        row = Row(key, following, value)
        if total != self._sum(row):
            raise self._db.corrupt(self._table, shown(key), "its checksum does not fit")
        return row

    def _sum(self, row: Row) -> bytes:
        key, following, value = row
        head = b"%b %d %d %b%b%b" % (self._name, len(key), len(following), key, following, value)
        return hashlib.sha256(head).digest()[:16]

    def _insert(self, row: Row) -> None:
        self._db.change(self._table, row.key, self._sql_insert, (*row, self._sum(row)))

    def _update(self, row: Row) -> None:
        values = (row.next, row.value, self._sum(row), row.key)
        self._changed(row.key, self._db.change(self._table, row.key, self._sql_update, values))

    def _changed(self, key: bytes, count: int) -> None:
        if count != 1:
            raise self._db.corrupt(self._table, shown(key), "its row could be read and not written")

    # A value is a byte 0 and itself, or a byte 1, the id of its blob (8 bytes) and its SHA-256.

    def _seal(self, value: bytes) -> bytes:
        if len(value) <= INLINE:
            return b"\0" + value
        found = self._db.fetch("blob", "max", "SELECT COALESCE(MAX(id), 0) + 1 FROM blob")
        number = found[0] if found else 1
        self._db.change("blob", number, "INSERT INTO blob (id, data) VALUES (?, ?)", (number, value))
        return b"\1" + number.to_bytes(8, "big") + hashlib.sha256(value).digest()

    def _open(self, row: Row) -> bytes:
        if row.value[:1] == b"\0":
            return row.value[1:]
        number = int.from_bytes(row.value[1:9], "big")
        found = self._db.fetch("blob", number, "SELECT data FROM blob WHERE id = ?", (number,))
        data = found[0] if found else None
        if not isinstance(data, bytes) or hashlib.sha256(data).digest() != row.value[9:]:
            raise self._db.corrupt("blob", number, f"not the value of {shown(row.key)}")
        return data

    def _drop_blob(self, row: Row) -> None:
        if row.value[:1] == b"\1":
            number = int.from_bytes(row.value[1:9], "big")
            self._db.change("blob", number, "DELETE FROM blob WHERE id = ?", (number,))
