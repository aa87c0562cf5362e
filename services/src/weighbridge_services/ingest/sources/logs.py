"""A log file (CAR or JSONL) as a source: every record in it that its own entry proves, at its listed time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

from weighbridge.errors import Refused
from weighbridge.ports import Given, Pause

from weighbridge_services.ingest.errors import BadSource
from weighbridge_services.ingest.opening import proof_of
from weighbridge_services.ingest.sources.lines import file_in
from weighbridge_services.logs import read_log


class LogFile:
    """A source over another log of the same game. A position is a number of entries."""

    name = "logfile"

    def __init__(self, path: Path) -> None:
        self._path = path

    async def read(self, position: int) -> AsyncIterator[tuple[int, Given | Pause]]:
        """Yield the records of the entries after a position. Raises BadSource."""
        try:
            for listed in read_log(self._path):
                number = listed.entry.seq + 1
                proof = proof_of(listed) if number > position else None
                if proof is not None:
                    yield number, Given(proof, listed.entry.at)
        except (OSError, Refused) as error:
            raise BadSource(f"{self._path}: {error}") from error

    async def close(self) -> None:
        """Do nothing: the file is closed when it is read."""


def open_log_file(settings: Mapping[str, Any], folder: str) -> LogFile:
    """Open the file that the setting `file` names. Raises BadSource."""
    return LogFile(file_in(settings, folder))
