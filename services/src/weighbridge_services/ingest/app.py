"""The ingest service of a node: a lister or a follower for each of its games, over one ledger."""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import structlog

from weighbridge_services.clock import Clock
from weighbridge_services.config import GameTable
from weighbridge_services.folding.threads import LedgerThread
from weighbridge_services.ingest.arrivals import Openers
from weighbridge_services.ingest.follower import Follower
from weighbridge_services.ingest.listing import Listing
from weighbridge_services.ingest.setting import Setting
from weighbridge_services.ingest.store import Store
from weighbridge_services.ingest.verifying import Verifier
from weighbridge_services.node import Node
from weighbridge_services.wire import Bus

THREADS: Final = min(4, os.cpu_count() or 1)
"""Threads that read records."""

log = structlog.get_logger()


class Service:
    """Lists and follows the games of a node."""

    name = "ingest"

    def __init__(self, node: Node, bus: Bus, clock: Clock) -> None:
        self._node = node
        self._bus = bus
        self._clock = clock
        self._pool = ThreadPoolExecutor(THREADS, "verify")
        self._openers = Openers(self._pool, Verifier())
        self._thread = LedgerThread("ledger")
        self._ledger = node.ledger("ingest")
        self.games: list[Listing | Follower] = []

    async def start(self) -> None:
        """Take up every game where the ledger ends. Raises what stands in the way of one."""
        for game in self._node.games:
            made = await self._make(game)
            self.games.append(made)
            await made.start()

    async def stop(self) -> None:
        """Finish the batch at hand of every game, and close the ledger."""
        await asyncio.gather(*(each.stop() for each in self.games), return_exceptions=True)
        await self._openers.verifier.stop()
        self._pool.shutdown()
        self._thread.end()
        self._ledger.close()

    def health(self) -> dict[str, Any]:
        """Return size, lag, last checkpoint and rejections of every game."""
        games = {each.setting.uri: each.health() for each in self.games}
        unhealthy = [f"{game}: {said}" for game, found in games.items() for said in found.pop("unhealthy")]
        return {"games": games, "unhealthy": unhealthy}

    async def _make(self, game: GameTable) -> Listing | Follower:
        store = await self._thread.run(self._store, game)
        setting = Setting(self._node, game, self._bus, self._clock, store, self._openers)
        return Listing(setting, self._node.ruleset(game)) if game.role == "lister" else Follower(setting)

    def _store(self, game: GameTable) -> Store:
        return Store(self._ledger, game.uri, self._thread)
