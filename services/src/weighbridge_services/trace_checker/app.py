"""The trace checker of a node: one for each of its games, over one ledger."""

from __future__ import annotations

import asyncio
from typing import Any

from weighbridge_services.clock import Clock, SystemClock
from weighbridge_services.config import GameTable
from weighbridge_services.folding.letters import Letters
from weighbridge_services.folding.threads import LedgerThread
from weighbridge_services.following.working import Means, published
from weighbridge_services.node import Node
from weighbridge_services.trace_checker.checker import Checker
from weighbridge_services.trace_checker.store import Store
from weighbridge_services.trace_checker.tracing import Tracers
from weighbridge_services.wire import Bus


class Service:
    """Reports what this operator, as a witness, finds of the traces in a node's games."""

    name = "trace-checker"

    def __init__(self, node: Node, bus: Bus, clock: Clock) -> None:
        self._node = node
        self._bus = bus
        # What a trace points at is there or not in the world's time, whatever time a recorded season keeps.
        self._now = SystemClock().now if node.config.node.clock == "recorded" else clock.now
        self._thread = LedgerThread("traces")
        self._ledger = node.ledger(self.name)
        self._letters = Letters(bus, self._ledger, self._thread.run, published(node, self.name))
        self.checkers: list[Checker] = []

    async def start(self) -> None:
        """Take up every game where the ledger ends. Raises what plugins, their settings and the ledger raise."""
        for game in self._node.games:
            checker = self._made(game)
            self.checkers.append(checker)
            await checker.start()

    def _made(self, game: GameTable) -> Checker:
        tracers = Tracers.of(self._node, game, self._now)
        means = Means(self.name, self._node, game.uri, self._bus, self._thread.run, self._letters)
        store = Store(self._ledger, game.uri)
        return Checker(means, store, self._node.ruleset(game), tracers, self._now)

    async def stop(self) -> None:
        """Let go of what is under way, close the tracers and the ledger."""
        await asyncio.gather(*(each.stop() for each in self.checkers), return_exceptions=True)
        await asyncio.gather(*(each.tracers.close() for each in self.checkers), return_exceptions=True)
        self._thread.end()
        self._ledger.close()

    def health(self) -> dict[str, Any]:
        """Return how many traces await our word, what was reported, and what tracers did wrong."""
        games: dict[str, Any] = {}
        unhealthy: list[str] = []
        for checker in self.checkers:
            game, tracers = checker.means.game, checker.tracers
            faults = {f"{name}/{code}": count for (name, code), count in sorted(tracers.faults.items())}
            games[game] = {
                "size": checker.size,
                "open": len(checker.state.cases),
                "reported": dict(checker.reported),
            }
            games[game] |= {"tracers": tracers.names, "faults": faults}
            if checker.state.cases and not tracers.names:
                unhealthy.append(
                    f"{game}: {len(checker.state.cases)} traces await this witness, and no tracer is configured; name"
                    ' some under [plugins], such as tracers = ["form"]'
                )
        return {"open": sum(each["open"] for each in games.values()), "games": games, "unhealthy": unhealthy}
