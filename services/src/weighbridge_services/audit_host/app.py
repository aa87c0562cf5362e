"""The audit host: wiring. One process per configured audit and game."""

from __future__ import annotations

import asyncio
from typing import Any

from weighbridge_services.audit_host.watching import Means, Watching
from weighbridge_services.clock import Clock
from weighbridge_services.node import Node
from weighbridge_services.wire import Bus


class Service:
    """Runs the audits that the node's configuration names, over each of its games."""

    name = "audit-host"

    def __init__(self, node: Node, bus: Bus, clock: Clock) -> None:
        self.watched = [
            Watching(Means(node, bus, table.uri, audit))
            for table in node.games
            for audit in node.config.plugins.audits
        ]

    async def start(self) -> None:
        """Start the processes."""
        for each in self.watched:
            each.start()

    async def stop(self) -> None:
        """End them."""
        await asyncio.gather(*(each.stop() for each in self.watched))

    def health(self) -> dict[str, Any]:
        """Return which run, and how often each died. A dead audit does not make the node unwell; a missing one does."""
        found: dict[str, Any] = {"audits": len(self.watched)}
        found["running"] = sum(each.pid is not None for each in self.watched)
        found["crashes"] = sum(each.crashes for each in self.watched)
        broken = [each.broken for each in self.watched if each.broken]
        return {**found, **({"unhealthy": broken} if broken else {})}
