"""The dice witness of a node: one witness for each of its games, over the same sources and one ledger."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
from weighbridge import codec

from weighbridge_services.clock import Clock, SystemClock
from weighbridge_services.config import GameTable
from weighbridge_services.dice_witness.asking import FoldWatch
from weighbridge_services.dice_witness.clockwatch import TOLERANCE, ClockWatch
from weighbridge_services.dice_witness.errors import NoBeacon, NoChainYet
from weighbridge_services.dice_witness.sources import Sources
from weighbridge_services.dice_witness.store import Store
from weighbridge_services.dice_witness.witness import LATE, Witness
from weighbridge_services.ending import end_tasks
from weighbridge_services.folding.asking import question
from weighbridge_services.folding.letters import Letters
from weighbridge_services.folding.threads import LedgerThread
from weighbridge_services.following.working import Means, published
from weighbridge_services.node import Node
from weighbridge_services.wire import Bus


class BeaconOf(msgspec.Struct, frozen=True):
    """`rpc.beacon`: a beacon by its round."""

    round: int


class Service:
    """Publishes the beacons that a node's games wait for."""

    name = "dice-witness"

    def __init__(self, node: Node, bus: Bus, clock: Clock) -> None:
        self._node = node
        self._bus = bus
        # A round is out when the world's time has come to it, whatever time a recorded season keeps.
        self._recorded = node.config.node.clock == "recorded"
        self._now = SystemClock().now if self._recorded else clock.now
        self._pool = ThreadPoolExecutor(1, "bls")
        self._thread = LedgerThread("dice")
        self._ledger = node.ledger(self.name)
        self._letters = Letters(bus, self._ledger, self._thread.run, published(node, self.name))
        self._sources = Sources((), self._pool)
        self._tasks: list[asyncio.Task[None]] = []
        self.witnesses: list[Witness] = []
        self.clocks: list[ClockWatch] = []

    async def start(self) -> None:
        """Take up every game where the ledger ends. Raises what plugins, their settings and the ledger raise."""
        self._sources = Sources.of(self._node, self._now, self._pool)
        for game in self._node.games:
            await self._begin(game)

    async def _begin(self, game: GameTable) -> None:
        means = Means(self.name, self._node, game.uri, self._bus, self._thread.run, self._letters)
        store = Store(self._ledger, game.uri)
        witness = Witness(means, store, self._node.ruleset(game), self._sources, self._now)
        clock = ClockWatch(self._sources, lambda: witness.state.chain, self._now)
        await witness.start()
        self.witnesses.append(witness)
        self.clocks.append(clock)
        self._spawn(FoldWatch(witness).run(), f"fold of {game.uri}")
        if not self._recorded:
            self._spawn(clock.run(), f"clock of {game.uri}")
        await self._serve(witness, clock)

    def _spawn(self, work: Any, name: str) -> None:
        self._tasks.append(asyncio.create_task(self._watched(work), name=name))

    async def _watched(self, work: Any) -> None:
        try:
            await work
        except Exception as error:
            self._bus.fail(error)

    async def _serve(self, witness: Witness, clock: ClockWatch) -> None:
        own = witness.means.own

        async def beacon(body: bytes) -> bytes:
            return codec.encode(await beacon_of(witness, body))

        async def newest(_: bytes) -> bytes:
            return codec.encode(
                {"recorded": True} if self._recorded else {"recorded": False, **clock.answer()}
            )

        for name, answer in (("beacon", beacon), ("clock", newest), ("newest-beacon", newest)):
            await self._bus.serve(own.rpc(name), answer)

    async def stop(self) -> None:
        """Let go of what is under way, close the sources and the ledger."""
        await end_tasks(self._tasks)
        await asyncio.gather(*(each.stop() for each in self.witnesses), return_exceptions=True)
        await self._sources.close()
        self._pool.shutdown()
        self._thread.end()
        self._ledger.close()

    def health(self) -> dict[str, Any]:
        """Return what is awaited, for how long the oldest has been overdue (s), and what sources did wrong."""
        unhealthy: list[str] = []
        games: dict[str, Any] = {}
        for witness, clock in zip(self.witnesses, self.clocks, strict=True):
            game, (oldest, wait) = witness.means.game, witness.overdue()
            games[game] = {"size": witness.size, "awaited": len(witness.wanted), "kept": len(witness.kept)}
            games[game] |= {"oldest": oldest, "wait": wait, "clockOff": clock.off, "unsent": witness.unsent}
            if wait > LATE and not self._recorded:
                says = witness.trouble.get(oldest, "it was not asked for yet")
                unhealthy.append(
                    f"{game}: round {oldest} has been out for {wait:.0f} s and cannot be had: {says}"
                )
            if clock.off is not None and abs(clock.off) > TOLERANCE:
                unhealthy.append(f"clock-off: this clock is {clock.off / 1e6:+.1f} s off the newest beacon")
            elif self._recorded and witness.trouble:
                unhealthy.append(
                    f"{game}: round {min(witness.trouble)}: {witness.trouble[min(witness.trouble)]}"
                )
        faults = {f"{source}/{code}": count for (source, code), count in sorted(self._sources.faults.items())}
        return {
            "awaited": sum(each["awaited"] for each in games.values()),
            "oldest_wait": max((each["wait"] for each in games.values()), default=0.0),
            "sources": self._sources.names, "faults": faults, "games": games, "unhealthy": unhealthy,
        }  # fmt: skip


async def beacon_of(witness: Witness, body: bytes) -> dict[str, Any]:
    """Return the beacon of the round that a question names. Raises BadQuestion, NoChainYet or NoBeacon."""
    number = question(body, BeaconOf).round
    chain = witness.state.chain
    if chain is None:
        raise NoChainYet(f"the log of {witness.means.game} has no root yet that names its chain")
    value = await witness.beacon_in(number)
    if value is None:
        raise NoBeacon(f"round {number} was not fetched here: nothing in the log has waited for it")
    return {"round": number, "signature": value["signature"], "chain": chain.hash}
