"""The ruling recorder of a node: a desk for each of its games, over one ledger."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from weighbridge import codec
from weighbridge.errors import Refused

from weighbridge_services.clock import Clock
from weighbridge_services.folding.asking import question
from weighbridge_services.folding.letters import Letters
from weighbridge_services.folding.threads import LedgerThread
from weighbridge_services.following.working import Means, published
from weighbridge_services.node import Node
from weighbridge_services.ruling_recorder.decide import Asked, State, queue
from weighbridge_services.ruling_recorder.desk import Desk
from weighbridge_services.ruling_recorder.store import Store
from weighbridge_services.wire import Bus


class DeskOf(msgspec.Struct, frozen=True, omit_defaults=True):
    """`rpc.desk`: the queue; with `all`, what is answered and closed too."""

    all: bool = False


class Service:
    """Keeps the GM's desk of a node's games."""

    name = "ruling-recorder"

    def __init__(self, node: Node, bus: Bus, clock: Clock) -> None:
        self._node = node
        self._bus = bus
        self._thread = LedgerThread("desk")
        self._ledger = node.ledger(self.name)
        self._letters = Letters(bus, self._ledger, self._thread.run, published(node, self.name))
        self.desks: list[Desk] = []

    async def start(self) -> None:
        """Take up every game where the ledger ends. Raises what the rule set's plugin and the ledger raise."""
        for game in self._node.games:
            means = Means(self.name, self._node, game.uri, self._bus, self._thread.run, self._letters)
            desk = Desk(means, Store(self._ledger, game.uri), self._node.ruleset(game))
            self.desks.append(desk)
            await desk.start()
            await self._serve(desk)

    async def _serve(self, desk: Desk) -> None:
        async def shown(body: bytes) -> bytes:
            return codec.encode(await queue_of(desk, question(body, DeskOf)))

        async def rule(body: bytes) -> bytes:
            return codec.encode(await ruled(desk, body))

        await self._bus.serve(desk.means.own.rpc("desk"), shown)
        await self._bus.serve(desk.means.own.rpc("rule"), rule)

    async def stop(self) -> None:
        """Stop handing on, and close the ledger."""
        await asyncio.gather(*(each.stop() for each in self.desks), return_exceptions=True)
        self._thread.end()
        self._ledger.close()

    def health(self) -> dict[str, Any]:
        """Return how many questions are in which state, and how often rulings were refused, by code."""
        games: dict[str, Any] = {}
        for desk in self.desks:
            states = [item.state for item in desk.items.values()]
            games[desk.means.game] = {
                "size": desk.size, "refused": dict(desk.refused), "unsent": desk.unsent,
                **{state: states.count(state) for state in ("open", "answered", "closed")},
            }  # fmt: skip
        return {"open": sum(each["open"] for each in games.values()), "games": games}


async def queue_of(desk: Desk, asked: DeskOf) -> dict[str, Any]:
    """Return the queue and whose it is. `folded`: how far the fold was that said what is open; null: it did not."""
    await desk.refresh()
    states: tuple[State, ...] = ("open", "answered", "closed") if asked.all else ("open", "answered")
    items = queue(desk.items.values(), states)
    gm = None if desk.rules.root is None else desk.rules.root.gm
    return {
        "gm": gm,
        "folded": desk.folded,
        "questions": [codec.decode_own(codec.encode(each)) for each in items],
    }


async def ruled(desk: Desk, body: bytes) -> dict[str, Any]:
    """Return what became of a ruling."""
    try:
        taken = await desk.rule(question(body, Asked))
    except Refused as refused:
        return {"rejected": refused.code, "says": refused.message}
    return {"accepted": str(taken.cid), "uri": taken.envelope.uri}
