"""Logs as a node's ingest publishes them, for services that only read them; and sources of beacons that lie."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path
from typing import Any, Generic, TypeVar

import coin
from ingest_games import GAME, GM, coin_on_path, flip, player, root
from nodes import PATIENCE, World, until_async
from weighbridge import codec
from weighbridge.chain import Chain, chain_value, round_after
from weighbridge.contract import RuleSet
from weighbridge.identity import Envelope, encode_envelope, open_envelope
from weighbridge.local_chain import LocalChain
from weighbridge.log.entries import Listed, make_entry
from weighbridge.ports import Beacon
from weighbridge_drand import open_local, open_recorded
from weighbridge_services.node import Node
from weighbridge_services.service import Service
from weighbridge_services.subjects import Subjects
from weighbridge_services.trace_checker.tracers.dictated import open_dictated
from weighbridge_services.trace_checker.tracers.form import open_form
from weighbridge_services.wire import Bus, NobodyAnswers
from weighbridge_services.wire.crashing import VARIABLE

S = TypeVar("S", bound=Service)
SECOND = 1_000_000
SEED = "5eed" * 8
GENESIS = int(time.time()) // 60 * 60 - 7_200
LOCAL = LocalChain(bytes.fromhex(SEED), GENESIS, 1)
MARGIN = 3
BEACON = {"chain": chain_value(LOCAL.chain), "margin": MARGIN}

__all__ = [
    "GAME",
    "GM",
    "LOCAL",
    "Liar",
    "LogWriter",
    "flip",
    "make_dice_node",
    "player",
    "root",
    "run_until_end",
]

CONFIG = """
[node]
name = "{name}"
clock = "{clock}"
[broker]
port = 0
[plugins]
rulesets = ["coin"]
beacons = {names}
{sources}
[[games]]
uri = "{game}"
role = "lister"
ruleset = "coin"
[test]
crash = true
"""


LOCAL_SOURCE = f"""
[[beacons]]
source = "local"
[beacons.settings]
seed = "{SEED}"
genesis = {GENESIS}
period = 1
"""


def make_dice_node(
    world: World,
    name: str = "alma",
    *,
    sources: tuple[str, ...] = ("local",),
    clock: str = "system",
    tracers: tuple[str, ...] = (),
    more: str = "",
) -> Node:
    """Make a lister's node; its beacons come from the named sources, in their order."""
    tables = [LOCAL_SOURCE if each == "local" else f'[[beacons]]\nsource = "{each}"\n' for each in sources]
    text = CONFIG.format(name=name, clock=clock, game=GAME, names=list(sources), sources="".join(tables))
    text = text.replace("beacons = [", f"tracers = {list(tracers)}\nbeacons = [").replace(
        "[test]", f"{more}\n[test]"
    )
    return world.make_node(name, config=text.replace("'", '"'))


class Liar:
    """A source that answers with whatever it was made with; what is an error is raised."""

    name = "liar"

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: list[int | None] = []

    async def fetch(self, chain: Chain, round: int) -> Beacon:
        self.asked.append(round)
        return self._answer(round)

    async def latest(self, chain: Chain) -> Beacon:
        self.asked.append(None)
        return self._answer(1)

    def _answer(self, round: int) -> Beacon:
        if isinstance(self.answer, Exception):
            raise self.answer
        found: Beacon = self.answer(round) if callable(self.answer) else self.answer
        return found

    async def close(self) -> None:
        return None


OPENERS = {"local": open_local, "file": open_recorded, "form": open_form, "dictated": open_dictated}


class CoinAndMore:
    """The plugins of a test's node: the toy, and sources and tracers by name."""

    def __init__(self, **more: Any) -> None:
        self.more = more

    def ruleset(self, name: str) -> RuleSet:
        return coin.RULES

    def load(self, group: str, name: str) -> Any:
        if name in self.more:
            return lambda settings, clock, folder: self.more[name]
        return OPENERS[name]


