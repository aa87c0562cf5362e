"""The fold service: wiring. It follows the node's own log, which its ingest has verified."""

from __future__ import annotations

from typing import Any

from weighbridge.ledger import Ledger

from weighbridge_services.clock import Clock
from weighbridge_services.fold.game import GameFold, Means
from weighbridge_services.folding.letters import Letters
from weighbridge_services.folding.rulesets import Configured, RuleSets
from weighbridge_services.folding.store import LEDGER
from weighbridge_services.folding.threads import LedgerThread
from weighbridge_services.node import Node
from weighbridge_services.wire import Bus, crash_point


class Service:
    """Folds the games of a node: one ledger, one thread for it and for folding."""

    name = "fold"

    def __init__(self, node: Node, bus: Bus, clock: Clock, rulesets: RuleSets | None = None) -> None:
        """Make it. `rulesets`: where rule sets come from, if not from what the configuration names."""
        self._node = node
        self._bus = bus
        self._clock = clock
        self._rulesets = rulesets
        self._thread = LedgerThread("fold")
        self._ledger: Ledger | None = None
        self.games: list[GameFold] = []

    async def start(self) -> None:
        """Open the ledger, follow each game's log, answer questions."""
        node, run = self._node, self._thread.run
        self._ledger = ledger = await run(node.ledger, LEDGER)
        letters = Letters(self._bus, ledger, run, lambda: crash_point(node, "fold.after-publish"))
        for table in node.games:
            chosen = self._rulesets or Configured(node.config.plugins.rulesets, table.ruleset)
            means = Means(node, table, self._bus, self._clock, ledger, run, letters)
            game = await GameFold.open(means, chosen)
            self.games.append(game)
            await game.start()

    async def stop(self) -> None:
        """Keep snapshots, and close the ledger."""
        for game in self.games:
            await game.stop()
        if self._ledger is not None:
            await self._thread.run(self._ledger.close)
        self._thread.end()

    def health(self) -> dict[str, Any]:
        """Return how it is."""
        found: dict[str, Any] = {"games": len(self.games)}
        unhealthy: list[str] = []
        for game in self.games:
            unhealthy += game.complaints()
        found["folded"] = sum(game.folded for game in self.games)
        found["behind"] = sum(game.behind for game in self.games)
        return {**found, **({"unhealthy": unhealthy} if unhealthy else {})}
