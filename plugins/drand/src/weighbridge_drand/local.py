"""Beacons of a local chain, signed when they are due."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from weighbridge.ports import (
    BadBeaconSettings,
    Beacon,
    BeaconUnavailable,
    Chain,
    Clock,
    LocalChain,
    Refused,
    randomness_of,
    round_at,
)

from weighbridge_drand.answers import not_before
from weighbridge_drand.serving import ChainApp
from weighbridge_drand.settings import LocalSettings, convert


class LocalBeacons:
    """A source that has the chain's key: `local` is the chain, `app` serves it over HTTP (ASGI)."""

    name = "local"

    def __init__(self, local: LocalChain, clock: Clock) -> None:
        self.local = local
        self.app = ChainApp(local, clock)
        self._clock = clock

    async def fetch(self, chain: Chain, round: int) -> Beacon:
        """Return a round's beacon once it is due."""
        self._own(chain)
        not_before(chain, round, self._clock)
        return self._sign(round)

    async def latest(self, chain: Chain) -> Beacon:
        """Return the beacon of the round that is due."""
        self._own(chain)
        round = round_at(chain, self._clock())
        if round == 0:
            raise BeaconUnavailable(f"the local chain begins at {chain.genesis}")
        return self._sign(round)

    async def close(self) -> None:
        """Do nothing."""

    def _own(self, chain: Chain) -> None:
        if chain != self.local.chain:
            own = self.local.chain.hash
            raise BeaconUnavailable(f"this local chain is {own}, and chain {chain.hash} was asked for")

    def _sign(self, round: int) -> Beacon:
        signature = self.local.sign(round)
        return Beacon(self.local.chain.hash, round, signature, randomness_of(signature))


def open_local(settings: Mapping[str, Any], clock: Clock, folder: str | None = None) -> LocalBeacons:
    """Open the local chain that a seed (hex), a genesis and a period make."""
    given = convert(settings, LocalSettings)
    if not re.fullmatch(r"(?:[0-9a-f]{2})+", given.seed):
        raise BadBeaconSettings("the seed of a local chain is lower-case hex of whole bytes")
    try:
        return LocalBeacons(LocalChain(bytes.fromhex(given.seed), given.genesis, given.period), clock)
    except Refused as refusal:
        raise BadBeaconSettings(refusal.message) from refusal
