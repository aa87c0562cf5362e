"""A JSONL file of envelopes, of recorded listings or of both, with pauses between them.

{"author": …, "sig": {"$bytes": …}, …}             an envelope, as AT Protocol JSON
{"at": 1700000000000000, "envelope": {…}}          the same, listed at that time (µs) where time is recorded
{"time": 1700000000000000}                         time passes, up to then
{"await": {"receipts": true, "timeout": 10}}       until every peer's receipt holds all that is listed so far
{"await": {"beacon": 4242}}                        until this round's beacon is listed
{"await": {"traces": true}}                        until this node's own fold awaits no trace's verdict
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from weighbridge.errors import Refused
from weighbridge.identity import encode_envelope, envelope_from_json
from weighbridge.ports import NOT_THE_SOURCES, Given, Pause, settings_of

from weighbridge_services.ingest.errors import BadSource


class _File(msgspec.Struct, frozen=True):
    file: str
    game: str = ""


class _Await(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    receipts: bool = False
    beacon: int | None = None
    timeout: int = 30
    traces: bool = False


class Lines:
    """A source over a JSONL file. A position is a number of lines."""

    name = "jsonl"

    def __init__(self, path: Path) -> None:
        self._path = path

    async def read(self, position: int) -> AsyncIterator[tuple[int, Given | Pause]]:
        """Yield what the lines after a position hold. Raises BadSource with the number of the line."""
        try:
            file = self._path.open(encoding="utf-8")
        except OSError as error:
            raise BadSource(f"{self._path} cannot be read: {error.strerror}") from error
        with file:
            for number, line in enumerate(file, 1):
                if number > position and line.strip():
                    yield number, read_line(line, f"{self._path}, line {number}")

    async def close(self) -> None:
        """Do nothing: the file is closed when it is read."""


def open_lines(settings: Mapping[str, Any], folder: str) -> Lines:
    """Open the file that the setting `file` names. Raises BadSource."""
    return Lines(file_in(settings, folder))


def file_in(settings: Mapping[str, Any], folder: str) -> Path:
    """Return the path of the setting `file`, which is the only one there is. Raises BadSource."""
    own = {name: value for name, value in settings.items() if name not in NOT_THE_SOURCES}
    return Path(folder) / settings_of(own, _File, "games.source", BadSource).file


def read_line(line: str, where: str) -> Given | Pause:
    """Return what a line holds. Raises BadSource."""
    try:
        value = json.loads(line)
        if isinstance(value, dict) and "await" in value:
            wanted = msgspec.convert(value["await"], _Await)
            at = _time(value.get("at"))
            return Pause(at, wanted.receipts, wanted.beacon, wanted.timeout, wanted.traces)
        if isinstance(value, dict) and "time" in value:
            return Pause(at=_time(value["time"]))
        if isinstance(value, dict) and "envelope" in value:
            return Given(encode_envelope(envelope_from_json(value["envelope"])), _time(value.get("at")))
        return Given(encode_envelope(envelope_from_json(value)))
    except (ValueError, msgspec.ValidationError) as error:
        raise BadSource(f"{where}: {error}") from error
    except Refused as refused:
        raise BadSource(f"{where}: {refused.message} ({refused.code})") from refused


def _time(value: object) -> int | None:
    if value is not None and (type(value) is not int or not 0 <= value < 1 << 63):
        raise ValueError(f"a time is a whole number of µs since 1970, not {value!r}")
    return value