def with_sources(node: Node, **more: Any) -> Node:
    node.__dict__["plugins"] = CoinAndMore(**more)
    return node


class LogWriter:
    """Writes a game's log into a node's stream, as its ingest would."""

    def __init__(self, bus: Bus, subjects: Subjects, at: int | None = None) -> None:
        self.bus = bus
        self.subjects = subjects
        self.last: Listed | None = None
        self.messages: list[bytes] = []
        self.now = time.time_ns() // 1000 - 60 * SECOND if at is None else at

    async def put(self, *envelopes: Envelope, wait: int = SECOND) -> list[Listed]:
        found: list[Listed] = []
        for envelope in envelopes:
            self.now += wait
            self.last = make_entry(
                self.last, game=GAME, at=self.now, op="create", uri=envelope.uri, author=envelope.author,
                record=envelope.record,
            )  # fmt: skip
            proof = encode_envelope(envelope)
            found.append(self.last)
            self.messages.append(
                codec.encode({"entry": self.last.data, "record": envelope.record, "proof": proof})
            )
        start = len(self.messages) - len(found)
        await self.bus.append_many(self.subjects.log, self.messages[start:], start)
        return found

    async def begin(self, **fields: Any) -> None:
        await self.put(root(beacon=BEACON, **fields))

    async def flip(self, rkey: str, who: int = 1, wait: int = SECOND, **fields: Any) -> int:
        """List a flip, and return the round it rolls on."""
        await self.put(flip(player(who), rkey, **fields), wait=wait)
        return round_after(LOCAL.chain, self.now, MARGIN)


class ReadingStage(Generic[S]):
    """A node with a log to write, and a service of it that reads."""

    kind: type[S]

    def __init__(self, world: World, node: Node, bus: Bus) -> None:
        self.world, self.node, self.bus = world, node, bus
        self.subjects: Subjects = node.subjects(GAME)
        self.log = LogWriter(bus, self.subjects)
        self.running: list[tuple[S, Bus]] = []

    async def up(self) -> S:
        bus = Bus.connect(self.node, "reading")
        await bus.start()
        service = self.kind(self.node, bus, self.node.clock())
        self.running.append((service, bus))
        await service.start()
        return service

    async def down(self) -> None:
        service, bus = self.running.pop()
        await bus.quiet()
        await service.stop()
        await bus.stop()

    async def ask(self, name: str, **question: Any) -> Any:
        return codec.decode(await self.ask_bytes(name, codec.encode(question)))

    async def ask_bytes(self, name: str, question: bytes) -> bytes:
        """Ask the service, which may not have told the broker yet that it listens."""

        async def answer() -> bytes:
            try:
                return await self.bus.ask(self.subjects.rpc(name), question)
            except NobodyAnswers:
                return b""

        return await until_async(answer)

    async def records(self, kind: str) -> list[Envelope]:
        """Return the records of a kind that the node has published."""
        stream, found = self.subjects.stream("RECORDS"), list[Envelope]()
        state = (await self.bus.js.stream_info(stream)).state
        for sequence in range(max(1, state.first_seq), state.last_seq + 1):
            message = await self.bus.js.get_msg(stream, sequence)
            if str(message.subject).startswith(f"{self.subjects.prefix}.{kind}."):
                found.append(open_envelope(message.data or b""))
        return found


async def run_until_end(
    node: Node, service: str, folder: Path, *, crash: str, within: float = PATIENCE
) -> int:
    """Run one service of a node in a process of its own, made to die at a point; return its exit code."""
    path = os.pathsep.join([str(coin_on_path(folder / "toys")), os.environ.get("PYTHONPATH", "")])
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "weighbridge_services", "run", service, "--node", str(node.folder),
        env={**os.environ, "PYTHONPATH": path, VARIABLE: crash},
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        return await asyncio.wait_for(process.wait(), within)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
