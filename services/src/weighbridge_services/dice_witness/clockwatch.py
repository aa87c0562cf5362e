"""This node's clock against the newest beacon: whoever lists or signs asks here whether it may."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

import structlog
from weighbridge.chain import QUICKNET, Chain
from weighbridge.errors import Unavailable
from weighbridge.ports import Beacon

from weighbridge_services.dice_witness.decide import due_at, newest_now, off_by
from weighbridge_services.dice_witness.errors import NoBeacon
from weighbridge_services.dice_witness.sources import Sources

EVERY: Final = 20.0
"""Seconds between two looks: relays are other people's machines, and clocks drift slowly."""
SOON: Final = 2.0
"""Seconds until the next look after one that found no beacon or a clock that is off."""
TOLERANCE: Final = 1_000_000
"""µs by which a clock may be off."""
DELIVERY: Final = 2_000_000
"""µs that a beacon may take from its round's time until it is read here: so long the one before is the newest."""

log = structlog.get_logger()


class ClockWatch:
    """Looks at the newest beacon of one game's chain again and again."""

    def __init__(self, sources: Sources, chain: Callable[[], Chain | None], now: Callable[[], int]) -> None:
        self._sources = sources
        self._chain = chain
        self._now = now
        self._looked: tuple[Chain, Beacon, int] | None = None

    async def run(self) -> None:
        """Look again and again."""
        while self._sources.names:
            try:
                await self.look()
            except Unavailable as error:
                log.debug("no newest beacon", code=error.code, says=error.message)
            await asyncio.sleep(SOON if self.off is None or abs(self.off) > TOLERANCE else EVERY)

    async def look(self) -> None:
        """Look once. Raises Unavailable."""
        chain = self._chain() or QUICKNET
        beacon = await self._sources.newest(chain)
        self._looked = chain, beacon, self._now()

    @property
    def off(self) -> int | None:
        """By how much (µs) the clock was off at the last look; None before the first."""
        if self._looked is None:
            return None
        chain, beacon, now = self._looked
        off = off_by(chain, beacon.round, now)
        return max(0, off - DELIVERY) if off > 0 else off

    def answer(self) -> dict[str, Any]:
        """Return what is told about the clock. Raises NoBeacon before the first look.

        `off` (µs), as `off_by` counts, at the last look, `looked` (µs). `round` and `time` (s): the round that
        is the newest now by that, and when it was out; `period` (s).
        """
        if self._looked is None:
            raise NoBeacon("no newest beacon was seen yet, so that nothing is known of this clock")
        chain, _, looked = self._looked
        off, now = self.off or 0, self._now()
        newest = newest_now(chain, off, now)
        return {
            "chain": chain.hash, "round": newest, "time": due_at(chain, newest) // 1_000_000, "period": chain.period,
            "off": off, "looked": looked, "now": now,
        }  # fmt: skip
