"""The table: canonical bytes under ASCII keys, with an undo log, and the view of it that rule sets get.

Cells are kept as bytes, not as values: what a rule set reads is a fresh copy it cannot change behind the
fold's back, and what it writes is encoded at once, so a float or an integer past 64 bits is refused where it
is written. A write that leaves a cell as it was is no write.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from weighbridge.codec import decode_own, encode
from weighbridge.fold.breach import RuleBreach
from weighbridge.limits import MAX_CELL, MAX_KEY

T = TypeVar("T")

KERNEL = "_/"
"""Keys that begin so are the kernel's own; a rule set reads them and never writes them."""

OVERLAY = ("_/mark/", "_/ruling/", "_/stake/")
"""What rulings and the fold itself have marked: it outlives a rewind, since it is what the rewind is for."""


def group_of(key: str) -> str:
    """Return the part of a key by which cells are listed: up to its first `/`, of a kernel's key to its second."""
    if key.startswith(KERNEL):
        second = key.find("/", 2)
        return KERNEL if second < 0 else key[: second + 1]
    first = key.find("/")
    return key if first < 0 else key[: first + 1]


class Cells:
    """Every cell of a game, by key, and what has changed since the last `commit`."""

    __slots__ = ("_bytes", "_groups", "_log")

    def __init__(self, cells: Mapping[str, bytes] | None = None) -> None:
        self._bytes: dict[str, bytes] = {}
        self._groups: dict[str, dict[str, None]] = {}
        self._log: list[tuple[str, bytes | None]] = []
        for key, data in (cells or {}).items():
            self._write(key, data)

    def __len__(self) -> int:
        return len(self._bytes)

    def __contains__(self, key: object) -> bool:
        return key in self._bytes

    def raw(self, key: str) -> bytes | None:
        """Return the canonical bytes of a cell, or None."""
        return self._bytes.get(key)

    def put(self, key: str, data: bytes | None) -> None:
        """Write a cell (None deletes it) and remember what stood there."""
        old = self._bytes.get(key)
        if old == data:
            return
        self._log.append((key, old))
        if old is not None and data is not None:
            self._bytes[key] = data
        else:
            self._write(key, data)

    def _write(self, key: str, data: bytes | None) -> None:
        if data is None:
            del self._bytes[key]
            del self._groups[group_of(key)][key]
            return
        if key not in self._bytes:
            self._groups.setdefault(group_of(key), {})[key] = None
        self._bytes[key] = data

    def keys(self, prefix: str) -> list[str]:
        """Return the keys that begin with `prefix`, sorted. Cheap for a whole group (see `group_of`)."""
        if prefix == KERNEL:
            return sorted(k for g, keys in self._groups.items() if g.startswith(KERNEL) for k in keys)
        whole = self._groups.get(prefix)
        if whole is not None:
            return sorted(whole)
        group = group_of(prefix)
        found = self._groups.get(group, {})
        return sorted(found) if prefix == group else sorted(k for k in found if k.startswith(prefix))

    def everything(self) -> dict[str, bytes]:
        """Return a copy of all cells, sorted by key."""
        return dict(sorted(self._bytes.items()))

    def mark(self) -> int:
        """Return a place in the undo log, to which `rollback` returns."""
        return len(self._log)

    def rollback(self, mark: int) -> None:
        """Undo every write since `mark`."""
        while len(self._log) > mark:
            key, old = self._log.pop()
            if old is None and key not in self._bytes:
                continue
            self._write(key, old)

    def commit(self) -> dict[str, bytes | None]:
        """Forget the undo log and return, for each key written since the last commit, what stood there before."""
        if not self._log:
            return {}
        before = dict(reversed(self._log))  # of several writes of one key the first is the last to be set
        self._log.clear()
        return before

    def restore(
        self, before: Mapping[str, bytes | None], keep: Sequence[str] = OVERLAY
    ) -> dict[str, bytes | None]:
        """Put back what stood before (all but the overlay), outside the undo log; return what stood until now."""
        current: dict[str, bytes | None] = {}
        for key, old in before.items():
            if key.startswith(tuple(keep)):
                continue
            current[key] = self._bytes.get(key)
            if current[key] != old:
                self._write(key, old)
        return current

    # --- typed access for the kernel -----------------------------------------------------------------------

    def value(self, key: str, default: Any = None) -> Any:
        """Return a fresh copy of a cell's value, or `default`."""
        data = self._bytes.get(key)
        return default if data is None else decode_own(data)

    def read(self, key: str, kind: type[T]) -> T | None:
        """Return a cell of the kernel's as a struct, or None."""
        data = self._bytes.get(key)
        return None if data is None else msgspec.convert(decode_own(data), kind)

    def set(self, key: str, value: Any) -> None:
        """Write a cell of the kernel's: a value or a struct."""
        self.put(key, encode(value))

    def drop(self, key: str) -> None:
        """Delete a cell, if it is there."""
        if key in self._bytes:
            self.put(key, None)


class TableView:
    """What a rule set sees of the cells: `weighbridge.contract.Table`, or a read-only one."""

    __slots__ = ("_cells", "_writable")

    def __init__(self, cells: Cells, *, writable: bool = True) -> None:
        self._cells = cells
        self._writable = writable

    def get(self, key: str, default: Any = None) -> Any:
        """Return a fresh copy of the cell under `key`, or `default`."""
        return self._cells.value(key, default)

    def __getitem__(self, key: str) -> Any:
        data = self._cells.raw(key)
        if data is None:
            raise RuleBreach(f"there is no cell {key}")
        return decode_own(data)

    def __setitem__(self, key: str, value: Any) -> None:
        self._check(key)
        data = encode(value)
        if len(data) > MAX_CELL:
            raise RuleBreach(f"the cell {key} would hold {len(data)} bytes; at most {MAX_CELL}")
        self._cells.put(key, data)

    def __delitem__(self, key: str) -> None:
        self._check(key)
        self._cells.drop(key)

    def __contains__(self, key: object) -> bool:
        return key in self._cells

    def keys(self, prefix: str) -> list[str]:
        """Return the keys that begin with `prefix`, sorted."""
        return self._cells.keys(prefix)

    def items(self, prefix: str) -> Iterator[tuple[str, Any]]:
        """Yield (key, value) for the keys that begin with `prefix`, sorted by key."""
        for key in self._cells.keys(prefix):
            data = self._cells.raw(key)
            if data is not None:
                yield key, decode_own(data)

    def _check(self, key: str) -> None:
        if not self._writable:
            raise RuleBreach("this table is for reading only")
        if not isinstance(key, str) or not key.isascii() or not key.isprintable() or " " in key:
            raise RuleBreach("a cell's key is printable ASCII without spaces; free text is hashed first")
        if key.startswith(KERNEL) or not key or len(key) > MAX_KEY:
            raise RuleBreach(f"a rule set's key does not begin with _/ and has 1 to {MAX_KEY} characters")
