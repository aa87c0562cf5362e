"""A node whose services are processes of their own; the broker, streams, health and metrics stay here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weighbridge_services.node import Node
from weighbridge_services.supervise.children import Children
from weighbridge_services.supervise.supervisor import Part, Supervisor


class Parent(Supervisor):
    """Runs services of a node as its children."""

    def __init__(self, node: Node, services: Sequence[str]) -> None:
        super().__init__(node, (), whole=True)
        self.children = Children(node, list(services))

    async def start(self) -> None:
        """Start all of it."""
        await super().start()
        self.children.start()

    async def stop(self) -> None:
        """Stop all of it."""
        await self.children.stop()
        await super().stop()

    @property
    def parts(self) -> list[Part]:
        """Whatever may fail."""
        return [*super().parts, self.children]

    async def ask(self) -> None:
        """Ask the children how they are."""
        await self.children.ask()

    def is_ready(self) -> bool:
        """Whether every child answers."""
        return super().is_ready() and self.children.all_answer

    def healths(self) -> dict[str, dict[str, Any]]:
        """Return what the children say of themselves, and what is to be said of the broker."""
        return {**super().healths(), **self.children.healths()}
