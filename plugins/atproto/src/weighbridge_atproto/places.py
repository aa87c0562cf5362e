"""Where several streams were at each position of the one source they are read as; and the hosts that were found.

A position is a number of what was yielded. A node keeps the newest one it has listed up to, and after a start asks
for what comes after that: here stands where each host's stream was then. Losing this costs reading again what each
stream still holds, and nothing more: what is listed already is not listed twice.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from weighbridge_atproto.kept_file import KeptFile

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS hosts (host TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS places (number INTEGER PRIMARY KEY, host TEXT NOT NULL, place INTEGER NOT NULL) STRICT;
"""


class Places(KeptFile):
    """The file. All of it is used from one thread."""

    def __init__(self, path: Path | None) -> None:
        """Open the file, or one in memory. Raises KeepingBroken."""
        # What a power failure takes back here is read again from the streams' own files, which are synced.
        super().__init__(path, _SCHEMA, "NORMAL")

    def hosts(self) -> list[str]:
        """Return the hosts whose streams are read."""
        return [host for (host,) in self._rows("SELECT host FROM hosts ORDER BY host")]

    def keep_host(self, host: str) -> None:
        """Keep a host that was found."""
        self._rows("INSERT OR IGNORE INTO hosts VALUES (?)", host)

    def begin(self, position: int) -> dict[str, int]:
        """Return where each host's stream was at a position, and forget all else."""
        # Of a row with the greatest number SQLite gives the other columns, too.
        found = self._rows(
            "SELECT host, MAX(number), place FROM places WHERE number <= ? GROUP BY host", position
        )
        newest = [number for _, number, _ in found]
        marks = ", ".join("?" * len(newest))
        self._rows(f"DELETE FROM places WHERE number NOT IN ({marks})", *newest)
        return {host: place for host, _, place in found}

    def add(self, number: int, host: str, place: int) -> None:
        """Keep where a host's stream was when a number was yielded."""
        self._rows("INSERT OR REPLACE INTO places VALUES (?, ?, ?)", number, host, place)
