"""What a lister and a follower both work with: one game's place in a node."""

from __future__ import annotations

from typing import NamedTuple

from weighbridge_services.clock import Clock
from weighbridge_services.config import GameTable
from weighbridge_services.ingest.arrivals import Openers
from weighbridge_services.ingest.store import Store
from weighbridge_services.node import Node
from weighbridge_services.subjects import Subjects
from weighbridge_services.wire import Bus, crash_point


class Setting(NamedTuple):
    """A game, the node that lists or follows it, and its means: bus, clock, ledger, and what verifies records."""

    node: Node
    game: GameTable
    bus: Bus
    clock: Clock
    store: Store
    openers: Openers

    @property
    def uri(self) -> str:
        """The at-uri of the game's root."""
        return self.game.uri

    @property
    def own(self) -> Subjects:
        """This node's subjects for the game."""
        return self.node.subjects(self.uri)

    @property
    def peers(self) -> tuple[str, ...]:
        """The DIDs of the other operators that the configuration names."""
        return tuple(peer.did for peer in self.game.peers if peer.did != self.node.did)

    @property
    def recorded(self) -> bool:
        """Whether time is what the log says it is."""
        return self.node.config.node.clock == "recorded"

    def crash(self, point: str) -> None:
        """Die here if a test wants it: `ingest.<point>`."""
        crash_point(self.node, f"ingest.{point}")
