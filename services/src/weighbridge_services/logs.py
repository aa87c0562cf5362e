"""Reading a game's log from a file, in either form, with progress on standard error."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from weighbridge.errors import Refused
from weighbridge.log.entries import Listed
from weighbridge.logfile import log_from_car, log_from_jsonl

from weighbridge_services.output import reading

_JSONL = b"{"


def read_log(path: Path, what: str = "read") -> Iterator[Listed]:
    """Yield the entries of a log (CAR or JSONL), each verified as the next; errors name file and place."""
    pieces = reading(path, what)
    try:
        first = next(pieces, b"")
        entries = log_from_jsonl if first[:1] == _JSONL else log_from_car
        yield from entries(chain([first], pieces))
    except Refused as error:
        error.message = f"{path}: {error.message}"
        raise
