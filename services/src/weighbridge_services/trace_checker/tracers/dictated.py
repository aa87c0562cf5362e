"""A tracer that says what a person dictated, line by line in a file: for operators who judge by hand, and for tests.

{"subject": at-uri, record key or CID, "verdict": "ok" | "unresolved" | "unavailable", "dated": µs, "detail": text}

The last line about a record counts. The file may grow while the node runs.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
import structlog
from weighbridge import ports
from weighbridge.ports import BadTracerSettings, Clock, TraceAsked, Traced, TraceNotYet

FILE: Final = "traces.jsonl"

Verdict = Literal["ok", "unresolved", "unavailable"]

log = structlog.get_logger()


class Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One line of the file."""

    subject: str
    verdict: Verdict
    dated: int | None = None
    detail: str | None = None


class _Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    path: str = FILE
    otherwise: Verdict | None = None


class Dictated:
    """Says of each record what the file says; of what the file does not name `otherwise`, or nothing yet."""

    name = "dictated"

    def __init__(self, path: Path, otherwise: Verdict | None = None) -> None:
        """Read the file a first time. Raises BadTracerSettings."""
        self._path = path
        self._otherwise: Verdict | None = otherwise
        self._stamp = stamp_of(path)
        self._lines = by_subject(path)

    async def resolve(self, asked: TraceAsked) -> Traced:
        """Return the person's word. Raises TraceNotYet."""
        self._read_again()
        for subject in (asked.uri, asked.cid, asked.uri.rpartition("/")[2]):
            if subject in self._lines:
                line = self._lines[subject]
                return Traced(line.verdict, line.dated, line.detail)
        if self._otherwise is not None:
            return Traced(self._otherwise)
        raise TraceNotYet(f"{self._path} says nothing of {asked.uri} yet; see `weighbridge trace say`")

    async def close(self) -> None:
        """Do nothing: the file is open only while it is read."""

    def _read_again(self) -> None:
        stamp = stamp_of(self._path)
        if stamp == self._stamp:
            return
        try:
            self._lines, self._stamp = by_subject(self._path), stamp
        except BadTracerSettings as error:
            # It was whole before: somebody is writing. What it said then still stands.
            log.warning("dictated traces cannot be read", says=error.message)


def stamp_of(path: Path) -> tuple[int, int] | None:
    """Return what changes when a file does; None where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def by_subject(path: Path) -> dict[str, Line]:
    """Return the last line about each subject. Raises BadTracerSettings."""
    return {each.subject: each for each in read_lines(path)}


def read_lines(path: Path) -> list[Line]:
    """Return the lines of a file; none where there is no file yet. Raises BadTracerSettings."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise BadTracerSettings(f"{path} cannot be read: {error.strerror}") from error
    found: list[Line] = []
    for number, line in enumerate(data.splitlines(), 1):
        if line.strip():
            try:
                found.append(msgspec.json.decode(line, type=Line))
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                raise BadTracerSettings(f"{path}, line {number}: {error}") from error
    return found


def settings_of(settings: Mapping[str, Any], folder: str) -> tuple[Path, Verdict | None]:
    """Return the file, and the word on what it does not name. Raises BadTracerSettings."""
    read = ports.settings_of(settings, _Settings, "games.traces.dictated", BadTracerSettings)
    return Path(folder) / read.path, read.otherwise


def say(path: Path, line: Line) -> None:
    """Write a line at the end of the file."""
    with path.open("ab") as file:
        file.write(msgspec.json.encode(line) + b"\n")
        file.flush()
        os.fsync(file.fileno())


def open_dictated(settings: Mapping[str, Any], clock: Clock, folder: str) -> Dictated:
    """Open it. `path`: the file (traces.jsonl); `otherwise`: the word on what it does not name."""
    path, otherwise = settings_of(settings, folder)
    return Dictated(path, otherwise)
