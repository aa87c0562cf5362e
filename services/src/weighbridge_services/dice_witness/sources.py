"""The configured sources of beacons, one after the other: none is trusted, and none that fails stops the others."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import structlog
from weighbridge.beacon import verify
from weighbridge.chain import Chain
from weighbridge.errors import Refused, WeighbridgeError
from weighbridge.ports import Beacon, BeaconNotYet, BeaconSource, Clock

from weighbridge_services.dice_witness.errors import NoBeacon, NoBeaconsConfigured
from weighbridge_services.node import Node

GROUP: Final = "weighbridge.beacons"
SECONDS: Final = 20.0
"""Seconds that one source may take for one answer, whatever its own limits are."""

log = structlog.get_logger()


class Sources:
    """Where beacons come from, in the order of the configuration.

    `faults` counts by (source, code) what came instead of a beacon that verifies.
    """

    def __init__(self, sources: Sequence[BeaconSource], pool: ThreadPoolExecutor) -> None:
        self._sources = tuple(sources)
        self.pool = pool
        self.faults: Counter[tuple[str, str]] = Counter()

    @classmethod
    def of(cls, node: Node, clock: Clock, pool: ThreadPoolExecutor) -> Sources:
        """Open the sources that a node's configuration names. Raises what plugins and their settings raise."""
        opened: list[BeaconSource] = [
            node.plugins.load(GROUP, each.source)(dict(each.settings), clock, str(node.folder))
            for each in node.config.beacons
        ]
        return cls(opened, pool)

    @property
    def names(self) -> list[str]:
        """The sources' names."""
        return [each.name for each in self._sources]

    async def fetch(self, chain: Chain, number: int) -> Beacon:
        """Return a round's beacon, verified here. Raises BeaconNotYet, NoBeacon or NoBeaconsConfigured."""
        return await self._first(chain, number)

    async def newest(self, chain: Chain) -> Beacon:
        """Return the newest beacon that any source has, verified here. Raises as `fetch`."""
        return await self._first(chain, None)

    async def close(self) -> None:
        """Close all of them."""
        await asyncio.gather(*(each.close() for each in self._sources), return_exceptions=True)

    async def _first(self, chain: Chain, number: int | None) -> Beacon:
        if not self._sources:
            raise NoBeaconsConfigured("no [[beacons]] source is configured; add one to weighbridge.toml")
        refusals: list[WeighbridgeError] = []
        for source in self._sources:
            try:
                return await self._ask(source, chain, number)
            except WeighbridgeError as error:
                refusals.append(error)
                if not isinstance(error, BeaconNotYet):
                    self.faults[source.name, error.code] += 1
        early = [each for each in refusals if isinstance(each, BeaconNotYet)]
        if early:
            raise early[0]
        said = zip(self._sources, refusals, strict=True)
        says = "; ".join(f"{source.name} says {error.code}: {error.message}" for source, error in said)
        which = "a newest round" if number is None else f"round {number}"
        raise NoBeacon(f"no source has {which} of chain {chain.hash[:16]}…: {says}")

    async def _ask(self, source: BeaconSource, chain: Chain, number: int | None) -> Beacon:
        try:
            async with asyncio.timeout(SECONDS):
                asked = source.latest(chain) if number is None else source.fetch(chain, number)
                beacon = await asked
            return await self._checked(source, chain, beacon, number)
        except (WeighbridgeError, asyncio.CancelledError):
            raise
        except TimeoutError as error:
            raise NoBeacon(f"no answer within {SECONDS:.0f} s") from error
        except Exception as error:  # somebody else's code, which fails in its own ways
            log.warning(
                "a source of beacons fails", source=source.name, error=f"{type(error).__name__}: {error}"
            )
            raise NoBeacon(f"it fails ({type(error).__name__})") from error

    async def _checked(
        self, source: BeaconSource, chain: Chain, beacon: Beacon, number: int | None
    ) -> Beacon:
        """Return a beacon that is the chain's own, whatever the source has verified of it. Raises Refused."""
        wanted = beacon.round if number is None else number
        loop = asyncio.get_running_loop()
        try:
            randomness = await loop.run_in_executor(self.pool, verify, chain, wanted, beacon.signature)
        except Refused as refused:
            log.warning("a false beacon", source=source.name, round=wanted, code=refused.code)
            raise
        return Beacon(chain.hash, wanted, beacon.signature, randomness)
