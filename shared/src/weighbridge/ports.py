"""What reaches out of a node, and is therefore a plugin: for now, where beacons come from.

A plugin of the group `weighbridge.beacons` names a function `open(settings, clock, folder)` and imports of
Weighbridge this module and the contract only. What it fetches it verifies: it returns a `Beacon` that is the
chain's own, or raises. Nothing here runs under a fold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from weighbridge.beacon import parse_signature, randomness_of, verify
from weighbridge.chain import (
    MAX_ROUND,
    QUICKNET,
    SCHEME,
    SECOND,
    Chain,
    chain_value,
    round_at,
    round_time,
)
from weighbridge.contract import Frozen
from weighbridge.errors import Broken, Refused, Unavailable
from weighbridge.local_chain import LocalChain

__all__ = [
    "MAX_ROUND",
    "QUICKNET",
    "SCHEME",
    "SECOND",
    "BadBeaconSettings",
    "Beacon",
    "BeaconNotYet",
    "BeaconSource",
    "BeaconUnavailable",
    "Broken",
    "Chain",
    "Clock",
    "LocalChain",
    "OpenBeacons",
    "Refused",
    "Unavailable",
    "chain_value",
    "parse_signature",
    "randomness_of",
    "round_at",
    "round_time",
    "verify",
]

Clock = Callable[[], int]
"""The time now, in µs since 1970 UTC. A source has no clock of its own."""


class Beacon(Frozen, frozen=True):
    """A verified beacon: `chain` (its hash), `round`, `signature` (48 bytes) and `randomness` (32 bytes)."""

    chain: str
    round: int
    signature: bytes
    randomness: bytes


class BeaconNotYet(Unavailable):
    """The round is not out. `detail` has the second it is due at; a round is never early and may be late."""

    code = "beacon-not-yet"


class BeaconUnavailable(Unavailable):
    """The source has no such beacon to give now. `detail` says why, for each place that was asked."""

    code = "beacon-unavailable"


class BadBeaconSettings(Refused):
    """A source of beacons cannot be opened with these settings."""

    code = "beacon-settings"


class BeaconSource(Protocol):
    """Where beacons come from. Its methods may be called at once from several tasks of one event loop."""

    name: str

    async def fetch(self, chain: Chain, round: int) -> Beacon:
        """Return one round's beacon. Raises BeaconNotYet (before it is due unasked), BeaconUnavailable."""
        ...

    async def latest(self, chain: Chain) -> Beacon:
        """Return the newest beacon that is out: a node checks its clock by it. Raises BeaconUnavailable."""
        ...

    async def close(self) -> None:
        """Let go of connections and files."""
        ...


class OpenBeacons(Protocol):
    """What an entry point of the group `weighbridge.beacons` names."""

    def __call__(self, settings: Mapping[str, Any], clock: Clock, folder: str | None = None) -> BeaconSource:
        """Open a source. `folder`: where it may keep what never changes. Raises BadBeaconSettings."""
        ...
