"""Beacons kept in a file: as a source of its own, and as what the relays' source has fetched before."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from weighbridge.ports import (
    BadBeaconSettings,
    Beacon,
    BeaconUnavailable,
    Chain,
    Clock,
    Refused,
    parse_signature,
    round_at,
)

from weighbridge_drand.answers import not_before, verified
from weighbridge_drand.settings import FileSettings, convert


class _Line(msgspec.Struct):
    round: int
    signature: str


class RecordedBeacons:
    """A source over a file: it has the rounds that the file has, each verified when it is asked for."""

    name = "file"

    def __init__(self, signatures: Mapping[int, bytes], clock: Clock) -> None:
        self._signatures = dict(signatures)
        self._clock = clock

    async def fetch(self, chain: Chain, round: int) -> Beacon:
        """Return a round's beacon, if the file has it."""
        not_before(chain, round, self._clock)
        if round not in self._signatures:
            raise BeaconUnavailable(f"the file of beacons has no round {round}", round=round)
        return self._verified(chain, round)

    async def latest(self, chain: Chain) -> Beacon:
        """Return the newest beacon of the file that is due."""
        now = round_at(chain, self._clock())
        due = [round for round in self._signatures if round <= now]
        if not due:
            raise BeaconUnavailable(f"the file of beacons has no round up to {now}")
        return self._verified(chain, max(due))

    async def close(self) -> None:
        """Do nothing: the file was read at the start."""

    def _verified(self, chain: Chain, round: int) -> Beacon:
        try:
            return verified(chain, round, self._signatures[round])
        except Refused as refusal:
            raise BeaconUnavailable(
                f"the file's round {round} is not of this chain: {refusal}", round=round, why=refusal.code
            ) from refusal


def open_recorded(settings: Mapping[str, Any], clock: Clock, folder: str | None = None) -> RecordedBeacons:
    """Open a file of beacons: a JSON list, or JSON lines, of {round, signature} and perhaps other fields."""
    path = Path(convert(settings, FileSettings).path)
    try:
        return RecordedBeacons(dict(_read(path.read_bytes())), clock)
    except OSError as error:
        raise BadBeaconSettings(f"the file of beacons cannot be read: {error}", path=str(path)) from error
    except (ValueError, RecursionError, Refused) as error:
        raise BadBeaconSettings(f"{path} is no file of beacons: {error}", path=str(path)) from error


def _read(data: bytes) -> Iterator[tuple[int, bytes]]:
    if data.lstrip().startswith(b"["):
        lines = msgspec.json.decode(data, type=list[_Line])
    else:
        lines = msgspec.json.Decoder(_Line).decode_lines(data)
    for line in lines:
        yield line.round, parse_signature(line.signature)


class Kept:
    """The rounds of one chain that were verified before, in a file that grows by a line for each.

    A line cut short by a crash, or damaged since, is as good as none: what is read back is verified again.
    """

    def __init__(self, folder: str | None, chain: Chain) -> None:
        self._path = Path(folder) / "beacons" / f"{chain.hash}.jsonl" if folder else None
        self._signatures = _whole_lines(self._path) if self._path else {}
        self._chain = chain
        self._beacons: dict[int, Beacon] = {}

    def get(self, round: int) -> Beacon | None:
        """Return a round that was kept."""
        signature = self._signatures.pop(round, None)
        if signature is not None:
            try:
                self._beacons[round] = verified(self._chain, round, signature)
            except Refused:
                return None
        return self._beacons.get(round)

    def put(self, beacon: Beacon) -> None:
        """Keep a verified beacon."""
        if beacon.round in self._beacons:
            return
        self._beacons[beacon.round] = beacon
        if self._path:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            line = json.dumps({"round": beacon.round, "signature": beacon.signature.hex()})
            with self._path.open("a", encoding="ascii") as file:
                file.write(line + "\n")


def _whole_lines(path: Path) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    if path.exists():
        for line in path.read_bytes().split(b"\n"):
            try:
                found.update(_read(line))
            except (ValueError, RecursionError, Refused):
                continue
    return found
