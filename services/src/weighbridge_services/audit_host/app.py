"""The audit host: wiring. One process per configured audit and game."""

from __future__ import annotations

import asyncio
from typing import Any

from weighbridge.ledger import Ledger

from weighbridge_services.audit_host.store import Store
from weighbridge_services.audit_host.watching import Means, Watching
from weighbridge_services.clock import Clock
from weighbridge_services.folding.letters import Letters
from weighbridge_services.folding.threads import LedgerThread
from weighbridge_services.node import Node
from weighbridge_services.wire import Bus, crash_point


class Service:
    """Runs the audits that the node's configuration names, over each of its games."""

    name = "audit-host"

    def __init__(self, node: Node, bus: Bus, clock: Clock) -> None:
        self._node = node
        self._bus = bus
        self._thread = LedgerThread("audits")
        self._ledger: Ledger | None = None
        self.watched: list[Watching] = []

    async def start(self) -> None:
        """Open the ledger and start the processes."""
        run = self._thread.run
        self._ledger = ledger = await run(self._node.ledger, self.name)
        letters = Letters(self._bus, ledger, run, self._published)
        for table in self._node.games:
            for audit in self._node.config.plugins.audits:
                store = Store(ledger, self._node.subjects(table.uri), audit)
                self.watched.append(
                    Watching(Means(self._node, self._bus, table.uri, audit, store, run, letters))
                )
        for each in self.watched:
            each.start()

    def _published(self) -> None:
        # A crash here publishes again after the start, which the stream answers with: it is there.
        crash_point(self._node, "audit-host.after-publish")

    async def stop(self) -> None:
        """End them, and close the ledger."""
        await asyncio.gather(*(each.stop() for each in self.watched))
        if self._ledger is not None:
            await self._thread.run(self._ledger.close)
        self._thread.end()

    def health(self) -> dict[str, Any]:
        """Return which run, and how often each died. A dead audit does not make the node unwell; a missing one does."""
        found: dict[str, Any] = {"audits": len(self.watched)}
        found["running"] = sum(each.pid is not None for each in self.watched)
        found["crashes"] = sum(each.crashes for each in self.watched)
        broken = [each.broken for each in self.watched if each.broken]
        return {**found, **({"unhealthy": broken} if broken else {})}
