"""The cross-check service: wiring."""

from __future__ import annotations

from typing import Any

from weighbridge.ledger import Ledger

from weighbridge_services.clock import Clock
from weighbridge_services.cross_check.book import LEDGER, Book
from weighbridge_services.cross_check.game import GameCheck, Means
from weighbridge_services.folding.letters import Letters
from weighbridge_services.folding.threads import LedgerThread
from weighbridge_services.node import Node
from weighbridge_services.wire import Bus, crash_point


class Service:
    """Compares what the operators of a node's games say."""

    name = "cross-check"

    def __init__(self, node: Node, bus: Bus, clock: Clock) -> None:
        self._node = node
        self._bus = bus
        self._thread = LedgerThread("cross-check")
        self._ledger: Ledger | None = None
        self.games: list[GameCheck] = []

    async def start(self) -> None:
        """Open the ledger, read every operator's statements, answer."""
        run = self._thread.run
        self._ledger = ledger = await run(self._node.ledger, LEDGER)
        letters = Letters(self._bus, ledger, run, self._published)
        for table in self._node.games:
            book = await run(Book, ledger, table.uri, self._node.subjects(table.uri))
            game = GameCheck(Means(self._node, table, self._bus, book, run, letters))
            self.games.append(game)
            await game.start()

    def _published(self) -> None:
        # A crash here publishes again after the start, which the stream answers with: it is there.
        crash_point(self._node, "cross-check.after-publish")

    async def stop(self) -> None:
        """Stop, and close the ledger."""
        for game in self.games:
            await game.stop()
        if self._ledger is not None:
            await self._thread.run(self._ledger.close)
        self._thread.end()

    def health(self) -> dict[str, Any]:
        """Return how far operators agree, summed up over the games."""
        found: dict[str, Any] = {"games": len(self.games)}
        for game in self.games:
            for name, number in game.health().items():
                found[name] = found.get(name, 0) + number
        trouble = [game.trouble for game in self.games if game.trouble]
        return {**found, **({"unhealthy": trouble} if trouble else {})}
