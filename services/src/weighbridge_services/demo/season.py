"""A recorded season: envelopes with the times at which they were listed, and what the recording waits for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib import resources
from typing import Any, Final, NamedTuple

import msgspec
from weighbridge.dice import QUICKNET, round_time
from weighbridge.identity import Envelope, Signer, envelope_to_json, sign_record

from weighbridge_services.demo.cast import BY_KEY, GM, signer

SECOND: Final = 1_000_000
MARGIN: Final = 15
"""Seconds between an ask and the round it rolls on, at least: the game's default."""
PERIOD: Final = QUICKNET.period
ROOT: Final = "town.delve.root"
MOVE: Final = "town.delve.move"
GAME: Final = f"at://{signer(GM).did}/{ROOT}/demo-2023"
ASK_EVERY: Final = 250_000
"""µs between two records of a burst that shares a round."""


class Given(NamedTuple):
    """A record as it was handed in, and when (µs)."""

    at: int
    envelope: Envelope


class Wait(NamedTuple):
    """What the recording waits for: every follower's receipt, a round's beacon, all traces, or a time (µs) to pass."""

    receipts: bool = False
    beacon: int | None = None
    until: int | None = None
    traces: bool = False


class Beacon(msgspec.Struct, frozen=True):
    """A beacon of the League of Entropy that comes along: its round and signature, and where it was published."""

    round: int
    due: str
    signature: str
    source: str


def beacons() -> tuple[Beacon, ...]:
    """Return the beacons that come along, by round."""
    text = resources.files("weighbridge_services.demo").joinpath("data/beacons.json").read_bytes()
    return tuple(msgspec.json.decode(text, type=list[Beacon]))


class Season:
    """Writes a season, record by record; `story` tells it."""

    def __init__(self) -> None:
        self.items: list[Given | Wait] = []
        self.uris: dict[str, str] = {}
        self._at = 0
        self._step = 60 * SECOND
        self._round: int | None = None

    # --- time ----------------------------------------------------------------------------------------------

    def at(self, text: str) -> None:
        """Go on to a time of UTC, `2023-11-21 08:00`; records follow a minute apart."""
        at = int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * SECOND
        if at < self._at:
            raise AssertionError(f"{text} is earlier than what was told already")
        self._at, self._step = at, 60 * SECOND

    def towards(self, number: int) -> None:
        """Go on to the seconds before a round in which whatever is listed rolls on that round."""
        self._at = (round_time(QUICKNET, number) - MARGIN - PERIOD) * SECOND + ASK_EVERY
        self._step, self._round = ASK_EVERY, number

    def roll(self) -> None:
        """Let the round come that `towards` named: receipts first, as it counts only what was held before it."""
        number, self._round = self._round, None
        if number is None or self._at >= (round_time(QUICKNET, number) - MARGIN) * SECOND:
            raise AssertionError(f"not everything stands in the seconds before round {number}")
        self.items += [Wait(receipts=True), Wait(beacon=number), Wait(traces=True)]
        self._at, self._step = (round_time(QUICKNET, number) + 60) * SECOND, 60 * SECOND

    def settle(self) -> None:
        """Wait until every follower has receipted what is listed so far."""
        self.items.append(Wait(receipts=True))

    def end(self, text: str) -> None:
        """Let time pass up to the season's end, and everybody catch up."""
        self.at(text)
        self.items += [Wait(until=self._at), Wait(receipts=True)]

    # --- records -------------------------------------------------------------------------------------------

    def root(self, value: dict[str, Any]) -> None:
        """Open the game."""
        self._put(sign_record(signer(GM), None, ROOT, GAME.rpartition("/")[2], value))

    def hand_in(self, envelope: Envelope) -> None:
        """Hand in a record that was signed elsewhere."""
        self._put(envelope)

    def put(self, by: str, what: str, key: str, /, **value: Any) -> str:
        """Hand in a record of a player, or of the GM, and return its at-uri. Other records are named by their keys."""
        filled = {name.rstrip("_"): self._filled(each) for name, each in value.items()}
        record = sign_record(signer(by), GAME, f"town.delve.{what}", key, {"game": GAME, **filled})
        return self._put(record)

    def move(self, by: str, kind: str, key: str, /, **value: Any) -> str:
        """Hand in a move."""
        uri = self.put(by, "move", key, kind=kind, **value)
        if self._round is None and "trace" in value:
            self.items.append(Wait(traces=True))
        return uri

    def ask(self, by: str, key: str, action: str, prompt: str, trace: dict[str, Any], /, **more: Any) -> str:
        """Hand in an ask."""
        return self.move(by, "ask", key, action=action, prompt=f"uri:{prompt}", trace=trace, **more)

    def forged(self, by: str, key: str, forger: Signer, **value: Any) -> None:
        """Hand in a move that says it is a player's, and is signed by somebody else."""
        right = sign_record(signer(by), GAME, MOVE, key, {"game": GAME, **value})
        wrong = sign_record(forger, GAME, MOVE, key, {"game": GAME, **value})
        self._put(msgspec.structs.replace(right, sig=wrong.sig), known=False)

    def _put(self, envelope: Envelope, *, known: bool = True) -> str:
        if known:
            if envelope.rkey in self.uris:
                raise AssertionError(f"two records are called {envelope.rkey}")
            self.uris[envelope.rkey] = envelope.uri
        self.items.append(Given(self._at, envelope))
        self._at += self._step
        return envelope.uri

    def _filled(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: self._filled(each) for name, each in value.items()}
        if isinstance(value, list):
            return [self._filled(each) for each in value]
        if isinstance(value, str) and value.startswith("uri:"):
            return self.uris[value.removeprefix("uri:")]
        if isinstance(value, str) and value.startswith("did:@"):
            return BY_KEY[value.removeprefix("did:@")].did
        return value


def rounds(items: Sequence[Given | Wait]) -> list[int]:
    """Return the rounds that a season waits for, in order."""
    return [item.beacon for item in items if isinstance(item, Wait) and item.beacon is not None]


def lines(items: Sequence[Given | Wait], timeout: int) -> Iterator[str]:
    """Yield a season as the lines that a lister's source reads; it goes on without what is `timeout` s late."""
    for item in items:
        yield json.dumps(_line(item, timeout), separators=(",", ":")) + "\n"


def _line(item: Given | Wait, timeout: int) -> dict[str, Any]:
    if isinstance(item, Given):
        return {"at": item.at, "envelope": envelope_to_json(item.envelope)}
    if item.until is not None:
        return {"time": item.until}
    if item.beacon is not None:
        return {"await": {"beacon": item.beacon, "timeout": timeout}}
    if item.traces:
        return {"await": {"traces": True, "timeout": timeout}}
    return {"await": {"receipts": True, "timeout": timeout}}
