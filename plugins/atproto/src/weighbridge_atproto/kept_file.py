"""A source's own SQLite file: opened, read and closed, with one error for whatever is wrong with it."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from weighbridge.ports import Broken


class KeepingBroken(Broken):
    """The source's own file cannot be read or written."""

    code = "atproto-store"


class KeptFile:
    """The file. All of it is used from one thread."""

    def __init__(self, path: Path | None, schema: str, synchronous: Literal["FULL", "NORMAL"]) -> None:
        """Open the file, or one in memory. Raises KeepingBroken."""
        self._path = path
        with self._errors():
            self._db = sqlite3.connect(path or ":memory:", isolation_level=None)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute(f"PRAGMA synchronous = {synchronous}")
            self._db.executescript(schema)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    @contextmanager
    def _errors(self) -> Generator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise KeepingBroken(f"{self._path or 'memory'}: {error}", path=str(self._path)) from error

    def _rows(self, sql: str, *values: Any) -> list[Any]:
        with self._errors():
            return self._db.execute(sql, values).fetchall()
